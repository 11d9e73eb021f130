"""A trace's spans as text: a tree of causes, or a mermaid sequence diagram. Pure functions over `Span.to_json()`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Span = dict[str, Any]

LAMPS = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫"
CHAIN = range(2, 7)
WATCH = 8
LANES = ("client", "api-server", "etcd", "controllers", "scheduler", "nodes")


def milliseconds(value: float) -> str:
    """A duration as the eye wants it: three figures and a unit."""
    if value >= 60_000:
        return f"{int(value // 60_000)}m{value % 60_000 / 1000:02.0f}s"
    if value >= 1000:
        return f"{value / 1000:.2f} s"
    return f"{value:.1f} ms" if value else "-"


def in_tree_order(spans: Sequence[Span]) -> Iterator[tuple[int, Span]]:
    """Each span with its depth: a parent before its children, children in the order they began."""
    known = {span["id"] for span in spans}
    children: dict[str, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda span: (span["start"], span["hop"], span["sequence"])):
        children[span["parent"] if span["parent"] in known else ""].append(span)
    waiting = [(0, span) for span in reversed(children[""])]
    while waiting:
        depth, span = waiting.pop()
        yield depth, span
        waiting.extend((depth + 1, child) for child in reversed(children[span["id"]]))


def fold_chains(rows: Iterable[tuple[int, Span]]) -> Iterator[tuple[int, str, Span]]:
    """The rows with their lamps; the links of one request's chain (hops 2 to 6) stand in one row."""
    chain: list[tuple[int, Span]] = []
    for depth, span in rows:
        if chain and not _continues(chain[-1], depth, span):
            yield _folded(chain)
            chain = []
        chain.append((depth, span))
    if chain:
        yield _folded(chain)


def _continues(last: tuple[int, Span], depth: int, span: Span) -> bool:
    return (
        depth == last[0]
        and span["parent"] == last[1]["parent"]
        and last[1]["hop"] < span["hop"]
        and last[1]["hop"] in CHAIN
        and span["hop"] in CHAIN
        and last[1]["outcome"] == "ok"
    )


def _folded(chain: list[tuple[int, Span]]) -> tuple[int, str, Span]:
    depth, last = chain[-1]
    spans = [span for _, span in chain]
    lamps = "".join(LAMPS[span["hop"] - 1] for span in spans)
    whole = {**last, "wall_ms": sum(span["wall_ms"] for span in spans), "model_ms": sum(s["model_ms"] for s in spans)}
    return depth, lamps, whole


def verb_of(span: Span) -> str:
    """The verb, for a watch event its type."""
    return str(span["detail"].get("event") or span["verb"]) if span["hop"] == WATCH else str(span["verb"])


def table(spans: Sequence[Span]) -> list[str]:
    """The tree with its columns, ready to print."""
    rows = [("HOP", "STEP", "OBJECT", "REVISION", "WALL", "MODEL", "OUTCOME")]
    for depth, lamps, span in fold_chains(in_tree_order(spans)):
        rows.append(
            (
                lamps,
                f"{'  ' * depth}{span['component']} {verb_of(span)}",
                span["object"] or "-",
                str(span["revision"] or "-"),
                milliseconds(span["wall_ms"]),
                milliseconds(span["model_ms"]),
                span["outcome"],
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return [
        "   ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    ]


def mermaid(spans: Sequence[Span]) -> str:
    """A sequence diagram: every span is a message from its parent's lane to its own."""
    by_id = {span["id"]: span for span in spans}
    lines = ["sequenceDiagram", *(f"    participant {lane}" for lane in LANES)]
    for _, span in in_tree_order(spans):
        parent = by_id.get(span["parent"])
        origin = parent["lane"] if parent else "client"
        arrow = "->>" if span["outcome"] == "ok" else "-x"
        text = f"{span['hop']} {span['component']} {verb_of(span)} {span['object']}".replace(";", ",").strip()
        lines.append(f"    {origin}{arrow}{span['lane']}: {text}")
    return "\n".join(lines)
