"""What nodes say that they can do (upstream's plugins/nodedeclaredfeatures)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.framework.events import EventResource, QueueingHint, node_events
from engine.scheduler.framework.profile import Profile
from engine.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from engine.scheduler.pod_info import PodInfo
from tests.scheduler.harness import Bench
from tests.scheduler.objects import container, node, pod

RESTARTS = "RestartAllContainersOnContainerExits"
HOST_USERS = "UserNamespacesHostNetworkSupport"
WHY = "node(s) didn't match Pod's required features"


def declaring(name: str, *features: str) -> Object:
    made = node(name)
    if features:
        made["status"]["declaredFeatures"] = list(features)
    return made


def restarting(action: str) -> Object:
    return container(restartPolicy="Never", restartPolicyRules=[{"action": action, "exitCodes": {"operator": "In"}}])


NEEDS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "nothing": ({}, {"none", "restarts", "both"}),
    "a rule that restarts one": ({"containers": [restarting("Restart")]}, {"none", "restarts", "both"}),
    "a rule that restarts all": ({"containers": [restarting("RestartAllContainers")]}, {"restarts", "both"}),
    "an init container's": (
        {"containers": [container()], "initContainers": [restarting("RestartAllContainers")]},
        {"restarts", "both"},
    ),
    "host network": ({"hostNetwork": True}, {"none", "restarts", "both"}),
    "host network and own users": ({"hostNetwork": True, "hostUsers": False}, {"both"}),
    "own users": ({"hostUsers": False}, {"none", "restarts", "both"}),
}


@pytest.mark.parametrize(("spec", "fits"), NEEDS.values(), ids=NEEDS)
def test_nodes_that_can_what_a_pod_needs(spec: dict[str, Any], fits: set[str]) -> None:
    bench = Bench([declaring("none"), declaring("restarts", RESTARTS), declaring("both", RESTARTS, HOST_USERS)])
    found = bench.reasons(NodeDeclaredFeatures, pod("p", **spec))
    assert found == {name: "" if name in fits else WHY for name in ("none", "restarts", "both")}


def test_what_is_said_of_it() -> None:
    bench = Bench([declaring("n")])
    assert bench.message(pod("p", containers=[restarting("RestartAllContainers")])) == (
        f"0/1 nodes are available: 1 {WHY}. preemption: 0/1 nodes are available: "
        "1 Preemption is not helpful for scheduling."
    )


HINTS: dict[str, tuple[Object | None, Object, bool]] = {
    "a new node": (None, declaring("n"), True),
    "another feature": (declaring("n"), declaring("n", RESTARTS), True),
    "the same ones": (declaring("n", RESTARTS), declaring("n", RESTARTS), False),
}


@pytest.mark.parametrize(("old", "new", "expected"), HINTS.values(), ids=HINTS)
def test_after_nodes(old: Object | None, new: Object, expected: bool) -> None:
    plugin = Bench().plugin(NodeDeclaredFeatures)
    events = {event.event.resource: event for event in plugin.events_to_register()}
    asked = events[EventResource.NODE]
    waiting = PodInfo(pod("p", containers=[restarting("RestartAllContainers")]))
    assert (asked.hint(waiting, old, new) is QueueingHint.QUEUE) is expected
    if old is not None and expected:
        assert [event.label for event in node_events(old, new) if asked.event.matches(event)] == [
            "NodeUpdateNodeDeclaredFeature"
        ]


def test_a_table_over_all_nodes_follows_what_they_declare() -> None:
    bench = Bench([declaring("n")])
    wanted = pod("p", containers=[restarting("RestartAllContainers")])
    assert bench.reasons(NodeDeclaredFeatures, wanted) == {"n": WHY}
    bench.cache.add_node(declaring("n", RESTARTS))
    bench.snapshot.update(bench.cache)
    assert bench.reasons(NodeDeclaredFeatures, wanted) == {"n": ""}


@pytest.mark.parametrize(("version", "has"), [("1.35.0", False), ("1.36.0", True), ("", True)])
def test_since_when(version: str, has: bool) -> None:
    names = [plugin.name for plugin in Profile().for_version(version).plugins]
    assert (names[-1] == "NodeDeclaredFeatures") is has
