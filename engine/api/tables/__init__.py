"""Tables: what `kubectl get` prints, made by the server (meta.k8s.io/v1 Table).

Source of the columns and cells: upstream pkg/printers/internalversion/printers.go and the default convertor of
apiserver pkg/registry/rest/table.go. Cells always are those of `-o wide`; the client leaves out what has priority 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol

from engine.api.extension import Extension
from engine.api.schema import Definitions, load_definitions
from engine.api.tables.columns import Choice, KindTable, Row
from engine.api.tables.pods import pod_status
from engine.api.tables.registry import table_of
from engine.api.types import GVK, Object

__all__ = ["pod_status", "table"]

_GROUP_VERSION = "meta.k8s.io/v1"


class Kind(Protocol):
    """What a table needs of a ResourceInfo."""

    @property
    def gvk(self) -> GVK: ...

    @property
    def custom(self) -> bool: ...

    @property
    def extension(self) -> Extension | None: ...


def table(
    info: Kind,
    objects: Iterable[Object],
    *,
    now: datetime,
    list_metadata: Mapping[str, Any],
    include_object: str = "Metadata",
    headers: bool = True,
    definitions: Definitions | None = None,
    peers: Callable[[], Iterable[Object]] = tuple,
) -> Object:
    """The Table of some objects of one kind.

    `include_object` is `Metadata`, `Object` or `None`, as the parameter of a request. A watch sends the headers with
    its first event only. `definitions` give the columns' descriptions; without them it is those of the newest version.
    `peers` gives all objects of the kind: one of them a table may mark, whichever of them it shows.
    """
    known = definitions if definitions is not None else load_definitions()
    extension = info.extension
    layout = extension.table if extension else table_of(*info.gvk[::2], known.release, custom=info.custom)
    if layout.order is not None:
        objects = sorted(objects, key=layout.order)
    made = [layout.row(item, now) for item in objects]
    if layout.choice is not None:
        _mark(made, layout.choice, peers())
    return {
        "kind": "Table",
        "apiVersion": _GROUP_VERSION,
        "metadata": dict(list_metadata),
        "columnDefinitions": _definitions(layout, known.version) if headers else None,
        "rows": [_row(row, layout.columns, include_object) for row in made],
    }


def _mark(rows: list[Row], choice: Choice, peers: Iterable[Object]) -> None:
    """What is shown may be newer than what is known of all."""
    newest = {peer["metadata"]["name"]: peer for peer in (*peers, *(row.object for row in rows))}
    chosen = choice(newest.values())
    for row in rows:
        row.chosen = row.object is chosen


def _row(row: Row, columns: tuple[Any, ...], include_object: str) -> Object:
    made: Object = {"cells": [column.cell(row) for column in columns]}
    if conditions := row.conditions:
        made["conditions"] = conditions
    made["object"] = _included(row.object, include_object)
    return made


def _included(item: Object, include_object: str) -> Object | None:
    if include_object == "Object":
        return item
    if include_object == "None":
        return None
    return {"kind": "PartialObjectMetadata", "apiVersion": _GROUP_VERSION, "metadata": item.get("metadata", {})}


@lru_cache(maxsize=512)
def _definitions(layout: KindTable[Any], version: str) -> list[Object]:
    definitions = load_definitions(version)
    return [column.definition(definitions) for column in layout.columns]
