"""The Dashboard on a real cluster."""

from __future__ import annotations

from ktui.screens.controllers import ControllersScreen
from ktui.widgets.table_pane import TablePane
from tests.ktui.screens.conftest import Show


async def test_figures_their_plot_and_where_they_come_from(show: Show) -> None:
    async with show(size=(120, 40)) as driver:
        await driver.press("8")
        await driver.sees("pods ready", "nodes ready", "streams", "the top is", "now ")
        await driver.sees("revisions", "/s")
        driver.find(TablePane).grid.move_to("reconciles")
        await driver.sees("keys that controllers worked off")
        await driver.press("enter")
        await driver.shows(ControllersScreen)
