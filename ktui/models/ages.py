"""Cells that tell how long ago something was: they grow with the model's time while the server says nothing new.

The server prints an age into a cell when it makes the row (`4 (3m12s ago)`, `17s`), and makes it again only when the
object changes. Here such a cell is taken apart, and put together again for the time at which it is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.api.duration import human_duration
from engine.api.types import Object

LONGEST = 5  # characters of a duration: 9m59s
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "y": 365 * 86_400}
_PART = re.compile(r"(\d+)([smhdy])")
_RESTARTS = re.compile(r"(\d+ \()(\w+)( ago\))")
# Columns, by the server's names, that tell of the past; those of custom resources have the type "date".
_PAST = frozenset({"Last Seen", "First Seen", "Last Schedule", "Restarts"})
_FINAL = "Complete"  # a Job of this status took the time that it tells


def seconds(duration: str) -> int | None:
    """`3m20s` in seconds, as HumanDuration prints it; None for what is no duration."""
    parts = _PART.findall(duration)
    if not parts or sum(len(number) + len(unit) for number, unit in parts) != len(duration):
        return None
    return sum(int(number) * _UNITS[unit] for number, unit in parts)


@dataclass(frozen=True, slots=True)
class Age:
    """A cell that says how old something was when it was told, with what stands around it."""

    before: str
    seconds: int
    after: str

    @classmethod
    def parse(cls, cell: str) -> Age | None:
        """None for a cell that tells no age."""
        around = _RESTARTS.fullmatch(cell) if cell.endswith(")") else None
        before, duration, after = around.groups() if around is not None else ("", cell, "")
        told = seconds(duration)
        return cls(before, told, after) if told is not None else None

    def text(self, later: float) -> str:
        """The cell so many seconds after it was told."""
        return f"{self.before}{human_duration(self.seconds + max(0.0, later))}{self.after}"

    @property
    def widest(self) -> int:
        return len(self.before) + LONGEST + len(self.after)


class AgingColumns:
    """Which columns of a table tell ages, but for Age itself, whose time the object has."""

    def __init__(self, columns: Sequence[Object] = ()) -> None:
        names = [column["name"] for column in columns]
        self._count = len(names)
        self._duration = names.index("Duration") if {"Duration", "Status"} <= set(names) else -1
        self._status = names.index("Status") if "Status" in names else -1
        self._past = [
            index
            for index, column in enumerate(columns)
            if column["name"] in _PAST or (column.get("type") == "date" and column["name"] != "Age")
        ]

    def of(self, cells: Sequence[str]) -> dict[int, Age]:
        """The ages in a row's cells, by their columns."""
        if len(cells) < self._count:
            return {}
        columns = self._past
        if self._duration >= 0 and cells[self._status] != _FINAL:
            columns = [*columns, self._duration]
        return {index: age for index in columns if (age := Age.parse(cells[index])) is not None}
