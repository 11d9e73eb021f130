"""A trace's spans as text: a tree of causes, or a mermaid sequence diagram. Pure functions over `Span.to_json()`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

Span = dict[str, Any]

LAMPS = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫"
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


def table(spans: Sequence[Span]) -> list[str]:
    """The tree with its columns, ready to print."""
    rows = [("HOP", "STEP", "OBJECT", "REVISION", "WALL", "MODEL", "OUTCOME")]
    for depth, span in in_tree_order(spans):
        rows.append(
            (
                LAMPS[span["hop"] - 1],
                f"{'  ' * depth}{span['component']} {span['verb']}",
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
        text = f"{span['hop']} {span['component']} {span['verb']} {span['object']}".replace(";", ",").strip()
        lines.append(f"    {origin}{arrow}{span['lane']}: {text}")
    return "\n".join(lines)
