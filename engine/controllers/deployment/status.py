"""The status of a Deployment: counts, conditions and the progress of a rollout (sync.go, progress.go).

Pure: old status and ReplicaSets in, new status out. Reasons and messages are those of deployment_util.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from engine.api.types import Object
from engine.controllers.conditions import Conditions, conditions_of, find_condition, without_condition
from engine.controllers.deployment.limits import max_unavailable
from engine.controllers.deployment.replica_sets import ReplicaSets, replicas, status_sum, total_replicas
from engine.controllers.pods import parse_time

AVAILABLE = "Available"
PROGRESSING = "Progressing"
REPLICA_FAILURE = "ReplicaFailure"

NEW_AVAILABLE = "NewReplicaSetAvailable"
TIMED_OUT = "ProgressDeadlineExceeded"
PAUSED = "DeploymentPaused"

_NO_DEADLINE = 2**31 - 1


def condition(type: str, status: str, *, reason: str, message: str, now: datetime) -> Object:
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "type": type,
        "status": status,
        "lastUpdateTime": stamp,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }


def set_condition(conditions: Conditions, new: Object) -> Conditions:
    """With the condition in place; one of the same status and reason is left as it is, and of the same status it keeps
    its transition time."""
    old = find_condition(conditions, new["type"])
    if old is not None and old["status"] == new["status"] and old.get("reason") == new.get("reason"):
        return conditions
    if old is not None and old["status"] == new["status"]:
        new = {**new, "lastTransitionTime": old["lastTransitionTime"]}
    return [*without_condition(conditions, new["type"]), new]


def progressing_condition(status: Object) -> Object | None:
    return find_condition(conditions_of(status), PROGRESSING)


def deadline(deployment: Object) -> int | None:
    """`spec.progressDeadlineSeconds`, where there is one to keep."""
    seconds = deployment["spec"].get("progressDeadlineSeconds")
    return None if seconds is None or seconds == _NO_DEADLINE else int(seconds)


def deployment_status(
    deployment: Object, sets: ReplicaSets, *, now: datetime, count_terminating: bool = False
) -> Object:
    """The counts, and the Available condition (calculateStatus)."""
    available = status_sum(sets.all, "availableReplicas")
    old = deployment.get("status") or {}
    counts: Object = {
        "observedGeneration": deployment["metadata"].get("generation", 0),
        "replicas": status_sum(sets.all, "replicas"),
        "updatedReplicas": status_sum([sets.new] if sets.new is not None else [], "replicas"),
        "readyReplicas": status_sum(sets.all, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, total_replicas(sets.all) - available),
    }
    status = {name: value for name, value in counts.items() if value}
    if count_terminating:
        status["terminatingReplicas"] = status_sum(sets.all, "terminatingReplicas")
    if "collisionCount" in old:
        status["collisionCount"] = old["collisionCount"]
    enough = available >= replicas(deployment) - max_unavailable(deployment)
    status["conditions"] = set_condition(conditions_of(old), _availability(enough, now))
    return status


def _availability(enough: bool, now: datetime) -> Object:
    if enough:
        return condition(
            AVAILABLE,
            "True",
            reason="MinimumReplicasAvailable",
            message="Deployment has minimum availability.",
            now=now,
        )
    return condition(
        AVAILABLE,
        "False",
        reason="MinimumReplicasUnavailable",
        message="Deployment does not have minimum availability.",
        now=now,
    )


def is_complete(deployment: Object, status: Object) -> bool:
    """All Pods are of the new template and available, and no old ones run."""
    wanted = replicas(deployment)
    return bool(
        status.get("updatedReplicas", 0) == wanted
        and status.get("replicas", 0) == wanted
        and status.get("availableReplicas", 0) == wanted
        and status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 0)
    )


def rollout_status(deployment: Object, sets: ReplicaSets, *, now: datetime, count_terminating: bool = False) -> Object:
    """The status during a rollout: also whether it moves, has ended or has timed out (syncRolloutStatus)."""
    status = deployment_status(deployment, sets, now=now, count_terminating=count_terminating)
    conditions = conditions_of(status)
    if deadline(deployment) is None:
        conditions = without_condition(conditions, PROGRESSING)
    elif not _was_complete(deployment, status):
        conditions = _progress(deployment, status, sets, now)
    failure = _replica_failure(sets)
    if failure is not None:
        conditions = set_condition(conditions, failure)
    else:
        conditions = without_condition(conditions, REPLICA_FAILURE)
    return {**status, "conditions": conditions}


def _was_complete(deployment: Object, status: Object) -> bool:
    """The rollout had ended before, and this is no more than a resync or a scaling."""
    current = progressing_condition(deployment.get("status") or {})
    same = status.get("replicas", 0) == status.get("updatedReplicas", 0)
    return bool(same and current is not None and current.get("reason") == NEW_AVAILABLE)


def _progress(deployment: Object, status: Object, sets: ReplicaSets, now: datetime) -> Conditions:
    conditions = conditions_of(status)
    subject = f'ReplicaSet "{sets.new["metadata"]["name"]}"' if sets.new is not None else _named(deployment)
    if is_complete(deployment, status):
        message = f"{subject} has successfully progressed."
        return set_condition(conditions, condition(PROGRESSING, "True", reason=NEW_AVAILABLE, message=message, now=now))
    if _moves(deployment, status):
        new = condition(PROGRESSING, "True", reason="ReplicaSetUpdated", message=f"{subject} is progressing.", now=now)
        # Replaced even with the same reason: its update time says when there was last progress.
        current = progressing_condition(deployment.get("status") or {})
        if current is not None and current["status"] == "True":
            new["lastTransitionTime"] = current["lastTransitionTime"]
        return [*without_condition(conditions, PROGRESSING), new]
    if has_timed_out(deployment, status, now):
        message = f"{subject} has timed out progressing."
        return set_condition(conditions, condition(PROGRESSING, "False", reason=TIMED_OUT, message=message, now=now))
    return conditions


def _named(deployment: Object) -> str:
    return f'Deployment "{deployment["metadata"]["name"]}"'


def _moves(deployment: Object, status: Object) -> bool:
    """New Pods came up or became ready or available, or old ones went."""
    old = deployment.get("status") or {}

    def outdated(of: Object) -> int:
        return int(of.get("replicas", 0) - of.get("updatedReplicas", 0))

    return bool(
        status.get("updatedReplicas", 0) > old.get("updatedReplicas", 0)
        or outdated(status) < outdated(old)
        or status.get("readyReplicas", 0) > old.get("readyReplicas", 0)
        or status.get("availableReplicas", 0) > old.get("availableReplicas", 0)
    )


def has_timed_out(deployment: Object, status: Object, now: datetime) -> bool:
    """No progress for longer than the deadline; a rollout that has ended or was paused cannot time out."""
    seconds, current = deadline(deployment), progressing_condition(status)
    if seconds is None or current is None or current.get("reason") == NEW_AVAILABLE:
        return False
    if current.get("reason") == TIMED_OUT:
        return True
    return parse_time(current["lastUpdateTime"]) + timedelta(seconds=seconds) < now


def check_progress_in(deployment: Object, status: Object, now: datetime) -> float | None:
    """Seconds until a rollout that stands still should be looked at again; None if it need not be."""
    seconds, current = deadline(deployment), progressing_condition(deployment.get("status") or {})
    if seconds is None or current is None:
        return None
    if is_complete(deployment, status) or current.get("reason") == TIMED_OUT:
        return None
    return (parse_time(current["lastUpdateTime"]) + timedelta(seconds=seconds) - now).total_seconds()


def _replica_failure(sets: ReplicaSets) -> Object | None:
    """The failure of a ReplicaSet, the new one's first, as a condition of the Deployment."""
    for rs in [*([sets.new] if sets.new is not None else []), *sets.old]:
        found = find_condition(conditions_of(rs.get("status") or {}), REPLICA_FAILURE)
        if found is not None:
            return {
                "type": REPLICA_FAILURE,
                "status": found["status"],
                "lastUpdateTime": found["lastTransitionTime"],
                "lastTransitionTime": found["lastTransitionTime"],
                "reason": found.get("reason", ""),
                "message": found.get("message", ""),
            }
    return None


def paused_conditions(deployment: Object, now: datetime) -> Conditions | None:
    """The conditions after a pause or a resume that they do not yet show; None if they do (checkPausedConditions)."""
    if deadline(deployment) is None:
        return None
    conditions = conditions_of(deployment.get("status") or {})
    current = find_condition(conditions, PROGRESSING)
    reason = current.get("reason") if current is not None else None
    if reason == TIMED_OUT:
        return None
    paused = bool(deployment["spec"].get("paused"))
    if paused == (reason == PAUSED):
        return None
    new = (
        condition(PROGRESSING, "Unknown", reason=PAUSED, message="Deployment is paused", now=now)
        if paused
        else condition(PROGRESSING, "Unknown", reason="DeploymentResumed", message="Deployment is resumed", now=now)
    )
    return set_condition(conditions, new)


def names(replica_sets: Sequence[Object]) -> dict[str, int]:
    """Sizes by name, for the controller's view."""
    return {rs["metadata"]["name"]: replicas(rs) for rs in replica_sets}
