"""CronJobs: schedules, what is due, and CronJobs end to end."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from engine.api.types import GVR, PODS, Object
from engine.client import Client
from engine.controllers.cronjob.controller import CRON_JOBS, CronJobController
from engine.controllers.cronjob.schedule import ScheduleError, parse_schedule
from engine.controllers.cronjob.timing import due, next_in
from engine.controllers.job.controller import JOBS
from engine.world import World
from tests.controllers.cluster import TestCluster, running
from tests.controllers.test_job import end_pods


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "zone", "after", "expected"),
    [
        pytest.param("* * * * *", None, "2026-01-01T00:00:30", "2026-01-01T00:01:00", id="every minute"),
        pytest.param("*/15 * * * *", None, "2026-01-01T00:45:00", "2026-01-01T01:00:00", id="every quarter"),
        pytest.param("5/20 * * * *", None, "2026-01-01T00:06:00", "2026-01-01T00:25:00", id="from five on"),
        pytest.param("0 9-17/4 * * MON-FRI", None, "2026-01-02T17:30:00", "2026-01-05T09:00:00", id="working hours"),
        pytest.param("0 0 29 2 *", None, "2026-01-01T00:00:00", "2028-02-29T00:00:00", id="leap day"),
        pytest.param("0 0 31 2 *", None, "2026-01-01T00:00:00", None, id="never"),
        pytest.param("0 0 13 * FRI", None, "2026-01-01T00:00:00", "2026-01-02T00:00:00", id="either day will do"),
        pytest.param(
            "0 0 */5 * MON", None, "2026-01-02T00:00:00", "2026-01-05T00:00:00", id="every fifth day or Monday"
        ),
        pytest.param("0 0 */1 * MON", None, "2026-01-06T00:00:00", "2026-01-12T00:00:00", id="every day is no other"),
        pytest.param(", 0 * * *", None, "2026-01-01T00:00:00", None, id="no minute"),
        pytest.param("0 0 * * 0", None, "2026-01-01T00:00:00", "2026-01-04T00:00:00", id="Sundays"),
        pytest.param("@monthly", None, "2026-01-15T00:00:00", "2026-02-01T00:00:00", id="monthly"),
        pytest.param("@every 1h30m", None, "2026-01-01T00:10:00", "2026-01-01T01:40:00", id="every so long"),
        pytest.param("0 8 * * *", "Europe/Berlin", "2026-01-01T00:00:00", "2026-01-01T07:00:00", id="winter time"),
        pytest.param("0 8 * * *", "Europe/Berlin", "2026-07-01T00:00:00", "2026-07-01T06:00:00", id="summer time"),
        pytest.param("30 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00", "2026-03-30T00:30:00", id="a skipped hour"),
    ],
)
def test_schedules(schedule: str, zone: str | None, after: str, expected: str | None) -> None:
    assert parse_schedule(schedule, zone).next(at(after)) == (at(expected) if expected else None)


@pytest.mark.parametrize(
    ("schedule", "zone"),
    [
        pytest.param("* * * *", None, id="four fields"),
        pytest.param("60 * * * *", None, id="beyond the end"),
        pytest.param("* * 0 * *", None, id="below the beginning"),
        pytest.param("5-1 * * * *", None, id="backwards"),
        pytest.param("*/0 * * * *", None, id="no step"),
        pytest.param("a * * * *", None, id="no number"),
        pytest.param("@fortnightly", None, id="no such macro"),
        pytest.param("@every now", None, id="no duration"),
        pytest.param("* * * * *", "Nowhere/Town", id="no such zone"),
    ],
)
def test_schedules_that_cannot_be_read(schedule: str, zone: str | None) -> None:
    with pytest.raises(ScheduleError):
        parse_schedule(schedule, zone)


def cron_job(schedule: str = "*/10 * * * *", **spec: Any) -> Object:
    container = {"name": "c", "image": "busybox"}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick", "namespace": "default", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"schedule": schedule, "jobTemplate": {"spec": {"template": template}}, **spec},
    }


@pytest.mark.parametrize(
    ("fields", "now", "expected", "missed"),
    [
        pytest.param({}, "2026-01-01T00:09:00", None, 0, id="not yet"),
        pytest.param({}, "2026-01-01T00:10:00", "2026-01-01T00:10:00", 1, id="on the minute"),
        pytest.param({}, "2026-01-01T00:35:00", "2026-01-01T00:30:00", 3, id="the newest of several"),
        pytest.param({"startingDeadlineSeconds": 60}, "2026-01-01T00:35:00", None, 0, id="too late for all"),
        pytest.param({}, "2026-01-02T00:05:00", "2026-01-02T00:00:00", 144, id="after a long gap"),
    ],
)
def test_what_is_due(fields: Object, now: str, expected: str | None, missed: int) -> None:
    target = cron_job(**fields)
    found = due(target, parse_schedule(target["spec"]["schedule"]), at(now))
    assert found == (at(expected) if expected else None, missed)


# After upstream's TestNextScheduleTime and TestMostRecentScheduleTime.
@pytest.mark.parametrize(
    ("schedule", "created", "now", "expected", "missed"),
    [
        pytest.param("@every 1h", "2026-01-01T10:05:00", "2026-01-01T13:40:00", "2026-01-01T13:05:00", 3, id="every"),
        pytest.param(
            "30 6-16/4 * * 1-5", "2026-01-01T10:31:00", "2026-01-02T10:40:00", "2026-01-02T10:30:00", 2, id="uneven"
        ),
        pytest.param("30 10,11,12 * * 1-5", "2026-01-02T10:00:00", "2026-01-04T10:00:00", None, 48, id="only before"),
    ],
)
def test_what_is_due_of_odd_schedules(schedule: str, created: str, now: str, expected: str | None, missed: int) -> None:
    target = cron_job(schedule)
    target["metadata"]["creationTimestamp"] = f"{created}Z"
    assert due(target, parse_schedule(schedule), at(now)) == (at(expected) if expected else None, missed)


def test_steps_are_counted_from_the_last_time() -> None:
    target = cron_job("@every 1h")
    assert next_in(target, parse_schedule("@every 1h"), at("2026-01-01T00:50:00")) == pytest.approx(600.1)


async def test_another_schedule_begins_with_its_next_time_and_odd_ones_are_told_of(world: World) -> None:
    async with running(world) as cluster:
        for name, spec in {
            "moved": {"schedule": "0 0 1 1 *"},
            "never": {"schedule": "59 23 31 2 *"},
        }.items():
            made = {**cron_job(**spec), "metadata": {"name": name, "namespace": "default"}}
            await cluster.admin.create(CRON_JOBS, made, namespace="default")

        async def told() -> list[str]:
            return await cluster.events("InvalidSchedule")

        assert await cluster.eventually("the schedule without a time is told of", told) == [
            "invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second"
        ]
        await world.clock.sleep(150)  # two of the new times are missed by then
        await cluster.admin.patch(CRON_JOBS, "moved", {"spec": {"schedule": "* * * * *"}}, namespace="default")
        began = int(world.clock.now().timestamp()) // 60

        async def started() -> list[str]:
            return await jobs(cluster)

        assert await cluster.eventually("a Job is started", started) == [f"moved-{began + 1}"]


def test_when_to_look_again() -> None:
    target = cron_job()
    assert next_in(target, parse_schedule("*/10 * * * *"), at("2026-01-01T00:04:00")) == pytest.approx(360.1)


async def jobs(cluster: TestCluster) -> list[str]:
    return [each["metadata"]["name"] for each in await cluster.objects(JOBS, namespace="default")]


async def create(cluster: TestCluster, **spec: Any) -> None:
    made = cron_job("* * * * *", **spec)
    made["metadata"] = {"name": "tick", "namespace": "default"}
    await cluster.admin.create(CRON_JOBS, made, namespace="default")


async def some_minutes(cluster: TestCluster, minutes: int, *, let_end: bool) -> None:
    for _ in range(minutes * 6):
        await cluster.world.clock.sleep(10)
        if let_end:
            await end_pods(cluster)


async def test_a_job_every_minute_and_only_the_newest_are_kept(world: World) -> None:
    async with running(world) as cluster:
        await create(cluster, successfulJobsHistoryLimit=2)
        await some_minutes(cluster, 5, let_end=True)
        found = await cluster.admin.get(CRON_JOBS, "tick", namespace="default")
        minute = int(world.clock.now().timestamp()) // 60
        assert await cluster.events("SuccessfulCreate")
        assert f"Created job tick-{minute - 1}" in await cluster.events("SuccessfulCreate")
        assert len(await jobs(cluster)) <= 3
        assert found["status"]["lastScheduleTime"] > "2026-01-01T00:03:00Z"
        assert found["status"]["lastSuccessfulTime"]
        assert any("condition: Complete" in each for each in await cluster.events("SawCompletedJob"))


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("Allow", 3, id="side by side"),
        pytest.param("Forbid", 1, id="one at a time"),
        pytest.param("Replace", 1, id="the newer one in place of the older"),
    ],
)
async def test_jobs_that_overlap(world: World, policy: str, expected: int) -> None:
    async with running(world) as cluster:
        await create(cluster, concurrencyPolicy=policy)
        first = f"tick-{int(world.clock.now().timestamp()) // 60 + 1}"
        for _ in range(19):
            await some_minutes(cluster, 0, let_end=False)
            await world.clock.sleep(10)
            for pod in await cluster.objects(PODS, namespace="default"):
                if pod["metadata"].get("deletionTimestamp"):
                    name = pod["metadata"]["name"]
                    await cluster.admin.delete(PODS, name, namespace="default", grace_period_seconds=0)
        found = await jobs(cluster)
        assert len(found) == expected
        assert (first in found) is (policy != "Replace")
        assert not await cluster.events("UnexpectedJob")


async def test_a_job_of_its_name_that_is_somebody_elses_is_not_counted_as_its_own(world: World) -> None:
    async with running(world) as cluster:
        await create(cluster)
        minute = int(world.clock.now().timestamp()) // 60 + 1
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}
        job = {"metadata": {"name": f"tick-{minute}"}, "spec": {"template": template, "suspend": True}}
        await cluster.admin.create(JOBS, job, namespace="default")
        await world.clock.sleep(190)
        found = await cluster.admin.get(CRON_JOBS, "tick", namespace="default")
        assert "active" not in (found.get("status") or {})
        # Nor does it look out for the next time, until something changes.
        assert await jobs(cluster) == [f"tick-{minute}"]
        await cluster.admin.patch(CRON_JOBS, "tick", {"metadata": {"labels": {"a": "b"}}}, namespace="default")

        async def started() -> list[str]:
            return [name for name in await jobs(cluster) if name != f"tick-{minute}"]

        assert len(await cluster.eventually("a Job is started", started)) == 1


async def test_jobs_that_it_does_not_know_are_told_of_though_they_are_being_deleted(world: World) -> None:
    async def given(admin: Client) -> None:
        made = cron_job("0 0 1 1 *")
        made["metadata"] = {"name": "tick", "namespace": "default"}
        uid = (await admin.create(CRON_JOBS, made, namespace="default"))["metadata"]["uid"]
        owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": uid, "controller": True}
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}
        metadata = {"name": "mine", "ownerReferences": [owner], "finalizers": ["example.com/mine"]}
        job = {"metadata": metadata, "spec": {"template": template}}
        await admin.create(JOBS, job, namespace="default")
        await admin.delete(JOBS, "mine", namespace="default", propagation_policy="Background")

    async with running(world, controllers=(CronJobController,), given=given) as cluster:
        await world.clock.sleep(5)
        told = "Saw a job that the controller did not create or forgot: mine"
        assert set(await cluster.events("UnexpectedJob")) == {told}


async def test_jobs_that_cannot_be_deleted_keep_no_new_ones_waiting(world: World) -> None:
    policies = GVR("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")
    bindings = GVR("admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings")
    deleting = {"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["jobs"]}
    async with running(world) as cluster:
        spec = {"matchConstraints": {"resourceRules": [deleting]}, "validations": [{"expression": "false"}]}
        await cluster.admin.create(policies, {"metadata": {"name": "keep"}, "spec": spec})
        binding = {"metadata": {"name": "keep"}, "spec": {"policyName": "keep", "validationActions": ["Deny"]}}
        await cluster.admin.create(bindings, binding)
        await create(cluster, successfulJobsHistoryLimit=0)
        await some_minutes(cluster, 3, let_end=True)
        assert any(each.startswith("Deleted job: ") for each in await cluster.events("FailedDelete"))
        assert len(await jobs(cluster)) >= 2


async def test_a_suspended_one_starts_nothing(world: World) -> None:
    async with running(world) as cluster:
        await create(cluster, suspend=True)
        await some_minutes(cluster, 3, let_end=False)
        assert await jobs(cluster) == []


async def test_a_job_with_a_time_to_live_goes_after_it(world: World) -> None:
    async with running(world) as cluster:
        template = cron_job()["spec"]["jobTemplate"]["spec"]
        made = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "once", "namespace": "default"},
            "spec": {**template, "ttlSecondsAfterFinished": 30},
        }
        await cluster.admin.create(JOBS, made, namespace="default")

        async def complete() -> bool:
            await end_pods(cluster)
            found = await cluster.find(JOBS, "once")
            return bool(((found or {}).get("status") or {}).get("completionTime"))

        await cluster.eventually("the Job is complete", complete)
        began = cluster.now

        async def gone() -> bool:
            await end_pods(cluster)
            return await cluster.find(JOBS, "once") is None

        await cluster.eventually("the Job is gone", gone)
        assert 29 <= cluster.now - began <= 35
