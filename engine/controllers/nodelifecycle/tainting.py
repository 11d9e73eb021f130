"""Which taints a Node should have, and how fast evictions may go: pure (node_lifecycle_controller.go)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import Enum

from engine.api.types import Object
from engine.controllers.conditions import conditions_of
from engine.controllers.nodelifecycle.health import ready_status
from engine.controllers.taints import (
    DISK_PRESSURE,
    MEMORY_PRESSURE,
    NETWORK_UNAVAILABLE,
    NO_EXECUTE,
    NO_SCHEDULE,
    NOT_READY,
    PID_PRESSURE,
    UNREACHABLE,
    UNSCHEDULABLE,
    has_taint,
    same_taint,
    taints_of,
)

_BY_CONDITION = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): MEMORY_PRESSURE,
    ("DiskPressure", "True"): DISK_PRESSURE,
    ("NetworkUnavailable", "True"): NETWORK_UNAVAILABLE,
    ("PIDPressure", "True"): PID_PRESSURE,
}
_MANAGED = frozenset({*_BY_CONDITION.values(), UNSCHEDULABLE})

EVICTION_QPS = 0.1
SECONDARY_EVICTION_QPS = 0.01
LARGE_CLUSTER = 50
UNHEALTHY_SHARE = 0.55


def no_schedule_taints(node: Object, now: datetime) -> list[Object] | None:
    """All taints of the Node with those that its conditions ask for in step; None if they are."""
    wanted = [
        key
        for condition in conditions_of(node.get("status") or {})
        if (key := _BY_CONDITION.get((condition["type"], condition["status"]))) is not None
    ]
    if (node.get("spec") or {}).get("unschedulable"):
        wanted.append(UNSCHEDULABLE)
    taints = taints_of(node)
    kept = [
        taint
        for taint in taints
        if taint["effect"] != NO_SCHEDULE or taint["key"] not in _MANAGED or taint["key"] in wanted
    ]
    missing = [key for key in wanted if not has_taint(node, key, NO_SCHEDULE)]
    if len(kept) == len(taints) and not missing:
        return None
    return [*kept, *({"key": key, "effect": NO_SCHEDULE, "timeAdded": _stamp(now)} for key in missing)]


def no_execute_key(node: Object) -> str:
    """The taint that drives Pods off a Node in this state; "" for one that is ready."""
    return {"False": NOT_READY, "Unknown": UNREACHABLE}.get(ready_status(node), "")


def no_execute_taints(node: Object, key: str, now: datetime) -> list[Object] | None:
    """All taints with `key` as the only one of the two that drive Pods off ("" for none); None if they are so."""
    taints = taints_of(node)
    both = [{"key": each, "effect": NO_EXECUTE} for each in (NOT_READY, UNREACHABLE)]
    kept = [taint for taint in taints if taint["key"] == key or not any(same_taint(taint, each) for each in both)]
    missing = bool(key) and not has_taint(node, key, NO_EXECUTE)
    if len(kept) == len(taints) and not missing:
        return None
    added = [{"key": key, "effect": NO_EXECUTE, "timeAdded": _stamp(now)}] if missing else []
    return [*kept, *added]


def _stamp(now: datetime) -> str:
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


class ZoneState(Enum):
    NORMAL = "Normal"
    PARTIAL = "PartialDisruption"
    FULL = "FullDisruption"


def zone_state(nodes: Sequence[Object]) -> ZoneState:
    """A Node of which nothing is known yet counts as one that is down."""
    silent = sum(ready_status(node) != "True" for node in nodes)
    if silent and silent == len(nodes):
        return ZoneState.FULL
    if silent > 2 and silent / len(nodes) >= UNHEALTHY_SHARE:
        return ZoneState.PARTIAL
    return ZoneState.NORMAL


def eviction_qps(state: ZoneState, size: int) -> float:
    """Nodes a second of a zone that may be tainted: few where much of a zone is down, for the fault may be ours."""
    if state is not ZoneState.PARTIAL:
        return EVICTION_QPS
    return SECONDARY_EVICTION_QPS if size > LARGE_CLUSTER else 0.0
