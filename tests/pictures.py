"""`python -m tests.pictures [FOLDER]`: the README's pictures, from a real run.

A cluster with realistic latencies runs in this process; `samples/web.yaml` is applied through the screen's own command
line, and the Flow screen is exported once all Pods are ready.
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


async def flow(folder: Path) -> Path:
    """The apply of the first sample, pinned, from its start."""
    async with Cluster(ClusterConfig(seed=1, profile="realistic"), clock=Clock()) as cluster:
        session = Session(name="default", client=cluster.client(user_agent="kubectl/ktui"), world=World.create())
        app = KtuiApp(session)
        async with app.run_test(size=SIZE) as pilot:
            driver = Driver(app, pilot)
            await driver.until(lambda: app.summary.nodes_ready == 3)
            await asyncio.sleep(SETTLE_SECONDS)
            await driver.command(f"apply -f {ROOT / 'samples' / 'web.yaml'}")
            await driver.sees("deployment.apps/web created")
            await driver.press("escape")
            await driver.until(lambda: app.summary.pods.get("ready") == 3)
            await asyncio.sleep(SETTLE_SECONDS)
            await driver.press("p", "g", "down")
            await driver.sees("pinned", "mutating admission")
            file = folder / "flow.svg"
            file.write_text(app.export_screenshot(title="ktui"))
            return file


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    print(asyncio.run(flow(folder)))


if __name__ == "__main__":
    main()
