"""The Store screen on a real cluster."""

from __future__ import annotations

from textual.widgets import Input

from engine.api.types import GVR
from ktui.screens.store import StoreScreen
from ktui.screens.store_value import KeyValue
from ktui.widgets.grid import Grid
from ktui.widgets.table_pane import TablePane
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import Driver

CONFIG_MAPS = GVR("", "v1", "configmaps")
KEY = "/registry/configmaps/default/mine"


def keys_of(driver: Driver) -> Grid:
    return driver.find(Grid, "#keys")


async def write_three(driver: Driver) -> None:
    client = driver.client
    made = await client.create(CONFIG_MAPS, {"metadata": {"name": "mine"}, "data": {"a": "1"}}, namespace="default")
    for value in ("2", "3"):
        made = await client.update(CONFIG_MAPS, {**made, "data": {"a": value}})


async def test_keys_with_their_revisions_and_the_value_of_one(show: Show) -> None:
    async with show() as driver:
        await write_three(driver)
        await driver.press("3")
        await driver.sees("/registry/", "keys at rev", "CREATE", "MOD", "VER", "SIZE")
        keys_of(driver).move_to(KEY)
        await driver.sees(KEY, "ver 3", "a: '3'", "the newest")


async def test_back_and_forth_through_the_revisions_of_a_key(show: Show) -> None:
    async with show() as driver:
        await write_three(driver)
        await driver.press("3")
        await driver.until(lambda: keys_of(driver).rows)
        keys_of(driver).move_to(KEY)
        await driver.sees("a: '3'")
        await driver.press("left_square_bracket")
        await driver.sees("ver 2", "+  a: '2'", "-  a: '1'")
        await driver.press("left_square_bracket")
        await driver.sees("ver 1", "a: '1'")
        await driver.press("left_square_bracket")
        await driver.sees("as far as it goes")
        await driver.press("right_square_bracket", "right_square_bracket")
        await driver.sees("ver 3")


async def test_keys_pressed_faster_than_the_store_answers_are_all_steps(show: Show) -> None:
    async with show() as driver:
        await write_three(driver)
        await driver.press("3")
        await driver.until(lambda: keys_of(driver).rows)
        keys_of(driver).move_to(KEY)
        driver.all_at_once("[", "[")
        await driver.sees("ver 1", "a: '1'", "▸ rev")
        driver.all_at_once("]", "]", "[", "[", "]")
        await driver.sees("ver 2", "+  a: '2'", "-  a: '1'")
        driver.all_at_once("m", "[")
        await driver.sees("ver 1", "against marked rev", "+  a: '1'", "-  a: '2'")
        driver.all_at_once(*"[[[")
        await driver.sees("as far as it goes", "ver 1")
        driver.all_at_once(*"]]")
        await driver.sees("ver 3", "the newest")


async def test_keys_that_begin_with_a_prefix(show: Show) -> None:
    async with show() as driver:
        await driver.press("3", "slash")
        await driver.type("/minions/")
        await driver.sees("/registry/minions/", "3 keys at rev", "▾ minions  3", "    node-2")
        await driver.press("enter")
        await driver.until(lambda: driver.app.focused is keys_of(driver))
        await driver.press("escape")
        await driver.misses("/registry/minions/  3 keys at rev")
        assert not driver.find(Input, "#prefix").display


async def test_keys_that_contain_words(show: Show) -> None:
    async with show() as driver:
        await write_three(driver)
        await driver.press("3", "slash")
        await driver.type("Configmaps MINE !kube-system")
        await driver.until(lambda: [row.key for row in keys_of(driver).rows][1:] == [KEY])
        await driver.sees("/registry/  1 of ", "keys at rev", "/configmaps mine !kube-s")
        pane = driver.find(TablePane, "#stream")
        await driver.until(lambda: {row.cells[2] for row in pane.grid.rows} == {"configmaps/default/mine"})


async def test_one_key_is_one_key(show: Show) -> None:
    async with show() as driver:
        await driver.press("3", "slash")
        await driver.type("/minions/node-1")
        await driver.sees("  1 key at rev")


async def test_keys_of_objects_with_labels(show: Show) -> None:
    async with show() as driver:
        await write_three(driver)
        await driver.client.patch(CONFIG_MAPS, "mine", {"metadata": {"labels": {"app": "web"}}}, namespace="default")
        await driver.press("3", "slash")
        await driver.type("configmaps -l app in (web)")
        await driver.until(lambda: [row.key for row in keys_of(driver).rows][1:] == [KEY])
        await driver.sees("/configmaps -l app in (web)")


