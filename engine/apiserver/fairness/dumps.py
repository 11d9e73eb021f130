"""What the priority levels do at this moment, as text (apiserver pkg/util/flowcontrol/apf_controller_debug.go).

`/debug/api_priority_and_fairness/dump_priority_levels`, `dump_queues` and `dump_requests`: a line each, its cells under
one another and a comma after each but the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from engine.apiserver.fairness.levels import Level, PriorityLevels
from engine.apiserver.fairness.queues import GUESS, Claim, Queue
from engine.timestamps import moment

PREFIX = "/debug/api_priority_and_fairness/"
PATHS = (f"{PREFIX}dump_priority_levels", f"{PREFIX}dump_queues", f"{PREFIX}dump_requests")

_LEAST_WIDTH = 8
_LEVELS = (
    *("PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests"),
    *("DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests"),
)
_QUEUES = (
    *("PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR"),
    *("InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum"),
)
_REQUESTS = (
    *("PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime"),
    *("InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"),
)
_DETAILS = ("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")
_NEVER = "0001-01-01T00:00:00Z"


def dump(levels: PriorityLevels, path: str, *, details: bool) -> str | None:
    """The text at a path below `PREFIX`; None where there is none."""
    dumps: dict[str, Callable[[], Iterator[tuple[str, ...]]]] = dict(
        zip(
            PATHS,
            (lambda: _levels(levels), lambda: _queues(levels), lambda: _requests(levels, details=details)),
            strict=True,
        )
    )
    rows = dumps.get(path)
    return _aligned(list(rows())) if rows is not None else None


def _levels(levels: PriorityLevels) -> Iterator[tuple[str, ...]]:
    yield _LEVELS
    for level in levels:
        active = sum(bool(queue.waiting) for queue in _queues_of(level))
        flags = (not level.waiting and not level.executing, level.quiescing)
        counts = (level.waiting, level.executing, level.dispatched, level.rejected, level.timed_out, level.cancelled)
        yield (level.name, str(active), *(str(flag).lower() for flag in flags), *map(str, counts))


def _queues(levels: PriorityLevels) -> Iterator[tuple[str, ...]]:
    yield _QUEUES
    for level in levels:
        for queue in _queues_of(level):
            waiting, executing = len(queue.waiting), queue.executing
            work = f"{waiting * GUESS:.8f}ss"
            sums = (str(waiting), str(waiting), work)  # each takes one seat, for as long as is guessed
            yield (level.name, str(queue.number), str(waiting), str(executing), str(executing), _virtual(queue), *sums)


def _virtual(queue: Queue) -> str:
    return f"{queue.given:.8f}ss"


def _requests(levels: PriorityLevels, *, details: bool) -> Iterator[tuple[str, ...]]:
    yield (*_REQUESTS, *_DETAILS) if details else _REQUESTS
    for level in levels:
        for queue in _queues_of(level):
            for index, claim in enumerate(queue.waiting):
                yield _request(level, queue.number, index, claim, details=details)
            for claim in [each for each in level.running if each.queue is queue]:
                yield _request(level, queue.number, -1, claim, details=details)
        for claim in [each for each in level.running if each.queue is None]:
            yield _request(level, -1, -1, claim, details=details)


def _request(level: Level, queue: int, index: int, claim: Claim, *, details: bool) -> tuple[str, ...]:
    started = _nano(claim.started) if claim.started is not None else _NEVER
    place = (level.name, claim.flow.schema_name, str(queue), str(index), claim.distinguisher, _nano(claim.arrived))
    row = (*place, "1", "0", "0s", started)
    info = claim.info
    if not details:
        return row
    version = f"{info.group}/{info.version}" if info.group else info.version
    names = (info.namespace, info.name, version, info.resource, info.subresource)
    return (*row, claim.user, info.verb, info.path, *names)


def _queues_of(level: Level) -> Iterable[Queue]:
    return level.queues if level.queues is not None and not level.rejects else ()


def _nano(seconds: float) -> str:
    """Go's time.RFC3339Nano: as many digits of the second as it needs."""
    whole, _, fraction = moment(seconds).isoformat(timespec="microseconds").partition("+")[0].partition(".")
    digits = fraction.rstrip("0")
    return f"{whole}.{digits}Z" if digits else f"{whole}Z"


def _aligned(rows: list[tuple[str, ...]]) -> str:
    columns = list(zip(*rows, strict=True))[:-1]
    widths = [max(_LEAST_WIDTH, *(len(cell) + len(", ") for cell in column)) for column in columns]
    text = ""
    for *cells, last in rows:
        text += "".join(f"{cell},".ljust(width) for cell, width in zip(cells, widths, strict=True)) + f"{last}\n"
    return text
