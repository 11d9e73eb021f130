"""The Scheduler screen on a real cluster: what it shows of Pods that fit and of one that does not, and its keys."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import NODES, PODS
from engine.cluster import Cluster
from ktui.models.scheduler import SchedulerModel
from ktui.screens.objects import ObjectsScreen
from ktui.screens.scheduler import SchedulerScreen
from ktui.widgets.table_pane import TablePane
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import WEB


def pod(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "nginx:1.27", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


async def test_from_an_empty_screen_to_a_decision_and_on_to_the_pod(show: Show) -> None:
    async with show(size=(160, 50)) as driver:
        await driver.press("6")
        await driver.shows(SchedulerScreen)
        await driver.sees("No Pod has been scheduled yet", "active 0", "node-1  cpu", "pods 0/110")
        await driver.client.create(PODS, pod("small", "1"), namespace="default")
        await driver.sees("small", "✓ bound", "filter: which nodes may run it", "score: which of them is best", "Σ")
        await driver.sees("25 %")  # one of four cores
        await driver.press("enter")
        await driver.shows(ObjectsScreen)
        await driver.sees("small")
        await driver.press("backspace")
        await driver.shows(SchedulerScreen)


async def test_a_pod_that_fits_nowhere_says_why_and_a_gated_one_too(show: Show) -> None:
    async with show(size=(160, 50)) as driver:
        await driver.press("6")
        await driver.client.create(PODS, pod("huge", "64"), namespace="default")
        await driver.sees("✖ fits 0/3 nodes", "Insufficient cpu", "waits in the unschedulable queue", "unschedulable 1")
        gates = [{"name": "example.com/quota"}]
        await driver.client.create(PODS, pod("gated", "1", schedulingGates=gates), namespace="default")
        await driver.sees("◷ gated", "gated 1")
        driver.find(TablePane).grid.move_to("default/gated")
        await driver.sees("it has scheduling gates")


async def test_raw_scores_and_all_nodes_have_their_keys(show: Show) -> None:
    async with show(size=(200, 60)) as driver:
        await driver.press("6")
        await driver.client.create(PODS, pod("small", "1"), namespace="default")
        await driver.sees("raw→normalised below")
        await driver.press("r")
        await driver.misses("raw→normalised below")
        screen = driver.shown
        assert isinstance(screen, SchedulerScreen)
        await driver.press("a")
        await driver.until(lambda: screen.shows_all_nodes)


async def test_one_walks_through_the_attempts_on_a_pod(show: Show) -> None:
    async with show(size=(160, 50)) as driver:
        await driver.press("6")
        await driver.client.create(PODS, pod("picky", "1", nodeSelector={"disk": "ssd"}), namespace="default")
        await driver.sees("attempt 1", "didn't match Pod's node affinity/selector")
        await driver.client.patch(NODES, "node-2", {"metadata": {"labels": {"disk": "ssd"}}})
        await driver.sees("attempt 2", "✓ node-2 is the one node of 3 that fits", "there is nothing to compare")
        await driver.press("left_square_bracket")
        await driver.sees("attempt 1  (2 of 2 kept")
        await driver.press("left_square_bracket")
        await driver.sees("that is as far as it goes")
        await driver.press("right_square_bracket")
        await driver.sees("attempt 2  (1 of 2 kept")


async def test_filter_and_order(show: Show) -> None:
    async with show(size=(160, 50)) as driver:
        await driver.press("6")
        await driver.command(f"apply -f {WEB}")
        await driver.sees("✓ done")
        await driver.press("escape")
        await driver.sees("✓ bound")
        await driver.press("slash")
        await driver.type("nothing-like-it")
        await driver.sees("No row meets the filter")
        await driver.press("enter", "escape")
        await driver.sees("web-")
        await driver.press("o")
        await driver.sees("POD↑")


async def test_a_filter_that_finds_nothing_says_where_it_did_not_look(
    show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SchedulerModel, "left_out", property(lambda _: "not shown: 8 more wait"))
    async with show(size=(100, 30)) as driver:
        await driver.client.create(PODS, pod("small", "1"), namespace="default")
        await driver.press("6")
        await driver.sees("Pods  1  not shown: 8 more wait")
        await driver.press("slash")
        await driver.type("no" * 40)
        await driver.sees("Not shown: 8 more wait; the filter does not look there.", "non…")


async def test_the_filter_knows_the_labels_of_pods_that_wait_and_of_those_that_were_tried(show: Show) -> None:
    async with show(size=(160, 50)) as driver:
        await driver.press("6")
        for name, cpu in (("small", "1"), ("other", "1"), ("huge", "64")):
            made = pod(name, cpu)
            made["metadata"]["labels"] = {"app": "other" if name == "other" else "shop"}
            await driver.client.create(PODS, made, namespace="default")
        await driver.sees("✖ fits 0/3 nodes", "Pods  3")
        await driver.press("slash")
        await driver.type("-l app=shop")
        await driver.sees("Pods  2 of 3")
        assert sorted(row.key for row in driver.find(TablePane).grid.rows) == ["default/huge", "default/small"]
        await driver.press("escape", "7")
        await driver.sees("Pod workers of node-")
        workers = driver.find(TablePane, "#workers")
        await driver.until(lambda: len(workers.grid.rows) == 1)
        key = workers.grid.rows[0].key
        workers.set_filter("-l app=none")
        await driver.sees("No row meets the filter")
        workers.set_filter(f"-l app={'shop' if key.endswith('small') else 'other'}")
        await driver.until(lambda: [row.key for row in workers.grid.rows] == [key])


async def test_a_process_without_a_scheduler_says_so(show: Show, cluster: Cluster) -> None:
    for view in ("queue", "decisions", "capacity"):
        cluster.world.views.withdraw(f"scheduler/{view}")
    async with show() as driver:
        await driver.press("6")
        await driver.sees("✖ no scheduler in this process")


async def test_bars_that_were_not_looked_at_while_the_terminal_grew_fill_their_lines(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        await driver.press("6")
        await driver.sees("3 nodes  cpu")
        await driver.press("5")
        await driver.pilot.resize_terminal(200, 60)
        await driver.press("6")
        await driver.sees("pods 0/110")
        assert all("pods 0/110" in line for line in driver.picture.splitlines() if line.startswith(" node-"))
