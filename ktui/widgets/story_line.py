"""Twelve lamps: how far a write has come, which hop is the slow one, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len
from rich.text import Text
from textual.widgets import Static

from ktui.models.story import DONE, FAILED, HOP_NAMES, WAITING, Lamp, Story
from ktui.trace_tree import LAMPS, milliseconds
from ktui.widgets.ink import inks

TONES = {DONE: "success", WAITING: "warning", FAILED: "error"}


class StoryLine(Static):
    DEFAULT_CSS = """
    StoryLine { height: 2; width: 1fr; padding: 0 1; background: $surface; }
    """

    def show(self, story: Story | None, *, is_pinned: bool, width: int) -> None:
        lines = self.lines(story, is_pinned=is_pinned, width=width, colours=inks(self.app))
        self.update(lines, layout=False)

    @staticmethod
    def lines(story: Story | None, *, is_pinned: bool, width: int, colours: Mapping[str, str]) -> Text:
        if story is None and is_pinned:
            return Text("no client began this trace: the lamps are those of a client's write", "dim")
        if story is None:
            return Text("no write of a client is seen: the lamps show how far the newest one has come", "dim")
        head = _head(story, is_pinned=is_pinned, width=width, colours=colours)
        head.truncate(width, overflow="ellipsis")
        with_times = [_lamp(lamp, colours, time=True) for lamp in story.lamps]
        lamps = Text("  ").join(with_times)
        if lamps.cell_len > width:
            lamps = Text(" ").join(with_times)
        if lamps.cell_len > width:
            lamps = Text("  ").join(_lamp(lamp, colours, time=False) for lamp in story.lamps)
        return Text("\n").join([head, lamps])


def _head(story: Story, *, is_pinned: bool, width: int, colours: Mapping[str, str]) -> Text:
    """What was written, by whom, and what it took; as much of it as there is room for, why it ended first."""
    took = f" · {milliseconds(story.milliseconds)}{'~' if story.is_model_time else ''}"
    note = f" · {story.note}" if story.note else ""
    word, tone = ("pinned ", f"bold {colours.get('accent', '')}") if is_pinned else ("newest ", "dim")
    title = story.title
    if note and cell_len(word + title + took + note) > width:
        title = title.partition(" · by ")[0]
    head = Text.assemble((word, tone), (title, "bold"), took, note)
    slowest = max(story.lamps, key=lambda lamp: lamp.milliseconds)
    if slowest.milliseconds >= 0.05:
        name = HOP_NAMES[slowest.hop - 1]
        tail = f" · slowest {LAMPS[slowest.hop - 1]} {name} {milliseconds(slowest.milliseconds)}"
        if head.cell_len + len(tail) <= width:
            head.append(tail, colours.get("warning", ""))
    return head


def _lamp(lamp: Lamp, colours: Mapping[str, str], *, time: bool) -> Text:
    tone = "warning" if lamp.is_slow else TONES.get(lamp.sign, "")
    text = Text.assemble(LAMPS[lamp.hop - 1], (lamp.sign, colours.get(tone, "dim")))
    if time and lamp.milliseconds >= 0.05:
        text.append(
            _short(lamp.milliseconds) + ("!" if lamp.is_slow else ""), colours.get(tone, "") if lamp.is_slow else "dim"
        )
    return text


def _short(value: float) -> str:
    """`5.1` is milliseconds, `1.2s` is not."""
    return f"{value / 1000:.1f}s" if value >= 1000 else f"{value:.1f}" if value < 10 else f"{value:.0f}"
