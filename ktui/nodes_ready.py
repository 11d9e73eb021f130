"""Waiting for a cluster's nodes: Pods that are applied before would all land on whichever is Ready first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from engine.api.types import NODES, Object
from engine.client import Client
from ktui.connect import ask

LOOK_SECONDS = 1.0  # how long events are waited for before it is asked whether any can come


def wait_for_nodes(kubeconfig: Path, count: int, seconds: float, say: Callable[[str], None]) -> str:
    """Return once `count` nodes are Ready, or after that many seconds, which `say` is told of.

    Where the store takes no writes, no node gets Ready: returns why it does not, "" where it does. Raises UsageError.
    """
    ready: set[str] = set()

    async def wait(client: Client) -> str:
        try:
            async with asyncio.timeout(seconds):
                return await _look(client, count, ready)
        except TimeoutError:
            say(f"{len(ready)} of {count} nodes are Ready after {seconds:g} s: go on with 'kubectl get nodes --watch'")
        return await trouble(client)

    return ask(kubeconfig, wait)


async def trouble(client: Client) -> str:
    """Why the store refuses writes now; "" where it does not."""
    store = await client.request("GET", "/debug/ktui/store/status")
    return str(store["details"].get("refusing") or ", ".join(store["alarms"]))


async def _look(client: Client, count: int, ready: set[str]) -> str:
    """Watch, and ask from time to time whether there is anything to wait for."""
    patience = LOOK_SECONDS
    while True:
        ready.clear()  # a watch begins with all that there are
        try:
            async with asyncio.timeout(patience):
                await _watch(client, count, ready)
                return ""
        except TimeoutError:
            if why := await trouble(client):
                return why
        patience *= 2


async def _watch(client: Client, count: int, ready: set[str]) -> None:
    async with await client.watch(NODES) as events:
        async for event in events:
            name = event.object["metadata"]["name"]
            if _is_ready(event.object):
                ready.add(name)
            else:
                ready.discard(name)
            if len(ready) >= count:
                return


def _is_ready(node: Object) -> bool:
    """Ready, and without the taint that keeps Pods off until a controller has seen it so."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    taints = (node.get("spec") or {}).get("taints") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions) and not any(
        taint["key"] == "node.kubernetes.io/not-ready" for taint in taints
    )
