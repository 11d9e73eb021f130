"""Taints and tolerations (component-helpers scheduling/corev1)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.types import Object

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure"
DISK_PRESSURE = "node.kubernetes.io/disk-pressure"
PID_PRESSURE = "node.kubernetes.io/pid-pressure"
NETWORK_UNAVAILABLE = "node.kubernetes.io/network-unavailable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"


def taints_of(node: Object) -> list[Object]:
    taints: list[Object] = (node.get("spec") or {}).get("taints") or []
    return taints


def same_taint(a: Object, b: Object) -> bool:
    """Key and effect are a taint's identity; its value is not."""
    return bool(a["key"] == b["key"] and a["effect"] == b["effect"])


def has_taint(node: Object, key: str, effect: str) -> bool:
    return any(same_taint(taint, {"key": key, "effect": effect}) for taint in taints_of(node))


def tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")


def find_toleration(tolerations: Iterable[Object], taint: Object) -> Object | None:
    return next((each for each in tolerations if tolerates(each, taint)), None)
