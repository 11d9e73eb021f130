"""Filters and orders that all tables share."""

from __future__ import annotations

import pytest

from ktui.models.grid_row import GridRow
from ktui.models.row_filter import RowFilter
from ktui.models.table_view import TableView, sort_key

TITLES = ("NAME", "STATUS", "RESTARTS")
ROWS = [
    GridRow("a", ("web-7d8d2f4c-x2k9p", "Running", "10"), labels={"app": "web", "tier": "front"}),
    GridRow("b", ("db-0", "Pending", "9"), labels={"app": "db"}),
    GridRow("c", ("batch-run", "Running", "2")),
]


def keys(view: TableView) -> str:
    return "".join(row.key for row in view.shown(TITLES, ROWS))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", "abc", id="nothing"),
        pytest.param("web", "a", id="a part of a cell"),
        pytest.param("PEND", "b", id="in any column, in either case"),
        pytest.param("wx2", "a", id="the beginnings of a name's parts"),
        pytest.param("xw", "", id="in their order"),
        pytest.param("brun", "c", id="beginnings of any length"),
        pytest.param("ehf", "", id="never the middle of a part"),
        pytest.param("!web", "bc", id="not"),
        pytest.param("run !batch", "a", id="all words"),
        pytest.param("-l app=web", "a", id="a label"),
        pytest.param("--selector=app!=web", "bc", id="not a label"),
        pytest.param("-l app in (web, db)", "ab", id="a set of labels needs no quotes"),
        pytest.param("-l app -l tier=front", "a", id="the last selector wins, as kubectl's flag"),
        pytest.param("-l app Pending", "b", id="a label and a word"),
        pytest.param("status=running", "ac", id="a column"),
        pytest.param("status!=Running", "b", id="not a column"),
        pytest.param("app=web", "", id="what is no column is a word"),
        pytest.param("^db|^batch", "bc", id="a regular expression, as in k9s"),
        pytest.param("run.*10", "", id="of one cell"),
        pytest.param("!^web", "bc", id="not a regular expression"),
        pytest.param("web[", "", id="one that is none is a word"),
        pytest.param("-f wbx2", "a", id="characters in their order, as in k9s"),
        pytest.param("-f bx", "a", id="the middle of a part too"),
        pytest.param("-f nosuch", "", id="characters that are not there"),
    ],
)
def test_filter(text: str, found: str) -> None:
    assert keys(TableView(text)) == found


@pytest.mark.parametrize(("text", "found"), [("state=idle", "a"), ("state!=idle", "b")])
def test_a_column_says_so_with_its_sign_or_without(text: str, found: str) -> None:
    view = RowFilter.parse(text, ("NAME", "STATE"))
    rows = (GridRow("a", ("web", "· idle")), GridRow("b", ("db", "◐ syncing")))
    assert "".join(row.key for row in rows if view.takes(row)) == found


def test_a_selector_that_cannot_be_read_filters_nothing_and_says_why() -> None:
    wanted = RowFilter.parse("-l a=,=b", TITLES)
    assert "found '='" in wanted.problem
    assert all(wanted.takes(row) for row in ROWS)


def test_a_column_that_there_is_not_is_looked_for_as_a_word_and_told() -> None:
    wanted = RowFilter.parse("node=node-1 foo!=x status=Running app.io/a=b", TITLES)
    assert wanted.unknown == ("node", "foo!")
    assert wanted.words == ("node=node-1", "foo!=x", "app.io/a=b")


def test_a_field_selector_is_left_to_the_server() -> None:
    wanted = RowFilter.parse("--field-selector spec.nodeName=node-1 web", TITLES)
    assert (wanted.fields, wanted.words) == ("spec.nodeName=node-1", ("web",))


def test_sorting_goes_through_the_columns_and_back() -> None:
    view = TableView()
    for _ in range(3):
        view.sort_by_next(TITLES)
    assert view.heads(TITLES) == ("NAME", "STATUS", "RESTARTS↑")
    assert keys(view) == "cba"
    view.descending = True
    assert view.heads(TITLES)[2] == "RESTARTS↓"
    assert keys(view) == "abc"
    view.sort_by_next(TITLES)
    assert (view.sort, keys(view)) == ("", "cba")


@pytest.mark.parametrize(
    ("low", "high"),
    [
        pytest.param("5s", "3m20s", id="ages"),
        pytest.param("59m", "2h", id="minutes and hours"),
        pytest.param("9", "10", id="numbers"),
        pytest.param("0/1", "1/1", id="ready counts"),
        pytest.param("900 K", "2.1 M", id="sizes"),
        pytest.param("512Mi", "1Gi", id="quantities"),
        pytest.param("3", "word", id="numbers before words"),
        pytest.param("Error", "Running", id="words"),
    ],
)
def test_cells_sort_by_what_they_mean(low: str, high: str) -> None:
    assert sort_key(low) < sort_key(high)
