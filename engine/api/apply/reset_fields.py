"""The part of an object that a write does not touch, so that nothing in it is owned by whoever writes.

Source of the behaviour: GetResetFields and GetResetFieldsFilter of the strategies in pkg/registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.apply.field_sets import MEMBER, SELF, FieldSet
from engine.api.schema import Schema
from engine.api.types import Object

# Field names, each with what of it is reset: None for all of it.
Reset = Mapping[str, Any]
# Steps, each with what of it is kept: None for all of it; `*` is any step.
Kept = Mapping[str, Any]

_NOTHING: Reset = {}
_STATUS: Reset = {"status": None}
_SPEC: Reset = {"spec": None}
_SPEC_AND_METADATA: Reset = {"spec": None, "metadata": None}

_OTHERWISE: dict[tuple[str, str, str], Reset] = {
    ("", "Namespace", "finalize"): _STATUS,
    ("", "Pod", "status"): {"spec": None, "metadata": {"deletionTimestamp": None, "ownerReferences": None}},
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", "status"): _SPEC_AND_METADATA,
    ("apiregistration.k8s.io", "APIService", "status"): _SPEC_AND_METADATA,
    ("apps", "Deployment", "status"): {"spec": None, "metadata": {"labels": None}},
    ("certificates.k8s.io", "CertificateSigningRequest", ""): {"spec": None, "status": None},
    ("certificates.k8s.io", "CertificateSigningRequest", "approval"): {"spec": None, "status": {"certificate": None}},
    ("certificates.k8s.io", "CertificateSigningRequest", "status"): {"spec": None, "status": {"conditions": None}},
    ("certificates.k8s.io", "PodCertificateRequest", "status"): _SPEC_AND_METADATA,
    ("flowcontrol.apiserver.k8s.io", "FlowSchema", "status"): _SPEC_AND_METADATA,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", "status"): _SPEC_AND_METADATA,
    ("networking.k8s.io", "ServiceCIDR", "status"): _SPEC_AND_METADATA,
    ("resource.k8s.io", "DeviceTaintRule", "status"): _SPEC_AND_METADATA,
    ("resource.k8s.io", "ResourceClaim", "status"): _SPEC_AND_METADATA,
    ("storage.k8s.io", "VolumeAttachment", "status"): _SPEC_AND_METADATA,
    ("storagemigration.k8s.io", "StorageVersionMigration", "status"): _SPEC_AND_METADATA,
}
_USUAL: dict[str, Reset] = {"": _STATUS, "status": _SPEC}
# What it was before this release, whatever the write really left alone: upstream said the one, and did the other.
_ONCE: dict[tuple[str, str, str], Reset] = {
    ("apiextensions.k8s.io", "CustomResourceDefinition", "status"): _SPEC_AND_METADATA,
    ("networking.k8s.io", "ServiceCIDR", ""): _NOTHING,
    ("networking.k8s.io", "ServiceCIDR", "status"): _NOTHING,
}
_AS_DONE = (1, 36)

_RESIZED: Kept = {"*": {"f:resources": None, "f:resizePolicy": None}}
_ONLY: dict[tuple[str, str], Kept] = {
    ("Pod", "ephemeralcontainers"): {"f:spec": {"f:ephemeralContainers": None}},
    ("Pod", "resize"): {"f:spec": {"f:containers": _RESIZED, "f:initContainers": _RESIZED}},
}


def reset_fields(api_version: str, kind: str, subresource: str, schema: Schema | None = None) -> Reset:
    """Without a schema: of a built-in kind of the newest release."""
    custom = schema is not None and not schema.fixed
    if schema is not None and not subresource and not schema.status_apart:
        return _NOTHING
    as_done = schema is None or schema.release >= _AS_DONE
    if custom and subresource == "status":
        return _SPEC_AND_METADATA if as_done else _SPEC
    which = (api_version.rpartition("/")[0], kind, subresource)
    found = _OTHERWISE.get(which) if as_done else _ONCE.get(which, _OTHERWISE.get(which))
    return found if found is not None else _USUAL.get(subresource, _NOTHING)


def without(obj: Object, reset: Reset) -> Object:
    """The object without the fields that are reset."""
    kept = {}
    for key, value in obj.items():
        if key not in reset:
            kept[key] = value
        elif reset[key] is not None and isinstance(value, dict):
            left = without(value, reset[key])
            if left or not value:  # one that was empty before is there
                kept[key] = left
    return kept


def only_kept(fields: FieldSet, kind: str, subresource: str) -> FieldSet:
    """What of a set a subresource may own that stands for a few fields of its object."""
    kept = _ONLY.get((kind, subresource)) if subresource else None
    return fields if kept is None else _matching(fields, kept)


def _matching(fields: FieldSet, kept: Kept) -> FieldSet:
    found: FieldSet = {}
    for step, node in fields.items():
        pattern = kept.get(step, kept.get("*", MEMBER))
        if step == SELF or pattern is None or (not node and pattern):
            found[step] = node
        elif pattern and (below := _matching(node, pattern)):
            found[step] = MEMBER if below.keys() == {SELF} else below
    return found
