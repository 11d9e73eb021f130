"""What one look at a CronJob does: after upstream's TestControllerV2SyncCronJob and TestMostRecentScheduleTime, all
rows in one cluster whose controller starts a minute after the hour."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from engine.api.types import EVENTS, Object
from engine.client import Client
from engine.controllers.cronjob.controller import CRON_JOBS, CronJobController
from engine.controllers.job.controller import JOBS
from engine.world import World
from tests.controllers.cluster import running
from tests.controllers.test_cronjob import cron_job

HOUR = 3600
CREATED, DELETED, COMPLETED = "SuccessfulCreate", "SuccessfulDelete", "SawCompletedJob"


class Row(NamedTuple):
    """`last` is when it ran before, in hours from when all were made, and `ended` whether that Job has ended (None: it
    is not there any more). `events` are told, and `due` of the schedule's times is a Job made for."""

    spec: Object
    events: tuple[str, ...]
    due: bool
    last: float | None = None
    ended: bool | None = True
    active: bool = True


ROWS = {
    "never-a": Row({"concurrencyPolicy": "Allow"}, (CREATED,), True),
    "never-f": Row({"concurrencyPolicy": "Forbid"}, (CREATED,), True),
    "never-r": Row({"concurrencyPolicy": "Replace"}, (CREATED,), True),
    "never-zone": Row({"timeZone": "America/New_York"}, (CREATED,), True),
    "never-not-time": Row({"schedule": "30 1 * * *"}, (), False),
    "never-suspended": Row({"suspend": True}, (), False),
    "never-past": Row({"startingDeadlineSeconds": 10}, (), False),
    "never-not-past": Row({"startingDeadlineSeconds": 1000000}, (CREATED,), True),
    "done-a": Row({}, (COMPLETED, CREATED), True, last=0),
    "done-f": Row({"concurrencyPolicy": "Forbid"}, (COMPLETED, CREATED), True, last=0),
    "done-r": Row({"concurrencyPolicy": "Replace"}, (COMPLETED, CREATED), True, last=0),
    "done-suspended": Row({"suspend": True}, (COMPLETED,), False, last=0),
    "done-past": Row({"startingDeadlineSeconds": 10}, (COMPLETED,), False, last=0),
    "done-not-past": Row({"startingDeadlineSeconds": 1000000}, (COMPLETED, CREATED), True, last=0),
    "done-ahead": Row({"concurrencyPolicy": "Forbid"}, (COMPLETED,), False, last=2),
    "active-a": Row({}, (CREATED,), True, last=0, ended=False),
    "active-f": Row({"concurrencyPolicy": "Forbid"}, ("JobAlreadyActive",), False, last=0, ended=False),
    "active-r": Row({"concurrencyPolicy": "Replace"}, (DELETED, CREATED), True, last=0, ended=False),
    "active-r-early": Row({"schedule": "30 1 * * *", "concurrencyPolicy": "Replace"}, (), False, last=0, ended=False),
    "active-suspended": Row({"suspend": True}, (), False, last=0, ended=False),
    "forgotten": Row({}, ("UnexpectedJob", CREATED), True, last=0, ended=False, active=False),
    "done-forgotten": Row({}, (CREATED,), True, last=0, active=False),
    "missing": Row({}, ("MissingJob", CREATED), True, last=0, ended=None),
    "overdue": Row({}, (COMPLETED, "TooManyMissedTimes", CREATED), True, last=-168),
    "overdue-active-f": Row(
        {"concurrencyPolicy": "Forbid"}, ("TooManyMissedTimes", "JobAlreadyActive"), False, last=-168, ended=False
    ),
    "overdue-medium": Row({"startingDeadlineSeconds": 2 * HOUR}, (COMPLETED, CREATED), True, last=-168),
    "overdue-short": Row({"startingDeadlineSeconds": 10}, (COMPLETED,), False, last=-168),
    # More than a hundred of the first two times' distance have gone by, but none of the schedule's own is near.
    "overdue-uneven": Row({"schedule": "30 10,11,12 * * 1-5"}, (COMPLETED,), False, last=-226.5),
    "every": Row({"schedule": "@every 1h"}, (CREATED,), True),
    "every-past": Row({"schedule": "@every 1h", "startingDeadlineSeconds": 10}, (), False),
    "every-done": Row({"schedule": "@every 1h"}, (COMPLETED, CREATED), True, last=0),
}


def _ended(at: str) -> Object:
    conditions = [
        {"type": kind, "status": "True", "lastProbeTime": at, "lastTransitionTime": at}
        for kind in ("SuccessCriteriaMet", "Complete")
    ]
    return {"startTime": at, "completionTime": at, "succeeded": 1, "conditions": conditions}


async def _give(admin: Client, name: str, row: Row, when: str) -> None:
    """The CronJob of the row, with what it has started before."""
    made = cron_job(**{"schedule": "0 * * * *", **row.spec})
    made["metadata"] = {"name": name, "namespace": "default"}
    made = await admin.create(CRON_JOBS, made, namespace="default")
    if row.last is None:
        return
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": name, "uid": made["metadata"]["uid"]}
    job: Object = {
        "metadata": {"name": f"{name}-before", "ownerReferences": [{**owner, "controller": True}]},
        "spec": made["spec"]["jobTemplate"]["spec"],
    }
    started = {"metadata": {"uid": "5e6ba9c4-6b1c-4d2c-9b1d-0f4f0b8a3f10"}}
    if row.ended is not None:
        started = await admin.create(JOBS, job, namespace="default")
    if row.ended:
        await admin.update_status(JOBS, {**started, "status": _ended(when)})
    reference = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": f"{name}-before",
        "namespace": "default",
        "uid": started["metadata"]["uid"],
    }
    status: Object = {"lastScheduleTime": when, **({"active": [reference]} if row.active else {})}
    await admin.update_status(CRON_JOBS, {**made, "status": status})


async def test_what_one_look_does(world: World) -> None:
    began = world.clock.now()

    async def given(admin: Client) -> None:
        for name, row in ROWS.items():
            when = began + timedelta(hours=row.last or 0)
            await _give(admin, name, row, when.strftime("%Y-%m-%dT%H:%M:%SZ"))
        await world.clock.sleep(HOUR + 60 - (world.clock.now() - began).total_seconds())

    async with running(world, controllers=(CronJobController,), given=given) as cluster:
        await world.clock.sleep(30)
        told: dict[str, list[Any]] = {name: [] for name in ROWS}
        for event in await cluster.objects(EVENTS, namespace="default"):
            if event["involvedObject"]["kind"] == "CronJob":
                told[event["involvedObject"]["name"]].append(event["reason"])
        made: dict[str, list[str]] = {name: [] for name in ROWS}
        for job in await cluster.objects(JOBS, namespace="default"):
            name = job["metadata"]["ownerReferences"][0]["name"]
            if job["metadata"]["name"] != f"{name}-before":
                made[name].append(job["metadata"]["name"])
    minute = int(began.timestamp()) // 60 + 60
    got = {name: (sorted(told[name]), made[name]) for name in ROWS}
    assert got == {name: (sorted(row.events), [f"{name}-{minute}"] if row.due else []) for name, row in ROWS.items()}
