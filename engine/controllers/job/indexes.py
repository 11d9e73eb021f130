"""Completion indexes of Indexed Jobs: pure (indexed_job_utils.go)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.golang.integer import parse_int
from engine.api.types import Object

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
UNKNOWN = -1


def is_indexed(job: Object) -> bool:
    return bool(job["spec"].get("completionMode") == "Indexed")


def index_of(pod: Object) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(COMPLETION_INDEX, "")
    try:
        return max(parse_int(text), UNKNOWN)
    except ValueError:
        return UNKNOWN


def is_valid_index(job: Object, pod: Object) -> bool:
    return 0 <= index_of(pod) < int(job["spec"].get("completions") or 0)


def parse_indexes(text: str, completions: int) -> set[int]:
    """The set that `0,2-4` stands for, as far as the Job has such indexes."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return {index for index in found if index < completions}


def format_indexes(indexes: Iterable[int]) -> str:
    """`0,2-4`; two in a row are written apart, as upstream does."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ",".join(_run(run) for run in runs)


def _run(run: list[int]) -> str:
    if len(run) == 1:
        return str(run[0])
    return f"{run[0]}{',' if len(run) == 2 else '-'}{run[-1]}"


def pending_indexes(taken: set[int], *, count: int, completions: int) -> list[int]:
    """The first indexes that have neither succeeded nor a Pod."""
    free = (index for index in range(completions) if index not in taken)
    return [index for index, _ in zip(free, range(count), strict=False)]
