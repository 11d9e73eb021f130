"""What the status of a Job may say, and how it may go on (pkg/apis/batch/validation, ValidateJobUpdateStatus).

Most of it is asked only of what has changed (pkg/registry/batch/job, getStatusValidationOptions): a status that was
wrong before, or that a change of the spec has made so, may be put right step by step.
"""

from __future__ import annotations

from typing import Any

from engine.api.errors import OMITTED
from engine.api.types import Object
from engine.api.validation.go_values import internal
from engine.api.validation.job_policies import count_indexes, overlap
from engine.api.validation.problems import IMMUTABLE, Problems

_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
_CONDITIONS = "status.conditions"
_TERMINAL = ("Failed", "Complete", "FailureTarget")
_FINISHED = frozenset({"Complete", "Failed"})


class _Change:
    """The status before and after, and what of it has changed."""

    def __init__(self, new: Object, old: Object) -> None:
        self.status: Object = new.get("status") or {}
        self.before: Object = old.get("status") or {}
        self.spec: Object = new.get("spec", {})
        self.now, self.then = _true(self.status), _true(self.before)

    def of(self, *fields: str) -> bool:
        return any(self.status.get(field) != self.before.get(field) for field in fields)

    def of_conditions(self, *kinds: str) -> bool:
        return any((kind in self.now) != (kind in self.then) for kind in kinds)

    @property
    def may_start_anew(self) -> bool:
        """Suspended, or going on after that."""
        return bool(self.spec.get("suspend")) or ("Suspended" in self.then and "Suspended" not in self.now)

    @property
    def never_to_run(self) -> bool:
        """Suspended, and complete all the same: it asks for nothing."""
        return bool(self.spec.get("suspend")) and self.spec.get("completions") == 0

    @property
    def finished(self) -> bool:
        return bool(self.now & _FINISHED)

    @property
    def of_finished(self) -> bool:
        return self.finished != bool(self.then & _FINISHED)


def job_status(new: Object, old: Object, problems: Problems) -> None:
    change = _Change(new, old)
    status = change.status
    for field in _COUNTS:
        problems.not_negative(f"status.{field}", status.get(field))
    _uncounted(status.get("uncountedTerminatedPods") or {}, problems)
    _exclusive(change, problems)
    _times(change, problems)
    _needed(change, problems)
    _finished(change, problems)
    _indexes(change, problems)
    if change.of_finished or change.of("terminating"):
        _none_left(change, "terminating", problems)
    ready = status.get("ready") or 0
    if change.of("ready", "active") and ready > status.get("active", 0):
        problems.invalid("status.ready", ready, "cannot set more ready pods than active")
    _success(change, problems)
    _progress(change, problems)


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


def _exclusive(change: _Change, problems: Problems) -> None:
    for first, second, shown in (
        ("Complete", "Failed", "Complete=True and Failed=true"),
        ("Complete", "FailureTarget", "Complete=True and FailureTarget=true"),
    ):
        if change.of_conditions(first, second) and {first, second} <= change.now:
            _wrong_conditions(f"cannot set {shown} conditions", problems)


def _needed(change: _Change, problems: Problems) -> None:
    without = "cannot set {}=True condition without the {}=true condition"
    failed, complete = "Failed" in change.now, "Complete" in change.now
    asked = change.of_conditions("Failed") or change.of("failedIndexes")
    if asked and failed and "FailureTarget" not in change.now:
        _wrong_conditions(without.format("Failed", "FailureTarget"), problems)
    asked = change.of_conditions("Complete", "SuccessCriteriaMet")
    if asked and complete and "SuccessCriteriaMet" not in change.now:
        _wrong_conditions(without.format("Complete", "SuccessCriteriaMet"), problems)


def _wrong_conditions(detail: str, problems: Problems) -> None:
    problems.invalid(_CONDITIONS, OMITTED, detail)


def _times(change: _Change, problems: Problems) -> None:
    completed, started = change.status.get("completionTime"), change.status.get("startTime")
    path, complete = "status.completionTime", "Complete" in change.now
    if change.of_conditions("Complete") or change.of("completionTime"):
        if completed is not None and not complete:
            problems.invalid(path, completed, "cannot set completionTime when there is no Complete=True condition")
        if completed is None and complete:
            problems.required(path, "completionTime is required for Complete jobs")
    if not change.of("startTime", "completionTime"):
        return
    if completed is not None and started is not None and completed < started:
        problems.invalid(path, completed, "must be equal to or after `startTime`")


