"""What a quota has against an object that is made or changed, and what it has booked on it after that.

Source: apiserver pkg/admission/plugin/resourcequota (controller.go, CheckRequest).
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
from engine.api.quota.extended_resources import ExtendedResources
from engine.api.types import Object, copy_object
from engine.apiserver.admission.attributes import Attributes, denied


def concerns_object(attributes: Attributes, quota: Object, extended: ExtendedResources | None) -> bool:
    """Whether a quota is about the object. Raises ApiError 403 for a Pod that leaves out what must be said of it, and
    for a quota that has not been counted yet."""
    resource, obj, status = attributes.resource.gvr.group_resource, attributes.object, quota.get("status") or {}
    assert obj is not None
    required = [name for name in sorted(status.get("hard") or ()) if concerns(resource, name, extended)]
    if not required or not matches(quota.get("spec") or {}, resource, obj):
        return False
    name = quota["metadata"]["name"]
    if resource == "pods" and (problem := missing_requests(obj, required)):
        raise denied(attributes, f"failed quota: {name}: {problem}")
    if any(each not in (status.get("used") or {}) for each in required):
        raise denied(attributes, f"status unknown for quota: {name}, resources: {','.join(required)}")
    return True


def booked(attributes: Attributes, quota: Object, extended: ExtendedResources | None) -> Object | None:
    """The quota with what the request takes booked on it; None if it takes nothing of it. Raises ApiError 403."""
    status = quota.get("status") or {}
    hard, used = parsed(status.get("hard")), parsed(status.get("used"))
    taken = masked(asked(attributes, quota, extended), hard)
    if not taken:
        return None
    if attributes.subresource != "status":
        _check(attributes, quota["metadata"]["name"], taken, used=used, hard=hard)
    written = copy_object(quota)
    booked = {each: str(amount) for each, amount in masked(added(used, taken), hard).items()}
    written["status"] = {**status, "used": booked}
    return written


def asked(attributes: Attributes, quota: Object, extended: ExtendedResources | None) -> Amounts:
    """What is taken anew. What an update gives back is counted by the controller."""
    resource, obj, old = attributes.resource.gvr.group_resource, attributes.object, attributes.old
    assert obj is not None
    if old is None or not matches(quota.get("spec") or {}, resource, old):
        return grown(usage(resource, obj, extended=extended), {})
    return grown(usage(resource, obj, extended=extended), usage(resource, old, extended=extended))


def _check(attributes: Attributes, name: str, asked: Amounts, *, used: Amounts, hard: Amounts) -> None:
    over = exceeded(masked(added(used, asked), asked), hard)
    if over:
        raise denied(
            attributes,
            f"exceeded quota: {name}, requested: {shown(masked(asked, over))}, used: {shown(masked(used, over))}, "
            f"limited: {shown(masked(hard, over))}",
        )
