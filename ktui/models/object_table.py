"""The Objects screen's rows: the server's own table of one resource, kept current by a watch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.api.types import GVR, Object
from ktui.models.grid_row import GridRow

BAD = frozenset(
    {"CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "Error", "Failed", "NotReady", "Evicted", "OOMKilled"}
)
GOING = frozenset({"Pending", "ContainerCreating", "PodInitializing", "Terminating", "Unknown"})


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

    def replace(self, table: Object) -> None:
        """Take a list's table."""
        self.columns = table.get("columnDefinitions") or self.columns
        self.rows = {row_key(row): row for row in table.get("rows") or ()}
        self.version = table.get("metadata", {}).get("resourceVersion", "")

    def apply(self, type: str, table: Object) -> None:
        """Take a watch event, whose object is a table of the one row that changed."""
        self.columns = table.get("columnDefinitions") or self.columns
        for row in table.get("rows") or ():
            key = row_key(row)
            self.version = row["object"]["metadata"].get("resourceVersion", self.version)
            if type == "DELETED":
                self.rows.pop(key, None)
            elif type in ("ADDED", "MODIFIED"):
                self.rows[key] = row

    @property
    def titles(self) -> tuple[str, ...]:
        head = ("NAMESPACE",) if self.namespaced else ()
        return (*head, *(column["name"].upper() for column in self.columns if self._shown(column)))

    def _shown(self, column: Object) -> bool:
        return self.wide or not column.get("priority")

    def grid_rows(self) -> list[GridRow]:
        """The rows that the filter lets through, by namespace and name."""
        shown = [index for index, column in enumerate(self.columns) if self._shown(column)]
        found = []
        for key in sorted(self.rows):
            row = self.rows[key]
            cells = tuple(cell_text(row["cells"][index]) for index in shown)
            if self.namespaced:
                cells = (row["object"]["metadata"].get("namespace", ""), *cells)
            if not self.filter or any(self.filter in cell for cell in cells):
                found.append(GridRow(key, cells, tone(cells)))
        return found


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
