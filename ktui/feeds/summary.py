"""What the bar at the top shows: nodes and Pods from informers, the rest from the status endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator

from engine.api.errors import ApiError
from engine.api.types import NODES, PODS
from engine.client.factory import InformerFactory
from ktui.models.summary import ClusterSummary
from ktui.session import Session

PERIOD_SECONDS = 0.5


async def follow(session: Session, informers: InformerFactory) -> AsyncIterator[ClusterSummary]:
    """The summary, twice a second, also while the engine is away (then `connection` says so)."""
    summary = ClusterSummary(name=session.name)
    pods, nodes = informers.informer(PODS).lister, informers.informer(NODES).lister
    while True:
        try:
            status = await session.client.request("GET", "/debug/ktui/status")
        except ConnectionError as error:
            summary.connection = f"no connection to the engine: {error}"
        except ApiError as error:
            summary.connection = error.message
        else:
            summary.connection = ""
            summary.revision = status["revision"]
            summary.profile = status["profile"]
            summary.clock_mode = status["clock"]["mode"]
            summary.clock_speed = status["clock"]["speed"]
            summary.clock_now = status["clock"]["now"][11:19]
            summary.count_nodes(nodes.list())
            summary.count_pods(pods.list())
        yield summary
        await session.world.clock.sleep(PERIOD_SECONDS)
