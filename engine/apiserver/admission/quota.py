"""ResourceQuota: nothing is made that would take more than a quota of its namespace has left; what is made is booked.

Source: apiserver pkg/admission/plugin/resourcequota (admission.go). The last of the plugins, so that nothing is booked
for what another one refuses.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.quota import is_terminating, usage
from engine.api.quota.extended_resources import (
    CLAIMS,
    DEVICE_CLASSES,
    SINCE,
    ExtendedResources,
    is_of_pod,
    names_of,
    pod_name,
)
from engine.api.resources import ResourceRegistry
from engine.api.types import GVR, PODS, Object
from engine.apiserver.admission.attributes import WRITES, Attributes, Operation, Plugin, Watched
from engine.apiserver.admission.quota_checks import concerns_object
from engine.apiserver.admission.quota_cover import check_cover
from engine.apiserver.admission.quota_evaluation import QuotaEvaluation
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.lookup import Lookup
from engine.apiserver.storage import Storage
from engine.clock import Clock

QUOTAS = GVR("", "v1", "resourcequotas")
# What is charged again when it changes.
_UPDATED = frozenset(("services", "persistentvolumeclaims", "persistentvolumeclaims/status", "pods/resize"))


class ResourceQuota(Plugin):
    name = "ResourceQuota"
    operations = WRITES

    def __init__(
        self,
        caches: WatchCaches,
        storage: Storage,
        resources: ResourceRegistry,
        lookup: Lookup,
        clock: Clock,
        limited: Sequence[Object] = (),
    ) -> None:
        """`limited` is the `limitedResources` of a configuration without problems."""
        self._caches = caches
        self._resources = resources
        self._lookup = lookup
        self._clock = clock
        self._limited = limited
        self._quotas = quotas = resources.get(*QUOTAS)
        self._evaluation = QuotaEvaluation(storage, quotas) if quotas is not None else None

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        cache = self._caches.of(self._quotas) if self._quotas is not None else None
        if cache is None or self._limited or any(True for _ in cache.objects(attributes.namespace)):
            return None
        return (cache,)

    async def validate(self, attributes: Attributes) -> None:
        if self._quotas is None or attributes.object is None or not attributes.namespace or not _handles(attributes):
            return
        assert self._evaluation is not None, "there are quotas"
        cache = await self._caches.started(self._quotas)
        known = list(cache.objects(attributes.namespace))
        extended = await self._extended(attributes) if known or self._limited else None
        if self._limited:
            check_cover(attributes, known, self._limited, extended)
        if any(concerns_object(attributes, quota, extended) for quota in known):
            await self._evaluation.evaluate(attributes, known, extended)

    async def _extended(self, attributes: Attributes) -> ExtendedResources | None:
        """What a claim of devices takes by other names; None for all else."""
        claim, resource = attributes.object, attributes.resource
        if resource.gvr.group_resource != CLAIMS.group_resource or resource.release < SINCE or claim is None:
            return None
        classes = await self._started(DEVICE_CLASSES)
        pod = None
        if name := pod_name(claim):
            pod = await self._lookup.find(PODS, attributes.namespace, name)
            claims = await self._started(CLAIMS)
            if not is_of_pod(claim, pod, lambda: claims.objects(attributes.namespace)):
                pod = None
        now = self._clock.now()
        return ExtendedResources(names_of(classes.objects()), usage("pods", pod, now) if pod is not None else {})

    async def _started(self, gvr: GVR) -> WatchCache:
        info = self._resources.get(*gvr)
        assert info is not None, f"the version serves {gvr.group_resource}"
        return await self._caches.started(info)


def _handles(attributes: Attributes) -> bool:
    if attributes.operation is Operation.CREATE:
        return not attributes.subresource
    if attributes.operation is not Operation.UPDATE:
        return False
    return attributes.key in _UPDATED or (attributes.key == "pods" and _changes_scope(attributes))


def _changes_scope(attributes: Attributes) -> bool:
    """Whether a Pod is now one that ends by itself: that is another quota's."""
    before, after = attributes.old, attributes.object
    return before is not None and after is not None and is_terminating(before) != is_terminating(after)
