"""What the API server does to an object between admission and the store, kind by kind.

Which parts a request may set, what is reset and what is kept. Source of the behaviour: apiserver pkg/registry/rest
(BeforeCreate, BeforeUpdate) and the strategy.go of each kind in pkg/registry.

All functions change a private copy of the new object in place. The name, uid and creationTimestamp are set before
`prepare_for_create`: some strategies use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.autoscaler_versions import has_kept, to_v1, to_v2
from engine.api.resource_table import (
    ADMISSION,
    APIEXTENSIONS,
    APIREGISTRATION,
    AUTHENTICATION,
    AUTHORIZATION,
    CERTIFICATES,
    FLOWCONTROL,
    MIGRATION,
    NETWORKING,
    RESOURCE,
    STORAGE,
)
from engine.api.resources import ResourceInfo
from engine.api.strategies.certificate_strategy import set_condition_times
from engine.api.strategies.disabled_fields import drop_disabled_fields, drop_disabled_status_fields
from engine.api.strategies.generation import count_generation, counted_before_dropped, has_generation
from engine.api.strategies.kept_fields import keep, keep_metadata, keep_whole_metadata
from engine.api.strategies.kind_strategies import CREATE, STATUS_UPDATE, UPDATE
from engine.api.strategies.pod_strategy import keep_claim_statuses, merge_spread_keys
from engine.api.types import GVK, Object

_Kind = tuple[str, str]

_OLD_AUTOSCALER = GVK("autoscaling", "v1", "HorizontalPodAutoscaler")
# The status of a new object, where Go's zero value is not the empty object.
_NEW_STATUS: Mapping[_Kind, Object] = {
    ("", "Namespace"): {"phase": "Active"},
    ("", "PersistentVolume"): {"phase": "Pending"},
    ("", "PersistentVolumeClaim"): {"phase": "Pending"},
    ("", "ReplicationController"): {"replicas": 0},
    ("", "Service"): {"loadBalancer": {}},
    ("apps", "DaemonSet"): {
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    },
    ("apps", "ReplicaSet"): {"replicas": 0},
    ("apps", "StatefulSet"): {"replicas": 0, "availableReplicas": 0},
    ("autoscaling", "HorizontalPodAutoscaler"): {"desiredReplicas": 0},
    ("policy", "PodDisruptionBudget"): {
        "disruptionsAllowed": 0,
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "expectedPods": 0,
    },
    (NETWORKING, "Ingress"): {"loadBalancer": {}},
    (STORAGE, "VolumeAttachment"): {"attached": False},
}
# Kinds whose status whoever creates them may set, though they have a status subresource.
_STATUS_KEPT: frozenset[_Kind] = frozenset({("", "Node")})
# Since which release writes to an object leave its status alone, where they once did not.
_STATUS_APART_SINCE: Mapping[_Kind, tuple[int, int]] = {(NETWORKING, "ServiceCIDR"): (1, 36)}
# The release since which an update of a Pod's status cannot leave out which claims the Pod was given.
_CLAIM_STATUSES_KEPT = (1, 37)
# Kinds whose metadata a status update leaves alone (metav1.ResetObjectMetaForStatus).
_METADATA_KEPT: frozenset[_Kind] = frozenset(
    {
        (ADMISSION, "ValidatingAdmissionPolicy"),
        (APIREGISTRATION, "APIService"),
        (CERTIFICATES, "PodCertificateRequest"),
        (FLOWCONTROL, "FlowSchema"),
        (FLOWCONTROL, "PriorityLevelConfiguration"),
        (MIGRATION, "StorageVersionMigration"),
        (NETWORKING, "ServiceCIDR"),
        (RESOURCE, "DeviceTaintRule"),
        (RESOURCE, "ResourceClaim"),
        (STORAGE, "VolumeAttachment"),
    }
)
_RESET_METADATA = (
    "deletionTimestamp",
    "generation",
    "selfLink",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
)
# The release from which on the keys of spread constraints are merged into their selectors.
_SPREAD_KEYS_MERGED = (1, 34)
# The answer to a request of these groups is in the status that the request carries: nothing is stored.
_REVIEW_GROUPS = (AUTHENTICATION, AUTHORIZATION)


def prepare_for_create(info: ResourceInfo, obj: Object) -> None:
    """Drops what only the server may set, and sets what a new object starts with."""
    if _has_more_in_annotations(info, obj):
        _prepare_for_create(info, shown := to_v2(obj))
        obj.update(to_v1(shown))
    else:
        _prepare_for_create(info, obj)


def _prepare_for_create(info: ResourceInfo, obj: Object) -> None:
    kind = (info.gvr.group, info.kind)
    _new_metadata(info, obj)
    if _status_apart(info) and kind not in _STATUS_KEPT and info.gvr.group not in _REVIEW_GROUPS:
        _new_status(info, obj)
    drop_disabled_fields(info, obj)
    special = CREATE.get(kind)
    if special is not None:
        special(obj)
    if kind == ("", "Pod") and info.release >= _SPREAD_KEYS_MERGED:
        merge_spread_keys(obj)


def prepare_alike(info: ResourceInfo, obj: Object, status: Object) -> None:
    """As `prepare_for_create`, for an object that is like one which began with this status (engine.api.alike_pods)."""
    _new_metadata(info, obj)
    obj["status"] = status


def _new_metadata(info: ResourceInfo, obj: Object) -> None:
    metadata = obj.setdefault("metadata", {})
    for field in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        metadata.pop(field, None)
    # No one counts the generation of other kinds: whoever creates them may give them one, which then stays.
    if has_generation(info):
        metadata["generation"] = 1


def _status_apart(info: ResourceInfo) -> bool:
    since = _STATUS_APART_SINCE.get((info.gvr.group, info.kind))
    return "status" in info.subresources and (since is None or info.release >= since)


def _new_status(info: ResourceInfo, obj: Object) -> None:
    if info.custom:
        obj.pop("status", None)
    else:
        obj["status"] = _zero_status(info)


def _zero_status(info: ResourceInfo) -> Object:
    status: Object = _copied(_NEW_STATUS.get((info.gvr.group, info.kind), {}))
    if info.gvk == _OLD_AUTOSCALER:
        status["currentReplicas"] = 0  # which only its first version does not leave out
    return status


def fill_status(info: ResourceInfo, obj: Object) -> None:
    """Give an object that says nothing of its status the one that it has in Go, where it is a struct."""
    apart = "status" in info.subresources and not info.custom and info.gvr.group not in _REVIEW_GROUPS
    if apart and "status" not in obj:
        obj["status"] = _zero_status(info)
        if (info.gvr.group, info.kind) == (APIEXTENSIONS, "CustomResourceDefinition"):
            obj["status"]["acceptedNames"] = {"plural": "", "kind": ""}


def prepare_for_update(info: ResourceInfo, new: Object, old: Object) -> None:
    """Keeps what an update may not change, the status above all, and counts the generation."""
    if _has_more_in_annotations(info, new, old):
        _prepare_for_update(info, shown := to_v2(new), to_v2(old))
        new.update(to_v1(shown))
    else:
        _prepare_for_update(info, new, old)


def _prepare_for_update(info: ResourceInfo, new: Object, old: Object) -> None:
    keep_metadata(new, old)
    if _status_apart(info):
        keep(new, old, "status")
    kind = (info.gvr.group, info.kind)
    early = counted_before_dropped(info)
    if early:
        count_generation(info, new, old)
    drop_disabled_fields(info, new, old)
    special = UPDATE.get(kind)
    if special is not None:
        special(new, old)
    if not early:
        count_generation(info, new, old)


def prepare_for_status_update(info: ResourceInfo, new: Object, old: Object, *, now: str) -> None:
    """Keeps all but the status (and, for most kinds, the metadata)."""
    if _has_more_in_annotations(info, new, old):
        _prepare_for_status_update(info, shown := to_v2(new), to_v2(old), now=now)
        new.update(to_v1(shown))
    else:
        _prepare_for_status_update(info, new, old, now=now)


def _prepare_for_status_update(info: ResourceInfo, new: Object, old: Object, *, now: str) -> None:
    kind = (info.gvr.group, info.kind)
    keep_metadata(new, old)
    for field in {**old, **new}:
        if field not in ("apiVersion", "kind", "metadata", "status"):
            keep(new, old, field)
    if not info.custom:
        new.setdefault("status", {})  # a struct in Go, which is written where it is empty
    for field, value in _NEW_STATUS.get(kind, {}).items():
        new["status"].setdefault(field, _copied(value))
    if info.custom:
        keep_whole_metadata(new, old)
    elif kind in _METADATA_KEPT:
        for field in _RESET_METADATA:
            keep(new["metadata"], old["metadata"], field)
    if kind == ("apps", "Deployment"):
        keep(new["metadata"], old["metadata"], "labels")
    special = STATUS_UPDATE.get(kind)
    if special is not None:
        special(new, old, now)
    drop_disabled_status_fields(info, new, old)
    if kind == ("", "Pod") and info.release >= _CLAIM_STATUSES_KEPT:
        keep_claim_statuses(new, old)


def prepare_for_approval(new: Object, old: Object, *, now: str) -> None:
    """The approval of a CertificateSigningRequest: who gives it need not say when."""
    set_condition_times(new, old, now)


def _has_more_in_annotations(info: ResourceInfo, *objs: Object) -> bool:
    """Whether annotations are of the spec and status: what is kept of these shows in the later version."""
    return info.gvk == _OLD_AUTOSCALER and any(has_kept(obj.get("metadata") or {}) for obj in objs)


def _copied(value: Any) -> Any:
    return {name: _copied(item) for name, item in value.items()} if isinstance(value, dict) else value
