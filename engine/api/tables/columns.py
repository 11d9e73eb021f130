"""What a kind's table is declared with: columns whose cells are functions of a row, so that headers and cells cannot
drift apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from engine.api.duration import human_age
from engine.api.schema import Definitions
from engine.api.types import Object


class Field(NamedTuple):
    """A field of the API whose published description is a column's too. `definition` goes without `io.k8s.`."""

    definition: str
    field: str

    def description(self, definitions: Definitions) -> str:
        raw = definitions.raw.get(f"io.k8s.{self.definition}", {})
        return str(raw.get("properties", {}).get(self.field, {}).get("description", ""))


class Row:
    """One object as its columns look at it. Subclasses add what several columns of a kind share."""

    def __init__(self, object: Object, now: datetime) -> None:
        self.object = object
        self.now = now
        self.chosen = False  # whether it is the one of all of its kind that the table marks
        self.metadata: Mapping[str, Any] = object.get("metadata") or {}
        self.spec: Mapping[str, Any] = object.get("spec") or {}
        self.status: Mapping[str, Any] = object.get("status") or {}

    @property
    def name(self) -> str:
        return str(self.metadata.get("name", ""))

    @property
    def deleting(self) -> bool:
        return "deletionTimestamp" in self.metadata

    @property
    def age(self) -> str:
        return self.since(self.metadata.get("creationTimestamp"))

    def since(self, timestamp: str | None) -> str:
        """How long ago a timestamp is."""
        return human_age(timestamp, self.now)

    @property
    def conditions(self) -> list[Object]:
        """Those of the row itself (metav1.TableRowCondition)."""
        return []


R = TypeVar("R", bound=Row)
Choice = Callable[[Iterable[Object]], Object | None]


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """`priority` 0 is always shown, 1 with `-o wide`."""

    name: str
    cell: Callable[[R], Any]
    doc: str | Field = ""
    type: str = "string"
    format: str = ""
    priority: int = 0

    def definition(self, definitions: Definitions) -> Object:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.doc if isinstance(self.doc, str) else self.doc.description(definitions),
            "priority": self.priority,
        }


@dataclass(frozen=True, slots=True)
class KindTable(Generic[R]):
    row: type[R]
    columns: tuple[Column[R], ...]
    order: Callable[[Object], Any] | None = None  # rows of a list are sorted by it
    choice: Choice | None = None  # which object the table marks, of all that there are


def kind_table(
    *columns: Column[Row], order: Callable[[Object], Any] | None = None, choice: Choice | None = None
) -> KindTable[Row]:
    """A table whose cells need no more than the plain `Row`."""
    return KindTable(Row, columns, order, choice)


META = "apimachinery.pkg.apis.meta.v1.ObjectMeta"
NAME: Column[Row] = Column("Name", lambda row: row.name, Field(META, "name"), format="name")
AGE: Column[Row] = Column("Age", lambda row: row.age, Field(META, "creationTimestamp"))
