"""The Controllers screen on a real cluster: queues, and what a reconcile wanted and found."""

from __future__ import annotations

from ktui.screens.controllers import ControllersScreen
from ktui.screens.objects import ObjectsScreen
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import WEB


async def test_an_apply_shows_in_the_deployment_controller(show: Show) -> None:
    async with show(size=(160, 50)) as driver:
        await driver.press("5")
        await driver.sees("Controllers", "deployment", "reconciles", "in line")
        await driver.command(f"apply -f {WEB}")
        await driver.sees("✓ done")
        await driver.press("escape")
        screen = driver.shown
        assert isinstance(screen, ControllersScreen)
        screen.all.grid.move_to("deployment-controller")
        await driver.sees("Reconciles of deployment-controller", "desired", "actual", "replicas: 3", "5 workers")
        await driver.press("tab", "end")
        await driver.sees("woken by rev")
        await driver.press("enter")
        await driver.shows(ObjectsScreen)
        await driver.sees("deployments.apps", "web")
        await driver.press("backspace")
        await driver.shows(ControllersScreen)


async def test_the_smallest_terminal_shows_queues_reconciles_and_detail(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        await driver.press("5", "slash")
        await driver.type("cronjob")
        await driver.sees("· idle", "It has reconciled nothing yet", "workers")
