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
    grown,
    masked,
    matches,
    missing_requests,
    parsed,
    shown,
    usage,
)
from engine.api.resources import ResourceInfo
from engine.api.types import GVR, Object, copy_object
from engine.apiserver.admission.attributes import WRITES, Attributes, Operation, Plugin, denied
from engine.apiserver.caches import WatchCaches
from engine.apiserver.storage import Storage
from engine.trace import current_span

QUOTAS = GVR("", "v1", "resourcequotas")
_ATTEMPTS = 4
# What is charged again when it changes.
_UPDATED = frozenset(("services", "persistentvolumeclaims", "persistentvolumeclaims/status", "pods/resize"))


class ResourceQuota(Plugin):
    name = "ResourceQuota"
    operations = WRITES

    def __init__(self, caches: WatchCaches, storage: Storage, quotas: ResourceInfo | None) -> None:
        self._caches = caches
        self._storage = storage
        self._quotas = quotas

    async def validate(self, attributes: Attributes) -> None:
        if self._quotas is None or attributes.object is None or not attributes.namespace or not _handles(attributes):
            return
        cache = await self._caches.started(self._quotas)
        concerned = [quota for quota in cache.objects(attributes.namespace) if _concerns(attributes, quota)]
        for known in concerned:  # nothing is booked on one for what another refuses
            _checked(attributes, known)
        for known in concerned:
            await self._charge(attributes, known)

    async def _charge(self, attributes: Attributes, quota: Object) -> None:
        """Book on one quota; again from its newest state when somebody else has booked meanwhile."""
        info = self._quotas
        assert info is not None
        for _ in range(_ATTEMPTS):
            changed = _checked(attributes, quota)
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


def _concerns(attributes: Attributes, quota: Object) -> bool:
    """Whether a quota is about the object. Raises ApiError 403 for a Pod that leaves out what must be said of it, and
    for a quota that has not been counted yet."""
    resource, obj, status = attributes.resource.gvr.group_resource, attributes.object, quota.get("status") or {}
    assert obj is not None
    required = [name for name in sorted(status.get("hard") or ()) if concerns(resource, name)]
    if not required or not matches(quota.get("spec") or {}, resource, obj):
        return False
    name = quota["metadata"]["name"]
    if resource == "pods" and (problem := missing_requests(obj, required)):
        raise denied(attributes, f"failed quota: {name}: {problem}")
    if any(each not in (status.get("used") or {}) for each in required):
        raise denied(attributes, f"status unknown for quota: {name}, resources: {','.join(required)}")
    return True


def _checked(attributes: Attributes, quota: Object) -> Object | None:
    """The quota with what the request takes booked on it; None if it takes nothing of it. Raises ApiError 403."""
    status = quota.get("status") or {}
    hard, used = parsed(status.get("hard")), parsed(status.get("used"))
    asked = masked(_asked(attributes, quota), hard)
    if not asked:
        return None
    if attributes.subresource != "status":
        _check(attributes, quota["metadata"]["name"], asked, used=used, hard=hard)
    written = copy_object(quota)
    booked = {each: str(amount) for each, amount in masked(added(used, asked), hard).items()}
    written["status"] = {**status, "used": booked}
    return written


def _asked(attributes: Attributes, quota: Object) -> Amounts:
    """What is taken anew. What an update gives back is counted by the controller."""
    resource, obj, old = attributes.resource.gvr.group_resource, attributes.object, attributes.old
    assert obj is not None
    if old is None or not matches(quota.get("spec") or {}, resource, old):
        return grown(usage(resource, obj), {})
    return grown(usage(resource, obj), usage(resource, old))


def _check(attributes: Attributes, name: str, asked: Amounts, *, used: Amounts, hard: Amounts) -> None:
    over = exceeded(masked(added(used, asked), asked), hard)
    if over:
        raise denied(
            attributes,
            f"exceeded quota: {name}, requested: {shown(masked(asked, over))}, used: {shown(masked(used, over))}, "
            f"limited: {shown(masked(hard, over))}",
        )
