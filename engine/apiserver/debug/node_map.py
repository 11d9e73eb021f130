"""The map of Nodes, each with its Pods as states: what a screen draws as tiles, made where the objects are.

A screen that listed all Pods for it would be sent each version of each. Here a version is looked at once.
"""

from __future__ import annotations

from collections import Counter

from engine.api.types import NODES, PODS, Object
from engine.apiserver.backend import Backend
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.debug.census import pod_state
from engine.store.types import StoreError

MOST_TILES = 128  # Pods of a node that are told one by one
Seen = tuple[int, str, str, str, bool]  # of a Pod: revision, node, state, name, whether it has ended
ENDED = frozenset({"Succeeded", "Failed"})
ORDER = ("failed", "waiting", "ending", "ready", "done")  # what wants to be looked at first


class NodeMap:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._generations: tuple[int, int] | None = None
        self._known: dict[str, Seen] = {}
        self._answer: list[Object] = []

    async def take(self) -> list[Object]:
        """Raises StoreError where they cannot be read."""
        nodes, pods = await self._cache(NODES.resource), await self._cache(PODS.resource)
        if (nodes.generation, pods.generation) != self._generations:
            self._generations = nodes.generation, pods.generation
            self._known = dict(self._seen(*version) for version in pods.versions())
            placed: dict[str, list[tuple[str, str]]] = {}
            ended: Counter[str] = Counter()
            for _, node, state, name, has_ended in self._known.values():
                placed.setdefault(node, []).append((state, name))
                ended[node] += has_ended
            named = {obj["metadata"]["name"]: obj for _, _, obj in nodes.versions()}
            self._answer = [_told(named[name], placed.get(name, []), ended[name]) for name in sorted(named)]
        return self._answer

    async def _cache(self, resource: str) -> WatchCache:
        info = self._backend.resources.get("", "v1", resource)
        if info is None:
            raise StoreError(f"{resource} are not served")
        return await self._backend.caches.started(info)

    def _seen(self, key: str, revision: int, pod: Object) -> tuple[str, Seen]:
        known = self._known.get(key)
        if known is not None and known[0] == revision:
            return key, known
        metadata = pod["metadata"]
        name = f"{metadata['namespace']}/{metadata['name']}"
        has_ended = pod.get("status", {}).get("phase") in ENDED
        return key, (revision, pod["spec"].get("nodeName") or "", tile_state(pod), name, has_ended)


def tile_state(pod: Object) -> str:
    """One of ORDER."""
    if pod["metadata"].get("deletionTimestamp"):
        return "ending"
    return "done" if pod.get("status", {}).get("phase") == "Succeeded" else pod_state(pod)


def _told(node: Object, placed: list[tuple[str, str]], ended: int) -> Object:
    """`ended` of its Pods take none of its room any more."""
    metadata, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    ready: Object = next((c for c in status.get("conditions") or () if c.get("type") == "Ready"), {})
    labels, allocatable = metadata.get("labels") or {}, status.get("allocatable") or {}
    placed.sort(key=lambda pod: (ORDER.index(pod[0]), pod[1]))
    return {
        "name": metadata["name"],
        "labels": labels,
        "ready": ready.get("status", ""),
        "reason": ready.get("reason", ""),
        "message": ready.get("message", ""),
        "unschedulable": bool(spec.get("unschedulable")),
        "taints": spec.get("taints") or [],
        "podCIDR": spec.get("podCIDR", ""),
        "addresses": status.get("addresses") or [],
        "allocatable": {name: allocatable[name] for name in ("cpu", "memory", "pods") if name in allocatable},
        "kubeletVersion": (status.get("nodeInfo") or {}).get("kubeletVersion", ""),
        "created": metadata.get("creationTimestamp", ""),
        "podCount": len(placed),
        "endedPods": ended,
        "pods": [{"state": state, "pod": name} for state, name in placed[:MOST_TILES]],
    }
