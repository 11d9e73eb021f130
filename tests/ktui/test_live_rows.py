"""Rows that keep their order and filter while they change: always what filtering and sorting them all would give."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.models.grid_row import GridRow
from ktui.models.live_rows import LiveRows
from ktui.models.table_view import TableView

TITLES = ("NAME", "STATUS", "RESTARTS")
NAMES = st.sampled_from(["a", "b", "c", "d", "web-1", "web-2"])
ROWS = st.builds(
    lambda name, status, count: GridRow(name, (name, status, str(count))),
    NAMES,
    st.sampled_from(["Running", "Pending", "Error"]),
    st.integers(0, 12),
)
VIEWS = st.builds(
    TableView,
    st.sampled_from(["", "web", "!web", "status=running", "pend"]),
    st.sampled_from(["", *TITLES]),
    st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(ROWS, NAMES, VIEWS), max_size=40))
def test_changes_in_any_order_give_what_a_new_table_would(steps: list[GridRow | str | TableView]) -> None:
    live, plain, view = LiveRows(), dict[str, GridRow](), TableView()
    for step in steps:
        if isinstance(step, GridRow):
            live.put(step)
            plain[step.key] = step
        elif isinstance(step, TableView):
            view = step
        else:
            live.drop(step)
            plain.pop(step, None)
        live.arrange(view, TITLES)
    in_order = [plain[key] for key in sorted(plain)]
    shown = TableView(view.text, view.sort).shown(TITLES, in_order)
    expected = list(shown)[::-1] if view.descending else list(shown)
    assert list(live) == expected == [live[index] for index in range(len(live))]
    assert [live.index_of(row.key) for row in expected] == list(range(len(expected)))
    assert (live.total, live.index_of("gone")) == (len(plain), None)


def test_the_widest_cell_of_each_column_is_known() -> None:
    live = LiveRows()
    live.put(GridRow("a", ("a", "Running")))
    live.put(GridRow("b", ("bcd", "x")))
    assert live.widths == [3, 7]


def test_wide_letters_take_two_cells() -> None:
    live = LiveRows()
    live.put(GridRow("a", ("日本語 x", "abc")))
    assert live.widths == [8, 3]
