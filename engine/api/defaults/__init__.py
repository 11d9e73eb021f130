"""Hop 05, defaulting: what upstream's SetDefaults functions fill in, in place, on a private and decoded object.

Idempotent. Functions are found by group and kind; the ones that differ between versions look at the version themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.api.defaults import (
    admissionregistration,
    autoscaling,
    batch,
    core,
    networking,
    pods,
    rbac,
    storage,
    workloads,
)
from engine.api.defaults.condition_times import CONDITION_TIMES, condition_times, container_times
from engine.api.resource_table import (
    ADMISSION,
    APIEXTENSIONS,
    APIREGISTRATION,
    CERTIFICATES,
    COORDINATION,
    DISCOVERY,
    EVENTS,
    FLOWCONTROL,
    NETWORKING,
    NODE,
    RBAC,
    RESOURCE,
    SCHEDULING,
    STORAGE,
)
from engine.api.resources import ResourceInfo
from engine.api.types import Object

_DEFAULTS: Mapping[tuple[str, str], Callable[[Object], None]] = {
    ("", "Endpoints"): networking.endpoints,
    ("", "Event"): core.event,
    ("", "LimitRange"): core.limit_range,
    ("", "Namespace"): core.namespace,
    ("", "Node"): core.node,
    ("", "PersistentVolume"): storage.persistent_volume,
    ("", "PersistentVolumeClaim"): storage.persistent_volume_claim,
    ("", "Pod"): workloads.pod,
    ("", "PodTemplate"): workloads.pod_template,
    ("", "ReplicationController"): workloads.replication_controller,
    ("", "ResourceQuota"): core.resource_quota,
    ("", "Secret"): core.secret,
    ("", "Service"): networking.service,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("autoscaling", "HorizontalPodAutoscaler"): autoscaling.horizontal_pod_autoscaler,
    ("batch", "CronJob"): batch.cron_job,
    ("batch", "Job"): batch.job,
    (ADMISSION, "MutatingAdmissionPolicy"): admissionregistration.mutating_policy,
    (ADMISSION, "MutatingAdmissionPolicyBinding"): admissionregistration.policy_binding,
    (ADMISSION, "MutatingWebhookConfiguration"): admissionregistration.mutating_webhooks,
    (ADMISSION, "ValidatingAdmissionPolicy"): admissionregistration.validating_policy,
    (ADMISSION, "ValidatingAdmissionPolicyBinding"): admissionregistration.policy_binding,
    (ADMISSION, "ValidatingWebhookConfiguration"): admissionregistration.validating_webhooks,
    (APIEXTENSIONS, "CustomResourceDefinition"): core.custom_resource_definition,
    (APIREGISTRATION, "APIService"): core.api_service,
    (CERTIFICATES, "PodCertificateRequest"): core.pod_certificate_request,
    (COORDINATION, "Lease"): core.with_spec,
    (DISCOVERY, "EndpointSlice"): networking.endpoint_slice,
    (EVENTS, "Event"): core.new_event,
    (FLOWCONTROL, "FlowSchema"): core.flow_schema,
    (FLOWCONTROL, "PriorityLevelConfiguration"): core.priority_level,
    (NETWORKING, "IngressClass"): networking.ingress_class,
    (NETWORKING, "NetworkPolicy"): networking.network_policy,
    (NETWORKING, "ServiceCIDR"): networking.service_cidr,
    (NODE, "RuntimeClass"): core.runtime_class,
    ("policy", "PodDisruptionBudget"): core.with_spec,
    (RBAC, "ClusterRoleBinding"): rbac.binding,
    (RBAC, "RoleBinding"): rbac.binding,
    (RESOURCE, "DeviceClass"): core.with_spec,
    (RESOURCE, "ResourceClaim"): core.resource_claim,
    (RESOURCE, "ResourceClaimTemplate"): core.resource_claim_template,
    (SCHEDULING, "PriorityClass"): core.priority_class,
    (STORAGE, "CSIDriver"): storage.csi_driver,
    (STORAGE, "CSINode"): core.with_spec,
    (STORAGE, "StorageClass"): storage.storage_class,
}

# Fields that came, or came to have a default, with a release: (group, kind) -> the release and the path of the field.
_SINCE: Mapping[tuple[str, str], tuple[tuple[int, int], tuple[str, ...]]] = {
    ("batch", "Job"): ((1, 28), ("spec", "podReplacementPolicy")),
    ("apps", "StatefulSet"): ((1, 37), ("spec", "updateStrategy", "rollingUpdate", "maxUnavailable")),
}


# What a release began to fill in besides: (group, kind) -> the release, and the function of the spec.
_NEWER: Mapping[tuple[str, str], tuple[tuple[int, int], Callable[[Object], None]]] = {
    ("", "Pod"): ((1, 37), pods.pod_level_limits),
}


def apply_defaults(info: ResourceInfo, obj: Object) -> None:
    """Fills in what the object leaves out. `obj` is changed in place: pass a copy of your own."""
    if info.extension is not None:
        info.extension.complete(obj)
        return
    kind = (info.gvr.group, info.kind)
    since = _SINCE.get(kind)
    given = _at(obj, since[1]) if since is not None else None
    default = _DEFAULTS.get(kind)
    if default is not None:
        default(obj)
    times = CONDITION_TIMES.get(kind)
    if times is not None:
        condition_times(obj, times)
    if kind == ("", "Pod"):
        container_times(obj)
    newer = _NEWER.get(kind)
    if newer is not None and info.release >= newer[0]:
        newer[1](obj["spec"])
    if since is not None and info.release < since[0]:
        _take_back(obj, since[1], given)


def _at(obj: Object, path: tuple[str, ...]) -> object:
    found: object = obj
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _take_back(obj: Object, path: tuple[str, ...], given: object) -> None:
    """Undo a default that an older release does not have; what the object says itself stays."""
    parent = _at(obj, path[:-1])
    if given is None and isinstance(parent, dict):
        parent.pop(path[-1], None)
