"""Two screens at once."""

from __future__ import annotations

from typing import Any

from ktui.models.link import Link
from ktui.screens.flow import FlowScreen
from ktui.screens.nodes import NodesScreen
from ktui.screens.objects import ObjectsScreen
from ktui.screens.store import StoreScreen
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import Driver

WIDE = (200, 60)


def shows(driver: Driver, kind: type[Any]) -> bool:
    return isinstance(driver.shown, kind) and driver.shown.is_current


async def test_a_second_screen_stands_beside_the_first_and_gets_the_keys(show: Show) -> None:
    async with show(size=WIDE) as driver:
        await driver.command("split nodes")
        await driver.sees("  1 Flow", "▶ 7 Nodes", "api-server", "node-2")
        assert shows(driver, NodesScreen)
        left, right = (half.region for half in driver.app.window.query("Half"))
        assert left.y == right.y
        assert left.right == right.x
        assert driver.app.window.query_one(FlowScreen).is_current


async def test_the_keys_go_from_half_to_half_and_each_has_its_own_screen(show: Show) -> None:
    async with show(size=WIDE) as driver:
        await driver.press("vertical_line")
        await driver.until(lambda: shows(driver, ObjectsScreen))
        await driver.press("ctrl+w")
        await driver.until(lambda: shows(driver, FlowScreen))
        await driver.press("3")
        await driver.sees("▶ 3 Store", "  2 Objects")
        await driver.press("f6", "7")
        await driver.sees("  3 Store", "▶ 7 Nodes")


async def test_links_and_the_way_back_stay_in_their_half(show: Show) -> None:
    async with show(size=WIDE) as driver:
        await driver.command("split store")
        await driver.until(lambda: shows(driver, StoreScreen))
        driver.app.go_to(Link("nodes", "node-1"))
        await driver.sees("  1 Flow", "▶ 2 Objects", "kind: Node")
        await driver.press("backspace")
        await driver.sees("  1 Flow", "▶ 3 Store")
        await driver.press("backspace")
        await driver.sees("this is where you began")


async def test_a_click_gives_a_half_the_keys(show: Show) -> None:
    async with show(size=WIDE) as driver:
        await driver.command("split objects")
        await driver.until(lambda: shows(driver, ObjectsScreen))
        await driver.pilot.click(FlowScreen, offset=(20, 12))
        await driver.sees("▶ 1 Flow", "  2 Objects")


async def test_naming_another_screen_changes_the_other_half(show: Show) -> None:
    async with show(size=WIDE) as driver:
        await driver.command("split objects")
        await driver.until(lambda: shows(driver, ObjectsScreen))
        await driver.command("split store")
        await driver.sees("▶ 3 Store", "  2 Objects")


async def test_one_screen_again(show: Show) -> None:
    async with show(size=WIDE) as driver:
        await driver.command("split objects")
        await driver.until(lambda: shows(driver, ObjectsScreen))
        await driver.press("vertical_line")
        await driver.until(lambda: len(driver.app.window.query("Half")) == 1)
        await driver.misses("▶ 2 Objects")
        assert shows(driver, FlowScreen)  # that it was split from
        await driver.press("ctrl+w")
        await driver.sees("there is one screen")
        await driver.command("split store")
        await driver.sees("▶ 3 Store")
        await driver.command("only")
        await driver.until(lambda: shows(driver, StoreScreen) and not driver.app.window.is_split)


async def test_a_tall_terminal_has_them_one_above_the_other(show: Show) -> None:
    async with show() as driver:
        await driver.press("vertical_line")
        await driver.sees("  1 Flow", "▶ 2 Objects")
        upper, lower = (half.region for half in driver.app.window.query("Half"))
        assert upper.x == lower.x
        assert upper.bottom == lower.y


async def test_a_small_terminal_is_told_why_not_and_one_that_shrinks_shows_one(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        await driver.command("split store")
        await driver.sees("two screens need 160 columns")
        assert not driver.app.window.is_split
        await driver.pilot.resize_terminal(200, 60)
        await driver.command("split store")
        await driver.sees("▶ 3 Store", "  1 Flow")
        await driver.pilot.resize_terminal(80, 24)
        await driver.misses("  1 Flow\n")
        assert shows(driver, StoreScreen)
        assert not driver.app.window.query_one(FlowScreen).is_current
        await driver.pilot.resize_terminal(200, 60)
        await driver.sees("▶ 3 Store", "  1 Flow")


async def test_a_screen_that_there_is_not(show: Show) -> None:
    async with show() as driver:
        await driver.command("split gizmos")
        await driver.sees("say one of", "flow")
        assert not driver.app.window.is_split
