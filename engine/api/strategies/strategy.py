"""What the API server does to an object between admission and the store, kind by kind.

Which parts a request may set, what is reset or kept, and when metadata.generation goes up. Source of the behaviour:
apiserver pkg/registry/rest (BeforeCreate, BeforeUpdate, BeforeDelete) and the strategy.go of each kind in pkg/registry.

All functions change a private copy of the new object in place. The name, uid and creationTimestamp are set before
`prepare_for_create`: some strategies use them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.api.api_services import available_locally
from engine.api.autoscaler_versions import has_kept, to_v1, to_v2
from engine.api.patch.merge_patch import same
from engine.api.resource_table import (
    ADMISSION,
    APIEXTENSIONS,
    APIREGISTRATION,
    AUTHENTICATION,
    AUTHORIZATION,
    CERTIFICATES,
    DISCOVERY,
    FLOWCONTROL,
    MIGRATION,
    NETWORKING,
    RESOURCE,
    SCHEDULING,
    STORAGE,
)
from engine.api.resources import ResourceInfo
from engine.api.selectable import selectable_fields, unknown_field_text
from engine.api.strategies.certificate_strategy import prepare_signing_request_for_status_update, set_condition_times
from engine.api.strategies.daemon_generation import count_template_generation, first_template_generation
from engine.api.strategies.device_strategy import prepare_claim_status_for_update
from engine.api.strategies.disabled_fields import drop_disabled_fields, drop_disabled_status_fields
from engine.api.strategies.pod_strategy import (
    keep_claim_statuses,
    merge_spread_keys,
    prepare_pod_for_create,
    prepare_pod_for_status_update,
    prepare_pod_for_update,
)
from engine.api.strategies.service_strategy import prepare_service_for_update
from engine.api.strategies.volume_strategy import (
    prepare_claim_for_create,
    prepare_claim_for_update,
    prepare_volume_for_create,
    prepare_volume_for_status_update,
)
from engine.api.types import GVK, Object

__all__ = [
    "grace_period",
    "has_generation",
    "mark_deleting",
    "prepare_alike",
    "prepare_for_approval",
    "prepare_for_create",
    "prepare_for_status_update",
    "prepare_for_update",
    "selectable_fields",
    "unknown_field_text",
]

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


def has_generation(info: ResourceInfo) -> bool:
    kind = (info.gvr.group, info.kind)
    if info.custom or any(kind in kinds for kinds in (_CONTENT_GENERATION, _BORN_WITH_GENERATION)):
        return True
    return _counts_spec(info, kind)


def _counts_spec(info: ResourceInfo, kind: _Kind) -> bool:
    since = _SPEC_GENERATION_SINCE.get(kind)
    return kind in _SPEC_GENERATION or (since is not None and info.release >= since)


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
    special = _CREATE.get(kind)
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
        obj["status"] = _copied(_NEW_STATUS.get((info.gvr.group, info.kind), {}))
        if info.gvk == _OLD_AUTOSCALER:
            obj["status"]["currentReplicas"] = 0  # which only its first version does not leave out


def prepare_for_update(info: ResourceInfo, new: Object, old: Object) -> None:
    """Keeps what an update may not change, the status above all, and counts the generation."""
    if _has_more_in_annotations(info, new, old):
        _prepare_for_update(info, shown := to_v2(new), to_v2(old))
        new.update(to_v1(shown))
    else:
        _prepare_for_update(info, new, old)


def _prepare_for_update(info: ResourceInfo, new: Object, old: Object) -> None:
    _keep_metadata(new, old)
    if _status_apart(info):
        _keep(new, old, "status")
    kind = (info.gvr.group, info.kind)
    early = kind in _COUNTED_BEFORE_DROPPED
    if early:
        _count_generation(info, new, old)
    drop_disabled_fields(info, new, old)
    special = _UPDATE.get(kind)
    if special is not None:
        special(new, old)
    if not early:
        _count_generation(info, new, old)


def prepare_for_status_update(info: ResourceInfo, new: Object, old: Object, *, now: str) -> None:
    """Keeps all but the status (and, for most kinds, the metadata)."""
    if _has_more_in_annotations(info, new, old):
        _prepare_for_status_update(info, shown := to_v2(new), to_v2(old), now=now)
        new.update(to_v1(shown))
    else:
        _prepare_for_status_update(info, new, old, now=now)


def _prepare_for_status_update(info: ResourceInfo, new: Object, old: Object, *, now: str) -> None:
    kind = (info.gvr.group, info.kind)
    _keep_metadata(new, old)
    for field in {**old, **new}:
        if field not in ("apiVersion", "kind", "metadata", "status"):
            _keep(new, old, field)
    if not info.custom:
        new.setdefault("status", {})  # a struct in Go, which is written where it is empty
    for field, value in _NEW_STATUS.get(kind, {}).items():
        new["status"].setdefault(field, _copied(value))
    if info.custom:
        _keep_whole_metadata(new, old)
    elif kind in _METADATA_KEPT:
        for field in _RESET_METADATA:
            _keep(new["metadata"], old["metadata"], field)
    if kind == ("apps", "Deployment"):
        _keep(new["metadata"], old["metadata"], "labels")
    special = _STATUS_UPDATE.get(kind)
    if special is not None:
        special(new, old, now)
    drop_disabled_status_fields(info, new, old)
    if kind == ("", "Pod") and info.release >= _CLAIM_STATUSES_KEPT:
        keep_claim_statuses(new, old)


def prepare_for_approval(new: Object, old: Object, *, now: str) -> None:
    """The approval of a CertificateSigningRequest: who gives it need not say when."""
    set_condition_times(new, old, now)


def mark_deleting(obj: Object) -> None:
    """Counts the generation of an object whose deletionTimestamp is being set, if it has one."""
    metadata = obj["metadata"]
    if metadata.get("generation", 0) > 0:
        metadata["generation"] += 1


def grace_period(info: ResourceInfo, obj: Object, requested: int | None) -> int | None:
    """The seconds that an object has to end by itself; None for a kind deleted at once (CheckGracefulDelete)."""
    if (info.gvr.group, info.kind) != ("", "Pod"):
        return None
    spec = obj.get("spec", {})
    period = requested if requested is not None else spec.get("terminationGracePeriodSeconds", 0)
    if not spec.get("nodeName") or obj.get("status", {}).get("phase") in ("Failed", "Succeeded"):
        return 0
    return 1 if period < 0 else int(period)


# -- helpers


def _has_more_in_annotations(info: ResourceInfo, *objs: Object) -> bool:
    """Whether annotations are of the spec and status: what is kept of these shows in the later version."""
    return info.gvk == _OLD_AUTOSCALER and any(has_kept(obj.get("metadata") or {}) for obj in objs)


def _copied(value: Any) -> Any:
    return {name: _copied(item) for name, item in value.items()} if isinstance(value, dict) else value


def _keep(new: Object, old: Object, field: str) -> None:
    """Takes a field from the old object. It is shared: neither object is changed below it from now on."""
    if field in old:
        new[field] = old[field]
    else:
        new.pop(field, None)


def _keep_metadata(new: Object, old: Object) -> None:
    """What no update changes (rest.BeforeUpdate)."""
    metadata, before = new.setdefault("metadata", {}), old["metadata"]
    _keep(metadata, before, "generation")
    _keep(metadata, before, "creationTimestamp")
    metadata.pop("selfLink", None)
    if not metadata.get("uid"):
        _keep(metadata, before, "uid")
    if "deletionTimestamp" in before:
        metadata["deletionTimestamp"] = before["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in before and "deletionGracePeriodSeconds" not in metadata:
        metadata["deletionGracePeriodSeconds"] = before["deletionGracePeriodSeconds"]


def _keep_whole_metadata(new: Object, old: Object) -> None:
    """All of it but who owns what now (apiextensions-apiserver pkg/registry/customresource/status_strategy.go)."""
    metadata = dict(old["metadata"])
    _keep(metadata, new["metadata"], "managedFields")
    new["metadata"] = metadata


def _count_generation(info: ResourceInfo, new: Object, old: Object) -> None:
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


# -- kinds with more to it


def _create_namespace(obj: Object) -> None:
    finalizers = obj.setdefault("spec", {}).setdefault("finalizers", [])
    if "kubernetes" not in finalizers:
        finalizers.append("kubernetes")
    metadata = obj["metadata"]
    if metadata.get("name"):
        metadata.setdefault("labels", {})["kubernetes.io/metadata.name"] = metadata["name"]


def _update_namespace(new: Object, old: Object) -> None:
    """Finalizers of a namespace are the finalize subresource's to change."""
    new.setdefault("spec", {})
    _keep(new["spec"], old.get("spec", {}), "finalizers")


