"""The tables of what nodes and Pods use (metrics-server pkg/api/table.go)."""

from __future__ import annotations

from engine.api.quantity import Quantity
from engine.api.tables.columns import Column, KindTable, Row

_NAME: Column[Row] = Column("Name", lambda row: row.name, "Name of the resource", format="name")
_WINDOW: Column[Row] = Column("Window", lambda row: row.object["window"], format="duration")


def _node(resource: str) -> Column[Row]:
    return Column(resource, lambda row: row.object["usage"][resource], format="quantity")


def _pod(resource: str) -> Column[Row]:
    return Column(resource, lambda row: _sum(row, resource), format="quantity")


def _sum(row: Row, resource: str) -> str:
    first, *others = (Quantity.parse(each["usage"][resource]) for each in row.object["containers"])
    return str(sum(others, first))


NODE_METRICS = KindTable(Row, (_NAME, _node("cpu"), _node("memory"), _WINDOW))
POD_METRICS = KindTable(Row, (_NAME, _pod("cpu"), _pod("memory"), _WINDOW))
