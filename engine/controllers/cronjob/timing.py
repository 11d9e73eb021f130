"""When a CronJob's next Job is due, and which one now: pure (cronjob/utils.go)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from engine.api.types import GVK, Object, copy_object
from engine.controllers.cronjob.schedule import ScheduleError, Timetable
from engine.controllers.ownership import controller_reference
from engine.controllers.pods import parse_time

KIND = GVK("batch", "v1", "CronJob")
SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
TOO_MANY = 100


class Due(NamedTuple):
    """The newest time that has come and was not acted on (None: none has), and about how many have come."""

    at: datetime | None
    missed: int


def _last(cron_job: Object) -> datetime:
    """Times up to here are past."""
    last = (cron_job.get("status") or {}).get("lastScheduleTime") or cron_job["metadata"]["creationTimestamp"]
    return parse_time(last)


def due(cron_job: Object, schedule: Timetable, now: datetime) -> Due:
    """Times that `startingDeadlineSeconds` is over for are none. Raises ScheduleError for a schedule without times."""
    start, deadline = _last(cron_job), cron_job["spec"].get("startingDeadlineSeconds")
    return _recent(start if deadline is None else max(start, now - timedelta(seconds=deadline)), schedule, now)


def _recent(start: datetime, schedule: Timetable, now: datetime) -> Due:
    """The newest time after `start` (mostRecentScheduleTime)."""
    first = schedule.next(start)
    if first is None:
        raise ScheduleError("time difference between two schedules is less than 1 second")
    if first > now:
        return Due(None, 0)
    second = schedule.next(first)
    if second is None or second > now:
        return Due(first, 1)
    # Long gaps are jumped over at the distance of the first two, and the last steps are taken one by one. The place
    # that is jumped to is no time of a schedule with uneven steps: a step from there may lead past now, to none.
    distance = second - first
    missed = int((now - first) / distance) + 1
    newest, at = None, schedule.next(first + distance * (missed - 2))
    while at is not None and at <= now:
        newest, at = at, schedule.next(at)
    return Due(newest, missed)


def next_in(cron_job: Object, schedule: Timetable, now: datetime) -> float | None:
    """Seconds until the CronJob should be looked at again (nextScheduleTimeDuration): steps of `@every` are counted
    from the last time, not from now."""
    start = _last(cron_job)
    try:
        found = _recent(start, schedule, now)
    except ScheduleError:
        return None
    at = schedule.next(found.at or (now if found.missed else start))
    # A tenth of a second more, so that the clock is past it.
    return (at - now).total_seconds() + 0.1 if at is not None else None


def job_name(cron_job: Object, at: datetime) -> str:
    """One Job for each time: its name is the minute."""
    return f"{cron_job['metadata']['name']}-{int(at.timestamp()) // 60}"


def make_job(cron_job: Object, at: datetime, zone: datetime) -> Object:
    """`zone` is the same moment in the CronJob's time zone, as its annotation shows it."""
    template = copy_object(cron_job["spec"]["jobTemplate"])
    metadata = template.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), SCHEDULED_AT: zone.isoformat().replace("+00:00", "Z")}
    made: Object = {
        "name": job_name(cron_job, at),
        "namespace": cron_job["metadata"]["namespace"],
        "annotations": annotations,
        "ownerReferences": [controller_reference(cron_job, KIND)],
    }
    if metadata.get("labels"):
        made["labels"] = metadata["labels"]
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": made, "spec": template["spec"]}
