"""One line of the Flow screen as cells: lanes, arrows, words and times, for a width and a theme."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from ktui.models.flow_rows import FlowRow, Kind
from ktui.models.words import API_SERVER, CLIENT, LANES, SHORT_NAMES, SOFT
from ktui.trace_tree import milliseconds
from ktui.widgets.line import Line, fit, fit_middle

GUTTER = 7
TIME = 9
TWO_TIMES_FROM = 108  # columns
HEADS = ("client", "api-server", "etcd", "controllers", "scheduler", "nodes")
SHORT_HEADS = ("cl", "api", "etcd", "ctl", "sched", "nodes")
SHARES = (21, 14, 15, 16, 13, 21)  # of the width, from each lane to the next
NARROW_SHARES = (29, 13, 17, 14, 11, 16)
DRAWN_KEPT = 1_000  # rows
SHORTEST = 5  # of a name that has lost its middle
SHORT_VERBS = {"MODIFIED": "MOD", "DELETED": "DEL"}

StyleOf = Callable[[str, bool, bool], Style]  # theme variable, bold, dim


@dataclass(frozen=True, slots=True)
class Geometry:
    """Where things stand at a width."""

    width: int
    lanes: tuple[int, ...]
    end: int  # where the times begin
    two_times: bool

    @classmethod
    def of(cls, width: int) -> Geometry:
        two = width >= TWO_TIMES_FROM
        end = width - TIME * (2 if two else 1)
        room = end - GUTTER - 1
        lanes, column = [], GUTTER + 0.0
        shares = SHARES if two else NARROW_SHARES
        for share in shares:
            lanes.append(round(column))
            column += room * share / sum(shares)
        return cls(width, tuple(lanes), end, two)


class FlowPainter:
    """Draws rows; `style` looks theme variables up, always the same ones."""

    def __init__(self, geometry: Geometry, style: StyleOf, *, model_time: bool) -> None:
        self._at = geometry
        self._style = style
        self._model_time = model_time
        self._drawn: dict[tuple[object, ...], Strip] = {}

    def heads(self) -> Strip:
        line = Line(self._at.width)
        for lane, (column, head) in enumerate(zip(self._at.lanes, HEADS, strict=True)):
            room = (*self._at.lanes, self._at.end)[lane + 1] - column
            line.put(column, head if len(head) < room else SHORT_HEADS[lane], self._lane(lane, bold=True))
        line.put(self._at.end, self._time_heads(), self._style("foreground", False, True))
        return line.strip(self._ground)

    def _time_heads(self) -> str:
        if self._at.two_times:
            return "wall".rjust(TIME) + "model~".rjust(TIME)
        return ("model~" if self._model_time else "wall").rjust(TIME)

    @property
    def _ground(self) -> Style:
        return self._style("foreground", False, False)

    def empty(self, words: str = "") -> Strip:
        line = Line(self._at.width)
        self._lane_lines(line)
        if words:
            line.put(GUTTER + 3, f" {words} ", self._style("accent", True, False), until=self._at.end)
        return line.strip(self._ground)

    def row(self, row: FlowRow, *, lit: bool = False) -> Strip:
        """Most rows of a picture stood in the last one too, a few lines lower."""
        looks = (*row.looks, lit)
        strip = self._drawn.get(looks)
        if strip is None:
            if len(self._drawn) >= DRAWN_KEPT:
                self._drawn.clear()
            strip = self._drawn[looks] = self._draw(row, lit)
        return strip

    def _draw(self, row: FlowRow, lit: bool) -> Strip:
        line = Line(self._at.width)
        self._lane_lines(line)
        line.put(1, row.lamps, self._lamp_style(row))
        style = self._ink(row, lit)
        match row.kind:
            case Kind.CHAIN | Kind.STEP:
                self._beside(line, row, style)
            case Kind.WATCH:
                self._watch(line, row, style)
            case _:
                self._arrow(line, row, style)
        line.put(self._at.end, self._times(row), self._style("foreground", False, True))
        return line.strip(self._ground)

    # -- the inks

    def _lane(self, lane: int, *, bold: bool = False, dim: bool = False) -> Style:
        return self._style(f"lane-{LANES[lane]}", bold, dim)

    def _lamp_style(self, row: FlowRow) -> Style:
        return self._style(_tone(row) or "success", not row.ok, row.quiet)

    def _ink(self, row: FlowRow, lit: bool) -> Style:
        tone = _tone(row)
        if tone:
            return self._style(tone, True, False)
        lane = row.target if row.kind in (Kind.STORE, Kind.STEP) else row.source
        if row.kind is Kind.RESPONSE:
            return self._style("success", lit, False)
        return self._lane(lane, bold=lit, dim=row.quiet)

    def _lane_lines(self, line: Line) -> None:
        for lane, column in enumerate(self._at.lanes):
            line.put(column, "│", self._lane(lane, dim=True))

    # -- the shapes

    def _beside(self, line: Line, row: FlowRow, style: Style) -> None:
        """Right of the lane; where there is more room on its left, there."""
        lane = self._at.lanes[row.target]
        note = f"  {_failure(row)}" if not row.ok else (f"  {row.note}" if row.note else "")
        right, left = self._at.end - lane - 3, lane - self._at.lanes[API_SERVER] - 4
        goes_left = cell_len(row.text + note) > right and left > right
        room = left if goes_left else right
        text = row.text
        if cell_len(text + note) > room:
            name = fit_middle(row.name, max(9, room - cell_len(text + note) + cell_len(row.name)))
            text = text.replace(row.name, name, 1) if row.name else text
        words = fit(text + note, room)
        line.put(lane - 1 - cell_len(words) if goes_left else lane + 2, words, style)

    def _arrow(self, line: Line, row: FlowRow, style: Style) -> None:
        left, right = sorted((self._at.lanes[row.source], self._at.lanes[row.target]))
        goes_right = row.source < row.target
        shaft = "─" * (right - left - 2)
        line.put(left if goes_right else left + 1, f"├{shaft}►" if goes_right else f"◄{shaft}┤", style)
        label = _fitting(row, right - left - 3)
        line.put(left + (2 if goes_right else 3), label, style)
        note = _failure(row) if not row.ok and row.kind is not Kind.RESPONSE else row.note
        if note:
            line.put(right + 2, note, style, until=self._at.end - 1)

    def _watch(self, line: Line, row: FlowRow, style: Style) -> None:
        start = self._at.lanes[API_SERVER]
        lanes = sorted(lane for lane in row.woken if lane > API_SERVER)
        columns = [self._at.lanes[lane] for lane in lanes] or [
            min(start + 6 + cell_len(row.text), max(self._at.end - 14, start + 8))
        ]
        last = columns[-1]
        label = _fitting(row, last - start - 5)
        line.put(start, "├" + "┄" * (last - start - 1), style)
        line.put(start + 3, label, style)
        for column in columns:
            if column == last or column - 1 > start + 3 + cell_len(label):
                line.put(column - 1, "►", style)
                line.put(column, "│" if lanes else " ", style)
        line.put(last + 1, f" {row.note}", self._note_style(row), until=self._at.end - 1)

    def _note_style(self, row: FlowRow) -> Style:
        return self._lane(max(row.woken)) if row.woken else self._style("foreground", False, True)

    def _times(self, row: FlowRow) -> str:
        if row.kind is Kind.REQUEST and row.source == CLIENT:
            return ""
        wall, model = milliseconds(row.wall_ms).rjust(TIME), milliseconds(row.model_ms).rjust(TIME)
        if self._at.two_times:
            return wall + model
        return model if self._model_time else wall


def _tone(row: FlowRow) -> str:
    """The theme variable of a row that did not go well; not finding what one asks for is nothing to mend."""
    if row.ok:
        return ""
    return "warning" if row.outcome in SOFT else "error"


def _failure(row: FlowRow) -> str:
    return f"✖ {row.outcome}"


def _fitting(row: FlowRow, room: int) -> str:
    """The row's words in the room on its arrow: short resource names first, then the name loses its middle."""
    if row.kind is Kind.RESPONSE:
        return row.label if row.ok else f"✖ {row.label}"
    return next((words for words in _candidates(row, room) if cell_len(words) <= room), "")


def _candidates(row: FlowRow, room: int) -> Iterator[str]:
    """The words from the longest to the shortest."""
    yield row.text
    times = f" ×{row.count}" if row.count > 1 else ""
    verb, _, resource = row.label.partition(" ")
    if row.kind is Kind.STORE:
        yield f"{resource}{times}"
        yield resource
        return
    short = SHORT_NAMES.get(resource, resource)
    if "/" in row.name:
        yield f"{verb} {short}/{row.name}{times}"
    name = row.name.partition("/")[0]  # without the subresource
    for head in (f"{verb} {short}", f"{SHORT_VERBS.get(verb, verb)} {short}"):
        left = room - cell_len(head) - cell_len(times) - 1
        if name and left >= min(SHORTEST, cell_len(name)):
            yield f"{head}/{fit_middle(name, left)}{times}"
    yield f"{verb} {short}{times}"
    yield f"{SHORT_VERBS.get(verb, verb)} {short}{times}"
    left = room - cell_len(SHORT_VERBS.get(verb, verb)) - cell_len(times) - 1
    if left >= SHORTEST:
        yield f"{SHORT_VERBS.get(verb, verb)} {fit_middle(short, left)}{times}"
    yield verb
