"""The ring buffer of one resource, with the cursor of every stream that reads from it."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text
from textual.widgets import Static

from ktui.models.signs import WAITING
from ktui.models.watches import Ring
from ktui.widgets.ink import inks
from ktui.widgets.line import fit

NARROWEST_NAME = 8


class WatchRing(Static):
    DEFAULT_CSS = """
    WatchRing { height: 3; width: 1fr; padding: 0 1; background: $surface; text-wrap: nowrap; }
    """

    def show(self, ring: Ring | None) -> None:
        if ring is None:
            self.update(Text("The ring of the stream under the cursor is drawn here.", "dim"), layout=False)
        else:
            self.update(Text("\n").join(ring_lines(ring, max(40, self.size.width), inks(self.app))), layout=False)


def ring_lines(ring: Ring, width: int, colours: Mapping[str, str]) -> list[Text]:
    """What it holds; the ring itself, oldest left; below it a mark for the streams at each place."""
    used = len(ring.revisions)
    head = Text.assemble(
        (f"{ring.resource}  ", "bold"),
        f"ring {used} of {ring.size} changes",
        (f" · a watch from before rev {ring.oldest} gets 410 Expired and lists again", "dim"),
    )
    head.truncate(width, overflow="ellipsis")
    left, right = f"{ring.revisions[0] if used else ring.oldest} ▕", f"▏ {ring.newest}"
    cells = max(10, width - len(left) - len(right))
    filled = min(cells, max(int(used > 0), round(used / max(1, ring.size) * cells)))
    body = Text(left).append("█" * filled, colours.get("lane-api-server", "")).append("░" * (cells - filled), "dim")
    return [head, body.append(right), _marks(ring, len(left), cells, width, colours)]


def _marks(ring: Ring, start: int, cells: int, width: int, colours: Mapping[str, str]) -> Text:
    """A mark for every place where a stream is; behind it who that is, where there is room before the next;
    before the last where there is more."""
    places: dict[int, list[str]] = {}
    late = quiet = 0
    for name, cursor, is_waiting in ring.cursors:
        place = ring.place(cursor, cells)
        if place >= 0:
            places.setdefault(place, []).append(name)
        else:
            late, quiet = late + is_waiting, quiet + (not is_waiting)
    line = Text.assemble(
        (f"{WAITING} {late} behind the ring, sent from the buffer " if late else "", colours.get("warning", "")),
        (f"· {quiet} had no news since " if quiet else "", "dim"),
    )
    marks = sorted((max(start + place, line.cell_len), names) for place, names in places.items())
    for (column, names), following in zip(marks, [*(mark[0] for mark in marks[1:]), width], strict=False):
        room, before, who = following - column - 2, column - line.cell_len, _crowd(names)
        if following == width and len(who) > room and len(who) <= before - 1:
            line.append(f"{who.strip()} ".rjust(before) + "▲", colours.get("accent", ""))
            continue
        line.append(" " * before).append("▲", colours.get("accent", ""))
        if room >= NARROWEST_NAME or following == width:
            line.append(fit(who, max(1, room)), colours.get("accent", ""))
    line.rstrip()
    return line


def _crowd(names: list[str]) -> str:
    return f" {names[0]}" if len(names) == 1 else f" {len(names)} streams: {', '.join(dict.fromkeys(names))}"
