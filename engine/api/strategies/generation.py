"""metadata.generation: which kinds have one, and which changes it counts.

Source of the behaviour: PrepareForCreate and PrepareForUpdate of the strategy.go of each kind in pkg/registry, and
apiextensions-apiserver pkg/registry/customresource/strategy.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.patch.merge_patch import same
from engine.api.resource_table import (
    ADMISSION,
    APIEXTENSIONS,
    DISCOVERY,
    FLOWCONTROL,
    NETWORKING,
    RESOURCE,
    SCHEDULING,
    STORAGE,
)
from engine.api.resources import ResourceInfo
from engine.api.types import Object

_Kind = tuple[str, str]

# Kinds whose generation counts the changes of what is wanted; for most of them that is the spec.
_SPEC_GENERATION: frozenset[_Kind] = frozenset(
    {
        ("", "Pod"),
        ("", "ReplicationController"),
        ("apps", "DaemonSet"),
        ("apps", "Deployment"),
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("batch", "CronJob"),
        ("batch", "Job"),
        ("policy", "PodDisruptionBudget"),
        (ADMISSION, "MutatingAdmissionPolicy"),
        (ADMISSION, "MutatingAdmissionPolicyBinding"),
        (ADMISSION, "ValidatingAdmissionPolicy"),
        (ADMISSION, "ValidatingAdmissionPolicyBinding"),
        (APIEXTENSIONS, "CustomResourceDefinition"),
        (FLOWCONTROL, "FlowSchema"),
        (FLOWCONTROL, "PriorityLevelConfiguration"),
        (NETWORKING, "Ingress"),
        (NETWORKING, "IngressClass"),
        (NETWORKING, "NetworkPolicy"),
        (RESOURCE, "DeviceClass"),
        (RESOURCE, "DeviceTaintRule"),
        (RESOURCE, "ResourceSlice"),
        (STORAGE, "CSIDriver"),
    }
)
# Since which release others do.
_SPEC_GENERATION_SINCE: Mapping[_Kind, tuple[int, int]] = {("autoscaling", "HorizontalPodAutoscaler"): (1, 37)}
# Kinds without a spec: any change outside of metadata counts.
_CONTENT_GENERATION: frozenset[_Kind] = frozenset(
    {
        (ADMISSION, "MutatingWebhookConfiguration"),
        (ADMISSION, "ValidatingWebhookConfiguration"),
        (DISCOVERY, "EndpointSlice"),
        ("", "PodTemplate"),
    }
)
# Kinds that are born with a generation, which then stays.
_BORN_WITH_GENERATION: frozenset[_Kind] = frozenset({(SCHEDULING, "PriorityClass")})
# Metadata whose change counts, too: a Deployment's ReplicaSets are given its annotations, a slice's labels say of whom.
_COUNTED_METADATA: Mapping[_Kind, str] = {
    ("apps", "Deployment"): "annotations",
    (DISCOVERY, "EndpointSlice"): "labels",
}

# Kinds whose generation counts what is asked for even where a feature that is off drops it again.
_COUNTED_BEFORE_DROPPED: frozenset[_Kind] = frozenset({(RESOURCE, "ResourceSlice")})


def has_generation(info: ResourceInfo) -> bool:
    """Whether an object of the kind is born with a generation."""
    kind = (info.gvr.group, info.kind)
    if info.custom or any(kind in kinds for kinds in (_CONTENT_GENERATION, _BORN_WITH_GENERATION)):
        return True
    return _counts_spec(info, kind)


def _counts_spec(info: ResourceInfo, kind: _Kind) -> bool:
    since = _SPEC_GENERATION_SINCE.get(kind)
    return kind in _SPEC_GENERATION or (since is not None and info.release >= since)


def counted_before_dropped(info: ResourceInfo) -> bool:
    """Whether the generation counts what is asked for even where a feature that is off drops it again."""
    return (info.gvr.group, info.kind) in _COUNTED_BEFORE_DROPPED


def count_generation(info: ResourceInfo, new: Object, old: Object) -> None:
    """Sets the generation of `new`, which is one more than that of `old` where what counts has changed."""
    kind = (info.gvr.group, info.kind)
    if info.custom and "status" not in info.subresources:
        changed = _differ(_content(new), _content(old)) or _differ(new.get("status"), old.get("status"))
    elif info.custom:
        changed = _differ(_content(new), _content(old))
    elif kind in _CONTENT_GENERATION:
        changed = _content(new) != _content(old)
    elif _counts_spec(info, kind):
        changed = new.get("spec") != old.get("spec")
    else:
        return
    counted = _COUNTED_METADATA.get(kind)
    if counted is not None:
        changed = changed or (new["metadata"].get(counted) or {}) != (old["metadata"].get(counted) or {})
    if changed:
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _differ(new: Any, old: Any) -> bool:
    """Of custom objects, in which what was 1 may become true."""
    return bool(new != old) or not same(new, old)


def _content(obj: Object) -> Object:
    return {name: value for name, value in obj.items() if name not in ("apiVersion", "kind", "metadata", "status")}
