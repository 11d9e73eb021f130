"""The server's tables as rows of the Objects screen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from engine.api.types import EVENTS, PODS
from ktui.models.object_table import ObjectTable
from ktui.models.prose import Prose
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


def table_of(*rows: dict[str, Any], model_now: Callable[[], datetime | None] = lambda: None) -> ObjectTable:
    table = ObjectTable(PODS, model_now=model_now)
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


def test_a_message_is_a_sentence() -> None:
    """Where there is no room for it, its end goes, not its middle."""
    columns = [{"name": "Reason", "priority": 0}, {"name": "Message", "priority": 0}]
    event = {"cells": ["Pulled", "Container image is there"], "object": row("a")["object"]}
    table = ObjectTable(EVENTS)
    table.replace({"columnDefinitions": columns, "rows": [event]})
    assert [isinstance(cell, Prose) for cell in table.rows[0].cells] == [False, False, True]


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
    table = table_of(row("a"), model_now=lambda: datetime(2026, 1, 1, 0, 3, 20, tzinfo=UTC))
    assert table.rows[0].cells[-1] == "3m20s"


def told(**cells: str) -> ObjectTable:
    """A table of one row with these cells, which was told at noon and is looked at 100 seconds later."""
    times = [datetime(2026, 1, 1, 12, 0, tzinfo=UTC)]
    table = ObjectTable(PODS, namespaced=False, model_now=lambda: times[-1])
    columns = [{"name": name.replace("_", " "), "type": "date" if name == "Synced" else "string"} for name in cells]
    metadata = {"name": "a", "creationTimestamp": "2026-01-01T11:00:00Z"}
    rows = [{"cells": list(cells.values()), "object": {"metadata": metadata}}]
    table.replace({"columnDefinitions": columns, "rows": rows, "metadata": {}})
    times.append(datetime(2026, 1, 1, 12, 1, 40, tzinfo=UTC))
    return table


@pytest.mark.parametrize(
    ("cells", "seen"),
    [
        pytest.param({"Restarts": "4 (1s ago)"}, "4 (101s ago)", id="restarts"),
        pytest.param({"Restarts": "4 (9m59s ago)"}, "4 (11m ago)", id="restarts, minutes"),
        pytest.param({"Restarts": "4"}, "4", id="restarts of no known time"),
        pytest.param({"Last_Seen": "17s"}, "117s", id="an event"),
        pytest.param({"Last_Seen": "<unknown>"}, "<unknown>", id="an event of no time"),
        pytest.param({"Last_Schedule": "2d3h"}, "2d3h", id="a cron job, days"),
        pytest.param({"Duration": "20s", "Status": "Running"}, "2m", id="a job that runs"),
        pytest.param({"Duration": "20s", "Status": "Complete"}, "20s", id="a job that is over"),
        pytest.param({"Duration": "20s"}, "20s", id="a custom resource's duration"),
        pytest.param({"Synced": "3h4m"}, "3h5m", id="a date of a custom resource"),
        pytest.param({"Image": "4 (1s ago)"}, "4 (1s ago)", id="what only looks so"),
        pytest.param({"Age": "1s"}, "61m", id="the age of the object"),
    ],
)
def test_what_was_told_of_the_past_grows_older(cells: dict[str, str], seen: str) -> None:
    assert told(**cells).rows[0].cells[0] == seen


def test_a_row_told_before_the_time_was_known_counts_from_when_it_was() -> None:
    times: list[datetime | None] = [None]
    table = table_of(row("a", restarts="1 (5s ago)"), model_now=lambda: times[-1])
    seen = []
    for second in (0, 7):
        times.append(datetime(2026, 1, 1, 12, 0, second, tzinfo=UTC))
        seen.append(table.rows[0].cells[3])
    assert seen == ["1 (5s ago)", "1 (12s ago)"]
    assert table.rows.widths[3] == len("1 (9m59s ago)")


def test_restarts_sort_by_their_number_and_times_by_when_they_were() -> None:
    table = table_of(row("ten", restarts="10 (1s ago)"), row("none"), row("four", restarts="4 (2d ago)"))
    table.rows.arrange(TableView(sort="RESTARTS"), table.titles)
    assert names(table) == ["none", "four", "ten"]


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
