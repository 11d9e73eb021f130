"""What the scheduler offers to be seen: its queues, its attempts, the nodes as it counts them."""

from __future__ import annotations

import asyncio
from typing import Any

from engine.client import Client
from ktui.feeds.poll import view

MOST_PODS = 300  # of each queue, and of the attempts
MOST_NODES = 60  # in a table of verdicts, and of bars


async def overview(client: Client) -> dict[str, Any]:
    queue, attempts, capacity = await asyncio.gather(
        view(client, "scheduler/queue", limit=str(MOST_PODS)),
        view(client, "scheduler/decisions", limit=str(MOST_PODS)),
        view(client, "scheduler/capacity", limit=str(MOST_NODES)),
    )
    return {"queue": queue, "attempts": attempts, "capacity": capacity}


async def decision(client: Client, pod: str) -> Any:
    """The attempts on `namespace/name` in full."""
    return await view(client, "scheduler/decision", pod=pod, nodes=str(MOST_NODES))
