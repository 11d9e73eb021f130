"""ResourceQuota: nothing is made that would take more than a quota of its namespace has left; what is made is booked.

Source: apiserver pkg/admission/plugin/resourcequota (controller.go checkRequest, resource_access.go). The last of the
plugins, so that nothing is booked for what another one refuses.
"""

from __future__ import annotations

from engine.api.quota import (
    Amounts,
    added,
    concerns,
    exceeded,
    masked,
    matches,
    missing_requests,
    parsed,
    shown,
    subtracted,
    usage,
    without_zeros,
)
from engine.api.resources import ResourceInfo
from engine.api.types import GVR, Object, copy_object
from engine.apiserver.admission.attributes import Attributes, Operation, Plugin, denied
from engine.apiserver.caches import WatchCaches
from engine.apiserver.storage import Storage
from engine.trace import current_span

QUOTAS = GVR("", "v1", "resourcequotas")
_ATTEMPTS = 4
# What is charged again when it changes.
_UPDATED = frozenset(("services", "persistentvolumeclaims", "pods/resize"))


class ResourceQuota(Plugin):
    name = "ResourceQuota"

    def __init__(self, caches: WatchCaches, storage: Storage, quotas: ResourceInfo | None) -> None:
        self._caches = caches
        self._storage = storage
        self._quotas = quotas

    async def validate(self, attributes: Attributes) -> None:
        if self._quotas is None or attributes.object is None or not attributes.namespace or not _handles(attributes):
            return
        cache = await self._caches.started(self._quotas)
        quotas = list(cache.objects(attributes.namespace))
        for known in quotas:  # nothing is booked on one for what another refuses
            _checked(attributes, known, attributes.object)
        for known in quotas:
            await self._charge(attributes, known)

    async def _charge(self, attributes: Attributes, quota: Object) -> None:
        """Book on one quota; again from its newest state when somebody else has booked meanwhile."""
        info, obj = self._quotas, attributes.object
        assert info is not None
        assert obj is not None
        for _ in range(_ATTEMPTS):
            changed = _checked(attributes, quota, obj)
            if changed is None or attributes.dry_run:
                return
            metadata = quota["metadata"]
            span = current_span()
            stored = await self._storage.replace(
                info,
                metadata["namespace"],
                metadata["name"],
                changed,
                expected=int(metadata["resourceVersion"]),
                cause=span.context.traceparent if span is not None else "",
            )
            if stored is not None:
                return
            newest = await self._storage.get(info, metadata["namespace"], metadata["name"])
            if newest is None:
                return
            quota = newest.object
        raise denied(attributes, f"unable to book on quota {quota['metadata']['name']}: it changes all the time")


def _handles(attributes: Attributes) -> bool:
    if attributes.operation is Operation.CREATE:
        return not attributes.subresource
    return attributes.operation is Operation.UPDATE and attributes.key in _UPDATED


def _checked(attributes: Attributes, quota: Object, obj: Object) -> Object | None:
    """The quota with what the request takes booked on it; None if it takes nothing of it. Raises ApiError 403."""
    resource = attributes.resource.gvr.group_resource
    spec, status = quota.get("spec") or {}, quota.get("status") or {}
    hard = parsed(status.get("hard"))
    required = [name for name in sorted(hard) if concerns(resource, name)]
    if not required or not matches(spec, resource, obj):
        return None
    name, used = quota["metadata"]["name"], parsed(status.get("used"))
    if any(each not in used for each in required):
        raise denied(attributes, f"status unknown for quota: {name}, resources: {','.join(required)}")
    if resource == "pods" and (problem := missing_requests(obj, required)):
        raise denied(attributes, f"failed quota: {name}: {problem}")
    change = masked(_change(resource, obj, attributes.old), hard)
    if not change:
        return None
    _check(attributes, name, change, used=used, hard=hard)
    written = copy_object(quota)
    booked = {each: str(amount) for each, amount in masked(added(used, change), hard).items()}
    written["status"] = {**status, "used": booked}
    return written


def _change(resource: str, obj: Object, old: Object | None) -> Amounts:
    taken = usage(resource, obj)
    if old is not None:
        taken = subtracted(taken, usage(resource, old))
    return without_zeros(taken)


def _check(attributes: Attributes, name: str, change: Amounts, *, used: Amounts, hard: Amounts) -> None:
    growing = {each: amount for each, amount in change.items() if amount.milli > 0}
    over = exceeded(masked(added(used, growing), growing), hard)
    if over:
        raise denied(
            attributes,
            f"exceeded quota: {name}, requested: {shown(masked(growing, over))}, used: {shown(masked(used, over))}, "
            f"limited: {shown(masked(hard, over))}",
        )
