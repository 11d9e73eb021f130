"""The Objects screen's rows: the server's own table of one resource, kept current by a watch."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engine.api.duration import human_duration
from engine.api.types import GVR, Object
from ktui.models.grid_row import GridRow

BAD = frozenset(
    {"CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "Error", "Failed", "NotReady", "Evicted", "OOMKilled"}
)
GOING = frozenset({"Pending", "ContainerCreating", "PodInitializing", "Terminating", "Unknown"})
LIT_SECONDS = 1.0


@dataclass(slots=True)
class ObjectTable:
    """`columns` and `rows` are a meta.k8s.io/v1 Table's; wide columns are left out unless `wide`."""

    resource: GVR
    namespaced: bool = True
    wide: bool = False
    columns: list[Object] = field(default_factory=list)
    rows: dict[str, Object] = field(default_factory=dict)
    version: str = ""
    filter: str = ""
    sort: str = ""  # the title of a column; "" for namespace and name
    descending: bool = False
    changed: dict[str, float] = field(default_factory=dict)  # when a row last changed, on the reader's clock

    def replace(self, table: Object) -> None:
        """Take a list's table."""
        self.columns = table.get("columnDefinitions") or self.columns
        self.rows = {row_key(row): row for row in table.get("rows") or ()}
        self.version = table.get("metadata", {}).get("resourceVersion", "")

    def apply(self, type: str, table: Object, *, now: float = 0.0) -> None:
        """Take a watch event, whose object is a table of the one row that changed."""
        self.columns = table.get("columnDefinitions") or self.columns
        for row in table.get("rows") or ():
            key = row_key(row)
            self.version = row["object"]["metadata"].get("resourceVersion", self.version)
            if type == "DELETED":
                self.rows.pop(key, None)
                self.changed.pop(key, None)
            elif type in ("ADDED", "MODIFIED"):
                self.rows[key] = row
                self.changed[key] = now

    @property
    def titles(self) -> tuple[str, ...]:
        """The heads; that of the sorted column with an arrow."""
        arrow = "↓" if self.descending else "↑"
        return tuple(f"{title}{arrow}" if title == self.sort else title for title in self.names)

    @property
    def names(self) -> tuple[str, ...]:
        head = ("NAMESPACE",) if self.namespaced else ()
        return (*head, *(column["name"].upper() for column in self.columns if self._shown(column)))

    def _shown(self, column: Object) -> bool:
        return self.wide or not column.get("priority")

    def sort_by_next(self) -> None:
        """Sort by the next column, after the last by namespace and name again."""
        names = ("", *self.names)
        at = names.index(self.sort) if self.sort in names else 0
        self.sort = names[(at + 1) % len(names)]

    def grid_rows(self, *, model_now: datetime | None = None, now: float = 0.0) -> list[GridRow]:
        """The rows that the filter lets through, sorted; ages as of `model_now` where it is given."""
        shown = [index for index, column in enumerate(self.columns) if self._shown(column)]
        found = []
        for key in sorted(self.rows):
            cells = self._cells(self.rows[key], shown, model_now)
            if not self.filter or any(self.filter in cell for cell in cells):
                is_lit = 0 < self.changed.get(key, 0.0) > now - LIT_SECONDS
                found.append(GridRow(key, cells, tone(cells), is_lit=is_lit))
        if self.sort in self.names:
            column = self.names.index(self.sort)
            found.sort(key=lambda row: sort_key(row.cells[column]), reverse=self.descending)
        return found

    def _cells(self, row: Object, shown: list[int], model_now: datetime | None) -> tuple[str, ...]:
        metadata = row["object"]["metadata"]
        cells = [metadata.get("namespace", "")] if self.namespaced else []
        for index in shown:
            created = metadata.get("creationTimestamp")
            if self.columns[index]["name"] == "Age" and model_now is not None and created:
                cells.append(human_duration(max(0.0, (model_now - datetime.fromisoformat(created)).total_seconds())))
            else:
                cells.append(cell_text(row["cells"][index]))
        return tuple(cells)


def row_key(row: Object) -> str:
    metadata = row["object"]["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def cell_text(cell: Any) -> str:
    return "<none>" if cell is None else str(cell)


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "y": 31536000}
_AGE = re.compile(r"(\d+)([smhdy])")


def sort_key(cell: str) -> tuple[int, float, str]:
    """Numbers by size, ages by length, all else by letter."""
    if _AGE.match(cell) and not _AGE.sub("", cell):
        return 0, float(sum(int(count) * _UNITS[unit] for count, unit in _AGE.findall(cell))), ""
    try:
        return 0, float(cell.partition("/")[0]), cell
    except ValueError:
        return 1, 0.0, cell


def tone(cells: tuple[str, ...]) -> str:
    """Red for what has failed, amber for what is on its way; the words say the same."""
    if any(cell.removeprefix("Init:") in BAD for cell in cells):
        return "error"
    if any(cell in GOING or cell.startswith("Init:") for cell in cells):
        return "warning"
    return "foreground"
