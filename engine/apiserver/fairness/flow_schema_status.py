"""Says of each FlowSchema whether the PriorityLevelConfiguration that it names exists (its condition Dangling).

Source: apiserver pkg/util/flowcontrol/apf_controller.go (presyncFlowSchemaStatus), which looks at all of them whenever
one of either kind has changed.
"""

from __future__ import annotations

from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.api.wire import APPLY_PATCH
from engine.apiserver.backend import Backend
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.loopback import Loopback
from engine.store.types import StoreError, prefix_end
from engine.tasks import Supervisor

MANAGER = "api-priority-and-fairness-config-consumer-v1"
_AGAIN = 1.0  # seconds after which a store that failed is asked again


class FlowSchemaStatus:
    def __init__(
        self, info: ResourceInfo, schemas: WatchCache, levels: WatchCache, *, backend: Backend, loopback: Loopback
    ) -> None:
        self._info = info
        self._schemas = schemas
        self._levels = levels
        self._store = backend.storage.store
        self._clock = backend.world.clock
        self._loopback = loopback

    def start(self, tasks: Supervisor) -> None:
        for cache in (self._schemas, self._levels):
            tasks.spawn(self._follow(cache), f"flow schema status {cache.resource}")

    async def _follow(self, cache: WatchCache) -> None:
        first = f"{cache.prefix}/".encode()
        while True:
            try:
                source = await self._store.watch(first, prefix_end(first))
                try:
                    await self._look_at_all(self._store.revision)
                    async for response in source:
                        if response.events:
                            await self._look_at_all(response.revision)
                    return
                finally:
                    await source.aclose()
            except StoreError:
                await self._clock.sleep(_AGAIN)

    async def _look_at_all(self, revision: int) -> None:
        for cache in (self._schemas, self._levels):
            await cache.freshness.catch_up(revision)
        for schema in list(self._schemas.objects()):
            await self._look(schema)

    async def _look(self, schema: Object) -> None:
        level = schema["spec"]["priorityLevelConfiguration"]["name"]
        exists = self._levels.get(f"{self._levels.prefix}/{level}") is not None
        how = "and it exists" if exists else "but there is no such object"
        wanted = {
            "type": "Dangling",
            "status": "False" if exists else "True",
            "reason": "Found" if exists else "NotFound",
            "message": f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" {how}',
        }
        conditions = (schema.get("status") or {}).get("conditions") or ()
        if any(wanted.items() <= each.items() for each in conditions):
            return
        name = schema["metadata"]["name"]
        applied = {
            "apiVersion": self._info.gvr.api_version,
            "kind": self._info.kind,
            "metadata": {"name": name},
            "status": {"conditions": [{**wanted, "lastTransitionTime": self._clock.timestamp()}]},
        }
        await self._loopback.ask(
            "PATCH",
            self._info.gvr.path(None, name, "status"),
            applied,
            content_type=APPLY_PATCH,
            query={"fieldManager": [MANAGER], "force": ["true"]},
        )
