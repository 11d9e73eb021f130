"""One informer for each resource and selector, shared by all who ask (client-go informers/factory.go)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.api.types import GVR
from engine.client.client import Client
from engine.client.informer import SharedInformer
from engine.client.informer_metrics import families
from engine.client.lister import Lister
from engine.world import World


class _Scope(NamedTuple):
    resource: GVR
    namespace: str | None
    label_selector: str
    field_selector: str


class InformerFactory:
    """Ask for informers, then `start()`; those asked for later start at the next `start()`."""

    def __init__(self, client: Client, world: World, *, detect_mutations: bool = False) -> None:
        self._client = client
        self._world = world
        self._detect_mutations = detect_mutations
        self._informers: dict[_Scope, SharedInformer] = {}
        self._view = f"informers/{client.user_agent}"
        self._metrics_view = f"fifo/{client.user_agent}/metrics"

    def informer(
        self, resource: GVR, *, namespace: str | None = None, label_selector: str = "", field_selector: str = ""
    ) -> SharedInformer:
        scope = _Scope(resource, namespace, label_selector, field_selector)
        if scope not in self._informers:
            self._informers[scope] = SharedInformer(
                self._client, self._world, **scope._asdict(), detect_mutations=self._detect_mutations
            )
        return self._informers[scope]

    def lister(self, resource: GVR) -> Lister:
        """The lister of the informer of all objects of a resource."""
        return self.informer(resource).lister

    def forget(self, resource: GVR) -> SharedInformer | None:
        """Give up the informer of all objects of a resource that is no longer served; the caller stops it."""
        return self._informers.pop(_Scope(resource, None, "", ""), None)

    def start(self) -> None:
        self._world.views.offer(self._view, self._look)
        self._world.views.offer(self._metrics_view, self._measure)
        for informer in self._informers.values():
            informer.start()

    async def wait_for_sync(self) -> bool:
        """Wait until all informers asked for so far have their first list; False if one is stopped before."""
        return all([await informer.wait_for_sync() for informer in list(self._informers.values())])

    async def stop(self) -> None:
        self._world.views.withdraw(self._view)
        self._world.views.withdraw(self._metrics_view)
        stopped = (informer.stop() for informer in self._informers.values())
        for result in await asyncio.gather(*stopped, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result

    def _look(self, parameters: Mapping[str, str]) -> Any:
        return [informer.status() for informer in self._informers.values()]

    def _measure(self, parameters: Mapping[str, str]) -> Any:
        return families(self._client.user_agent.split("/")[0], self._informers.values())
