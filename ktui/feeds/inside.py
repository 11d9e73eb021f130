"""What several components offer of one kind, asked for at once: controllers, informers; and every open watch."""

from __future__ import annotations

import asyncio
from typing import Any

from engine.client import Client
from ktui.feeds.poll import look, view

LAST = 40  # reconciles of the one controller that is looked into


async def watches(client: Client) -> dict[str, Any]:
    caches, informers, controllers = await asyncio.gather(
        look(client, "watches"),
        look(client, "views", under="informers/"),
        look(client, "views", under="controllers/", last="0"),
    )
    queues = {name: shown["queue"] for name, shown in controllers["shown"].items()}
    return {"caches": caches["caches"], "informers": informers["shown"], "queues": queues}


async def controllers(client: Client) -> Any:
    """Every controller, each with its newest reconcile."""
    return (await look(client, "views", under="controllers/", last="1"))["shown"]


async def controller(client: Client, name: str) -> Any:
    return await view(client, f"controllers/{name}", last=str(LAST))
