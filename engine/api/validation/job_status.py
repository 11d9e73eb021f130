"""What the status of a Job may say, and how it may go on (pkg/apis/batch/validation, ValidateJobUpdateStatus)."""

from __future__ import annotations

from engine.api.errors import OMITTED
from engine.api.types import Object
from engine.api.validation.job_policies import count_indexes
from engine.api.validation.problems import Problems

_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
_CONDITIONS = "status.conditions"


def job_status(new: Object, old: Object, problems: Problems) -> None:
    status, before = new.get("status", {}), old.get("status", {})
    for field in _COUNTS:
        problems.not_negative(f"status.{field}", status.get(field))
    _uncounted(status.get("uncountedTerminatedPods", {}), problems)
    now, then = _true(status), _true(before)
    _conditions(now, problems)
    _times(status, before, now, problems)
    if now & {"Complete", "Failed"}:
        _finished(status, problems)
    _indexes(status, new.get("spec", {}), problems)
    for kind in ("Failed", "Complete", "FailureTarget"):
        if kind in then and kind not in now:
            problems.invalid(_CONDITIONS, OMITTED, f"cannot disable the terminal {kind}=True condition")
    for field in ("failed", "succeeded"):
        if status.get(field, 0) < before.get(field, 0):
            problems.invalid(f"status.{field}", status.get(field, 0), f"cannot decrease the {field} counter")


def _true(status: Object) -> set[str]:
    return {each.get("type", "") for each in status.get("conditions", ()) if each.get("status") == "True"}


def _uncounted(pods: Object, problems: Problems) -> None:
    seen = set()
    for field in ("succeeded", "failed"):
        for index, uid in enumerate(pods.get(field, ())):
            path = f"status.uncountedTerminatedPods.{field}[{index}]"
            if not uid:
                problems.invalid(path, uid, "must not be empty")
            elif uid in seen:
                problems.duplicate(path, uid)
            seen.add(uid)


def _conditions(now: set[str], problems: Problems) -> None:
    for first, second, shown in (
        ("Complete", "Failed", "Complete=True and Failed=true"),
        ("Complete", "FailureTarget", "Complete=True and FailureTarget=true"),
    ):
        if first in now and second in now:
            problems.invalid(_CONDITIONS, OMITTED, f"cannot set {shown} conditions")
    for kind, needed in (("Failed", "FailureTarget"), ("Complete", "SuccessCriteriaMet")):
        if kind in now and needed not in now:
            detail = f"cannot set {kind}=True condition without the {needed}=true condition"
            problems.invalid(_CONDITIONS, OMITTED, detail)


def _times(status: Object, before: Object, now: set[str], problems: Problems) -> None:
    completed, started = status.get("completionTime"), status.get("startTime")
    path = "status.completionTime"
    if completed is not None and "Complete" not in now:
        problems.invalid(path, completed, "cannot set completionTime when there is no Complete=True condition")
    if completed is None and "Complete" in now:
        problems.required(path, "completionTime is required for Complete jobs")
    if completed is not None and started is not None and completed < started:
        problems.invalid(path, completed, "completionTime cannot be set before startTime")
    if "completionTime" in before and completed != before["completionTime"]:
        problems.invalid(path, completed, "field cannot be mutated")


def _finished(status: Object, problems: Problems) -> None:
    for field in ("active", "terminating"):
        if status.get(field, 0) > 0:
            problems.invalid(f"status.{field}", status[field], f"{field}>0 is invalid for finished job")
    if "startTime" not in status:
        problems.required("status.startTime", "startTime is required for finished job")
    uncounted = status.get("uncountedTerminatedPods", {})
    if any(uncounted.get(field) for field in ("succeeded", "failed")):
        shown = {"Succeeded": uncounted.get("succeeded"), "Failed": uncounted.get("failed")}
        detail = "uncountedTerminatedPods needs to be empty for finished job"
        problems.invalid("status.uncountedTerminatedPods", shown, detail)


def _indexes(status: Object, spec: Object, problems: Problems) -> None:
    completions = spec.get("completions")
    for field in ("completedIndexes", "failedIndexes"):
        wrong = count_indexes(status.get(field, ""), completions)[1] if completions is not None else ""
        if wrong:
            problems.invalid(f"status.{field}", status[field], f"error parsing {field}: {wrong}")
    if status.get("completedIndexes") and spec.get("completionMode") != "Indexed":
        detail = "cannot set non-empty completedIndexes when non-indexed completion mode"
        problems.invalid("status.completedIndexes", status["completedIndexes"], detail)
    if "failedIndexes" in status and "backoffLimitPerIndex" not in spec:
        detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        problems.invalid("status.failedIndexes", status["failedIndexes"], detail)
    if status.get("ready", 0) > status.get("active", 0):
        problems.invalid("status.ready", status["ready"], "cannot set more ready pods than active")
