"""ResourceQuota: nothing is made that would take more than a quota of its namespace has left; what is made is booked.

Source: apiserver pkg/admission/plugin/resourcequota (admission.go). The last of the plugins, so that nothing is booked
for what another one refuses.
"""

from __future__ import annotations

from engine.api.quota import is_terminating
from engine.api.resources import ResourceInfo
from engine.api.types import GVR
from engine.apiserver.admission.attributes import WRITES, Attributes, Operation, Plugin
from engine.apiserver.admission.quota_checks import concerns_object
from engine.apiserver.admission.quota_evaluation import QuotaEvaluation
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.storage import Storage

QUOTAS = GVR("", "v1", "resourcequotas")
# What is charged again when it changes.
_UPDATED = frozenset(("services", "persistentvolumeclaims", "persistentvolumeclaims/status", "pods/resize"))


class ResourceQuota(Plugin):
    name = "ResourceQuota"
    operations = WRITES

    def __init__(self, caches: WatchCaches, storage: Storage, quotas: ResourceInfo | None) -> None:
        self._caches = caches
        self._quotas = quotas
        self._evaluation = QuotaEvaluation(storage, quotas) if quotas is not None else None

    async def validate(self, attributes: Attributes) -> None:
        if self._quotas is None or attributes.object is None or not attributes.namespace or not _handles(attributes):
            return
        assert self._evaluation is not None, "there are quotas"
        cache = await self._caches.started(self._quotas)
        known = list(cache.objects(attributes.namespace))
        if any(concerns_object(attributes, quota) for quota in known):
            await self._evaluation.evaluate(attributes, known)


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
