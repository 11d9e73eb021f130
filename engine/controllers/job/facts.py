"""What one sync knows of a Job and its Pods: pure (syncJobCtx in job_controller.go)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from engine.api.types import Object
from engine.controllers.conditions import conditions_of, find_condition, is_true
from engine.controllers.job.index_failures import (
    all_failures,
    fails_index,
    limits_each_index,
    to_be_replaced,
    wait_of,
)
from engine.controllers.job.indexes import index_of, is_indexed, is_valid_index, parse_indexes
from engine.controllers.job.policy import judge_failure, success_policy_met
from engine.controllers.pods import is_active, is_terminating, parse_time, phase

FINALIZER = "batch.kubernetes.io/job-tracking"
FAILURE_BACKOFF = 10.0
MAX_FAILURE_BACKOFF = 600.0


def is_finished(job: Object) -> bool:
    conditions = conditions_of(job.get("status") or {})
    return is_true(conditions, "Complete") or is_true(conditions, "Failed")


def is_suspended(job: Object) -> bool:
    return bool(job["spec"].get("suspend"))


def is_tracked(pod: Object) -> bool:
    """The Job's counters do not have this Pod's end yet."""
    return FINALIZER in (pod["metadata"].get("finalizers") or ())


def replaces_failed_only(job: Object) -> bool:
    """A Pod on its way out is not replaced before it is over."""
    return job["spec"].get("podReplacementPolicy") == "Failed" or job["spec"].get("podFailurePolicy") is not None


def has_failed(job: Object, pod: Object) -> bool:
    """Pods that are deleted count as failures, unless the Job waits for their end."""
    if phase(pod) == "Failed":
        return True
    if replaces_failed_only(job):
        return False
    return bool(pod["metadata"].get("deletionTimestamp")) and phase(pod) != "Succeeded"


def job_condition(type: str, *, reason: str, message: str, now: datetime, status: str = "True") -> Object:
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    condition = {
        "type": type,
        "status": status,
        "lastProbeTime": stamp,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }
    return {name: value for name, value in condition.items() if value}


@dataclass(frozen=True, slots=True)
class Backoff:
    """Failures since the last success, and when the last one was."""

    failures: int = 0
    last: datetime | None = None

    def remaining(self, now: datetime) -> float:
        """Seconds before another Pod may be made."""
        if not self.failures or self.last is None:
            return 0.0
        return wait_of(self.failures, self.last, now, first=FAILURE_BACKOFF, most=MAX_FAILURE_BACKOFF)

    def after(self, succeeded: Sequence[Object], failed: Sequence[Object]) -> Backoff:
        """With Pods that ended since."""
        last_success = max((finished_at(pod) for pod in succeeded), default=None)
        ends = [finished_at(pod) for pod in failed]
        times = [end for end in ends if last_success is None or end > last_success]
        failures = (self.failures if last_success is None else 0) + len(times)
        return Backoff(failures, max([*times, *([self.last] if self.last else [])], default=None))


def finished_at(pod: Object) -> datetime:
    """When the last of its containers did; of one that is deleted before they end, when that was asked for."""
    status, metadata = pod.get("status") or {}, pod["metadata"]
    ends = [
        ((each.get("state") or {}).get("terminated") or {}).get("finishedAt")
        for each in status.get("containerStatuses") or ()
    ]
    ended = [end for end in ends if end]
    if ended and len(ended) == len(ends):
        return parse_time(max(ended))
    ready = find_condition(conditions_of(status), "Ready")
    if ready is not None and ready["status"] == "False" and ready.get("lastTransitionTime"):
        return parse_time(ready["lastTransitionTime"])
    if leaves := metadata.get("deletionTimestamp"):
        return parse_time(leaves) - timedelta(seconds=metadata.get("deletionGracePeriodSeconds") or 0)
    return parse_time(metadata["creationTimestamp"])


class Facts:
    """`counted` are uids of Pods whose finalizer this controller removed and the cache still shows."""

    def __init__(self, job: Object, pods: Sequence[Object], *, counted: set[str], now: datetime) -> None:
        status = job.get("status") or {}
        self.job = job
        self.now = now
        self.pods = [pod for pod in pods if is_tracked(pod) and pod["metadata"]["uid"] not in counted]
        self.all_pods = pods
        self.active = [pod for pod in pods if is_active(pod)]
        self.terminating = sum(is_terminating(pod) for pod in pods)
        uncounted = status.get("uncountedTerminatedPods") or {}
        self.uncounted_succeeded: list[str] = list(uncounted.get("succeeded") or ())
        self.uncounted_failed: list[str] = list(uncounted.get("failed") or ())
        self.new_succeeded = [pod for pod in self._fresh(self.uncounted_succeeded) if phase(pod) == "Succeeded"]
        self.new_failed = [pod for pod in self._fresh(self.uncounted_failed) if has_failed(job, pod)]
        policy = job["spec"].get("podFailurePolicy")
        counting = [pod for pod in self.new_failed if judge_failure(policy, pod).counts]
        self.failed: int = status.get("failed", 0) + len(counting) + len(self.uncounted_failed)
        self.succeeded: int = status.get("succeeded", 0) + len(self.new_succeeded) + len(self.uncounted_succeeded)
        self.completed: set[int] = set()
        if is_indexed(job):
            before = parse_indexes(status.get("completedIndexes", ""), int(job["spec"].get("completions") or 0))
            self.completed = before | {index_of(pod) for pod in self.new_succeeded}
            self.succeeded = len(self.completed)
        self.failed_indexes: set[int] = set()
        self.replaced: dict[int, Object] = {}  # by index, the Pods that failed and are kept until others replace them
        if limits_each_index(job):
            self._count_by_index(status)

    def _fresh(self, known: list[str]) -> list[Object]:
        """Pods whose end is in no counter and no list yet; of an Indexed Job only those with an index of its own."""
        return [
            pod
            for pod in self.pods
            if pod["metadata"]["uid"] not in known and (not is_indexed(self.job) or is_valid_index(self.job, pod))
        ]

    def _count_by_index(self, status: Object) -> None:
        completions = int(self.job["spec"].get("completions") or 0)
        failed = [pod for pod in self.pods if has_failed(self.job, pod) and is_valid_index(self.job, pod)]
        self.failed_indexes = parse_indexes(status.get("failedIndexes") or "", completions)
        self.failed_indexes |= {index_of(pod) for pod in failed if fails_index(self.job, pod)}
        settled = self.completed | self.failed_indexes | {index_of(pod) for pod in self.active}
        ends = {pod["metadata"]["uid"]: finished_at(pod) for pod in failed}
        self.replaced = to_be_replaced(self.job, failed, settled, ends)

    def wait_of_index(self, index: int) -> float:
        """Seconds before an index that failed may have another Pod."""
        pod = self.replaced.get(index)
        if pod is None:
            return 0.0
        failures = all_failures(pod) + 1
        return wait_of(failures, finished_at(pod), self.now, first=FAILURE_BACKOFF, most=MAX_FAILURE_BACKOFF)

    # -- is it over?

    def verdict(self) -> Object | None:
        """The condition that ends the Job, if it has to end before its completions are reached."""
        existing = find_condition(conditions_of(self.job.get("status") or {}), "FailureTarget")
        if existing is not None and existing["status"] == "True":
            return existing
        met = find_condition(conditions_of(self.job.get("status") or {}), "SuccessCriteriaMet")
        if met is not None and met["status"] == "True":
            return met
        for reason, message in (
            ("PodFailurePolicy", self._fails_by_policy()),
            ("BackoffLimitExceeded", self._is_past_limit() and "Job has reached the specified backoff limit"),
            ("DeadlineExceeded", self._is_past_deadline() and "Job was active longer than specified deadline"),
            self._fails_by_indexes(),
        ):
            if message:
                return job_condition("FailureTarget", reason=reason, message=message, now=self.now)
        if is_indexed(self.job) and (how := success_policy_met(self.job, self.completed)):
            return job_condition("SuccessCriteriaMet", reason="SuccessPolicy", message=how, now=self.now)
        return None

    def _fails_by_indexes(self) -> tuple[str, str]:
        """Reason and message where too many indexes have failed, or some have and no other is left; else empty."""
        spec, failed = self.job["spec"], len(self.failed_indexes)
        most = spec.get("maxFailedIndexes")
        if most is not None and failed > most:
            return "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"
        if failed and failed + len(self.completed) >= int(spec.get("completions") or 0):
            return "FailedIndexes", "Job has failed indexes"
        return "", ""

    def _fails_by_policy(self) -> str:
        policy = self.job["spec"].get("podFailurePolicy")
        verdicts = (judge_failure(policy, pod).fail_job for pod in self.all_pods if has_failed(self.job, pod))
        return next(filter(None, verdicts), "")

    def _is_past_limit(self) -> bool:
        limit = int(self.job["spec"].get("backoffLimit", 6))
        return self.failed > limit or self._restarted_too_often(limit)

    def _restarted_too_often(self, limit: int) -> bool:
        """Containers that are restarted in place count as tries as well, also while their Pod is on its way out."""
        if self.job["spec"]["template"]["spec"].get("restartPolicy") != "OnFailure":
            return False
        restarts = sum(
            each.get("restartCount", 0)
            for pod in self.all_pods
            if phase(pod) in ("Running", "Pending")
            for field in ("containerStatuses", "initContainerStatuses")
            for each in (pod.get("status") or {}).get(field) or ()
        )
        return bool(restarts > 0 if not limit else restarts >= limit)

    def deadline_in(self) -> float | None:
        """Seconds to `spec.activeDeadlineSeconds`; None if it does not run."""
        seconds = self.job["spec"].get("activeDeadlineSeconds")
        started = (self.job.get("status") or {}).get("startTime")
        if seconds is None or started is None or is_suspended(self.job):
            return None
        return (parse_time(started) + timedelta(seconds=seconds) - self.now).total_seconds()

    def _is_past_deadline(self) -> bool:
        left = self.deadline_in()
        return left is not None and left <= 0

    def is_complete(self, active: int) -> bool:
        completions = self.job["spec"].get("completions")
        if completions is None:
            return self.succeeded > 0 and not active
        return self.succeeded >= int(completions) and not active

    # -- how many more?

    def wanted_active(self) -> int:
        completions = self.job["spec"].get("completions")
        parallelism = int(self.job["spec"].get("parallelism", 1))
        if is_suspended(self.job):
            return 0
        if completions is None:
            return len(self.active) if self.succeeded else parallelism
        return max(0, min(int(completions) - self.succeeded, parallelism))
