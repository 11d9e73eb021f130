"""How full the nodes are, as the scheduler counts: what Pods request, against what is allocatable."""

from __future__ import annotations

import heapq

from engine.api.types import Object
from engine.scheduler.cache.cache import Cache
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.resource import CPU, MEMORY, Resource


def look_capacity(cache: Cache, limit: int) -> Object:
    """What all nodes hold together, and the `limit` fullest of them."""
    infos = [info for info in cache.nodes.values() if info.node is not None]
    requested, allocatable = Resource(), Resource()
    for info in infos:
        requested.add(info.requested)
        allocatable.add(info.allocatable)
    return {
        "nodes": len(infos),
        "pods": sum(len(info.pods) for info in infos),
        "allowedPods": sum(info.allocatable.allowed_pods for info in infos),
        "requested": requested.to_json(),
        "allocatable": allocatable.to_json(),
        "fullest": [_look_node(info) for info in heapq.nlargest(limit, infos, key=_fullness)],
    }


def _look_node(info: NodeInfo) -> Object:
    return {
        "node": info.name,
        "pods": len(info.pods),
        "allowedPods": info.allocatable.allowed_pods,
        "requested": info.requested.to_json(),
        "allocatable": info.allocatable.to_json(),
        "unschedulable": info.unschedulable,
    }


def _fullness(info: NodeInfo) -> float:
    """The share that is taken of the resource that is scarcest on the node."""
    shares = [(info.requested.get(name), info.allocatable.get(name)) for name in (CPU, MEMORY)]
    shares.append((len(info.pods), info.allocatable.allowed_pods))
    return max(taken / there if there else 0.0 for taken, there in shares)
