"""The status of a ReplicaSet from its Pods (pkg/controller/replicaset/replica_set_utils.go)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine.api.types import Object
from engine.controllers.conditions import conditions_of, find_condition, without_condition
from engine.controllers.pods import is_available, is_ready

REPLICA_FAILURE = "ReplicaFailure"


def replica_set_status(
    rs: Object, pods: Sequence[Object], *, terminating: int | None, failure: Exception | None, now: datetime
) -> Object:
    """The new status. `pods` are the active ones; `terminating` is None where the version has no such field."""
    spec = rs["spec"]
    wanted = (spec["template"].get("metadata") or {}).get("labels") or {}
    min_ready = spec.get("minReadySeconds", 0)
    status: Object = {
        "replicas": len(pods),
        "fullyLabeledReplicas": sum(wanted.items() <= (pod["metadata"].get("labels") or {}).items() for pod in pods),
        "readyReplicas": sum(is_ready(pod) for pod in pods),
        "availableReplicas": sum(is_available(pod, min_ready, now) for pod in pods),
        "observedGeneration": rs["metadata"].get("generation", 0),
        "conditions": _conditions(rs, len(pods), failure=failure, now=now),
    }
    kept = {name: value for name, value in status.items() if value or name == "replicas"}
    if terminating is not None:
        kept["terminatingReplicas"] = terminating
    return kept


def _conditions(rs: Object, pods: int, *, failure: Exception | None, now: datetime) -> list[Object]:
    conditions = conditions_of(rs.get("status") or {})
    existing = find_condition(conditions, REPLICA_FAILURE)
    if failure is None:
        return without_condition(conditions, REPLICA_FAILURE) if existing is not None else conditions
    if existing is not None:
        return conditions
    too_few = pods < rs["spec"].get("replicas", 1)
    condition = {
        "type": REPLICA_FAILURE,
        "status": "True",
        "reason": "FailedCreate" if too_few else "FailedDelete",
        "message": str(failure) if too_few else f"unable to delete pods: {failure}",
        "lastTransitionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return [*conditions, condition]
