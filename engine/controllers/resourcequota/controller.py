"""Counts what a namespace's objects take of its quotas (pkg/controller/resourcequota resource_quota_controller.go).

Admission books what is made; this controller counts anew when a quota changes, when something that was counted goes
(replenishment), and every five minutes.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.quantity import Quantity
from engine.api.quota import Amounts, added, concerns, masked, matches, parsed, usage
from engine.api.quota.extended_resources import (
    CLAIMS,
    DEVICE_CLASSES,
    ExtendedResources,
    is_of_pod,
    names_of,
    pod_name,
)
from engine.api.types import GVR, PODS, SERVICES, Object
from engine.client import Lister
from engine.controllers.controller import Controller
from engine.controllers.discovery import CUSTOM_RESOURCE_DEFINITIONS, Discovery
from engine.controllers.features import quotas_devices_by_name

QUOTAS = GVR("", "v1", "resourcequotas")
RESYNC = 300.0
_CLAIMS = GVR("", "v1", "persistentvolumeclaims")
_ALWAYS = (PODS, SERVICES, _CLAIMS)


class ResourceQuotaController(Controller):
    name = "resourcequota-controller"
    kind = "resourcequota"

    def set_up(self) -> None:
        self._quotas = self.lister(QUOTAS)
        self._discovery = Discovery(self.config.kubernetes_version)
        self._counted: dict[GVR, Lister] = {}
        version = self.config.kubernetes_version
        self._classes = self.lister(DEVICE_CLASSES) if quotas_devices_by_name(version) else None
        self.watch(QUOTAS, _changed)
        for resource in _ALWAYS:
            self._count(resource)
        if self._discovery.has(CUSTOM_RESOURCE_DEFINITIONS):
            self.watch(CUSTOM_RESOURCE_DEFINITIONS, self._crd_changed)

    async def run(self) -> None:
        while True:
            await self.clock.sleep(RESYNC)
            for quota in self._quotas.list():
                self.queue.add(_key(quota))

    # -- what is counted

    def _crd_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        """The quotas that name a resource which there is only now: upstream looks for such every 30 seconds, and comes
        to their quotas with its next resync."""
        name = (new or old or {})["metadata"]["name"]
        before = self._discovery.of_crd(name)
        resource = self._discovery.crd_changed(old, new)
        if before is not None and before != self._discovery.of_crd(name) and before.gvr in self._counted:
            del self._counted[before.gvr]
            self.unwatch(before.gvr)
        if resource is None or not resource.namespaced:
            return []
        fresh = resource.gvr.group_resource
        return [_key(quota) for quota in self._quotas.list() if any(concerns(fresh, each) for each in _hard(quota))]

    def _count(self, resource: GVR) -> Lister:
        """The lister of a resource, which is watched from now on."""
        if resource not in self._counted:
            self._counted[resource] = self.lister(resource)
            self.watch(resource, lambda old, new: self._replenished(resource.group_resource, old, new))
        return self._counted[resource]

    def _replenished(self, group_resource: str, old: Object | None, new: Object | None) -> Iterable[str]:
        """The quotas that get something back: it is gone, takes something else, or is another quota's now."""
        if old is None:
            return []
        extended = self._extended(group_resource)
        names = usage(group_resource, old, extended=extended)
        changed = new is None or names != usage(group_resource, new, extended=extended)
        return [
            _key(quota)
            for quota in self._quotas.list(old["metadata"].get("namespace", ""))
            if any(name in names for name in _hard(quota))
            and (changed or _moves(quota.get("spec") or {}, group_resource, old, new))
        ]

    def _resources(self, hard: Amounts) -> list[GVR]:
        """The resources whose objects a quota's limits are about."""
        extended = self._extended(CLAIMS.group_resource)
        return [
            each.gvr
            for each in self._discovery
            if each.namespaced and any(concerns(each.gvr.group_resource, name, extended) for name in hard)
        ]

    def _extended(self, group_resource: str, claim: Object | None = None) -> ExtendedResources | None:
        """What claims, or one of them, take of extended resources."""
        if self._classes is None or group_resource != CLAIMS.group_resource:
            return None
        names = names_of(self._classes.list())
        name = pod_name(claim) if claim is not None else ""
        if claim is None or not name:
            return ExtendedResources(names, {})
        namespace = claim["metadata"]["namespace"]
        pod = self._counted[PODS].get(name, namespace)
        counted = is_of_pod(claim, pod, lambda: self._counted[CLAIMS].list(namespace))
        return ExtendedResources(names, usage("pods", pod, self.clock.now()) if pod is not None and counted else {})

    # -- the sync

    async def reconcile(self, key: str) -> None:
        quota = self._quotas.by_key(key)
        if quota is None:
            return
        hard = parsed(_hard(quota))
        resources = self._resources(hard)
        await self._follow(resources)
        used = self._used(quota, hard, resources)
        before = quota.get("status") or {}
        used = masked(parsed(before.get("used")), hard) | used
        status = {"hard": _texts(hard), "used": _texts(used)}
        self.note(desired=status, actual=before)
        if _same(before.get("hard"), hard) and _same(before.get("used"), used):
            return
        newest = {**quota, "status": {**before, **status}}
        await self.client.update_status(QUOTAS, newest)

    async def _follow(self, resources: list[GVR]) -> None:
        """Have the caches of what is counted, filled."""
        fresh = [resource for resource in resources if resource not in self._counted]
        for resource in fresh:
            self._count(resource)
        if fresh:
            self.start_informers()
            await self._synced()

    def _used(self, quota: Object, hard: Amounts, resources: list[GVR]) -> Amounts:
        """Of what nothing can take, as of a kind that there is not, nothing is told."""
        known = [(each.group_resource, self._extended(each.group_resource)) for each in resources]
        total: Amounts = {name: Quantity() for name in hard if any(concerns(of, name, by) for of, by in known)}
        spec, namespace, now = quota.get("spec") or {}, quota["metadata"]["namespace"], self.clock.now()
        for resource in resources:
            for obj in self._counted[resource].list(namespace):
                if matches(spec, resource.group_resource, obj):
                    extended = self._extended(resource.group_resource, obj)
                    total = added(total, masked(usage(resource.group_resource, obj, now, extended), hard))
        return total


def _changed(old: Object | None, new: Object | None) -> Iterable[str]:
    """A quota that is new or has other limits, or whose usage somebody lost."""
    if new is None:
        return []
    limits, status = _hard(new), new.get("status") or {}
    if old is None or _hard(old) != limits or (status.get("hard") or {}) != limits:
        return [_key(new)]
    return [] if set(status.get("used") or {}) >= set(limits) else [_key(new)]


def _moves(spec: Object, group_resource: str, old: Object, new: Object | None) -> bool:
    """Whether a quota's scopes match only one of two states (pkg/quota/v1/install update_filter.go)."""
    return new is not None and matches(spec, group_resource, old) != matches(spec, group_resource, new)


def _hard(quota: Object) -> Object:
    hard: Object = (quota.get("spec") or {}).get("hard") or {}
    return hard


def _key(quota: Object) -> str:
    return f"{quota['metadata']['namespace']}/{quota['metadata']['name']}"


def _texts(amounts: Amounts) -> Object:
    return {name: str(amounts[name]) for name in sorted(amounts)}


def _same(texts: Object | None, amounts: Amounts) -> bool:
    return texts is not None and parsed(texts) == amounts
