"""Keeps the FlowSchemas and PriorityLevelConfigurations of upstream as they should be, while the server runs.

Source: pkg/registry/flowcontrol/ensurer (strategy.go) and rest (storage_flowcontrol.go). Every minute what is gone is
made again, and what differs is put right: the mandatory ones always, the suggested ones unless their annotation (or,
without one, a changed spec) says that somebody else has taken them over. What carries the annotation and is none of
them goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.api.defaults import apply_defaults
from engine.api.golang.boolean import parse_bool
from engine.api.patch.merge_patch import same
from engine.api.resources import ResourceInfo
from engine.api.types import Object, copy_object
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.fairness import flow_control
from engine.apiserver.loopback import Loopback
from engine.world import World

INTERVAL = 60.0
MANAGER = "api-priority-and-fairness-config-producer-v1"
AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec"
_EXEMPT = "exempt"
_MANDATORY = (_EXEMPT, "catch-all")
_LEVEL, _SCHEMA = "PriorityLevelConfiguration", "FlowSchema"


class FlowControlUpkeep:
    """`infos` are the two kinds, `caches` all objects of each."""

    def __init__(
        self, infos: Sequence[ResourceInfo], caches: Sequence[WatchCache], loopback: Loopback, world: World
    ) -> None:
        self._infos = {info.kind: info for info in infos}
        self._caches = dict(zip(self._infos, caches, strict=True))
        self._loopback = loopback
        self._clock = world.clock
        self._wanted: dict[str, dict[str, Object]] = {kind: {} for kind in self._infos}
        for obj in flow_control.objects(now=""):
            obj.pop("status", None)
            apply_defaults(self._infos[obj["kind"]], obj)
            self._wanted[obj["kind"]][obj["metadata"]["name"]] = obj

    async def run(self) -> None:
        while True:
            await self._clock.sleep(INTERVAL)
            await self.sync()

    async def sync(self) -> None:
        """The suggested ones first, and levels before the schemas that are about them."""
        for mandatory in (False, True):
            for kind in (_LEVEL, _SCHEMA):
                for name, wanted in self._wanted[kind].items():
                    if (name in _MANDATORY) is mandatory:
                        await self._ensure(kind, name, wanted)
        for kind in (_SCHEMA, _LEVEL):
            for name in self._unwanted(kind):
                await self._loopback.ask("DELETE", self._infos[kind].gvr.path(None, name))

    async def _ensure(self, kind: str, name: str, wanted: Object) -> None:
        cache, gvr, query = self._caches[kind], self._infos[kind].gvr, {"fieldManager": [MANAGER]}
        current = cache.get(f"{cache.prefix}/{name}")
        if current is None:
            await self._loopback.ask("POST", gvr.path(), wanted, query=query)
        elif (revised := _revised(current, wanted, mandatory=name in _MANDATORY)) is not None:
            await self._loopback.ask("PUT", gvr.path(None, name), revised, query=query)

    def _unwanted(self, kind: str) -> Iterable[str]:
        return [
            obj["metadata"]["name"]
            for obj in self._caches[kind].objects()
            if obj["metadata"]["name"] not in self._wanted[kind] and _said(obj) is True
        ]


def _revised(current: Object, wanted: Object, *, mandatory: bool) -> Object | None:
    """What an object should be; None if it is that."""
    ours = mandatory or _is_ours(current)
    spec = current["spec"]
    if ours:
        spec = wanted["spec"]
        if current["metadata"]["name"] == _EXEMPT and "exempt" in spec and "exempt" in current["spec"]:
            spec = {**spec, "exempt": current["spec"]["exempt"]}  # how much of it is lent is the administrator's
    if _said(current) is ours and same(spec, current["spec"]):
        return None
    revised = copy_object(current)
    revised["spec"] = spec
    revised["metadata"].setdefault("annotations", {})[AUTO_UPDATE] = "true" if ours else "false"
    return revised


def _is_ours(current: Object) -> bool:
    said = _said(current)
    return bool(current["metadata"].get("generation") == 1) if said is None else said


def _said(obj: Object) -> bool | None:
    """What the annotation says, if it is there and is a boolean."""
    try:
        return parse_bool((obj["metadata"].get("annotations") or {}).get(AUTO_UPDATE, ""))
    except ValueError:
        return None
