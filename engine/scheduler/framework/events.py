"""Cluster events: what happened to which resource, and what an update of a pod or node amounts to.

Source: upstream's kube-scheduler/framework/types.go (ClusterEvent) and pkg/scheduler/framework/events.go.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, IntFlag, StrEnum
from typing import Any, NamedTuple

from engine.api.types import Object
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.pod_requests import pod_amounts
from engine.scheduler.resource import amounts


class EventResource(StrEnum):
    """`Pod` stands for the three kinds below it: a bound pod, another waiting pod, the pod in question itself."""

    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULED_POD = "UnscheduledPod"
    TARGET_POD = "TargetPod"
    NODE = "Node"
    NAMESPACE = "Namespace"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "CSINode"
    CSI_DRIVER = "CSIDriver"
    CSI_STORAGE_CAPACITY = "CSIStorageCapacity"
    STORAGE_CLASS = "StorageClass"
    VOLUME_ATTACHMENT = "VolumeAttachment"
    RESOURCE_CLAIM = "ResourceClaim"
    RESOURCE_SLICE = "ResourceSlice"
    DEVICE_CLASS = "DeviceClass"
    DEVICE_TAINT_RULE = "DeviceTaintRule"
    WILDCARD = "*"


class Action(IntFlag):
    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_POD_LABEL = 128
    UPDATE_POD_SCALE_UP = 256
    UPDATE_POD_SCALE_DOWN = 512
    UPDATE_POD_TOLERATION = 1024
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 2048
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 4096
    UPDATE_NODE_DECLARED_FEATURE = 16384
    UPDATE = 8192 | 4 | 8 | 16 | 32 | 64 | 128 | 256 | 512 | 1024 | 2048 | 4096 | 16384
    ALL = 32767


# An update that is none of the specific ones.
PLAIN_UPDATE = Action(8192)

_ACTION_NAMES = {
    Action.ADD: "Add",
    Action.DELETE: "Delete",
    PLAIN_UPDATE: "Update",
    Action.UPDATE_NODE_ALLOCATABLE: "UpdateNodeAllocatable",
    Action.UPDATE_NODE_LABEL: "UpdateNodeLabel",
    Action.UPDATE_NODE_TAINT: "UpdateNodeTaint",
    Action.UPDATE_NODE_CONDITION: "UpdateNodeCondition",
    Action.UPDATE_NODE_ANNOTATION: "UpdateNodeAnnotation",
    Action.UPDATE_NODE_DECLARED_FEATURE: "UpdateNodeDeclaredFeature",
    Action.UPDATE_POD_LABEL: "UpdatePodLabel",
    Action.UPDATE_POD_SCALE_UP: "UpdatePodScaleUp",
    Action.UPDATE_POD_SCALE_DOWN: "UpdatePodScaleDown",
    Action.UPDATE_POD_TOLERATION: "UpdatePodToleration",
    Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "UpdatePodGeneratedResourceClaim",
}
_POD_KINDS = (EventResource.ASSIGNED_POD, EventResource.UNSCHEDULED_POD, EventResource.TARGET_POD)


class ClusterEvent(NamedTuple):
    resource: EventResource
    action: Action
    custom_label: str = ""

    @property
    def label(self) -> str:
        """As upstream names it: `AssignedPodDelete`, `NodeAdd`, `BackoffComplete`."""
        if self.custom_label:
            return self.custom_label
        return f"{self.resource}{_ACTION_NAMES.get(self.action, 'Update')}"

    @property
    def wildcard(self) -> bool:
        return self.resource is EventResource.WILDCARD and self.action == Action.ALL

    def matches(self, incoming: ClusterEvent) -> bool:
        """Whether `incoming` is one of the events that this registration asks for."""
        if self.wildcard:
            return True
        same = self.resource is EventResource.WILDCARD or self.resource is incoming.resource
        same = same or (self.resource is EventResource.POD and incoming.resource in _POD_KINDS)
        return same and bool(self.action & incoming.action)


class QueueingHint(Enum):
    SKIP = "QueueSkip"
    QUEUE = "Queue"


# Given the waiting pod, the object before and after (PodInfo for pods, Object for all else): may the pod fit now?
HintFunction = Callable[[PodInfo, Any, Any], QueueingHint]


def always_queue(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    return QueueingHint.QUEUE


class EventWithHint(NamedTuple):
    event: ClusterEvent
    hint: HintFunction = always_queue


ASSIGNED_POD_ADD = ClusterEvent(EventResource.ASSIGNED_POD, Action.ADD)
ASSIGNED_POD_DELETE = ClusterEvent(EventResource.ASSIGNED_POD, Action.DELETE)
UNSCHEDULED_POD_ADD = ClusterEvent(EventResource.UNSCHEDULED_POD, Action.ADD)
UNSCHEDULED_POD_UPDATE = ClusterEvent(EventResource.UNSCHEDULED_POD, PLAIN_UPDATE)
NODE_ADD = ClusterEvent(EventResource.NODE, Action.ADD)
NODE_DELETE = ClusterEvent(EventResource.NODE, Action.DELETE)
UNSCHEDULABLE_TIMEOUT = ClusterEvent(EventResource.WILDCARD, Action.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent(EventResource.WILDCARD, Action.ALL, "ForceActivate")

# Labels of moves that no cluster event makes.
SCHEDULE_ATTEMPT_FAILURE = "ScheduleAttemptFailure"
BACKOFF_COMPLETE = "BackoffComplete"
POP_FROM_BACKOFF = "PopFromBackoffQ"

# What a plugin that registers nothing is taken to wait for.
ALL_EVENTS = [
    EventWithHint(ClusterEvent(resource, Action.ALL))
    for resource in EventResource
    if resource not in (EventResource.POD, EventResource.WILDCARD)
]


def _scaled_down(old: Object, new: Object) -> bool:
    if old.get("spec") == new.get("spec") and old.get("status") == new.get("status"):
        return False
    after = pod_amounts(new)
    return any(name not in after or amount > after[name] for name, amount in pod_amounts(old).items())


_CLAIM_STATUSES = ("resourceClaimStatuses", "extendedResourceClaimStatus")


def pod_events(old: PodInfo, new: PodInfo, resource: EventResource) -> list[ClusterEvent]:
    """What an update of a pod amounts to (PodSchedulingPropertiesChange)."""
    actions: list[Action] = []
    if old.labels != new.labels:
        actions.append(Action.UPDATE_POD_LABEL)
    if old.request is not new.request and _scaled_down(old.pod, new.pod):
        actions.append(Action.UPDATE_POD_SCALE_DOWN)
    if old.spec.get("schedulingGates") and not new.spec.get("schedulingGates"):
        actions.append(Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    if len(old.tolerations) != len(new.tolerations):
        actions.append(Action.UPDATE_POD_TOLERATION)
    if any((old.status.get(name) or None) != (new.status.get(name) or None) for name in _CLAIM_STATUSES):
        actions.append(Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
    return [ClusterEvent(resource, action) for action in actions or [PLAIN_UPDATE]]


def _conditions(node: Object) -> dict[str, str]:
    return {c["type"]: c.get("status", "") for c in (node.get("status") or {}).get("conditions") or ()}


def _declared(node: Object) -> list[str]:
    return (node.get("status") or {}).get("declaredFeatures") or []


def _allocatable_changed(old: Object, new: Object) -> bool:
    """The same amount in other words is no change."""
    before, after = ((node.get("status") or {}).get("allocatable") or {} for node in (old, new))
    return before != after and amounts(before) != amounts(after)


def node_events(old: Object, new: Object) -> list[ClusterEvent]:
    """What an update of a node amounts to (NodeSchedulingPropertiesChange); often nothing, as for a heartbeat."""
    before, after = old.get("spec") or {}, new.get("spec") or {}
    actions: list[Action] = []
    if before.get("unschedulable") and not after.get("unschedulable"):
        actions.append(Action.UPDATE_NODE_TAINT)
    if _allocatable_changed(old, new):
        actions.append(Action.UPDATE_NODE_ALLOCATABLE)
    if (old["metadata"].get("labels") or {}) != (new["metadata"].get("labels") or {}):
        actions.append(Action.UPDATE_NODE_LABEL)
    if (before.get("taints") or []) != (after.get("taints") or []):
        actions.append(Action.UPDATE_NODE_TAINT)
    if _conditions(old) != _conditions(new):
        actions.append(Action.UPDATE_NODE_CONDITION)
    if (old["metadata"].get("annotations") or {}) != (new["metadata"].get("annotations") or {}):
        actions.append(Action.UPDATE_NODE_ANNOTATION)
    if _declared(old) != _declared(new):
        actions.append(Action.UPDATE_NODE_DECLARED_FEATURE)
    return [ClusterEvent(EventResource.NODE, action) for action in actions]