_JOB_PREFIX = "batch.kubernetes.io/"


def _create_job(obj: Object) -> None:
    """Labels the Pods of a Job by its uid and name, and selects them by the uid, unless the selector is manual."""
    spec, metadata = obj.get("spec", {}), obj["metadata"]
    uid, name = metadata.get("uid", ""), metadata.get("name", "")
    labels = spec.setdefault("template", {}).setdefault("metadata", {}).setdefault("labels", {})
    if spec.get("manualSelector"):
        return
    for label, value in (("controller-uid", uid), ("job-name", name)):
        labels.setdefault(label, value)
        labels.setdefault(f"{_JOB_PREFIX}{label}", value)
    match = spec.setdefault("selector", {}).setdefault("matchLabels", {})
    match.setdefault(f"{_JOB_PREFIX}controller-uid", uid)


def _create_definition(obj: Object) -> None:
    """A new CustomResourceDefinition has stored objects of its storage version only."""
    stored = _storage_version(obj)
    obj["status"] = {"storedVersions": [stored]} if stored is not None else {}


def _update_definition(new: Object, old: Object) -> None:
    before = old.get("status", {}).get("storedVersions") or []
    stored = _storage_version(new)
    if stored is not None and stored not in before:
        new["status"] = {**old.get("status", {}), "storedVersions": [*before, stored]}


