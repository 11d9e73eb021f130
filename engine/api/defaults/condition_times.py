"""Times that are no pointers in Go: they are written whatever they hold, null where nobody has set them. Those of
conditions, and those of the states of a Pod's containers, which are there whatever is known of them.

Part of defaulting, hop 05. Source: the types.go of every group (a metav1.Time is a struct, which omitempty keeps).
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.types import Object

_CHANGED = ("lastTransitionTime",)
_PROBED = ("lastProbeTime", "lastTransitionTime")

CONDITION_TIMES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "Namespace"): _CHANGED,
    ("", "Node"): ("lastHeartbeatTime", "lastTransitionTime"),
    ("", "PersistentVolumeClaim"): _PROBED,
    ("", "Pod"): _PROBED,
    ("", "ReplicationController"): _CHANGED,
    ("", "Service"): _CHANGED,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _CHANGED,
    ("apps", "DaemonSet"): _CHANGED,
    ("apps", "Deployment"): ("lastUpdateTime", "lastTransitionTime"),
    ("apps", "ReplicaSet"): _CHANGED,
    ("apps", "StatefulSet"): _CHANGED,
    ("autoscaling", "HorizontalPodAutoscaler"): _CHANGED,
    ("batch", "Job"): _PROBED,
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): _CHANGED,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): _CHANGED,
    ("policy", "PodDisruptionBudget"): _CHANGED,
}


def condition_times(obj: Object, times: tuple[str, ...]) -> None:
    for condition in (obj.get("status") or {}).get("conditions") or ():
        for field in times:
            condition.setdefault(field, None)


_IN_ANY_CASE = ("state", "lastState")
_STATES = {"running": ("startedAt",), "terminated": ("startedAt", "finishedAt")}


def container_times(pod: Object) -> None:
    status = pod.get("status") or {}
    for field in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for item in status.get(field) or ():
            for when in _IN_ANY_CASE:
                for kind, details in item.setdefault(when, {}).items():
                    for time in _STATES.get(kind, ()) if details is not None else ():
                        details.setdefault(time, None)
