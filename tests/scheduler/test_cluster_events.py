"""What an update of a Pod or a Node is to the scheduler (upstream's framework/events_test.go and types_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.framework.events import (
    ASSIGNED_POD_ADD,
    NODE_ADD,
    UNSCHEDULABLE_TIMEOUT,
    Action,
    ClusterEvent,
    EventResource,
    node_events,
    pod_events,
)
from engine.scheduler.pod_info import PodInfo
from tests.scheduler.objects import node, pod, taint

CLAIM = {"name": "claim", "resourceClaimName": "p-claim-x1"}
EXTENDED = {"resourceClaimName": "p-extended-x1", "requestMappings": []}


def changed_node(**fields: Any) -> Object:
    made = node("n")
    for field, value in fields.items():
        part, _, name = field.partition("_")
        made.setdefault(part, {})[name] = value
    return made


POD_ROWS: dict[str, tuple[Object, Object, list[str]]] = {
    "labels": (pod("p", labels={"a": "b"}), pod("p", labels={"a": "c"}), ["TargetPodUpdatePodLabel"]),
    "less cpu": (
        pod("p", cpu="2"),
        pod("p", cpu="1500m"),
        ["TargetPodUpdatePodScaleDown"],
    ),
    "more cpu": (pod("p", cpu="1"), pod("p", cpu="2"), ["TargetPodUpdate"]),
    "a request that is gone": (
        pod("p", cpu="1", memory="1Gi"),
        pod("p", cpu="1"),
        ["TargetPodUpdatePodScaleDown"],
    ),
    "one gate of two": (
        pod("p", schedulingGates=[{"name": "a"}, {"name": "b"}]),
        pod("p", schedulingGates=[{"name": "a"}]),
        ["TargetPodUpdate"],
    ),
    "the last gate": (
        pod("p", schedulingGates=[{"name": "a"}]),
        pod("p"),
        ["TargetPodUpdatePodSchedulingGatesEliminated"],
    ),
    "a toleration more": (pod("p"), pod("p", tolerations=[{"key": "k"}]), ["TargetPodUpdatePodToleration"]),
    "a claim": (
        pod("p"),
        pod("p", status={"resourceClaimStatuses": [CLAIM]}),
        ["TargetPodUpdatePodGeneratedResourceClaim"],
    ),
    "the claim for extended resources": (
        pod("p"),
        pod("p", status={"extendedResourceClaimStatus": EXTENDED}),
        ["TargetPodUpdatePodGeneratedResourceClaim"],
    ),
    "several": (
        pod("p", labels={"a": "b"}),
        pod("p", tolerations=[{"key": "k"}]),
        ["TargetPodUpdatePodLabel", "TargetPodUpdatePodToleration"],
    ),
    "nothing of these": (pod("p"), pod("p", status={"phase": "Pending"}), ["TargetPodUpdate"]),
}


@pytest.mark.parametrize(("old", "new", "events"), POD_ROWS.values(), ids=POD_ROWS)
def test_what_an_update_of_a_pod_is(old: Object, new: Object, events: list[str]) -> None:
    found = pod_events(PodInfo(old), PodInfo(new), EventResource.TARGET_POD)
    assert [event.label for event in found] == events


READY, NOT_READY = ({"type": "Ready", "status": status} for status in ("True", "False"))

NODE_ROWS: dict[str, tuple[Object, Object, list[str]]] = {
    "nothing": (changed_node(), changed_node(), []),
    "cordoned": (changed_node(), changed_node(spec_unschedulable=True), []),
    "uncordoned": (changed_node(spec_unschedulable=True), changed_node(), ["NodeUpdateNodeTaint"]),
    "more cpu": (
        changed_node(status_allocatable={"cpu": "1"}),
        changed_node(status_allocatable={"cpu": "2"}),
        ["NodeUpdateNodeAllocatable"],
    ),
    "as much cpu": (
        changed_node(status_allocatable={"cpu": "1"}),
        changed_node(status_allocatable={"cpu": "1000m"}),
        [],
    ),
    "labels": (changed_node(), changed_node(metadata_labels={"a": "b"}), ["NodeUpdateNodeLabel"]),
    "a taint": (changed_node(), changed_node(spec_taints=[taint("k")]), ["NodeUpdateNodeTaint"]),
    "a heartbeat": (
        changed_node(status_conditions=[READY]),
        changed_node(status_conditions=[{**READY, "lastHeartbeatTime": "2026-01-01T00:00:00Z"}]),
        [],
    ),
    "a condition": (
        changed_node(status_conditions=[READY]),
        changed_node(status_conditions=[NOT_READY]),
        ["NodeUpdateNodeCondition"],
    ),
    "an annotation": (changed_node(), changed_node(metadata_annotations={"a": "b"}), ["NodeUpdateNodeAnnotation"]),
    "several": (
        changed_node(spec_taints=[taint("k")], metadata_labels={"a": "b"}),
        changed_node(spec_taints=[], metadata_labels={"a": "c"}),
        ["NodeUpdateNodeLabel", "NodeUpdateNodeTaint"],
    ),
}


@pytest.mark.parametrize(("old", "new", "events"), NODE_ROWS.values(), ids=NODE_ROWS)
def test_what_an_update_of_a_node_is(old: Object, new: Object, events: list[str]) -> None:
    assert [event.label for event in node_events(old, new)] == events


LABELED = ClusterEvent(EventResource.NODE, Action.UPDATE_NODE_LABEL)


@pytest.mark.parametrize(
    ("asked", "incoming", "matches"),
    [
        (ClusterEvent(EventResource.WILDCARD, Action.ALL), NODE_ADD, True),
        (ClusterEvent(EventResource.NODE, Action.ADD | Action.DELETE), NODE_ADD, True),
        (ClusterEvent(EventResource.NODE, Action.DELETE), NODE_ADD, False),
        (ClusterEvent(EventResource.POD, Action.ADD), ASSIGNED_POD_ADD, True),
        (ClusterEvent(EventResource.UNSCHEDULED_POD, Action.ADD), ASSIGNED_POD_ADD, False),
        (ClusterEvent(EventResource.WILDCARD, Action.ADD), NODE_ADD, True),
        (ClusterEvent(EventResource.NODE, Action.UPDATE), LABELED, True),
        (NODE_ADD, UNSCHEDULABLE_TIMEOUT, False),
    ],
)
def test_which_events_a_registration_means(asked: ClusterEvent, incoming: ClusterEvent, matches: bool) -> None:
    assert asked.matches(incoming) is matches
