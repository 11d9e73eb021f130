"""The Scheduler screen's rows: Pods that wait, then the newest attempts, one row a Pod; and how full the nodes are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engine.api.duration import human_duration
from engine.api.quantity import Quantity
from ktui.models.grid_row import GridRow
from ktui.models.signs import CLOCK, DONE, WAITING, WRONG, short_pod

Json = Mapping[str, Any]
TITLES = ("POD", "RESULT", "NODE")
WIDE_TITLES = (*TITLES, "TRY", "AGE")
PLACES = ("active", "backoff", "unschedulable")


@dataclass(frozen=True, slots=True)
class Queue:
    """One of the four places where a Pod can wait."""

    name: str
    pods: int


@dataclass(frozen=True, slots=True)
class Fill:
    """How much of a node is requested; of each resource the text and the share."""

    node: str
    cpu: float
    memory: float
    pods: int
    allowed_pods: int
    cpu_text: str = ""
    memory_text: str = ""
    cordoned: bool = False


@dataclass(slots=True)
class SchedulerModel:
    queue: Json = field(default_factory=dict)
    attempts: Json = field(default_factory=dict)
    capacity: Json = field(default_factory=dict)

    def take(self, answer: Json) -> None:
        self.queue, self.attempts, self.capacity = answer["queue"], answer["attempts"], answer["capacity"]

    @property
    def queues(self) -> list[Queue]:
        counts = self.queue.get("counts") or {}
        gated = counts.get("gated", 0)
        return [
            Queue("active", counts.get("active", 0)),
            Queue("back-off", counts.get("backoff", 0)),
            Queue("unschedulable", counts.get("unschedulable", 0) - gated),
            Queue("gated", gated),
        ]

    @property
    def left_out(self) -> str:
        """What is not among the rows, where there are more Pods than anybody looks at."""
        waiting = sum((self.queue.get("counts") or {}).values()) - (self.queue.get("counts") or {}).get("gated", 0)
        more_waiting = waiting - sum(len(self.queue.get(place) or ()) for place in PLACES)
        more_attempts = self.attempts.get("total", 0) - len(self.attempts.get("decisions") or ())
        parts = [f"{more_waiting} more wait"] if more_waiting > 0 else []
        parts += [f"{more_attempts} older attempts"] if more_attempts > 0 else []
        return "not shown: " + ", ".join(parts) if parts else ""

    # -- rows

    def rows(self, *, now: datetime | None = None) -> list[GridRow]:
        """In the columns of WIDE_TITLES; of these, narrow screens take the first."""
        waiting = {waiting["pod"]: (place, waiting) for place in PLACES for waiting in self.queue.get(place) or ()}
        newest: dict[str, Json] = {}
        for attempt in self.attempts.get("decisions") or ():
            newest.setdefault(attempt["pod"], attempt)
        rows = [self._waiting_row(pod, *found, newest.get(pod)) for pod, found in waiting.items()]
        rows += [attempt_row(pod, attempt, now) for pod, attempt in newest.items() if pod not in waiting]
        return rows

    def _waiting_row(self, pod: str, place: str, waiting: Json, attempt: Json | None) -> GridRow:
        result, tone = self._waiting_words(place, waiting, attempt)
        seconds = self.queue.get("now", 0.0) - waiting["timestamp"]
        nominated = (attempt or {}).get("nominatedNode", "")
        cells = (
            short_pod(pod),
            result,
            f"→ {nominated}" if nominated else "",
            str(waiting["attempts"]),
            human_duration(max(0.0, seconds)),
        )
        return GridRow(pod, cells, tone, labels=waiting.get("labels") or {})

    def _waiting_words(self, place: str, waiting: Json, attempt: Json | None) -> tuple[str, str]:
        if waiting["gatedBy"]:
            return f"{CLOCK} gated", "warning"
        if place == "active":
            return f"{WAITING} in line", "warning"
        if place == "backoff":
            left = waiting.get("backoffUntil", 0.0) - self.queue.get("now", 0.0)
            return f"{WAITING} back-off {max(0.0, left):.0f} s", "warning"
        if attempt is not None and attempt.get("nominatedNode"):
            return f"{WAITING} preempts", "warning"
        return (f"{WRONG} {_fits(attempt)}" if attempt is not None else f"{WRONG} unschedulable"), "error"

    # -- nodes

    @property
    def total(self) -> Fill | None:
        """All nodes together."""
        if not self.capacity:
            return None
        count = self.capacity["nodes"]
        return _fill(f"{count} node{'s' if count != 1 else ''}", self.capacity)

    def fills(self, most: int) -> tuple[list[Fill], int]:
        """The nodes by name where there is room for all, else the fullest; and how many are not among them."""
        told = list(self.capacity.get("fullest") or ())
        count = self.capacity.get("nodes", 0)
        if count <= most:
            told.sort(key=lambda node: _natural(node["node"]))
        else:
            told = told[: max(0, most - 1)]
        return [_fill(node["node"], node) for node in told], count - len(told)


def attempt_row(pod: str, attempt: Json, now: datetime | None) -> GridRow:
    result, tone = result_words(attempt)
    age = max(0.0, (now - datetime.fromisoformat(attempt["time"])).total_seconds()) if now is not None else None
    return GridRow(
        pod,
        (
            short_pod(pod),
            result,
            attempt["node"] or "",
            str(attempt["attempt"]),
            human_duration(age) if age is not None else "",
        ),
        tone,
        labels=attempt.get("labels") or {},
    )


def result_words(attempt: Json) -> tuple[str, str]:
    """What came of an attempt, in two words, and the tone that goes with it."""
    match attempt["result"]:
        case "scheduled":
            if point := attempt.get("waitsAt"):
                return f"{WAITING} waits, {point}", "warning"
            failed = attempt.get("binding") == "failed"
            return (f"{WRONG} not bound", "error") if failed else (f"{DONE} bound", "foreground")
        case "unschedulable":
            return f"{WRONG} {_fits(attempt)}", "error"
        case "":
            return f"{WAITING} under way", "warning"
        case "error":
            return f"{WRONG} error", "error"
        case other:
            return f"· {other}", "foreground"


def _fits(attempt: Json) -> str:
    return f"fits {attempt['feasibleNodes']}/{attempt['nodes']} nodes"


def _fill(name: str, told: Json) -> Fill:
    requested, allocatable = told["requested"], told["allocatable"]
    cpu, of_cpu = Quantity.parse(requested["cpu"]).milli, Quantity.parse(allocatable["cpu"]).milli
    memory, of_memory = requested["memory"], allocatable["memory"]
    return Fill(
        name,
        cpu / of_cpu if of_cpu else 0.0,
        memory / of_memory if of_memory else 0.0,
        told["pods"],
        told["allowedPods"],
        f"{cpu / 1000:g}/{of_cpu / 1000:g}",
        f"{memory / 2**30:.1f}/{of_memory / 2**30:.0f} Gi",
        told.get("unschedulable", False),
    )


def _natural(name: str) -> tuple[str, int, str]:
    """`node-2` before `node-10`."""
    head = name.rstrip("0123456789")
    return head, int(name[len(head) :] or 0), name


# -- one attempt


@dataclass(frozen=True, slots=True)
class FilterRow:
    """A node's verdicts, one for each filter: `passed`, `rejected`, `unasked`; and the rejecting plugin's words."""

    node: str
    verdicts: tuple[str, ...]
    reason: str
    is_winner: bool = False


PASSED, REJECTED, UNASKED = "passed", "rejected", "unasked"


def filter_columns(attempt: Json) -> list[str]:
    """The filters in the order in which they ask; then those that rejected without being one, such as PreFilters."""
    columns = list(attempt.get("filters") or ())
    for rejected in attempt["rejected"]:
        if rejected["plugin"] and rejected["plugin"] not in columns:
            columns.append(rejected["plugin"])
    return columns


def filter_rows(attempt: Json) -> Iterator[FilterRow]:
    """The nodes that fit, the best first, then those that do not."""
    columns = filter_columns(attempt)
    for scored in attempt["scores"]:
        is_winner = scored["node"] == attempt["node"]
        yield FilterRow(scored["node"], (PASSED,) * len(attempt.get("filters") or ()), "", is_winner)
    for rejected in attempt["rejected"]:
        at = columns.index(rejected["plugin"]) if rejected["plugin"] in columns else len(columns)
        verdicts = (*(PASSED,) * at, REJECTED, *(UNASKED,) * max(0, len(columns) - at - 1))
        yield FilterRow(rejected["node"], verdicts[: len(columns)], "; ".join(rejected["reasons"]))


def verdict(attempt: Json) -> str:
    """In a sentence: what was decided, and by how much."""
    scored = [row for row in attempt["scores"] if row["total"] is not None]
    feasible, nodes, node = attempt["feasibleNodes"], attempt["nodes"], attempt["node"]
    if attempt["result"] == "unschedulable" or (not node and attempt["result"] != ""):
        return str(attempt["message"] or f"{feasible} of {nodes} nodes fit")
    if not node:
        return "under way"
    if why := attempt.get("bindingMessage"):
        return f"{node}: {why}"
    if feasible == 1:
        return f"{node} is the one node of {nodes} that fits"
    if not scored:
        return f"{node}, which it was nominated to"
    if ties := attempt["ties"]:
        return f"{node}, one of {ties} equals with {scored[0]['total']} points, drawn by lot"
    best, second = scored[0], scored[1]
    return f"{node} with {best['total']} points, {best['total'] - second['total']} more than {second['node']}"


def why_ahead(attempt: Json) -> Sequence[tuple[str, int]]:
    """The plugins that put the winner ahead of the second, with the points that each gave more."""
    scored = [row for row in attempt["scores"] if row["total"] is not None]
    if len(scored) < 2:
        return ()
    second = {entry["plugin"]: entry["weighted"] for entry in scored[1]["plugins"]}
    leads = [(entry["plugin"], entry["weighted"] - second.get(entry["plugin"], 0)) for entry in scored[0]["plugins"]]
    return sorted((lead for lead in leads if lead[1] > 0), key=lambda lead: -lead[1])
