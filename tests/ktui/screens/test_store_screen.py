"""The Store screen on a real cluster."""

from __future__ import annotations

from textual.widgets import Input

from engine.api.types import GVR
from ktui.widgets.grid import Grid
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import Driver

CONFIG_MAPS = GVR("", "v1", "configmaps")
KEY = "/registry/configmaps/default/mine"


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
        driver.find(Grid).move_to(KEY)
        await driver.sees(KEY, "ver 3", "a: '3'", "the newest")


async def test_back_and_forth_through_the_revisions_of_a_key(show: Show) -> None:
    async with show() as driver:
        await write_three(driver)
        await driver.press("3")
        await driver.until(lambda: driver.find(Grid).rows)
        driver.find(Grid).move_to(KEY)
        await driver.sees("a: '3'")
        await driver.press("left_square_bracket")
        await driver.sees("ver 2", "+  a: '2'", "-  a: '1'")
        await driver.press("left_square_bracket")
        await driver.sees("ver 1", "a: '1'")
        await driver.press("left_square_bracket")
        await driver.sees("as far as it goes")
        await driver.press("right_square_bracket", "right_square_bracket")
        await driver.sees("ver 3")


async def test_keys_that_begin_with_a_prefix(show: Show) -> None:
    async with show() as driver:
        await driver.press("3", "slash")
        await driver.type("minions/")
        await driver.sees("/registry/minions/", "3 keys at rev", "▾ minions  3", "    node-2")
        await driver.press("enter")
        assert driver.app.focused is driver.find(Grid)
        await driver.press("escape")
        await driver.misses("/registry/minions/  ")
        assert not driver.find(Input, "#prefix").display


async def test_a_prefix_of_no_key_says_so(show: Show) -> None:
    async with show() as driver:
        await driver.press("3", "slash")
        await driver.type("gizmos")
        await driver.sees("No key begins with this")


async def test_the_list_follows_the_store_and_can_show_the_newest_first(show: Show) -> None:
    async with show() as driver:
        await driver.press("3")
        await driver.until(lambda: driver.find(Grid).rows)
        await write_three(driver)
        await driver.until(lambda: any(row.key == KEY for row in driver.find(Grid).rows))
        await driver.press("o")
        mod = 2
        await driver.until(
            lambda: (
                (cells := [int(row.cells[mod]) for row in driver.find(Grid).rows]) == sorted(cells, reverse=True)
                and cells
            )
        )


async def test_enter_takes_the_keys_to_the_value(show: Show) -> None:
    async with show() as driver:
        await driver.press("3")
        await driver.until(lambda: driver.find(Grid).key)
        await driver.press("down", "enter")
        assert driver.app.focused is not None
        assert driver.app.focused.id == "detail"
        await driver.press("escape")
        assert driver.app.focused is driver.find(Grid)


async def test_keys_fold_under_what_they_have_in_common(show: Show) -> None:
    async with show() as driver:
        await driver.press("3", "slash")
        await driver.type("minions/")
        await driver.press("enter")
        await driver.sees("▾ minions  3", "    node-2")
        await driver.press("home", "enter")
        await driver.sees("▸ minions  3", "Enter folds these keys")
        await driver.misses("    node-2")
        await driver.press("z")
        await driver.sees("    node-2")
        await driver.press("z")
        await driver.misses("    node-2")


async def test_from_a_key_to_its_object(show: Show) -> None:
    async with show() as driver:
        await write_three(driver)
        await driver.press("3")
        await driver.until(lambda: any(row.key == KEY for row in driver.find(Grid).rows))
        driver.find(Grid).move_to(KEY)
        await driver.sees("a: '3'")
        await driver.press("t")
        await driver.sees(" configmaps  ")
        await driver.until(lambda: driver.find(Grid).key == "default/mine")
