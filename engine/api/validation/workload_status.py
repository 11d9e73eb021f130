"""The counts in the statuses of Deployments, ReplicaSets, ReplicationControllers, DaemonSets and StatefulSets.

Sources: the Validate...Status functions of pkg/apis/apps/validation and pkg/apis/core/validation.
"""

from __future__ import annotations

from engine.api.types import Object
from engine.api.validation.problems import Problems

_TOO_MANY = "cannot be greater than status.replicas"
_DEPLOYMENT = (
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
)
_REPLICA_SET = (
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "terminatingReplicas",
    "observedGeneration",
)
_STATEFUL_SET = (
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "observedGeneration",
    "collisionCount",
)
_DAEMON_SET = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
)


def deployment_status(new: Object, old: Object, problems: Problems) -> None:
    status = _not_negative(new, _DEPLOYMENT, problems)
    _at_most_replicas(status, ("updatedReplicas", "readyReplicas", "availableReplicas"), problems)
    _available_are_ready(status, "readyReplicas", problems)
    _collisions(new, old, problems)


def replica_set_status(new: Object, old: Object, problems: Problems) -> None:
    """Of a ReplicaSet, and of a ReplicationController."""
    status = _not_negative(new, _REPLICA_SET, problems)
    _at_most_replicas(status, ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"), problems)
    _available_are_ready(status, "readyReplicas", problems)


def stateful_set_status(new: Object, old: Object, problems: Problems) -> None:
    status = _not_negative(new, _STATEFUL_SET, problems)
    bounded = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    _at_most_replicas(status, bounded, problems)
    _available_are_ready(status, "status.readyReplicas", problems)
    _collisions(new, old, problems)


def daemon_set_status(new: Object, old: Object, problems: Problems) -> None:
    _not_negative(new, _DAEMON_SET, problems)
    _collisions(new, old, problems)


def _not_negative(obj: Object, fields: tuple[str, ...], problems: Problems) -> Object:
    status = obj.get("status") or {}
    for field in fields:
        problems.not_negative(f"status.{field}", status.get(field))
    return status


def _at_most_replicas(status: Object, fields: tuple[str, ...], problems: Problems) -> None:
    for field in fields:
        counted = status.get(field, 0)  # none is still more than a negative number of replicas
        if counted > status.get("replicas", 0):
            problems.invalid(f"status.{field}", counted, _TOO_MANY)


def _available_are_ready(status: Object, bound: str, problems: Problems) -> None:
    available = status.get("availableReplicas", 0)
    if available > status.get("readyReplicas", 0):
        problems.invalid("status.availableReplicas", available, f"cannot be greater than {bound}")


def _collisions(new: Object, old: Object, problems: Problems) -> None:
    """How often a name was taken is counted up only, and stays told once it is, even as none (IsDecremented)."""
    count = (new.get("status") or {}).get("collisionCount")
    before = (old.get("status") or {}).get("collisionCount")
    if before is not None and (count is None or count < before):
        problems.invalid("status.collisionCount", count or 0, "cannot be decremented")
