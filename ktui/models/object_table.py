"""The Objects screen's rows: the server's own table of one resource, kept current by a watch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from engine.api.duration import human_duration
from engine.api.types import GVR, Object
from ktui.models.ages import LONGEST, Age, AgingColumns
from ktui.models.grid_row import NO_LABELS, GridRow
from ktui.models.live_rows import LiveRows
from ktui.models.prose import Prose
from ktui.models.table_view import sort_key

BAD = frozenset(
    {"CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "Error", "Failed", "NotReady", "Evicted", "OOMKilled"}
)
GOING = frozenset({"Pending", "ContainerCreating", "PodInitializing", "Terminating", "Unknown"})
LIT_SECONDS = 1.0
SENTENCES = frozenset({"Message"})  # columns that are read from their beginning
NO_AGES: Mapping[int, Age] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a row that the server told: no more than is shown, for there may be ten thousand."""

    namespace: str
    cells: tuple[str, ...]
    created: float | None
    labels: Mapping[str, str]
    told: float | None  # when, on the model's clock, where that was known by then
    ages: Mapping[int, Age]  # cells that grow older since, by their column


class ObjectTable:
    """`columns` are a meta.k8s.io/v1 Table's; wide ones are left out unless `wide`. `rows` are what is shown.

    `model_now` tells the cluster's time, None while that is not known.
    """

    def __init__(
        self,
        resource: GVR,
        *,
        namespaced: bool = True,
        wide: bool = False,
        model_now: Callable[[], datetime | None] = lambda: None,
    ) -> None:
        self.resource = resource
        self.namespaced = namespaced
        self.columns: list[Object] = []
        self.is_listing = False  # there are more rows than have come
        self.version = ""
        self.rows = LiveRows(finish=self._as_of_now, value=self._value)
        self.changed: dict[str, float] = {}  # when a row last changed, on the reader's clock
        self.marked: set[str] = set()  # the keys of rows that a person has chosen together
        self.now = 0.0  # on the reader's clock
        self._model_now = model_now
        self._wide = wide
        self._kept: dict[str, Kept] = {}
        self._stale: set[str] = set()  # of a list that has not ended: what was not in it so far
        self._shown: list[int] = []
        self._age = -1  # the place of the age among the cells that are shown
        self._aging = AgingColumns()
        self._sentences: set[int] = set()
        self._began: float | None = None  # when the model's time was first known: what was told before counts from it

    # -- rows in

    def begin(self) -> None:
        """A list begins: what is not in it has gone. See `end`."""
        self._stale = set(self._kept)
        self.is_listing = True

    def extend(self, page: Object) -> None:
        """Take a page of a list."""
        self._set_columns(page)
        for row in page.get("rows") or ():
            key = self._keep(row)
            self._stale.discard(key)
        self.version = page.get("metadata", {}).get("resourceVersion", "")

    def end(self) -> None:
        for key in self._stale:
            self._drop(key)
        self.is_listing = False

    def replace(self, table: Object) -> None:
        """Take a list that comes as one."""
        self.begin()
        self.extend(table)
        self.end()

    def apply(self, type: str, table: Object, *, now: float = 0.0) -> None:
        """Take a watch event, whose object is a table of the one row that changed."""
        self._set_columns(table)
        for row in table.get("rows") or ():
            self.version = row["object"]["metadata"].get("resourceVersion", self.version)
            if type == "DELETED":
                self._drop(row_key(row))
            elif type in ("ADDED", "MODIFIED"):
                self.changed[self._keep(row)] = now

    def _set_columns(self, table: Object) -> None:
        columns = table.get("columnDefinitions")
        if columns and columns != self.columns:
            self.columns = columns
            self._aging = AgingColumns(columns)
            self._sentences = {index for index, column in enumerate(columns) if column["name"] in SENTENCES}
            self._choose()

    def _keep(self, row: Object) -> str:
        key, metadata = row_key(row), row["object"]["metadata"]
        created = metadata.get("creationTimestamp")
        cells = tuple(
            Prose(cell_text(cell)) if column in self._sentences else cell_text(cell)
            for column, cell in enumerate(row["cells"])
        )
        kept = Kept(
            metadata.get("namespace", ""),
            cells,
            datetime.fromisoformat(created).timestamp() if created else None,
            metadata.get("labels") or NO_LABELS,
            self._time(),
            self._aging.of(cells) or NO_AGES,
        )
        self._kept[key] = kept
        self._put(key, kept)
        return key

    def _drop(self, key: str) -> None:
        self._kept.pop(key, None)
        self.changed.pop(key, None)
        self.marked.discard(key)
        self.rows.drop(key)

    def __contains__(self, key: str) -> bool:
        return key in self._kept

    # -- what is shown

    @property
    def wide(self) -> bool:
        return self._wide

    @wide.setter
    def wide(self, wide: bool) -> None:
        self._wide = wide
        self._choose()

    @property
    def titles(self) -> tuple[str, ...]:
        head = ("NAMESPACE",) if self.namespaced else ()
        return (*head, *(self.columns[index]["name"].upper() for index in self._shown))

    def _choose(self) -> None:
        """Which columns are shown; every row is made anew."""
        self._shown = [index for index, column in enumerate(self.columns) if self._wide or not column.get("priority")]
        names = [self.columns[index]["name"] for index in self._shown]
        self._age = names.index("Age") + self.namespaced if "Age" in names else -1
        self.rows.clear()
        if self._age >= 0:  # ages grow while nothing comes
            self.rows.at_least = {self._age: LONGEST}
        for key, kept in self._kept.items():
            self._put(key, kept)

    def _put(self, key: str, kept: Kept) -> None:
        self.rows.put(self._row(key, kept))
        for column, age in kept.ages.items():
            if column in self._shown:
                self.rows.reserve(self._shown.index(column) + self.namespaced, age.widest)

    def _row(self, key: str, kept: Kept) -> GridRow:
        cells = [kept.namespace] if self.namespaced else []
        cells += [kept.cells[index] for index in self._shown if index < len(kept.cells)]
        return GridRow(key, tuple(cells), tone(cells), labels=kept.labels)

    def _value(self, row: GridRow, column: int) -> Any:
        kept = self._kept[row.key]
        if column == self._age and kept.created is not None:
            return 0, -kept.created, ""
        age = kept.ages.get(self._shown[column - self.namespaced]) if kept.ages and column >= self.namespaced else None
        if age is not None and not age.before:
            return 0, age.seconds - (kept.told or 0.0), ""
        return sort_key(row.cells[column])

    def _time(self) -> float | None:
        now = self._model_now()
        return now.timestamp() if now is not None else None

    def _as_of_now(self, row: GridRow) -> GridRow:
        """With its ages on the model's clock, and lit if it changed a moment ago."""
        kept, cells, time = self._kept[row.key], row.cells, self._time()
        if time is not None:
            cells = self._aged(kept, cells, time)
        is_lit = 0 < self.changed.get(row.key, 0.0) > self.now - LIT_SECONDS
        return GridRow(row.key, cells, row.tone, is_lit, row.labels, row.key in self.marked)

    def _aged(self, kept: Kept, cells: tuple[str, ...], time: float) -> tuple[str, ...]:
        aged = list(cells)
        if self._age >= 0 and kept.created is not None:
            aged[self._age] = human_duration(max(0.0, time - kept.created))
        if self._began is None:
            self._began = time
        told = kept.told if kept.told is not None else self._began
        for column, age in kept.ages.items():
            if column in self._shown:
                aged[self._shown.index(column) + self.namespaced] = age.text(time - told)
        return tuple(aged)


def row_key(row: Object) -> str:
    metadata = row["object"]["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def cell_text(cell: Any) -> str:
    return "<none>" if cell is None else str(cell)


def tone(cells: list[str]) -> str:
    """Red for what has failed, amber for what is on its way; the words say the same."""
    if any(cell.removeprefix("Init:") in BAD for cell in cells):
        return "error"
    if any(cell in GOING or cell.startswith("Init:") for cell in cells):
        return "warning"
    return "foreground"