async def test_a_wrong_filter_of_keys_says_what_is_wrong(show: Show) -> None:
    async with show() as driver:
        await driver.press("3", "slash")
        await driver.type("-F metadata.name=x")
        await driver.sees("✖ keys have no fields")
        await driver.press("escape", "slash")
        await driver.type("-l =")
        await driver.sees("✖ found '=', expected: !, iden")


async def test_a_filter_of_no_key_says_so(show: Show) -> None:
    async with show() as driver:
        await driver.press("3")
        pane = driver.find(TablePane, "#stream")
        await driver.until(lambda: pane.grid.rows)
        await driver.press("slash")
        await driver.type("gizmos")
        await driver.sees("No key is like this", "Nothing was written to such a key")


async def test_the_list_follows_the_store_and_can_show_the_newest_first(show: Show) -> None:
    async with show() as driver:
        await driver.press("3")
        await driver.until(lambda: keys_of(driver).rows)
        await write_three(driver)
        await driver.until(lambda: any(row.key == KEY for row in keys_of(driver).rows))
        await driver.press("o")
        mod = 2
        await driver.until(
            lambda: (
                (cells := [int(row.cells[mod]) for row in keys_of(driver).rows]) == sorted(cells, reverse=True)
                and cells
            )
        )


async def test_enter_takes_the_keys_to_the_value(show: Show) -> None:
    async with show() as driver:
        await driver.press("3")
        await driver.until(lambda: keys_of(driver).key)
        await driver.press("down", "enter")
        assert driver.app.focused is not None
        assert driver.app.focused.id == "value"
        await driver.press("escape")
        await driver.until(lambda: driver.app.focused is keys_of(driver))


async def test_keys_fold_under_what_they_have_in_common(show: Show) -> None:
    async with show() as driver:
        await driver.press("3", "slash")
        await driver.type("minions/")
        await driver.press("enter")
        await driver.sees("▾ minions  3", "    node-2")
        await driver.press("home", "enter")
        await driver.sees("▸ minions  3", "Enter unfolds these keys", "3 keys · ", "newest   rev", "largest")
        await driver.until(lambda: "/registry/minions/node-2" not in {row.key for row in keys_of(driver).rows})
        await driver.press("z")
        await driver.sees("    node-2")
        await driver.press("z")
        await driver.until(lambda: "/registry/minions/node-2" not in {row.key for row in keys_of(driver).rows})


async def test_from_a_key_to_its_object(show: Show) -> None:
    async with show() as driver:
        await write_three(driver)
        await driver.press("3")
        await driver.until(lambda: any(row.key == KEY for row in keys_of(driver).rows))
        keys_of(driver).move_to(KEY)
        await driver.sees("a: '3'")
        await driver.press("t")
        await driver.sees(" configmaps  ")
        await driver.until(lambda: driver.find(Grid).key == "default/mine")


async def stream_of(driver: Driver) -> TablePane:
    """The stream with the keys."""
    await driver.press("3", "l")
    pane = driver.find(TablePane, "#stream")
    await driver.until(lambda: pane.grid.rows and pane.has_focus_within)
    return pane


def cells(pane: TablePane, key: str) -> list[tuple[str, ...]]:
    """Operation, key and comparison of the rows of one key."""
    return [(row.cells[1], row.cells[2], row.cells[4]) for row in pane.grid.rows if row.cells[2].endswith(key)]


async def test_revisions_stream_by_with_what_their_writers_compared(show: Show) -> None:
    async with show() as driver:
        pane = await stream_of(driver)
        await write_three(driver)
        await driver.until(lambda: len(cells(pane, "/mine")) == 3)
        third, second, first = cells(pane, "/mine")
        assert first == ("create", "configmaps/default/mine", "none ✓")
        assert (second[0], third[0]) == ("put", "put")
        rev = next(row.cells[0] for row in pane.grid.rows if row.cells[1:3] == ("create", "configmaps/default/mine"))
        assert second[2] == f"{rev} ✓"
        await driver.until(lambda: any(row.cells[3] == "kubernetes-admin" for row in pane.grid.rows))


async def test_a_comparison_that_failed_stands_in_the_stream_and_is_counted(show: Show) -> None:
    async with show() as driver:
        pane = await stream_of(driver)
        await driver.until(
            lambda: any(row.cells[1] == "refused" and row.cells[4].endswith("✖") for row in pane.grid.rows)
        )
        await driver.sees("compare-and-swap ✓")


