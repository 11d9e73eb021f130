"""CronJobs: schedules, time zones and the template of Jobs (pkg/apis/batch/validation)."""

from __future__ import annotations

from engine.api import cron
from engine.api.time_zones import is_zone
from engine.api.types import Object
from engine.api.validation.go_values import selector as shown_selector
from engine.api.validation.jobs import job_spec
from engine.api.validation.problems import Problems

_CONCURRENCY = ("Allow", "Forbid", "Replace")
_MAX_NAME = 52


def cron_job(obj: Object, problems: Problems) -> None:
    _spec(obj.get("spec", {}), problems)
    name = obj.get("metadata", {}).get("name", "")
    if len(name.encode()) > _MAX_NAME:
        problems.invalid("metadata.name", name, f"must be no more than {_MAX_NAME} characters")


def cron_job_update(new: Object, old: Object, problems: Problems) -> None:
    _spec(new.get("spec", {}), problems, before=old.get("spec", {}))


def _spec(spec: Object, problems: Problems, *, before: Object | None = None) -> None:
    schedule = spec.get("schedule", "")
    if not schedule:
        problems.required("spec.schedule")
    else:
        _schedule(spec, schedule, problems, zone_kept=cron.ZONE in (before or {}).get("schedule", ""))
    problems.not_negative("spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds"))
    zone = spec.get("timeZone")
    if zone is not None and (before is None or before.get("timeZone") != zone):
        _time_zone(zone, "spec.timeZone", problems)
    problems.one_of("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), _CONCURRENCY)
    template, path = spec.get("jobTemplate", {}).get("spec", {}), "spec.jobTemplate.spec"
    job_spec(template, path, problems)
    if "selector" in template:
        problems.invalid(f"{path}.selector", shown_selector(template["selector"]), "`selector` will be auto-generated")
    if template.get("manualSelector"):
        problems.not_supported(f"{path}.manualSelector", True, ("nil", "false"))
    for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        problems.not_negative(f"spec.{field}", spec.get(field))


def _schedule(spec: Object, schedule: str, problems: Problems, *, zone_kept: bool) -> None:
    """A zone in the schedule is kept where there was one before, but not let in anew."""
    try:
        cron.parse(schedule)
    except cron.ScheduleError as error:
        problems.invalid("spec.schedule", schedule, str(error))
    if cron.ZONE not in schedule:
        return
    if not zone_kept:
        detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        problems.invalid("spec.schedule", schedule, detail)
    elif "timeZone" in spec:
        detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        problems.invalid("spec.schedule", schedule, detail)


def _time_zone(zone: str, path: str, problems: Problems) -> None:
    if not zone:
        problems.invalid(path, zone, "timeZone must be nil or non-empty string")
    elif zone.lower() == "local":
        detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        problems.invalid(path, zone, detail)
    if zone and zone != "Local" and not is_zone(zone):
        problems.invalid(path, zone, f"unknown time zone {zone}")
