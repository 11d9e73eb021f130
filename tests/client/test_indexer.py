"""The informer's store and its lister."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from engine.api.selectors import LabelSelector
from engine.api.types import Object
from engine.client import Lister, join_key, object_key, split_key
from engine.client.indexer import Indexer


def pod(name: str, namespace: str = "default", *, node: str = "", **labels: str) -> Object:
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels}, "spec": {"nodeName": node}}


def by_node(obj: Object) -> Iterable[str]:
    return (obj["spec"]["nodeName"],)


@pytest.mark.parametrize(
    ("namespace", "name", "key"),
    [
        pytest.param("default", "web", "default/web", id="namespaced"),
        pytest.param("", "node-1", "node-1", id="cluster"),
    ],
)
def test_keys_are_namespace_and_name(namespace: str, name: str, key: str) -> None:
    assert join_key(namespace, name) == key
    assert split_key(key) == (namespace, name)
    assert object_key({"metadata": {"namespace": namespace, "name": name}}) == key


def test_a_key_of_three_parts_is_none() -> None:
    with pytest.raises(ValueError, match=r'^unexpected key format: "a/b/c"$'):
        split_key("a/b/c")


def store(*objects: Object) -> tuple[Indexer, Lister]:
    indexer = Indexer()
    for obj in objects:
        indexer.put(object_key(obj), obj)
    return indexer, Lister(indexer)


def test_list_by_namespace_and_selector() -> None:
    _, lister = store(pod("a", app="web"), pod("b", app="db"), pod("c", "other", app="web"))
    names = [obj["metadata"]["name"] for obj in lister.list("default", LabelSelector.parse("app=web"))]
    assert names == ["a"]
    assert len(lister.list()) == 3
    assert lister.list("nowhere") == []
    assert lister.get("c", "other") is not None
    assert lister.get("c", "default") is None


def test_an_index_added_late_knows_what_is_there_and_follows_changes() -> None:
    indexer, lister = store(pod("a", node="node-1"))
    indexer.add_index("node", by_node)
    indexer.put("default/a", pod("a", node="node-2"))
    assert lister.by_index("node", "node-1") == []
    assert [obj["metadata"]["name"] for obj in lister.by_index("node", "node-2")] == ["a"]
    indexer.pop("default/a")
    assert lister.by_index("node", "node-2") == []
    assert list(lister.index_values("node")) == []


def test_an_update_keeps_an_objects_place_in_the_order() -> None:
    indexer, lister = store(pod("a"), pod("b"))
    indexer.put("default/a", pod("a", app="new"))
    assert [obj["metadata"]["name"] for obj in lister.list("default")] == ["a", "b"]


def test_an_unknown_index_is_a_mistake() -> None:
    _, lister = store()
    with pytest.raises(KeyError):
        lister.by_index("nowhere", "x")
