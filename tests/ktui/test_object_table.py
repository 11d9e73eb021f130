"""The server's tables as rows of the Objects screen."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from engine.api.types import PODS
from ktui.models.object_table import ObjectTable
from ktui.models.table_view import TableView

COLUMNS = [
    {"name": "Name", "priority": 0},
    {"name": "Status", "priority": 0},
    {"name": "Restarts", "priority": 0},
    {"name": "Age", "priority": 0},
    {"name": "IP", "priority": 1},
]


def row(name: str, status: str = "Running", restarts: str = "0", age: str = "5s", version: str = "1") -> dict[str, Any]:
    metadata = {
        "name": name,
        "namespace": "default",
        "resourceVersion": version,
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    return {"cells": [name, status, restarts, age, None], "object": {"metadata": metadata}}


def table_of(*rows: dict[str, Any]) -> ObjectTable:
    table = ObjectTable(PODS)
    table.replace({"columnDefinitions": COLUMNS, "rows": list(rows), "metadata": {"resourceVersion": "9"}})
    return table


def names(table: ObjectTable) -> list[str]:
    return [row.cells[1] for row in table.rows]


def test_namespace_first_and_wide_columns_on_demand() -> None:
    table = table_of(row("a"))
    assert table.titles == ("NAMESPACE", "NAME", "STATUS", "RESTARTS", "AGE")
    table.wide = True
    assert "IP" in table.titles
    assert table.rows[0].cells == ("default", "a", "Running", "0", "5s", "<none>")


def test_a_watch_adds_changes_and_removes_rows_and_lights_what_changed() -> None:
    table = table_of(row("a"))
    table.apply("ADDED", {"rows": [row("b", version="10")]}, now=5.0)
    table.apply("MODIFIED", {"rows": [row("a", status="Pending", version="11")]}, now=8.0)
    table.now = 8.5
    assert [(line.key, line.is_lit, line.tone) for line in table.rows] == [
        ("default/a", True, "warning"),
        ("default/b", False, "foreground"),
    ]
    table.apply("DELETED", {"rows": [row("b", version="12")]}, now=9.0)
    assert (names(table), table.version) == (["a"], "12")


def test_ages_are_as_of_the_model_s_clock() -> None:
    table = table_of(row("a"))
    table.model_now = datetime(2026, 1, 1, 0, 3, 20, tzinfo=UTC)
    assert table.rows[0].cells[-1] == "3m20s"


def test_ages_sort_by_when_the_object_was_made_not_by_what_the_server_said_then() -> None:
    old, young = row("old", age="1s"), row("young", age="9s")
    young["object"]["metadata"]["creationTimestamp"] = "2026-01-01T00:01:00Z"
    table = table_of(old, young)
    table.rows.arrange(TableView(sort="AGE"), table.titles)
    assert names(table) == ["young", "old"]


def test_a_list_in_pages_replaces_what_was_there_when_it_ends() -> None:
    table = table_of(row("a"), row("b"))
    table.begin()
    table.extend({"columnDefinitions": COLUMNS, "rows": [row("b", status="Pending")], "metadata": {}})
    assert names(table) == ["a", "b"]
    table.extend({"columnDefinitions": COLUMNS, "rows": [row("c")], "metadata": {"resourceVersion": "11"}})
    table.end()
    assert (names(table), table.version) == (["b", "c"], "11")


@pytest.mark.parametrize(
    ("status", "tone"),
    [("CrashLoopBackOff", "error"), ("Init:Error", "error"), ("Init:0/1", "warning"), ("Running", "foreground")],
)
def test_tones(status: str, tone: str) -> None:
    assert table_of(row("a", status=status)).rows[0].tone == tone


def test_a_list_that_comes_in_pages_is_not_whole_before_its_last() -> None:
    table = ObjectTable(PODS)
    table.begin()
    assert table.is_listing
    table.end()
    assert not table.is_listing