async def test_the_stream_is_held_by_its_key_and_by_the_cursor_that_leaves_its_end(show: Show) -> None:
    async with show() as driver:
        pane = await stream_of(driver)
        await driver.press("p")
        await driver.sees("held at rev", "p lets it flow")
        await write_three(driver)
        screen = driver.shown
        assert isinstance(screen, StoreScreen)
        await driver.until(lambda: screen.stream.newer >= 3)
        assert not cells(pane, "/mine")
        await driver.press("p")
        await driver.until(lambda: len(cells(pane, "/mine")) == 3)
        await driver.sees("live")
        await driver.press("down")
        await driver.sees("held at rev")


async def test_news_that_overtake_what_tells_of_the_cursor_do_not_hold_the_stream(show: Show) -> None:
    async with show() as driver:
        pane = await stream_of(driver)
        await write_three(driver)
        await driver.until(lambda: len(cells(pane, "/mine")) == 3)
        screen = driver.shown
        assert isinstance(screen, StoreScreen)
        overtaken = pane.grid.rows[1].key  # the end of the stream when the message set out
        screen.post_message(Grid.Moved(pane.grid, overtaken))
        await driver.pilot.pause()
        await driver.sees("live")
        assert not screen.stream.held


async def test_a_row_of_the_stream_shows_its_key_as_it_was_then(show: Show) -> None:
    async with show() as driver:
        pane = await stream_of(driver)
        await write_three(driver)
        await driver.client.delete(CONFIG_MAPS, "mine", namespace="default")
        await driver.until(lambda: len(cells(pane, "/mine")) == 4)
        deleted, _, second, _ = [row.key for row in pane.grid.rows if row.cells[2].endswith("/mine")]
        pane.grid.move_to(second)
        await driver.press("enter")
        await driver.sees("ver 2", "+  a: '2'", "-  a: '1'")
        await driver.press("escape")
        pane.grid.move_to(deleted)
        await driver.press("enter")
        await driver.sees("deleted at rev", "-  a: '3'")


async def test_the_prefix_is_for_the_stream_too(show: Show) -> None:
    async with show() as driver:
        await write_three(driver)
        await driver.press("3", "slash")
        await driver.type("configmaps/default/mine")
        await driver.press("enter")
        pane = driver.find(TablePane, "#stream")
        await driver.until(lambda: {row.cells[2] for row in pane.grid.rows} == {"configmaps/default/mine"})


async def test_any_two_revisions_are_compared_with_a_mark(show: Show) -> None:
    async with show() as driver:
        await write_three(driver)
        await driver.press("3")
        await driver.until(lambda: keys_of(driver).rows)
        keys_of(driver).move_to(KEY)
        await driver.sees("ver 3", "-  a: '2'")
        await driver.press("m")
        await driver.sees("all others are compared with rev")
        await driver.press("left_square_bracket")
        await driver.until(lambda: (at := driver.find(KeyValue).shown) and at.found and at.found["version"] == 2)
        await driver.press("left_square_bracket")
        await driver.sees("against marked rev", "+  a: '1'", "-  a: '3'")


async def test_members_compaction_and_room(show: Show) -> None:
    async with show() as driver:
        await driver.press("3")
        await driver.sees("commits", "changes", "members default leader", "never compacted", "kept rev 1 to", "in use")
        now = driver.app.summary.revision
        body = {"revision": now}
        await driver.client.request("POST", "/debug/ktui/store/compact", body=body)
        await driver.sees(f"compacted to rev {now} at", f"kept rev {now} to")


async def test_what_is_compacted_while_it_is_looked_at_is_said_and_led_on_from(show: Show) -> None:
    async with show() as driver:
        await write_three(driver)
        await driver.press("3")
        await driver.until(lambda: keys_of(driver).rows)
        keys_of(driver).move_to(KEY)
        await driver.sees("ver 3")
        await driver.press("[", "[")
        await driver.sees("ver 1", "a: '1'")
        newest = await driver.client.get(CONFIG_MAPS, "mine", namespace="default")
        body = {"revision": int(newest["metadata"]["resourceVersion"])}
        await driver.client.request("POST", "/debug/ktui/store/compact", body=body)
        await driver.press("[")
        await driver.sees(KEY, "is compacted and no longer kept", "] shows", "the oldest that is")
        await driver.press("]")
        await driver.sees("ver 3", "a: '3'", "▸ rev")


async def test_a_narrow_terminal_shows_keys_and_newest_revisions_or_more_of_the_stream(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        await driver.press("3")
        await driver.sees("CREATE", "l shows more", " put ", "l Revisions")
        await driver.press("l")
        await driver.sees("compare-and-swap", "p holds it")
        await driver.misses("CREATE")
        await driver.press("down", "enter")
        await driver.sees("[ older ]")
        await driver.press("escape", "l")
        await driver.sees("CREATE")
