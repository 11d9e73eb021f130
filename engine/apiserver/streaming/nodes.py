"""The node that a Pod's logs and sessions are asked of (GetConnectionInfo of pkg/kubelet/client)."""

from __future__ import annotations

from engine.api.errors import not_found
from engine.api.types import NODES
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call


async def check_node(backend: Backend, call: Call, node: str) -> None:
    """Raises ApiError 404. The store tells what is not there by the resource of the request, which is not a Node's."""
    nodes = backend.resources.get(*NODES)
    if nodes is not None and await backend.storage.get(nodes, "", node) is None:
        raise not_found(call.gvr_resource.gvr, node)
