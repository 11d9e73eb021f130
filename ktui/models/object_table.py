"""The Objects screen's rows: the server's own table of one resource, kept current by a watch."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engine.api.duration import human_duration
from engine.api.types import GVR, Object
from ktui.models.grid_row import NO_LABELS, GridRow

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
        head = ("NAMESPACE",) if self.namespaced else ()
        return (*head, *(column["name"].upper() for column in self.columns if self._shown(column)))

    def _shown(self, column: Object) -> bool:
        return self.wide or not column.get("priority")

    def grid_rows(self, *, model_now: datetime | None = None, now: float = 0.0) -> list[GridRow]:
        """By namespace and name; ages as of `model_now` where it is given."""
        shown = [index for index, column in enumerate(self.columns) if self._shown(column)]
        found = []
        for key in sorted(self.rows):
            row = self.rows[key]
            cells = self._cells(row, shown, model_now)
            is_lit = 0 < self.changed.get(key, 0.0) > now - LIT_SECONDS
            labels = row["object"]["metadata"].get("labels") or NO_LABELS
            found.append(GridRow(key, cells, tone(cells), is_lit, labels))
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


def tone(cells: tuple[str, ...]) -> str:
    """Red for what has failed, amber for what is on its way; the words say the same."""
    if any(cell.removeprefix("Init:") in BAD for cell in cells):
        return "error"
    if any(cell in GOING or cell.startswith("Init:") for cell in cells):
        return "warning"
    return "foreground"
