"""The table widget in a window of its own."""

from __future__ import annotations

from textual.app import App, ComposeResult

from ktui.models.grid_row import GridRow
from ktui.models.prose import Prose
from ktui.widgets.grid import Grid


class Window(App[None]):
    def compose(self) -> ComposeResult:
        yield Grid()

    @property
    def grid(self) -> Grid:
        return self.query_one(Grid)

    @property
    def lines(self) -> list[str]:
        return [self.grid.render_line(y).text for y in range(self.grid.size.height)]


def rows(count: int, cell: str = "Running") -> list[GridRow]:
    return [GridRow(f"web-{number}", (f"web-{number}", cell)) for number in range(count)]


async def test_columns_beyond_the_edge_are_told() -> None:
    app = Window()
    async with app.run_test(size=(40, 6)) as pilot:
        cells = tuple("x" * 20 for _ in range(4))
        app.grid.show(("ONE", "TWO", "THREE", "FOUR"), [GridRow("a", cells)])
        await pilot.pause()
        assert (app.lines[0][0], app.lines[0][-1]) == (" ", "›")
        await pilot.press("right")
        await pilot.pause()
        assert (app.lines[0][0], app.lines[0][-1]) == ("‹", "›")
        app.grid.scroll_to(x=app.grid.max_scroll_x, animate=False)
        await pilot.pause()
        assert (app.lines[0][0], app.lines[0][-1]) == ("‹", " ")
        app.grid.show(("ONE",), [GridRow("a", ("x",))])
        await pilot.pause()
        assert "›" not in app.lines[0]


async def test_the_row_under_the_cursor_stays_in_sight_when_the_table_gets_less_room() -> None:
    app = Window()
    async with app.run_test(size=(40, 20)) as pilot:
        app.grid.show(("NAME", "STATUS"), rows(15))
        app.grid.move_to("web-14")
        await pilot.pause()
        assert any(line.startswith("▌web-14") for line in app.lines)
        await pilot.resize_terminal(40, 6)
        await pilot.pause()
        assert any(line.startswith("▌web-14") for line in app.lines)


async def test_rows_that_come_above_the_cursor_do_not_push_it_out_of_sight() -> None:
    app = Window()
    async with app.run_test(size=(40, 10)) as pilot:
        app.grid.show(("NAME", "STATUS"), rows(3)[-1:])
        for count in (20, 30):  # two that come at once, and one more
            app.grid.show(("NAME", "STATUS"), [*(GridRow(f"a-{at}", (f"a-{at}", "")) for at in range(count)), *rows(3)])
        await pilot.pause()
        assert any(line.startswith("▌web-2") for line in app.lines)
        app.grid.scroll_to(y=0, animate=False)
        await pilot.pause()
        app.grid.show(("NAME", "STATUS"), [*(GridRow(f"b-{at}", (f"b-{at}", "")) for at in range(40)), *rows(3)])
        await pilot.pause()
        assert app.grid.scroll_offset.y == 0


async def test_who_has_paged_away_from_the_cursor_stays_there_when_the_window_changes() -> None:
    app = Window()
    async with app.run_test(size=(40, 10)) as pilot:
        app.grid.show(("NAME", "STATUS"), rows(100))
        await pilot.pause()
        for place in (50, app.grid.max_scroll_y):
            app.grid.scroll_to(y=place, animate=False)
            for size in ((39, 10), (40, 8), (40, 10)):
                await pilot.resize_terminal(*size)
                await pilot.pause()
                assert app.grid.scroll_offset.y == place


async def test_the_columns_get_the_room_of_a_scrollbar_that_went() -> None:
    app = Window()
    async with app.run_test(size=(40, 10)) as pilot:
        app.grid.show(("NAME", "STATUS"), rows(30, "a status that is longer than the window is wide"))
        await pilot.pause()
        with_bar = len(app.lines[1].rstrip())
        app.grid.show(("NAME", "STATUS"), rows(3, "a status that is longer than the window is wide"))
        await pilot.pause()
        assert len(app.lines[1].rstrip()) > with_bar


async def test_where_there_is_little_room_no_column_is_wider_than_it_needs_now() -> None:
    """A status that was long for a moment would take the name its middle for good."""
    app, name = Window(), "web-7d8d2f4c-x2k9p-and-more"
    async with app.run_test(size=(42, 6)):
        for status in ("ContainerCreating", "Running"):
            app.grid.show(("NAME", "STATUS"), [GridRow("a", (name, status))])
        assert app.lines[1].rstrip() == f"▌{name}   Running"


async def test_a_row_that_changes_is_drawn_as_it_is() -> None:
    app = Window()
    async with app.run_test(size=(40, 10)) as pilot:
        for cell in ("Pending", "Running", "Pending"):
            app.grid.show(("NAME", "STATUS"), rows(3, cell))
            await pilot.pause()
            assert all(cell in line for line in app.lines[1:4])


async def test_a_sentence_loses_its_end_and_a_name_its_middle() -> None:
    app = Window()
    async with app.run_test(size=(42, 6)):
        words = "CrashLoopBackOff, again in 12 s · restart 2"
        app.grid.show(("NAME", "DOING"), [GridRow("a", ("web-7d8d2f4c-x2k9p-and-more", Prose(words)))])
        assert app.lines[1].rstrip() == "▌web-7d8d2…-and-more  CrashLoopBackOff, a…"


async def test_the_last_column_ends_in_an_ellipsis_where_the_edge_would_cut_it_off() -> None:
    app, long = Window(), "a-name-that-is-longer-than-its-column"
    async with app.run_test(size=(46, 6)):
        app.grid.show(("A", "B", "C"), [GridRow("a", (long, long, Prose("What happened is told in a sentence")))])
        assert app.lines[1].rstrip() == "▌a-name-…s-column  a-name-…s-column  What hap…"
        assert app.grid.virtual_size.width == 46