def _storage_version(definition: Object) -> str | None:
    """The first version that is marked as such; None for none."""
    versions = definition.get("spec", {}).get("versions") or ()
    return next((version.get("name", "") for version in versions if version.get("storage")), None)


def _name_secrets_only(obj: Object) -> None:
    """A ServiceAccount keeps no more than the names of its secrets (cleanSecretReferences)."""
    if obj.get("secrets"):
        obj["secrets"] = [{"name": secret["name"]} if secret.get("name") else {} for secret in obj["secrets"]]


def _update_signing_request(new: Object, old: Object) -> None:
    _keep(new, old, "spec")


def _update_slice(new: Object, old: Object) -> None:
    if (new.get("endpoints") or []) != (old.get("endpoints") or []):
        _drop_topology(new)


def _create_api_service(obj: Object) -> None:
    """What this server serves itself is there at once."""
    if obj.get("spec", {}).get("service") is None:
        obj["status"] = available_locally({}, now=obj["metadata"].get("creationTimestamp", ""))


def _drop_topology(obj: Object) -> None:
    """The topology of v1beta1 cannot be set through v1."""
    endpoints = obj.get("endpoints") or ()
    if any("deprecatedTopology" in endpoint for endpoint in endpoints):
        obj["endpoints"] = [
            {name: value for name, value in endpoint.items() if name != "deprecatedTopology"} for endpoint in endpoints
        ]


def _name_limits(obj: Object) -> None:
    """A LimitRange may come without a name."""
    if not obj["metadata"].get("name"):
        obj["metadata"]["name"] = obj["metadata"]["uid"]


_CREATE: Mapping[_Kind, Callable[[Object], None]] = {
    ("", "LimitRange"): _name_limits,
    ("", "Namespace"): _create_namespace,
    ("", "PersistentVolume"): prepare_volume_for_create,
    ("", "PersistentVolumeClaim"): prepare_claim_for_create,
    ("", "Pod"): prepare_pod_for_create,
    ("", "ServiceAccount"): _name_secrets_only,
    ("apps", "DaemonSet"): first_template_generation,
    ("batch", "Job"): _create_job,
    (APIEXTENSIONS, "CustomResourceDefinition"): _create_definition,
    (APIREGISTRATION, "APIService"): _create_api_service,
    (DISCOVERY, "EndpointSlice"): _drop_topology,
}
_UPDATE: Mapping[_Kind, Callable[[Object, Object], None]] = {
    ("", "Namespace"): _update_namespace,
    ("", "PersistentVolumeClaim"): prepare_claim_for_update,
    ("", "Pod"): prepare_pod_for_update,
    ("", "Service"): prepare_service_for_update,
    ("", "ServiceAccount"): lambda new, old: _name_secrets_only(new),
    ("apps", "DaemonSet"): count_template_generation,
    (APIEXTENSIONS, "CustomResourceDefinition"): _update_definition,
    (CERTIFICATES, "CertificateSigningRequest"): _update_signing_request,
    (DISCOVERY, "EndpointSlice"): _update_slice,
}
_STATUS_UPDATE: Mapping[_Kind, Callable[[Object, Object, str], None]] = {
    ("", "PersistentVolume"): prepare_volume_for_status_update,
    ("", "Pod"): lambda new, old, now: prepare_pod_for_status_update(new, old),
    (CERTIFICATES, "CertificateSigningRequest"): prepare_signing_request_for_status_update,
    (RESOURCE, "ResourceClaim"): lambda new, old, now: prepare_claim_status_for_update(new, old),
}
