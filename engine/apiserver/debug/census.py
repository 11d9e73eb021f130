"""How many Nodes and Pods there are and how they fare: a few numbers, counted where the objects are.

A screen that counted for itself would have to be sent each version of each Pod. Here a version is looked at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from engine.api.resources import ResourceInfo
from engine.api.types import NODES, PODS, Object
from engine.apiserver.backend import Backend
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.store.types import StoreError

FAILING = frozenset({"CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "CreateContainerError"})


def has_condition(obj: Object, type: str) -> bool:
    conditions = obj.get("status", {}).get("conditions") or ()
    return any(condition.get("type") == type and condition.get("status") == "True" for condition in conditions)


def node_state(node: Object) -> str:
    return "ready" if has_condition(node, "Ready") else "waiting"


def pod_state(pod: Object) -> str:
    """`ready` (or done), `waiting` or `failed`."""
    status = pod.get("status", {})
    if status.get("phase") == "Failed":
        return "failed"
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        if ((container.get("state") or {}).get("waiting") or {}).get("reason") in FAILING:
            return "failed"
    if status.get("phase") == "Succeeded" or has_condition(pod, "Ready"):
        return "ready"
    return "waiting"


class Census:
    """Counts a cache's objects by state; only those that changed since the last time are looked at."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._nodes = _Count(node_state)
        self._pods = _Count(pod_state)

    async def take(self) -> dict[str, Any]:
        """`nodes` and `pods`, each by state; what cannot be read is left out."""
        found = {
            "nodes": await self._of(NODES.resource, self._nodes),
            "pods": await self._of(PODS.resource, self._pods),
        }
        return {name: counts for name, counts in found.items() if counts is not None}

    async def _of(self, resource: str, count: _Count) -> dict[str, int] | None:
        info = self._backend.resources.get("", "v1", resource)
        cache = await self._cache(info) if info is not None else None
        return count.of(cache) if cache is not None else None

    async def _cache(self, info: ResourceInfo) -> WatchCache | None:
        try:
            return await self._backend.caches.started(info)
        except StoreError:
            return None


class _Count:
    def __init__(self, state_of: Callable[[Object], str]) -> None:
        self._state_of = state_of
        self._generation = -1
        self._known: dict[str, tuple[int, str]] = {}
        self._counts: dict[str, int] = {}

    def of(self, cache: WatchCache) -> dict[str, int]:
        if cache.generation != self._generation:
            self._generation = cache.generation
            self._known = dict(self._seen(key, revision, obj) for key, revision, obj in cache.versions())
            counts = Counter(state for _, state in self._known.values())
            self._counts = {state: counts[state] for state in ("ready", "waiting", "failed")}
        return self._counts

    def _seen(self, key: str, revision: int, obj: Object) -> tuple[str, tuple[int, str]]:
        known = self._known.get(key)
        return key, known if known is not None and known[0] == revision else (revision, self._state_of(obj))
