"""The graph of owners and dependents (after upstream's garbagecollector_test.go)."""

from __future__ import annotations

from typing import Any

from engine.api.types import Object
from engine.controllers.garbagecollector.graph import FOREGROUND, ORPHAN, Graph, Work


def obj(name: str, *owners: Object, **metadata: Any) -> Object:
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"{name}-uid",
            "ownerReferences": list(owners),
            **metadata,
        }
    }


def owned_by(name: str, *, block: bool = False, kind: str = "ReplicaSet") -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "name": name,
        "uid": f"{name}-uid",
        "blockOwnerDeletion": block,
    }


class Cluster:
    """Feeds a graph as informers would."""

    def __init__(self) -> None:
        self.graph = Graph()

    def add(self, new: Object, old: Object | None = None) -> Work:
        return self.graph.seen(old, new, api_version="apps/v1", kind="ReplicaSet")


def test_a_dependent_of_an_owner_that_was_not_seen_makes_a_virtual_node_to_ask_about() -> None:
    cluster = Cluster()
    assert cluster.add(obj("pod", owned_by("rs"))) == Work(["rs-uid"], [])
    node = cluster.graph.get("rs-uid")
    assert node is not None
    assert node.virtual
    assert cluster.add(obj("rs")) == Work([], [])
    assert not node.virtual


def test_when_an_owner_goes_its_dependents_are_looked_at() -> None:
    cluster = Cluster()
    cluster.add(obj("rs"))
    cluster.add(obj("a", owned_by("rs")))
    cluster.add(obj("b", owned_by("rs")))
    assert cluster.graph.gone("rs-uid") == Work(["a-uid", "b-uid"], [])
    assert cluster.graph.gone("rs-uid") == Work([], []), "once"


def test_an_owner_deleted_in_the_foreground_has_its_dependents_deleted_first() -> None:
    cluster = Cluster()
    cluster.add(owner := obj("rs"))
    cluster.add(obj("a", owned_by("rs", block=True)))
    leaving = obj("rs", deletionTimestamp="2026-01-01T00:00:00Z", finalizers=[FOREGROUND])
    assert cluster.add(leaving, owner) == Work(["a-uid", "rs-uid"], [])
    node = cluster.graph.get("rs-uid")
    assert node is not None
    assert [each.identity.name for each in node.blocking_dependents] == ["a"]
    assert cluster.graph.gone("a-uid") == Work(["rs-uid"], []), "the last one gone, the owner is looked at"
    assert node.blocking_dependents == []


def test_an_owner_that_orphans_is_told_of_once() -> None:
    cluster = Cluster()
    cluster.add(owner := obj("rs"))
    leaving = obj("rs", deletionTimestamp="2026-01-01T00:00:00Z", finalizers=[ORPHAN])
    assert cluster.add(leaving, owner) == Work([], ["rs-uid"])
    assert cluster.add(leaving, leaving) == Work([], [])


def test_a_dependent_that_stops_blocking_wakes_its_owner() -> None:
    cluster = Cluster()
    cluster.add(obj("rs"))
    cluster.add(before := obj("a", owned_by("rs", block=True)))
    assert cluster.add(after := obj("a", owned_by("rs")), before) == Work(["rs-uid"], [])
    assert cluster.add(obj("a"), after) == Work([], [])
    assert cluster.graph.gone("rs-uid") == Work([], []), "it has no dependent any more"


def test_a_reference_that_names_its_owner_wrongly_is_looked_at() -> None:
    cluster = Cluster()
    cluster.add(obj("rs"))
    wrong = {**owned_by("rs"), "kind": "Deployment"}
    assert cluster.add(obj("a", wrong)) == Work(["a-uid"], [])


def test_absent_owners_are_remembered_up_to_a_number() -> None:
    graph = Cluster().graph
    for number in range(600):
        graph.seen(None, obj(f"o{number}"), api_version="v1", kind="Pod")
        graph.seen(
            None,
            obj(f"d{number}", {**owned_by(f"o{number}"), "kind": "Pod", "apiVersion": "v1"}),
            api_version="v1",
            kind="Pod",
        )
    nodes = [graph.get(f"o{number}-uid") for number in (0, 599)]
    for number in range(600):
        graph.gone(f"o{number}-uid")
    assert [graph.is_absent(node.identity) for node in nodes if node is not None] == [False, True]