def _finished(change: _Change, problems: Problems) -> None:
    """What a Job must have, and may not have any more, when it has finished."""
    if change.of_finished or change.of("active"):
        _none_left(change, "active", problems)
    if not change.finished:
        return
    needed = (change.of_finished or change.of("startTime")) and not change.never_to_run
    if needed and change.status.get("startTime") is None:
        problems.required("status.startTime", "startTime is required for finished job")
    uncounted: Object = change.status.get("uncountedTerminatedPods") or {}
    asked = change.of_finished or change.of("uncountedTerminatedPods")
    if asked and (uncounted.get("succeeded") or uncounted.get("failed")):
        shown = internal("UncountedTerminatedPods", uncounted)
        problems.invalid("status.uncountedTerminatedPods", shown, "must be empty for finished job")


def _none_left(change: _Change, field: str, problems: Problems) -> None:
    count = change.status.get(field) or 0
    if change.finished and count > 0:
        problems.invalid(f"status.{field}", count, f"{field}>0 is invalid for finished job")


def _indexes(change: _Change, problems: Problems) -> None:
    status, spec = change.status, change.spec
    completions, limited = spec.get("completions"), spec.get("backoffLimitPerIndex") is not None
    completed, failed = status.get("completedIndexes", ""), status.get("failedIndexes")
    if change.of("completedIndexes"):
        _readable("completedIndexes", completed, completions, problems)
    if change.of("failedIndexes") and limited and failed is not None:
        _readable("failedIndexes", failed, completions, problems)
    if change.of("completedIndexes") and completed and spec.get("completionMode") != "Indexed":
        detail = "cannot set non-empty completedIndexes when non-indexed completion mode"
        problems.invalid("status.completedIndexes", completed, detail)
    if change.of("failedIndexes") and failed is not None and not limited:
        detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        problems.invalid("status.failedIndexes", failed, detail)
    if change.of("failedIndexes", "completedIndexes") and completions is not None and failed is not None:
        both = overlap(completed, failed, completions)
        if both is not None:
            detail = f"failedIndexes and completedIndexes overlap at index: {both}"
            problems.invalid("status.failedIndexes", failed, detail)


def _readable(field: str, indexes: str, completions: Any, problems: Problems) -> None:
    wrong = count_indexes(indexes, completions)[1] if completions is not None else ""
    if wrong:
        problems.invalid(f"status.{field}", indexes, f"error parsing {field}: {wrong}")


def _success(change: _Change, problems: Problems) -> None:
    met = "SuccessCriteriaMet" in change.now
    if met and "Failed" in change.now:
        _wrong_conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions", problems)
    if met and "FailureTarget" in change.now:
        _wrong_conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions", problems)
    if not met and "Complete" in change.now and "successPolicy" in change.spec:
        detail = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        _wrong_conditions(detail, problems)


def _progress(change: _Change, problems: Problems) -> None:
    status, before, now, then = change.status, change.before, change.now, change.then
    for kind in _TERMINAL:
        if kind in then and kind not in now:
            _wrong_conditions(f"cannot disable the terminal {kind}=True condition", problems)
    for field in ("failed", "succeeded"):
        if status.get(field, 0) < before.get(field, 0) and not (field == "succeeded" and _elastic(change.spec)):
            problems.invalid(f"status.{field}", status.get(field, 0), f"cannot decrease the {field} counter")
    completed = status.get("completionTime")
    if None not in (completed, before.get("completionTime")) and change.of("completionTime"):
        problems.invalid("status.completionTime", completed, IMMUTABLE)
    if before.get("startTime") is not None and change.of("startTime") and not change.may_start_anew:
        detail = "field is immutable for unsuspended job once set"
        problems.invalid("status.startTime", status.get("startTime"), detail)
    met, was_met = "SuccessCriteriaMet" in now, "SuccessCriteriaMet" in then
    if was_met and not met:
        _wrong_conditions("cannot disable the SuccessCriteriaMet=True condition", problems)
    if "Complete" in then and met and not was_met:
        _wrong_conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions", problems)


def _elastic(spec: Object) -> bool:
    """An indexed Job that can be scaled down forgets the Pods beyond."""
    return spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
