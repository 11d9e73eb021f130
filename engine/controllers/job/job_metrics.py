"""What the Job controller tells of itself (pkg/controller/job/metrics): its STABLE metrics.

Durations are the model's, as those of the work queue are.
"""

from __future__ import annotations

from engine.api.types import Object
from engine.controllers.job.indexes import is_indexed
from engine.metrics import Counter, Family, Histogram, exponential_buckets

RECONCILING = "reconciling"  # what was asked for earlier is waited for
TRACKING = "tracking"
PODS_CREATED = "pods_created"
PODS_DELETED = "pods_deleted"
_SYNC = ("completion_mode", "result", "action")


class JobMetrics:
    def __init__(self) -> None:
        self._duration = Histogram(
            "job_controller_job_sync_duration_seconds",
            "[STABLE] The time it took to sync a job",
            *_SYNC,
            buckets=exponential_buckets(0.004, 2, 15),
        )
        self._syncs = Counter("job_controller_job_syncs_total", "[STABLE] The number of job syncs", *_SYNC)
        self._jobs = Counter(
            "job_controller_jobs_finished_total",
            "[STABLE] The number of finished jobs",
            *("completion_mode", "result", "reason"),
        )
        self._pods = Counter(
            "job_controller_job_pods_finished_total",
            "[STABLE] The number of finished Pods that are fully tracked",
            *("completion_mode", "result"),
        )

    def synced(self, job: Object, action: str, *, failed: bool, seconds: float) -> None:
        """One sync of a Job that is not over; `action` is what it did about Pods."""
        labels = _mode(job), "error" if failed else "success", action
        self._duration.observe(seconds, *labels)
        self._syncs.add(*labels)

    def finished(self, job: Object, reason: str, *, failed: bool) -> None:
        self._jobs.add(_mode(job), "failed" if failed else "succeeded", reason)

    def counted(self, job: Object, before: Object, after: Object) -> None:
        """A status was written: what its counters say more than those before."""
        for result in ("succeeded", "failed"):
            # A Job that was made smaller may have fewer indexes that count as succeeded.
            more = max(0, after.get(result, 0) - before.get(result, 0))
            self._pods.add(_mode(job), result, by=more)

    def families(self) -> list[Family]:
        return [self._pods, self._duration, self._syncs, self._jobs]


def _mode(job: Object) -> str:
    return "Indexed" if is_indexed(job) else "NonIndexed"
