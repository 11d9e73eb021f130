"""The Flow screen's rows: what each span looks like between the lanes.

A span whose parent is in another lane is an arrow from there; one whose parent is in its own lane is a step inside it.
The links of the request chain that follow one another in one request (hops 2 to 6) share a row, and a burst of equal
rows folds into one with a count.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

LANES = ("client", "api-server", "etcd", "controllers", "scheduler", "nodes")
LAMPS = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫"
ROWS_KEPT = 5_000
LANES_KEPT = 50_000  # span id → lane, to know where an arrow starts

CLIENT, API_SERVER, ETCD, CONTROLLERS, SCHEDULER, NODES = range(6)
_CHAIN = range(2, 7)


@dataclass(frozen=True, slots=True)
class FlowRow:
    """One line: an arrow from `source` to `target`, or a step inside a lane where they are the same."""

    hops: tuple[int, ...]
    source: int
    target: int
    text: str
    outcome: str
    wall_ms: float
    model_ms: float
    trace_id: str
    spans: tuple[str, ...]
    dotted: bool = False  # a watch event, not a request
    count: int = 1

    @property
    def ok(self) -> bool:
        return self.outcome == "ok"

    @property
    def lamps(self) -> str:
        return "".join(LAMPS[hop - 1] for hop in self.hops)

    def folds_with(self, other: FlowRow) -> bool:
        """Whether the two are one burst: the same thing happening again."""
        return (
            self.hops == other.hops
            and self.source == other.source
            and self.target == other.target
            and self.outcome == other.outcome
            and self.trace_id == other.trace_id
            and _kind_of(self.text) == _kind_of(other.text)
        )

    def folded(self, other: FlowRow) -> FlowRow:
        return replace(
            self,
            text=_kind_of(self.text),
            wall_ms=self.wall_ms + other.wall_ms,
            model_ms=max(self.model_ms, other.model_ms),
            spans=(*self.spans, *other.spans)[-64:],
            count=self.count + other.count,
        )


def _kind_of(text: str) -> str:
    """`create pod/web-x` and `create pod/web-y` are both `create pod`."""
    verb, _, rest = text.partition(" ")
    return f"{verb} {rest.split('/')[0]}".strip()


def short_object(name: str) -> str:
    """`pod/default/web-x` as the eye wants it: `pod/web-x`."""
    parts = name.split("/")
    return f"{parts[0]}/{parts[-1]}" if len(parts) > 2 else name


class FlowModel:
    """Turns ended spans into rows, newest last. `dropped` counts rows that went out at the far end."""

    def __init__(self) -> None:
        self.rows: deque[FlowRow] = deque(maxlen=ROWS_KEPT)
        self.spans: dict[str, dict[str, Any]] = {}
        self.dropped = 0
        self.seen = 0

    def add(self, spans: Iterable[dict[str, Any]]) -> int:
        """Take a batch of spans; returns how many rows were added at the end."""
        batch = sorted(spans, key=lambda span: (span["start"], span["hop"], span["sequence"]))
        self._remember(batch)
        added = 0
        for span in batch:
            self.seen += 1
            if is_background(span):
                continue
            added += self._append(self._row(span))
        return added

    def _remember(self, batch: Sequence[dict[str, Any]]) -> None:
        for span in batch:
            self.spans[span["id"]] = span
        while len(self.spans) > LANES_KEPT:
            self.spans.pop(next(iter(self.spans)))

    def _append(self, row: FlowRow) -> int:
        if self.rows:
            last = self.rows[-1]
            if _same_chain(last, row):
                self.rows[-1] = _chained(last, row)
                return 0
            if last.folds_with(row):
                self.rows[-1] = last.folded(row)
                return 0
        if len(self.rows) == ROWS_KEPT:
            self.dropped += 1
        self.rows.append(row)
        return 1

    def _row(self, span: dict[str, Any]) -> FlowRow:
        source, target = self._ends(span)
        return FlowRow(
            hops=(span["hop"],),
            source=source,
            target=target,
            text=row_text(span),
            outcome=span["outcome"],
            wall_ms=span["wall_ms"],
            model_ms=span["model_ms"],
            trace_id=span["traceId"],
            spans=(span["id"],),
            dotted=span["hop"] == 8,
        )

    def _ends(self, span: dict[str, Any]) -> tuple[int, int]:
        """The lanes that the span's arrow goes from and to."""
        lane = LANES.index(span["lane"])
        hop = span["hop"]
        if hop == 1:
            return CLIENT, API_SERVER
        if hop == 7:
            return API_SERVER, ETCD
        if hop == 8:
            return ETCD, API_SERVER
        parent = self.spans.get(span["parent"])
        if hop == 2 and parent is not None and parent["hop"] >= 9:
            return LANES.index(parent["lane"]), lane
        if hop >= 9 and parent is not None and parent["hop"] in (7, 8):
            return API_SERVER, lane
        return lane, lane


def is_background(span: dict[str, Any]) -> bool:
    """Heartbeats: shown only when asked for, since they would bury everything else."""
    return str(span["object"]).startswith("lease/") and span["outcome"] == "ok"


def row_text(span: dict[str, Any]) -> str:
    """What stands on the arrow or beside the lane."""
    name = short_object(span["object"])
    match span["hop"]:
        case 2 | 3 | 4 | 5 | 6:
            return str(span["detail"].get("summary") or _CHAIN_WORDS[span["hop"]])
        case 7:
            revision = f" rev {span['revision']}" if span["revision"] else ""
            return f"{span['verb']} {name}{revision}"
        case 8:
            return f"{span['verb']} {name}"
        case 9:
            return f"{span['component'].removesuffix('-controller')} {span['verb']} {name}"
        case _:
            return f"{span['verb']} {name}"


_CHAIN_WORDS = {2: "x509", 3: "RBAC", 4: "mutate", 5: "schema", 6: "validate"}


def _same_chain(last: FlowRow, row: FlowRow) -> bool:
    """Whether `row` is the next link of the request that `last` is in."""
    return (
        row.hops[0] in _CHAIN
        and last.hops[-1] in _CHAIN
        and row.hops[0] > last.hops[-1]
        and row.trace_id == last.trace_id
        and last.ok
        and last.count == 1
    )


def _chained(last: FlowRow, row: FlowRow) -> FlowRow:
    sign = "✓" if row.ok else f"✖ {row.outcome}"
    head = last.text if len(last.hops) > 1 else f"{last.text} ✓"
    return replace(
        last,
        hops=(*last.hops, *row.hops),
        text=f"{head} {row.text} {sign}",
        outcome=row.outcome,
        wall_ms=last.wall_ms + row.wall_ms,
        model_ms=last.model_ms + row.model_ms,
        spans=(*last.spans, *row.spans),
    )
