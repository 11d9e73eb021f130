"""One trace hop by hop, on and back: what had ended by then, and the hop that ended last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ktui.models.exchange import Span, ended, started
from ktui.models.flow_rows import FlowRow

STORE, WATCH = 7, 8


@dataclass(slots=True)
class Replay:
    """`stops` are how many spans have ended at each step; `at` is the step that is shown."""

    spans: Sequence[Span]
    stops: Sequence[int]
    at: int

    @classmethod
    def of(cls, spans: Sequence[Span], rows: Iterable[FlowRow], *, from_end: bool) -> Replay:
        """Through the spans that the rows show; what is hidden from them is no step."""
        spans = list(_in_order(spans))
        visible = {id for row in rows for id in row.spans}
        stops = [count for count, span in enumerate(spans, start=1) if span["id"] in visible] or [len(spans)]
        return cls(spans, stops, max(0, len(stops) - 2) if from_end else 0)

    @property
    def shown(self) -> Sequence[Span]:
        """What had ended by then."""
        return self.spans[: self.stops[self.at]]

    @property
    def from_root(self) -> Sequence[Span]:
        """The same behind the span of the client, which ends after what it set off has begun: the story's title."""
        root = next((span for span in self.spans if span["hop"] == 1), None)
        return self.shown if root is None or root in self.shown else [_begun(root), *self.shown]

    @property
    def current(self) -> Span:
        return self.spans[self.stops[self.at] - 1]

    @property
    def milliseconds(self) -> float:
        """Since the trace began."""
        return (ended(self.current) - min(started(span) for span in self.spans)) * 1000

    def move(self, by: int) -> bool:
        """Go some steps on or back; false where that would lead beyond the end, where nothing is to be replayed."""
        if self.at + by >= len(self.stops):
            return False
        self.at = max(0, self.at + by)
        return True

    def row_of_current(self, rows: Sequence[FlowRow]) -> FlowRow | None:
        id = self.current["id"]
        return next((row for row in reversed(rows) if id in row.spans), None)


def _in_order(spans: Sequence[Span]) -> Iterator[Span]:
    """As they ended; but an event, which may be told of while its write is still being answered, behind its write."""
    ids = {span["id"] for span in spans if span["hop"] == STORE}
    early: dict[str, list[Span]] = {}
    for span in spans:
        if span["parent"] in ids and span["hop"] == WATCH:
            early.setdefault(span["parent"], []).append(span)
            continue
        yield span
        if span["id"] in ids:
            ids.discard(span["id"])
            yield from early.pop(span["id"], ())


def _begun(root: Span) -> Span:
    """The client's span before it has ended: it has taken no time yet, and nothing came of it."""
    return {**root, "wall_ms": 0.0, "model_ms": 0.0, "outcome": ""}
