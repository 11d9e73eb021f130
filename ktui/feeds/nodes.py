"""The nodes with their Pods as states, and the inside of one kubelet with its Pods and its heartbeat."""

from __future__ import annotations

import asyncio
from typing import Any

from engine.api.errors import ApiError
from engine.api.types import LEASES, PODS
from engine.client import Client
from ktui.feeds.poll import look, view


async def node_map(client: Client) -> Any:
    return (await look(client, "nodes"))["nodes"]


async def kubelet(client: Client, node: str) -> dict[str, Any]:
    """`kubelet` is None where no kubelet of this process runs the node: then only the API can tell of it."""
    inside, lease, pods = await asyncio.gather(
        _or_none(view(client, f"kubelet/{node}/overview")),
        _or_none(client.get(LEASES, node, namespace="kube-node-lease")),
        client.list(PODS, field_selector=f"spec.nodeName={node}"),
    )
    renewed = lease["spec"].get("renewTime", "") if lease is not None else ""
    return {"kubelet": inside, "renewed": renewed, "pods": pods.items}


async def _or_none(asked: Any) -> Any:
    try:
        return await asked
    except ApiError as error:
        if error.code != 404:
            raise
        return None
