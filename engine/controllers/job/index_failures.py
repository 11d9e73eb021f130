"""Failures counted for each completion index by itself: pure (indexed_job_utils.go, backoff_utils.go; KEP-3850).

How often an index has failed stands on its Pod. A Pod that failed is therefore kept until the Pod that replaces it has
taken over the count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from engine.api.golang.integer import parse_int
from engine.api.types import Object
from engine.controllers.job.indexes import index_of, is_valid_index
from engine.controllers.job.policy import judge_failure

FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count"
_MOST = 2**31 - 1


def limits_each_index(job: Object) -> bool:
    return job["spec"].get("backoffLimitPerIndex") is not None


def _count(pod: Object, annotation: str) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(annotation, "")
    try:
        count = parse_int(text)
    except ValueError:
        return 0
    return count if 0 <= count <= _MOST else 0


def all_failures(pod: Object) -> int:
    """Of the Pods that its index had before, the ignored ones too."""
    return _count(pod, FAILURES) + _count(pod, IGNORED_FAILURES)


def counts_after(job: Object, replaced: Object | None) -> dict[str, str]:
    """The annotations of the Pod that comes after `replaced`."""
    if replaced is None:
        return {FAILURES: "0"}
    counts = judge_failure(job["spec"].get("podFailurePolicy"), replaced).counts
    failures = _count(replaced, FAILURES) + counts
    ignored = _count(replaced, IGNORED_FAILURES) + (not counts)
    return {FAILURES: str(failures), **({IGNORED_FAILURES: str(ignored)} if ignored else {})}


def fails_index(job: Object, pod: Object) -> bool:
    """Whether the end of a Pod that failed is that of its index."""
    verdict = judge_failure(job["spec"].get("podFailurePolicy"), pod)
    if verdict.fail_index:
        return True
    return verdict.counts and _count(pod, FAILURES) >= int(job["spec"]["backoffLimitPerIndex"])


def to_be_replaced(
    job: Object, failed: Iterable[Object], settled: set[int], finished_at: Mapping[str, datetime]
) -> dict[int, Object]:
    """Of each index that is not settled (by success, failure or another Pod) the last Pod that failed."""
    kept: dict[int, Object] = {}
    for pod in failed:
        index = index_of(pod)
        if index in settled or not is_valid_index(job, pod):
            continue
        known = kept.get(index)
        if known is None or _order(known, finished_at) <= _order(pod, finished_at):
            kept[index] = pod
    return kept


def _order(pod: Object, finished_at: Mapping[str, datetime]) -> tuple[int, datetime]:
    return all_failures(pod), finished_at[pod["metadata"]["uid"]]


def ready_indexes(indexes: Sequence[int], waits: Mapping[int, float]) -> tuple[list[int], float]:
    """The indexes that need not wait, or where all must the shortest wait. `waits` are seconds by index."""
    now = [index for index in indexes if not waits.get(index)]
    return now, (0.0 if now else min((waits[index] for index in indexes), default=0.0))


def wait_of(failures: int, last: datetime, now: datetime, *, first: float, most: float) -> float:
    """Seconds before another try after so many failures, the last of them at `last`."""
    wait = min(first * 2.0 ** (failures - 1), most)
    return max(0.0, (last + timedelta(seconds=wait) - now).total_seconds())
