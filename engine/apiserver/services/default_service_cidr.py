"""Keeps the ServiceCIDR `kubernetes`, the range of the flags (pkg/controlplane/controller/defaultservicecidr).

It is made when the server starts and made again if it is gone; one that has other ranges is left alone and told of, but
that a second family is added to it. That it is ready this server says only as long as nobody else has.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from engine.api.types import Object, copy_object
from engine.api.wire import APPLY_PATCH
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.loopback import Loopback
from engine.apiserver.own_events import Says
from engine.apiserver.services.service_cidrs import DEFAULT_NAME, READY, SERVICE_CIDRS, service_cidr_object
from engine.world import World

log = logging.getLogger(__name__)

NAME = "kubernetes-service-cidr-controller"
INTERVAL = 10.0
_ERROR = "KubernetesDefaultServiceCIDRError"


class DefaultServiceCidr:
    def __init__(self, ranges: Sequence[str], cache: WatchCache, loopback: Loopback, world: World) -> None:
        self._wanted = service_cidr_object(ranges)
        self._cache = cache
        self._loopback = loopback
        self._clock = world.clock
        self._says = Says(loopback, world, NAME)
        self._told_of_ranges = False
        self._told_of_condition = False

    async def run(self) -> None:
        while True:
            await self._clock.sleep(INTERVAL)
            await self.sync()

    async def sync(self) -> None:
        """Raises ConnectionError where the server stops."""
        found = self._cache.get(f"{self._cache.prefix}/{DEFAULT_NAME}")
        if found is None:
            made = await self._loopback.ask("POST", SERVICE_CIDRS.path(), self._wanted)
            if made.status < 400:
                await self._sync_status(made.body)
            return
        wanted, known = self._ranges(self._wanted), self._ranges(found)
        if len(wanted) == 2 and known == wanted[:1]:
            await self._add_second(found, wanted)
        else:
            await self._sync_status(found)

    async def _add_second(self, found: Object, wanted: list[str]) -> None:
        changed = copy_object(found)
        changed["spec"]["cidrs"] = wanted
        answer = await self._loopback.ask("PUT", SERVICE_CIDRS.path(None, DEFAULT_NAME), changed)
        if answer.status >= 400:
            why = f"from {wanted[0]} to dual stack [{' '.join(wanted)}] : {answer.body.get('message', '')}"
            await self._says.core(found, _ERROR, f"The default ServiceCIDR can not be upgraded {why}")

    async def _sync_status(self, found: Object) -> None:
        if "deletionTimestamp" in found["metadata"]:
            return
        wanted, known = self._ranges(self._wanted), self._ranges(found)
        if wanted != known:
            if not self._told_of_ranges:
                self._told_of_ranges = True
                text = f"[{' '.join(known)}] does not match the controller flag configurations [{' '.join(wanted)}]"
                await self._says.core(
                    found, "KubernetesDefaultServiceCIDRInconsistent", f"The default ServiceCIDR {text}"
                )
            return
        conditions = (found.get("status") or {}).get("conditions") or ()
        ready = next((each for each in conditions if each["type"] == READY), None)
        if ready is None or ready["status"] == "Unknown":
            await self._say_ready(found)
        elif ready["status"] == "False" and not self._told_of_condition:
            self._told_of_condition = True
            text = f"Configuration matches, but {ready.get('message', '')}"
            await self._says.core(found, ready.get("reason", ""), text)

    async def _say_ready(self, found: Object) -> None:
        condition = {
            "type": READY,
            "status": "True",
            "message": "Kubernetes default Service CIDR is ready",
            "lastTransitionTime": self._clock.timestamp(),
        }
        applied = {**self._wanted, "status": {"conditions": [condition]}}
        del applied["spec"]
        answer = await self._loopback.ask(
            "PATCH",
            SERVICE_CIDRS.path(None, DEFAULT_NAME, "status"),
            applied,
            content_type=APPLY_PATCH,
            query={"fieldManager": [NAME], "force": ["true"]},
        )
        if answer.status >= 400:
            await self._says.core(found, _ERROR, "The default ServiceCIDR Status can not be set to Ready=True")

    @staticmethod
    def _ranges(cidr: Object) -> list[str]:
        return list(cidr["spec"].get("cidrs") or ())
