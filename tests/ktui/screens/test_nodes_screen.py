"""The Nodes screen on a real cluster: tiles, a kubelet at work, and the ways through it."""

from __future__ import annotations

from engine.api.types import PODS
from ktui.screens.nodes import NodesScreen
from ktui.screens.objects import ObjectsScreen
from tests.ktui.screens.conftest import Show


async def test_a_pod_appears_on_its_node_and_in_its_kubelet(show: Show) -> None:
    async with show(size=(160, 50)) as driver:
        await driver.press("7")
        await driver.sees("node-1", "0/110", "SyncLoop", "heartbeat", "No Pod runs here", "~ simulated")
        spec = {"nodeName": "node-1", "containers": [{"name": "c", "image": "nginx:1.27"}]}
        await driver.client.create(PODS, {"metadata": {"name": "p"}, "spec": spec}, namespace="default")
        await driver.sees("1/110", "■", "1/1 ready", "StartContainer", "nginx:1.27")
        await driver.press("tab")
        await driver.sees("containers~", "sandbox", "listens on 80")
        await driver.press("n")
        await driver.sees("SyncLoop")


async def test_enter_goes_to_the_node_and_to_a_pod(show: Show) -> None:
    async with show(size=(160, 50)) as driver:
        spec = {"nodeName": "node-1", "containers": [{"name": "c", "image": "nginx:1.27"}]}
        await driver.client.create(PODS, {"metadata": {"name": "p"}, "spec": spec}, namespace="default")
        await driver.press("7")
        await driver.sees("1/110")
        await driver.press("enter")
        await driver.shows(ObjectsScreen)
        await driver.sees("node-1", "v1.37")
        await driver.press("backspace")
        await driver.shows(NodesScreen)
        await driver.press("tab")
        await driver.sees("p  on node-1", "SyncPod")  # there is a worker under the cursor
        await driver.press("enter")
        await driver.shows(ObjectsScreen)


async def test_the_smallest_terminal_shows_nodes_workers_and_kubelet(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        await driver.press("7")
        await driver.sees("node-3", "Pod workers of node-1", "heartbeat")
        await driver.press("slash")
        await driver.type("node-2")
        await driver.misses("node-3")


async def test_a_detail_that_was_not_looked_at_while_the_terminal_grew_fills_its_lines(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        spec = {"nodeName": "node-1", "containers": [{"name": "c", "image": "nginx:1.27"}]}
        await driver.client.create(PODS, {"metadata": {"name": "p"}, "spec": spec}, namespace="default")
        await driver.press("7")
        await driver.sees("1/1 ready")
        await driver.press("5")
        await driver.pilot.resize_terminal(200, 60)
        await driver.press("7")
        await driver.sees("images~")

        def calls() -> list[str]:
            return [line for line in driver.picture.splitlines() if "StartContainer" in line or "RunPodSandbox" in line]

        await driver.until(lambda: calls() and all(line.rstrip().endswith("ms~") for line in calls()))
