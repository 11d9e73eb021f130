"""The detail of one Flow row: its spans with times, outcome, cause and payload."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml
from rich.console import Group, RenderableType
from rich.syntax import Syntax
from rich.text import Text
from textual.containers import VerticalScroll
from textual.widgets import Static

from engine.latency import REALISTIC
from ktui.trace_tree import LAMPS, milliseconds

HOP_NAMES = (
    "client", "authentication", "authorization", "mutating admission", "schema", "validating admission",
    "store", "watch", "controller", "scheduler", "kubelet", "network",
)  # fmt: skip
HOP_LATENCIES = (
    "client", "authentication", "authorization", "mutating-admission", "schema", "validating-admission",
    "store", "watch", "controller", "scheduler", "", "network",
)  # fmt: skip


class Inspector(VerticalScroll):
    """Shows the spans that a row stands for."""

    DEFAULT_CSS = """
    Inspector { width: 42; padding: 0 1; }
    Inspector > Static { width: 1fr; }
    """

    def compose(self) -> Iterable[Static]:
        yield Static("", id="inspected")

    def show(self, spans: list[dict[str, Any]]) -> None:
        if not spans:
            self.query_one("#inspected", Static).update(Text("Select a line to see its hop.", "dim"))
            return
        self.query_one("#inspected", Static).update(Group(*(part for span in spans for part in describe(span))))
        self.scroll_home(animate=False)


def describe(span: dict[str, Any]) -> list[RenderableType]:
    """One span as text."""
    hop = span["hop"]
    ok = span["outcome"] == "ok"
    head = Text.assemble(
        (f"{LAMPS[hop - 1]} {HOP_NAMES[hop - 1]}", "bold"),
        "  ",
        ("✓" if ok else f"✖ {span['outcome']}", "green" if ok else "red"),
    )
    rows = [
        ("object", span["object"]),
        ("who", span["component"]),
        ("verb", span["verb"]),
        ("revision", str(span["revision"] or "")),
        ("woken by", ", ".join(f"rev {revision}" for revision in span["wokenBy"])),
        ("started", span["start"][11:23]),
        ("wall", milliseconds(span["wall_ms"])),
        ("model~", f"{milliseconds(span['model_ms'])}{usual(hop)}"),
        ("trace", span["traceId"][:16]),
    ]
    body = Text("\n".join(f"{name:<9} {value}" for name, value in rows if value))
    parts: list[RenderableType] = [head, body]
    if span["detail"]:
        parts.append(Syntax(yaml.safe_dump(span["detail"], sort_keys=False), "yaml", background_color="default"))
    parts.append(Text(""))
    return parts


def usual(hop: int) -> str:
    """The design's range for a hop, for the eye to compare with."""
    bounds = REALISTIC.get(HOP_LATENCIES[hop - 1])
    return f"  usual {bounds[0]:g}-{bounds[1]:g} ms" if bounds else ""
