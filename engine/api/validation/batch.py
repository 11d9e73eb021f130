"""Jobs and CronJobs (pkg/apis/batch/validation)."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from engine.api import cron
from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.api.types import Object
from engine.api.validation.labels import label_selector
from engine.api.validation.pods import pod_template
from engine.api.validation.problems import Problems

_NOT_NEGATIVE = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_MODES = ("Indexed", "NonIndexed")
_RESTART = ("OnFailure", "Never")
_REPLACEMENT = ("Failed", "TerminatingOrFailed")
_CONCURRENCY = ("Allow", "Forbid", "Replace")
_MAX_INDEXED_PARALLELISM = 100000
_MAX_CRON_NAME = 52
_IMMUTABLE = ("selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z][A-Za-z0-9_+-]*)*")  # where the machine has no list of zones
_PREFIX = "batch.kubernetes.io/"


def job(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    _generated_selector(obj, spec, problems)
    _job_spec(spec, "spec", problems)
    selector = spec.get("selector")
    if selector is None:
        problems.required("spec.selector")
        return
    label_selector(selector, "spec.selector", problems)
    labels = spec.get("template", {}).get("metadata", {}).get("labels", {})
    try:
        matches = LabelSelector.from_object(selector).matches(labels)
    except ApiError:
        return
    if not matches:
        problems.invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")


def _generated_selector(obj: Object, spec: Object, problems: Problems) -> None:
    """The labels that the strategy has put on the template say whose Pods they are."""
    if spec.get("manualSelector") or "selector" not in spec:
        return
    labels = spec.get("template", {}).get("metadata", {}).get("labels", {})
    metadata = obj.get("metadata", {})
    for label, field in (("controller-uid", "uid"), ("job-name", "name")):
        for key in (label, f"{_PREFIX}{label}"):
            expected = metadata.get(field, "")
            if key not in labels:
                problems.required("spec.template.metadata.labels", f"must be '{expected}'")
            elif labels[key] != expected:
                problems.invalid("spec.template.metadata.labels", labels, f"must be '{expected}'")


def _job_spec(spec: Object, path: str, problems: Problems) -> None:
    for field in _NOT_NEGATIVE:
        problems.not_negative(f"{path}.{field}", spec.get(field))
    mode = spec.get("completionMode")
    if mode is not None and mode not in _MODES:
        problems.not_supported(f"{path}.completionMode", mode, _MODES)
    if mode == "Indexed":
        if "completions" not in spec:
            problems.required(f"{path}.completions", "when completion mode is Indexed")
        if spec.get("parallelism", 0) > _MAX_INDEXED_PARALLELISM:
            detail = f"must be less than or equal to {_MAX_INDEXED_PARALLELISM} when completion mode is Indexed"
            problems.invalid(f"{path}.parallelism", spec["parallelism"], detail)
    elif "backoffLimitPerIndex" in spec:
        problems.invalid(
            f"{path}.backoffLimitPerIndex", spec["backoffLimitPerIndex"], "requires indexed completion mode"
        )
    replacement = spec.get("podReplacementPolicy")
    if replacement is not None and replacement not in _REPLACEMENT:
        problems.not_supported(f"{path}.podReplacementPolicy", replacement, _REPLACEMENT)
    template = spec.get("template", {})
    pod_template(template, f"{path}.template", problems)
    restart = template.get("spec", {}).get("restartPolicy", "")
    if restart not in _RESTART:
        # Also where nothing was given: the default, Always, has been filled in.
        valid = ", ".join(f'"{word}"' for word in _RESTART)
        problems.required(f"{path}.template.spec.restartPolicy", f"valid values: {valid}")
    elif "podFailurePolicy" in spec and restart != "Never":
        detail = 'only "Never" is supported when podFailurePolicy is specified'
        problems.invalid(f"{path}.template.spec.restartPolicy", restart, detail)


def job_update(new: Object, old: Object, problems: Problems) -> None:
    job(new, problems)
    after, before = new.get("spec", {}), old.get("spec", {})
    elastic = after.get("completionMode") == "Indexed" and after.get("completions") is not None
    if not elastic:
        problems.immutable("spec.completions", after.get("completions"), before.get("completions"))
    elif after.get("completions") != before.get("completions") and after.get("completions") != after.get("parallelism"):
        detail = "can only be modified in tandem with spec.parallelism"
        problems.invalid("spec.completions", after.get("completions"), detail)
    if not before.get("suspend"):
        problems.immutable("spec.template", after.get("template"), before.get("template"))
    for field in _IMMUTABLE:
        problems.immutable(f"spec.{field}", after.get(field), before.get(field))


def job_status(new: Object, old: Object, problems: Problems) -> None:
    status = new.get("status", {})
    for field in ("active", "succeeded", "failed", "ready", "terminating"):
        problems.not_negative(f"status.{field}", status.get(field))
    before = {each.get("type"): each.get("status") for each in old.get("status", {}).get("conditions", ())}
    after = {each.get("type"): each.get("status") for each in status.get("conditions", ())}
    for kind in ("Complete", "Failed"):
        if before.get(kind) == "True" and after.get(kind) != "True":
            problems.invalid(
                "status.conditions", status.get("conditions", []), f"cannot disable the terminal {kind}=True condition"
            )
    if after.get("Complete") == after.get("Failed") == "True":
        problems.invalid(
            "status.conditions", status["conditions"], "cannot set Complete=True and Failed=true conditions"
        )


def cron_job(obj: Object, problems: Problems) -> None:
    name = obj.get("metadata", {}).get("name", "")
    if len(name) > _MAX_CRON_NAME:
        detail = f"must be no more than {_MAX_CRON_NAME} characters"
        problems.invalid("metadata.name", name, detail)
    _cron_spec(obj.get("spec", {}), problems)


def cron_job_update(new: Object, old: Object, problems: Problems) -> None:
    _cron_spec(new.get("spec", {}), problems)


def _cron_spec(spec: Object, problems: Problems) -> None:
    schedule = spec.get("schedule", "")
    if not schedule:
        problems.required("spec.schedule")
    else:
        try:
            cron.parse(schedule)
        except cron.ScheduleError as error:
            problems.invalid("spec.schedule", schedule, str(error))
        if "TZ" in schedule:
            problems.invalid(
                "spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            )
    for field in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        problems.not_negative(f"spec.{field}", spec.get(field))
    problems.one_of("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), _CONCURRENCY)
    if "timeZone" in spec:
        _time_zone(spec["timeZone"], "spec.timeZone", problems)
    job_spec = spec.get("jobTemplate", {}).get("spec", {})
    path = "spec.jobTemplate.spec"
    _job_spec(job_spec, path, problems)
    if "selector" in job_spec:
        problems.invalid(f"{path}.selector", job_spec["selector"], "`selector` will be auto-generated")
    if job_spec.get("manualSelector"):
        problems.not_supported(f"{path}.manualSelector", True, ("nil", "false"))


def _time_zone(zone: str, path: str, problems: Problems) -> None:
    if not zone:
        problems.invalid(path, zone, "timeZone must be nil or non-empty string")
    elif zone.lower() == "local":
        problems.invalid(
            path, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    elif not _is_zone(zone):
        problems.invalid(path, zone, f"unknown time zone {zone}")


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return not available_timezones() and _ZONE.fullmatch(name) is not None
    return True
