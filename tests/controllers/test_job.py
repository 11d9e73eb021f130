"""Jobs: the pure parts after upstream's job_controller_test.go, and whole Jobs end to end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engine.api.types import PODS, Object
from engine.controllers.job.controller import JOBS
from engine.controllers.job.facts import Backoff, Facts, finished_at
from engine.controllers.job.indexes import format_indexes, parse_indexes, pending_indexes
from engine.controllers.job.pods import make_pod, surplus_pods
from engine.controllers.job.policy import Verdict, judge_failure, success_policy_met
from engine.world import World
from tests.controllers.cluster import TestCluster, running
from tests.controllers.objects import pod

NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)


def job(name: str = "work", **spec: Any) -> Object:
    status = spec.pop("status", {})
    template_spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default", "uid": "job-uid"},
        "spec": {"template": {"spec": template_spec}, "backoffLimit": 6, **spec},
        "status": status,
    }


@pytest.mark.parametrize(
    ("indexes", "text"),
    [
        pytest.param([], "", id="none"),
        pytest.param([3], "3", id="one"),
        pytest.param([0, 1], "0,1", id="two in a row"),
        pytest.param([0, 2, 3, 4, 7], "0,2-4,7", id="runs"),
    ],
)
def test_sets_of_indexes(indexes: list[int], text: str) -> None:
    assert format_indexes(indexes) == text
    assert sorted(parse_indexes(text, 10)) == indexes


def test_indexes_beyond_the_completions_are_forgotten_and_the_first_free_ones_are_taken() -> None:
    assert parse_indexes("0,2-9", 4) == {0, 2, 3}
    assert pending_indexes({0, 2}, count=2, completions=5) == [1, 3]
    assert pending_indexes({0, 2}, count=9, completions=4) == [1, 3]


def ended(name: str, code: int, *, container: str = "c", **condition: str) -> Object:
    made = pod(name, phase="Failed" if code else "Succeeded", ready=False)
    terminated = {"exitCode": code, "finishedAt": "2026-01-01T00:30:00Z"}
    made["status"]["containerStatuses"] = [{"name": container, "restartCount": 0, "state": {"terminated": terminated}}]
    if condition:
        made["status"]["conditions"].append(condition)
    made["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    return made


def untracked(of: Object) -> Object:
    del of["metadata"]["finalizers"]
    return of


def rule(action: str, **match: Any) -> Object:
    return {"rules": [{"action": action, **match}]}


CODES = {"operator": "In", "values": [1, 42]}
DISRUPTED = [{"type": "DisruptionTarget", "status": "True"}]


@pytest.mark.parametrize(
    ("policy", "failed", "expected"),
    [
        pytest.param(None, ended("p", 1), Verdict("", True), id="no policy"),
        pytest.param(
            rule("FailJob", onExitCodes=CODES),
            ended("p", 42),
            Verdict("Container c for pod default/p failed with exit code 42 matching FailJob rule at index 0", True),
            id="a code that fails the Job",
        ),
        pytest.param(rule("FailJob", onExitCodes=CODES), ended("p", 7), Verdict("", True), id="another code"),
        pytest.param(
            rule("Ignore", onExitCodes={"operator": "NotIn", "values": [1]}),
            ended("p", 7),
            Verdict("", False),
            id="not in",
        ),
        pytest.param(
            rule("Ignore", onPodConditions=DISRUPTED),
            ended("p", 1, type="DisruptionTarget", status="True"),
            Verdict("", False),
            id="a disruption is ignored",
        ),
        pytest.param(
            rule("Ignore", onExitCodes={"containerName": "other", **CODES}),
            ended("p", 1),
            Verdict("", True),
            id="container",
        ),
    ],
)
def test_failure_policy(policy: Object | None, failed: Object, expected: Verdict) -> None:
    assert judge_failure(policy, failed) == expected


@pytest.mark.parametrize(
    ("rules", "succeeded", "met"),
    [
        pytest.param([{"succeededIndexes": "0-1"}], {0, 1, 5}, True, id="all of these"),
        pytest.param([{"succeededIndexes": "0-1"}], {0, 5}, False, id="one is missing"),
        pytest.param([{"succeededCount": 2}], {4, 5}, True, id="so many"),
        pytest.param([{"succeededIndexes": "0-3", "succeededCount": 2}], {0, 9}, False, id="so many of these"),
        pytest.param([{"succeededCount": 9}, {"succeededIndexes": "9"}], {9}, True, id="the second rule"),
    ],
)
def test_success_policy(rules: list[Object], succeeded: set[int], met: bool) -> None:
    target = job(completions=10, completionMode="Indexed", successPolicy={"rules": rules})
    assert bool(success_policy_met(target, succeeded)) is met


def facts(target: Object, *pods: Object) -> Facts:
    return Facts(target, pods, counted=set(), now=NOW)


@pytest.mark.parametrize(
    ("spec", "pods", "wanted"),
    [
        pytest.param({"parallelism": 2, "completions": 5}, [], 2, id="as parallel as asked"),
        pytest.param({"parallelism": 9, "completions": 5}, [], 5, id="no more than completions"),
        pytest.param({"parallelism": 9, "completions": 5}, [ended("a", 0)], 4, id="less what has succeeded"),
        pytest.param({"parallelism": 3}, [], 3, id="a work queue"),
        pytest.param({"parallelism": 3}, [ended("a", 0), pod("b")], 1, id="a work queue that has a success"),
        pytest.param({"parallelism": 3, "completions": 3, "suspend": True}, [pod("a")], 0, id="suspended"),
    ],
)
def test_how_many_should_run(spec: Object, pods: list[Object], wanted: int) -> None:
    assert facts(job(**spec), *pods).wanted_active() == wanted


@pytest.mark.parametrize(
    ("spec", "pods", "reason"),
    [
        pytest.param({"backoffLimit": 1}, [ended("a", 1)], None, id="within the limit"),
        pytest.param({"backoffLimit": 1}, [ended("a", 1), ended("b", 1)], "BackoffLimitExceeded", id="past the limit"),
        pytest.param({"backoffLimit": 0}, [ended("a", 1)], "BackoffLimitExceeded", id="no second try"),
        pytest.param(
            {"backoffLimit": 1, "podFailurePolicy": rule("Ignore", onExitCodes=CODES)},
            [ended("a", 1), ended("b", 1)],
            None,
            id="ignored failures",
        ),
        pytest.param(
            {"podFailurePolicy": rule("FailJob", onExitCodes=CODES)},
            [ended("a", 42)],
            "PodFailurePolicy",
            id="by policy",
        ),
        pytest.param(
            {"activeDeadlineSeconds": 60, "status": {"startTime": "2026-01-01T00:58:00Z"}},
            [],
            "DeadlineExceeded",
            id="past the deadline",
        ),
        pytest.param(
            {"activeDeadlineSeconds": 60, "suspend": True, "status": {"startTime": "2026-01-01T00:58:00Z"}},
            [],
            None,
            id="no deadline while suspended",
        ),
        pytest.param(
            {"backoffLimit": 3, "template": {"spec": {"restartPolicy": "OnFailure", "containers": [{"name": "c"}]}}},
            [pod("a", restarts=1), pod("b", restarts=2, metadata={"deletionTimestamp": "2026-01-01T00:30:00Z"})],
            "BackoffLimitExceeded",
            id="restarts in place, of one that leaves too",
        ),
        pytest.param(
            {"podFailurePolicy": rule("FailJob", onExitCodes=CODES)},
            [untracked(ended("a", 42))],
            "PodFailurePolicy",
            id="by policy, of one that is counted already",
        ),
    ],
)
def test_why_a_job_fails(spec: Object, pods: list[Object], reason: str | None) -> None:
    verdict = facts(job(completions=9, parallelism=1, **spec), *pods).verdict()
    assert (verdict["reason"] if verdict is not None else None) == reason


def test_failures_back_off_by_doubling_and_a_success_forgets_them() -> None:
    backoff = Backoff().after([], [ended("a", 1)])
    failed = datetime(2026, 1, 1, 0, 30, tzinfo=UTC)
    assert backoff.remaining(failed) == 10
    again = backoff.after([], [ended("b", 1), ended("c", 1)])
    assert (again.failures, again.remaining(failed)) == (3, 40)
    assert again.remaining(failed + timedelta(seconds=39)) == 1
    assert Backoff(20, failed).remaining(failed) == 600
    assert again.after([ended("d", 0)], []).remaining(failed) == 0


def test_a_pod_that_is_deleted_failed_when_that_was_asked_for() -> None:
    leaving = pod("p", metadata={"deletionTimestamp": "2026-01-01T00:30:30Z", "deletionGracePeriodSeconds": 30})
    leaving["status"]["containerStatuses"].append({"name": "d", "state": {"running": {}}})
    asked = datetime(2026, 1, 1, 0, 30, tzinfo=UTC)
    assert finished_at(leaving) == asked
    assert Backoff().after([], [leaving]).remaining(asked) == 10


def test_a_pod_of_an_index() -> None:
    made = make_pod(job(completions=3, completionMode="Indexed"), 2)
    assert made["metadata"]["generateName"] == "work-2-"
    assert made["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] == "2"
    assert made["metadata"]["finalizers"] == ["batch.kubernetes.io/job-tracking"]
    assert made["spec"]["hostname"] == "work-2"
    assert made["spec"]["containers"][0]["env"][0]["name"] == "JOB_COMPLETION_INDEX"


def test_pods_of_no_index_or_one_that_is_taken_are_removed() -> None:
    target = job(completions=2, completionMode="Indexed")

    def indexed(name: str, index: str, created: str = "2026-01-01T00:00:00Z") -> Object:
        annotations = {"batch.kubernetes.io/job-completion-index": index}
        return pod(name, created=created, metadata={"annotations": annotations})

    pods = [indexed("a", "0"), indexed("twin", "0", "2026-01-01T00:10:00Z"), indexed("far", "7"), indexed("none", "")]
    removed = surplus_pods(target, pods, at_least=0, now=NOW)
    assert [each["metadata"]["name"] for each in removed] == ["none", "twin", "far"]


# -- end to end


async def end_pods(cluster: TestCluster, code: int = 0, *, only: str = "") -> None:
    """Lets every Pod of the Job run to its end."""
    for each in await cluster.objects(PODS, namespace="default"):
        name, metadata = each["metadata"]["name"], each["metadata"]
        if metadata.get("deletionTimestamp"):
            await cluster.admin.delete(PODS, name, namespace="default", grace_period_seconds=0)
        elif each["status"]["phase"] == "Pending" and only in name:
            terminated = {"exitCode": code, "reason": "Completed", "finishedAt": cluster.world.clock.timestamp()}
            state = {"name": "c", "image": "busybox", "imageID": "", "ready": False, "restartCount": 0}
            status = {
                "phase": "Failed" if code else "Succeeded",
                "containerStatuses": [{**state, "state": {"terminated": terminated}}],
            }
            await cluster.admin.patch(PODS, name, {"status": status}, namespace="default", subresource="status")


async def status_of(cluster: TestCluster) -> tuple[Object, dict[str, str]]:
    status: Object = (await cluster.admin.get(JOBS, "work", namespace="default")).get("status") or {}
    return status, {each["type"]: each.get("reason", "") for each in status.get("conditions") or ()}


async def until(cluster: TestCluster, type: str, code: int = 0, *, only: str = "") -> tuple[Object, dict[str, str]]:
    async def has_ended() -> bool:
        await end_pods(cluster, code, only=only)
        return type in (await status_of(cluster))[1]

    await cluster.eventually(f"the Job is {type}", has_ended)
    return await status_of(cluster)


async def create(cluster: TestCluster, **spec: Any) -> None:
    made = job(**spec)
    made["metadata"] = {"name": "work", "namespace": "default"}
    del made["status"]
    await cluster.admin.create(JOBS, made, namespace="default")


async def test_a_job_completes(world: World) -> None:
    async with running(world) as cluster:
        await create(cluster, completions=3, parallelism=2)
        status, conditions = await until(cluster, "Complete")
        assert (status["succeeded"], status.get("failed", 0), status["uncountedTerminatedPods"]) == (3, 0, {})
        assert conditions == {"SuccessCriteriaMet": "CompletionsReached", "Complete": "CompletionsReached"}
        assert status["completionTime"]
        assert await cluster.events("Completed") == ["Job completed"]
        pods = await cluster.objects(PODS, namespace="default")
        assert len(pods) == 3
        assert not any(each["metadata"].get("finalizers") for each in pods)


async def test_a_job_that_fails_too_often_fails(world: World) -> None:
    async with running(world) as cluster:
        began = cluster.now
        await create(cluster, backoffLimit=2)
        status, conditions = await until(cluster, "Failed", code=1)
        assert status["failed"] == 3
        assert conditions == {"FailureTarget": "BackoffLimitExceeded", "Failed": "BackoffLimitExceeded"}
        assert 30 <= cluster.now - began <= 35, "ten seconds, then twenty"
        assert await cluster.events("BackoffLimitExceeded") == ["Job has reached the specified backoff limit"]


async def test_an_indexed_job_does_each_index_once(world: World) -> None:
    async with running(world) as cluster:
        await create(cluster, completions=4, parallelism=4, completionMode="Indexed")

        async def all_there() -> bool:
            return len(await cluster.objects(PODS, namespace="default")) == 4

        await cluster.eventually("four Pods", all_there)
        await end_pods(cluster, 1, only="work-2-")
        status, _ = await until(cluster, "Complete")
        assert (status["completedIndexes"], status["succeeded"], status["failed"]) == ("0-3", 4, 1)


async def test_a_suspended_job_lets_its_pods_go_and_takes_up_again(world: World) -> None:
    async with running(world) as cluster:
        await create(cluster, completions=2, parallelism=2)

        async def active(count: int) -> bool:
            for each in await cluster.objects(PODS, namespace="default"):
                if each["metadata"].get("deletionTimestamp"):
                    await cluster.admin.delete(
                        PODS, each["metadata"]["name"], namespace="default", grace_period_seconds=0
                    )
            status, _ = await status_of(cluster)
            return int(status.get("active", 0)) == count

        await cluster.eventually("two run", lambda: active(2))
        await cluster.admin.patch(JOBS, "work", {"spec": {"suspend": True}}, namespace="default")
        await cluster.eventually("none runs", lambda: active(0))
        status, conditions = await status_of(cluster)
        assert conditions == {"Suspended": "JobSuspended"}
        assert "startTime" not in status, "the time of what ran before does not count (KEP-5440)"
        await cluster.admin.patch(JOBS, "work", {"spec": {"suspend": False}}, namespace="default")
        status, conditions = await until(cluster, "Complete")
        assert conditions["Suspended"] == "JobResumed"
        assert (status["succeeded"], status.get("failed", 0)) == (2, 0)


async def test_a_deadline_ends_what_runs(world: World) -> None:
    async with running(world) as cluster:
        await create(cluster, activeDeadlineSeconds=30)
        began = cluster.now
        status, conditions = await until(cluster, "Failed", only="nothing ends by itself")
        assert conditions["Failed"] == "DeadlineExceeded"
        assert 30 <= cluster.now - began <= 35
        assert status["failed"] == 1


async def test_pods_of_a_deleted_job_are_not_held_by_their_finalizer(world: World) -> None:
    async with running(world) as cluster:
        await create(cluster)

        async def there() -> bool:
            return bool(await cluster.objects(PODS, namespace="default"))

        await cluster.eventually("a Pod", there)
        name = (await cluster.objects(PODS, namespace="default"))[0]["metadata"]["name"]
        await cluster.admin.delete(JOBS, "work", namespace="default", propagation_policy="Background")
        await cluster.gone(PODS, name)


# -- failures of each index


def indexed_pod(name: str, index: int, mark: str, *, failures: int = 0, code: int = 1, minute: int = 0) -> Object:
    """`F` has failed, `S` has succeeded, `R` runs."""
    made = ended(name, {"F": code, "S": 0, "R": 0}[mark])
    if mark == "R":
        made["status"] = {"phase": "Running"}
    else:
        terminated = made["status"]["containerStatuses"][0]["state"]["terminated"]
        terminated["finishedAt"] = f"2026-01-01T00:{minute:02}:00Z"
    made["metadata"]["annotations"] = {
        "batch.kubernetes.io/job-completion-index": str(index),
        "batch.kubernetes.io/job-index-failure-count": str(failures),
    }
    return made


def by_index(**spec: Any) -> Object:
    defaults = {"completionMode": "Indexed", "completions": 4, "parallelism": 4, "backoffLimitPerIndex": 1}
    return job(**{**defaults, "backoffLimit": 2**31 - 1, **spec})


FAIL_INDEX = rule("FailIndex", onExitCodes={"operator": "In", "values": [3]})
IGNORE = rule("Ignore", onExitCodes={"operator": "In", "values": [3]})


@pytest.mark.parametrize(
    ("of", "pods", "failed", "replaced", "verdict"),
    [
        pytest.param(by_index(), [indexed_pod("a", 0, "F")], [], {0: "a"}, "", id="the first failure of an index"),
        pytest.param(
            by_index(), [indexed_pod("a", 0, "F", failures=1)], [0], {}, "", id="the last that the limit allows"
        ),
        pytest.param(
            by_index(), [indexed_pod("a", 0, "F"), indexed_pod("b", 0, "R", failures=1)], [], {}, "",
            id="replaced already",
        ),
        pytest.param(
            by_index(),
            [indexed_pod("a", 0, "F", minute=9), indexed_pod("b", 0, "F", failures=1, minute=3)], [0], {}, "",
            id="one of two is the last",
        ),
        pytest.param(
            by_index(backoffLimitPerIndex=5),
            [indexed_pod("a", 1, "F", failures=2, minute=9), indexed_pod("b", 1, "F", failures=3, minute=10)],
            [], {1: "b"}, "", id="the newest is kept",
        ),
        pytest.param(
            by_index(podFailurePolicy=FAIL_INDEX), [indexed_pod("a", 2, "F", code=3)], [2], {}, "",
            id="a policy fails the index",
        ),
        pytest.param(
            by_index(backoffLimitPerIndex=0, podFailurePolicy=IGNORE), [indexed_pod("a", 2, "F", code=3)], [],
            {2: "a"}, "", id="a policy ignores the failure",
        ),
        pytest.param(
            by_index(backoffLimitPerIndex=0, maxFailedIndexes=1),
            [indexed_pod("a", 0, "F"), indexed_pod("b", 1, "F")], [0, 1], {}, "MaxFailedIndexesExceeded",
            id="too many indexes failed",
        ),
        pytest.param(
            by_index(backoffLimitPerIndex=0, completions=2),
            [indexed_pod("a", 0, "F"), indexed_pod("b", 1, "S")], [0], {}, "FailedIndexes", id="all indexes settled",
        ),
        pytest.param(
            by_index(status={"failedIndexes": "0,2-3"}), [indexed_pod("b", 1, "R")], [0, 2, 3], {}, "",
            id="known from the status",
        ),
    ],
)  # fmt: skip
def test_failures_of_indexes(
    of: Object, pods: list[Object], failed: list[int], replaced: dict[int, str], verdict: str
) -> None:
    facts = Facts(of, pods, counted=set(), now=NOW)
    assert sorted(facts.failed_indexes) == failed
    assert {index: each["metadata"]["name"] for index, each in facts.replaced.items()} == replaced
    assert (facts.verdict() or {}).get("reason", "") == verdict


@pytest.mark.parametrize(
    ("policy", "replaced", "failures", "ignored"),
    [
        pytest.param(None, None, "0", None, id="the first Pod of an index"),
        pytest.param(None, indexed_pod("a", 0, "F", failures=2), "3", None, id="one failure more"),
        pytest.param(IGNORE, indexed_pod("a", 0, "F", failures=2, code=3), "2", "1", id="one that is ignored"),
    ],
)
def test_a_replacement_knows_how_often_its_index_failed(
    policy: Object | None, replaced: Object | None, failures: str, ignored: str | None
) -> None:
    annotations = make_pod(by_index(podFailurePolicy=policy), 0, replaced)["metadata"]["annotations"]
    assert annotations["batch.kubernetes.io/job-index-failure-count"] == failures
    assert annotations.get("batch.kubernetes.io/job-index-ignored-failure-count") == ignored


async def test_indexes_fail_by_themselves(world: World) -> None:
    async with running(world) as cluster:
        began = cluster.now
        await create(cluster, completions=3, parallelism=3, completionMode="Indexed", backoffLimitPerIndex=1)

        async def has_ended() -> bool:
            await end_pods(cluster, 1, only="work-1-")
            await end_pods(cluster, 0, only="work-0-")
            await end_pods(cluster, 0, only="work-2-")
            return "Failed" in (await status_of(cluster))[1]

        await cluster.eventually("the Job has failed", has_ended)
        status, conditions = await status_of(cluster)
        assert (status["completedIndexes"], status["failedIndexes"], status["failed"]) == ("0,2", "1", 2)
        assert conditions == {"FailureTarget": "FailedIndexes", "Failed": "FailedIndexes"}
        assert await cluster.events("FailedIndexes") == ["Job has failed indexes"]
        assert 10 <= cluster.now - began <= 15, "the index waits for ten seconds"
