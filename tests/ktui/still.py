"""The app as a still life: recorded spans and answers, a fixed bar, nothing that moves; for pictures to compare."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime

from textual.pilot import Pilot
from textual.widgets import Input

from engine.client import Client
from engine.world import World
from ktui.app import KtuiApp
from ktui.models.flow import FlowModel
from ktui.models.summary import ClusterSummary
from ktui.session import Session
from tests.ktui import recorded
from tests.ktui.screens.driver import Driver

SUMMARY = ClusterSummary(
    name="default",
    revision=117,
    nodes_ready=3,
    nodes=3,
    pods={"ready": 3, "waiting": 0, "failed": 0},
    clock_now="12:04:07",
    profile="realistic",
    kubernetes_version="v1.37.0",
    now=datetime(2026, 1, 1, 0, 0, 15, tzinfo=UTC),
)


# Of the cluster of `recorded.inside`.
BUSY = replace(SUMMARY, revision=302, pods={"ready": 5, "waiting": 2, "failed": 5})


class StillFlow(FlowModel):
    """In the recorded log stands who wrote in the place of the causes, whose spans are not all recorded."""

    def writer(self, cause: str) -> str:
        return cause


class StillApp(KtuiApp):
    """Its engine answers what was recorded and no more."""

    def __init__(self) -> None:
        client = Client(recorded.RecordedTransport(), user_agent="ktui")
        super().__init__(Session(name="default", client=client, world=World.create()))
        self.flow = StillFlow()


async def settle(pilot: Pilot[str], *, spans: bool = True, summary: ClusterSummary = SUMMARY) -> Driver:
    """Show the fixed bar, and the recorded spans."""
    app = pilot.app
    assert isinstance(app, KtuiApp)
    driver = Driver(app, pilot)
    await driver.until(lambda: "connecting" in app.summary.state)
    app.summary = deepcopy(summary)  # a test may change its own
    if spans:
        app.flow.add(recorded.spans())
    refresh(app)
    await driver.sees(f"nodes {summary.nodes_ready}/{summary.nodes}")
    if spans:
        await driver.sees("⑫●")
    return driver


def refresh(app: KtuiApp) -> None:
    app.window.show_summary(app.summary)
    for field in app.screen.query(Input):
        field.cursor_blink = False
