"""Whether a Node shows signs of life: pure (tryUpdateNodeHealth in node_lifecycle_controller.go).

A sign of life is a new heartbeat in the Node's Ready condition or a renewed Lease, judged by when this controller saw
it: clocks of Nodes are not trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engine.api.types import Object
from engine.controllers.conditions import Conditions, conditions_of, find_condition
from engine.controllers.pods import parse_time

READY = "Ready"
STARTUP_GRACE = 60.0
# What a Node that fell silent no longer vouches for.
_TYPES = (READY, "MemoryPressure", "DiskPressure", "PIDPressure")


@dataclass(slots=True)
class Health:
    """What was last seen of a Node, and when (model time) something last changed."""

    probed: datetime
    heartbeat: str = ""
    renewed: str = ""


def ready_status(node: Object) -> str:
    """`True`, `False` or `Unknown`; "" for a Node of which nobody has said yet."""
    condition = find_condition(conditions_of(node.get("status") or {}), READY)
    return str(condition["status"]) if condition is not None else ""


def observe(node: Object, lease: Object | None, health: Health | None, now: datetime) -> Health:
    """The health after a look at the Node and its Lease."""
    condition = find_condition(conditions_of(node.get("status") or {}), READY)
    heartbeat = str(condition.get("lastHeartbeatTime") or "") if condition is not None else ""
    renewed = str(((lease or {}).get("spec") or {}).get("renewTime", ""))
    if health is None:
        probed = now if condition is not None else parse_time(node["metadata"]["creationTimestamp"])
        return Health(probed, heartbeat, renewed)
    alive = heartbeat != health.heartbeat or renewed > health.renewed
    return Health(now if alive else health.probed, heartbeat, max(renewed, health.renewed))


def silent_conditions(node: Object, health: Health, *, now: datetime, grace: float) -> Conditions | None:
    """The conditions of a Node that was silent for too long; None if it was not, or if they say so already."""
    conditions = conditions_of(node.get("status") or {})
    never = find_condition(conditions, READY) is None
    if (now - health.probed).total_seconds() <= (STARTUP_GRACE if never else grace):
        return None
    known = [each["type"] for each in conditions]
    told = [
        _unknown(node, each["type"], each, now) if each["type"] in _TYPES and each["status"] != "Unknown" else each
        for each in conditions
    ]
    told += [_unknown(node, type, None, now) for type in _TYPES if type not in known]
    return told if told != conditions else None


def _unknown(node: Object, type: str, old: Object | None, now: datetime) -> Object:
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    if old is None:
        return {
            "type": type,
            "status": "Unknown",
            "lastHeartbeatTime": node["metadata"]["creationTimestamp"],
            "lastTransitionTime": stamp,
            "reason": "NodeStatusNeverUpdated",
            "message": "Kubelet never posted node status.",
        }
    return {
        **old,
        "status": "Unknown",
        "lastTransitionTime": stamp,
        "reason": "NodeStatusUnknown",
        "message": "Kubelet stopped posting node status.",
    }
