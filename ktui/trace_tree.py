"""A trace's spans, and their words.

Pure functions over `Span.to_json()`; the table that `ktui trace` prints is made in `trace_table.py`, the diagram in
`trace_diagram.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ktui.models.words import resource_of

Span = dict[str, Any]

LAMPS = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫"
STORE, WATCH = 7, 8
LANES = ("client", "api-server", "etcd", "controllers", "scheduler", "nodes")


def milliseconds(value: float) -> str:
    """A duration as the eye wants it: three figures and a unit."""
    if value >= 60_000:
        return f"{int(value // 60_000)}m{value % 60_000 / 1000:02.0f}s"
    if value >= 1000:
        return f"{value / 1000:.2f} s"
    return f"{value:.1f} ms" if value else "-"


def without_events(spans: Sequence[Span]) -> list[Span]:
    """Without the writes of Event objects: they tell of the steps that are told of already."""
    return [span for span in spans if not span["object"].startswith("event/")]


def verb_of(span: Span) -> str:
    """The verb, with the subresource that it is for; of a watch event its type, of a write to etcd what etcd does."""
    detail, verb = span["detail"], str(span["verb"])
    if span["hop"] == WATCH:
        return str(detail.get("event") or verb)
    if span["hop"] == STORE:
        return "txn delete" if detail.get("deletes") else "txn put"  # a graceful deletion writes its time
    subresource = detail.get("subresource")
    return f"{verb} {resource_of(span['object'])}/{subresource}" if subresource else verb


def lamps_of(hops: Collection[int]) -> str:
    """The lamps of hops that stand in one line; more than three as a range."""
    lit = sorted(set(hops))
    return f"{LAMPS[lit[0] - 1]}-{LAMPS[lit[-1] - 1]}" if len(lit) > 3 else "".join(LAMPS[hop - 1] for hop in lit)
