"""The server's Tables on paper: wide columns, namespaces, kinds, labels, and rows that follow in a watch.

Source of the behaviour: cli-runtime pkg/printers/tableprinter.go.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engine.api.duration import human_age
from engine.api.selectors import format_labels
from engine.api.types import Object
from engine.kubectl.printers.jsonpath import text_of
from engine.kubectl.printers.tabwriter import ColumnWriter

EVENT_WIDTH = len("MODIFIED")


@dataclass(slots=True)
class TableOptions:
    wide: bool = False
    headers: bool = True
    namespace: bool = False
    labels: bool = False
    label_columns: list[str] = field(default_factory=list)
    kind: str = ""  # what each name is prefixed with, as in `pod/`
    event: bool = False  # a column for the type of a watch's event


class TablePrinter:
    """Prints tables of one kind under one header."""

    def __init__(self, options: TableOptions) -> None:
        self._options = options
        self._columns: list[Object] = []
        self._shown: list[int] | None = None
        self._writer = ColumnWriter()

    def lines(self, table: Object, *, event: str = "") -> list[str]:
        """The lines of a table; the header comes before the first row. Later tables may leave out their columns."""
        definitions = table.get("columnDefinitions") or self._columns
        first = self._shown is None or definitions != self._columns
        self._columns = definitions
        self._shown = [
            index for index, column in enumerate(definitions) if self._options.wide or not column.get("priority")
        ]
        rows = [self._row(row, event) for row in table.get("rows") or ()]
        if first and self._options.headers:
            rows.insert(0, self._header())
        return self._writer.lines(rows)

    def _header(self) -> list[str]:
        cells = [self._columns[index]["name"].upper() for index in self._shown or ()]
        if self._options.namespace:
            cells.insert(0, "NAMESPACE")
        if self._options.event:
            cells.insert(0, "EVENT".ljust(EVENT_WIDTH))
        cells += [label.rsplit("/", 1)[-1].upper() for label in self._options.label_columns]
        return [*cells, "LABELS"] if self._options.labels else cells

    def _row(self, row: Object, event: str) -> list[str]:
        metadata = (row.get("object") or {}).get("metadata") or {}
        shown = self._shown or ()
        cells = [_cell(row["cells"][index]) if index < len(row["cells"]) else "" for index in shown]
        if self._options.kind:
            cells = [self._of_kind(cell, index) for cell, index in zip(cells, shown, strict=True)]
        if self._options.namespace:
            cells.insert(0, metadata.get("namespace", ""))
        if self._options.event:
            cells.insert(0, event.ljust(EVENT_WIDTH))
        labels = metadata.get("labels") or {}
        cells += [labels.get(label, "") for label in self._options.label_columns]
        return [*cells, format_labels(labels)] if self._options.labels else cells

    def _of_kind(self, cell: str, index: int) -> str:
        """A name, in the first column that holds names, with the kind before it (decorateTable)."""
        names = (at for at, column in enumerate(self._columns) if column.get("format") == "name")
        return f"{self._options.kind}/{cell}" if index == next(names, None) else cell


def plain_table(answer: Object, now: datetime) -> Object:
    """The table of an object or a list that the server did not make one of: names and ages."""
    objects = answer.get("items") if "items" in answer else [answer]
    rows = [{"cells": [_name(obj), _age(obj, now)], "object": obj} for obj in objects or ()]
    columns = [{"name": "Name", "type": "string", "format": "name"}, {"name": "Age", "type": "string"}]
    return {"metadata": answer.get("metadata") or {}, "columnDefinitions": columns, "rows": rows}


def _name(obj: Object) -> str:
    return str((obj.get("metadata") or {}).get("name", ""))


def _age(obj: Object, now: datetime) -> str:
    created = (obj.get("metadata") or {}).get("creationTimestamp")
    return human_age(created, now)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = text_of(value)
    for breaker in ("\n", "\r", "\f", "\v"):
        if breaker in text:
            text = text.split(breaker, 1)[0] + "..."
    return text.replace("\t", " ")
