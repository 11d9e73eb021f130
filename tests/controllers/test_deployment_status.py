"""The status of a Deployment and the progress of its rollout (after upstream's progress_test.go)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engine.api.types import Object
from engine.controllers.conditions import conditions_of, find_condition
from engine.controllers.deployment import status as judge
from engine.controllers.deployment.replica_sets import ReplicaSets
from tests.controllers.objects import deployment, replica_set

NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)


def progressing(reason: str, *, status: str = "True", seconds_ago: float = 0) -> Object:
    return judge.condition(
        judge.PROGRESSING, status, reason=reason, message="", now=NOW - timedelta(seconds=seconds_ago)
    )


def summary(status: Object) -> dict[str, tuple[str, str, str]]:
    return {c["type"]: (c["status"], c["reason"], c["message"]) for c in conditions_of(status)}


def test_counts_and_zeroes_left_out() -> None:
    sets = ReplicaSets(replica_set("new", 2, available=1, created=1), [replica_set("old", 2)])
    status = judge.deployment_status(deployment(3), sets, now=NOW)
    del status["conditions"]
    assert status == {
        "observedGeneration": 1,
        "replicas": 4,
        "updatedReplicas": 2,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "unavailableReplicas": 1,
    }
    assert "replicas" not in judge.deployment_status(deployment(0), ReplicaSets(None, []), now=NOW)


@pytest.mark.parametrize(
    ("available", "expected"),
    [
        pytest.param(
            8, ("True", "MinimumReplicasAvailable", "Deployment has minimum availability."), id="enough are available"
        ),
        pytest.param(
            7,
            ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
            id="too few are available",
        ),
    ],
)
def test_availability(available: int, expected: tuple[str, str, str]) -> None:
    sets = ReplicaSets(replica_set("new", 10, available=available), [])
    assert summary(judge.deployment_status(deployment(10), sets, now=NOW))["Available"] == expected


def rollout(new: Object | None, before: dict[str, Any], **spec: Any) -> dict[str, tuple[str, str, str]]:
    target = deployment(3, progressDeadlineSeconds=spec.pop("deadline", 600), status=before, **spec)
    return summary(judge.rollout_status(target, ReplicaSets(new, spec.pop("old", [])), now=NOW))


def test_a_rollout_that_is_through_says_so() -> None:
    found = rollout(replica_set("web-1", 3), {"conditions": [progressing("ReplicaSetUpdated")], "replicas": 3})
    assert found["Progressing"] == ("True", "NewReplicaSetAvailable", 'ReplicaSet "web-1" has successfully progressed.')


def test_a_rollout_that_moves_says_so_and_notes_when() -> None:
    before = {"conditions": [progressing("NewReplicaSetCreated", seconds_ago=60)], "updatedReplicas": 1, "replicas": 1}
    target = deployment(3, progressDeadlineSeconds=600, status=before)
    sets = ReplicaSets(replica_set("web-1", 3, available=0, replicas=2), [])
    condition = find_condition(conditions_of(judge.rollout_status(target, sets, now=NOW)), "Progressing")
    assert condition is not None
    assert (condition["reason"], condition["message"]) == ("ReplicaSetUpdated", 'ReplicaSet "web-1" is progressing.')
    assert condition["lastUpdateTime"] == "2026-01-01T01:00:00Z"
    assert condition["lastTransitionTime"] == "2026-01-01T00:59:00Z", "it was progressing all along"


@pytest.mark.parametrize(
    ("reason", "seconds_ago", "deadline", "expected"),
    [
        pytest.param("ReplicaSetUpdated", 601, 600, "ProgressDeadlineExceeded", id="too long without progress"),
        pytest.param("ReplicaSetUpdated", 599, 600, "ReplicaSetUpdated", id="not yet too long"),
        pytest.param("NewReplicaSetAvailable", 5000, 600, "NewReplicaSetAvailable", id="a rollout that has ended"),
        pytest.param("ReplicaSetUpdated", 5000, 2**31 - 1, None, id="no deadline, no condition"),
    ],
)
def test_timing_out(reason: str, seconds_ago: float, deadline: int, expected: str | None) -> None:
    before = {"conditions": [progressing(reason, seconds_ago=seconds_ago)], "replicas": 3, "updatedReplicas": 3}
    found = rollout(replica_set("web-1", 3, available=0), before, deadline=deadline)
    assert found.get("Progressing", (None, None))[1] == expected
    if expected == "ProgressDeadlineExceeded":
        assert found["Progressing"] == ("False", expected, 'ReplicaSet "web-1" has timed out progressing.')


def test_the_failure_of_the_new_replica_set_shows_on_the_deployment_and_goes_with_it() -> None:
    failure = {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": "quota",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    failed = replica_set("web-1", 3, available=0, conditions=[failure])
    found = rollout(failed, {"conditions": []})
    assert found["ReplicaFailure"] == ("True", "FailedCreate", "quota")
    shown = {**failure, "lastUpdateTime": failure["lastTransitionTime"]}
    assert "ReplicaFailure" not in rollout(replica_set("web-1", 3), {"conditions": [shown]})


@pytest.mark.parametrize(
    ("paused", "reason", "expected"),
    [
        pytest.param(True, "ReplicaSetUpdated", ("DeploymentPaused", "Deployment is paused"), id="paused"),
        pytest.param(False, "DeploymentPaused", ("DeploymentResumed", "Deployment is resumed"), id="resumed"),
        pytest.param(True, "DeploymentPaused", None, id="known to be paused"),
        pytest.param(False, "ReplicaSetUpdated", None, id="not paused"),
        pytest.param(True, "ProgressDeadlineExceeded", None, id="a time-out is not written over"),
    ],
)
def test_pausing_and_resuming(paused: bool, reason: str, expected: tuple[str, str] | None) -> None:
    target = deployment(3, progressDeadlineSeconds=600, paused=paused, status={"conditions": [progressing(reason)]})
    conditions = judge.paused_conditions(target, NOW)
    if expected is None:
        assert conditions is None
    else:
        assert conditions is not None
        found = find_condition(conditions, "Progressing")
        assert found is not None
        assert (found["status"], found["reason"], found["message"]) == ("Unknown", *expected)


def test_a_rollout_that_stands_still_is_looked_at_again_at_its_deadline() -> None:
    before = {"conditions": [progressing("ReplicaSetUpdated", seconds_ago=180)]}
    target = deployment(3, progressDeadlineSeconds=600, status=before)
    status = judge.rollout_status(target, ReplicaSets(replica_set("web-1", 3, available=0), []), now=NOW)
    assert judge.check_progress_in(target, status, NOW) == 420
