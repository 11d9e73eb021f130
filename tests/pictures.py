"""`python -m tests.pictures [FOLDER]`: the README's pictures, from a real run.

A cluster with realistic latencies runs in this process; `samples/web.yaml` is applied through the screen's own command
line, and Flow is exported once all Pods are ready; then a Pod that fits nowhere is applied, and Scheduler exported.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from engine.clock import Clock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from engine.world import World
from ktui.app import KtuiApp
from ktui.session import Session
from tests.ktui.screens.driver import Driver

SIZE = (150, 44)
SETTLE_SECONDS = 4.0
ROOT = Path(__file__).parents[1]


async def pictures(folder: Path) -> list[Path]:
    """The apply of the first sample, pinned, from its start; and why a Pod that asks for too much fits nowhere."""
    async with Cluster(ClusterConfig(seed=1, profile="realistic"), clock=Clock()) as cluster:
        session = Session(name="default", client=cluster.client(user_agent="kubectl/ktui"), world=World.create())
        app = KtuiApp(session)
        async with app.run_test(size=SIZE) as pilot:
            driver = Driver(app, pilot)
            await driver.until(lambda: app.summary.nodes_ready == 3)
            await asyncio.sleep(SETTLE_SECONDS)
            await driver.command(f"apply -f {ROOT / 'samples' / 'web.yaml'}")
            await driver.sees("deployment.apps/web created", "service/web created")
            await driver.press("escape")
            await driver.until(lambda: app.summary.pods.get("ready") == 3)
            await asyncio.sleep(SETTLE_SECONDS)
            await driver.press("p", "g", "down")
            await driver.sees("pinned", "mutating admission")
            flow = _written(app, folder / "flow.svg")
            await driver.press("p")
            await driver.command(f"apply -f {ROOT / 'samples' / 'broken-unschedulable.yaml'}")
            await driver.sees("pod/giant created")
            await driver.press("escape", "6")
            await driver.sees("giant", "Insufficient cpu", "filter: which nodes may run it")
            return [flow, _written(app, folder / "scheduler.svg")]


def _written(app: KtuiApp, file: Path) -> Path:
    file.write_text(app.export_screenshot(title="ktui"))
    return file


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    print(*asyncio.run(pictures(folder)), sep="\n")


if __name__ == "__main__":
    main()
