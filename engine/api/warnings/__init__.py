"""What a client is warned of though its request succeeds: deprecated kinds and fields, and settings that will surprise.

The REST layer sends each text as a Warning header. Sources: the WarningsOnCreate and WarningsOnUpdate functions of
pkg/registry, pkg/api/*/warnings.go, and the APILifecycle methods of deprecated versions
(zz_generated.prerelease-lifecycle.go).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.api.app_armor import profile_warnings
from engine.api.excluded_resources import rule_warnings
from engine.api.resource_table import APIEXTENSIONS, DISCOVERY, FLOWCONTROL, NETWORKING, NODE, RESOURCE, STORAGE
from engine.api.resources import ResourceInfo
from engine.api.static_names import name_warnings
from engine.api.types import GVK, Object
from engine.api.warnings import addresses, custom, devices, networking, nodes, quotas, storage, workloads

# Kind -> since when it is deprecated, when it went, and what to use.
_DEPRECATED: Mapping[GVK, tuple[tuple[int, int], str, str]] = {
    GVK("", "v1", "ComponentStatus"): ((1, 19), "", ""),
    GVK("", "v1", "Endpoints"): ((1, 33), "", "discovery.k8s.io/v1 EndpointSlice"),
    **{
        GVK(FLOWCONTROL, version, kind): (since, gone, f"{FLOWCONTROL}/{use} {kind}")
        for version, since, gone, use in (
            ("v1beta1", (1, 23), "v1.26", "v1beta3"),
            ("v1beta2", (1, 26), "v1.29", "v1"),
            ("v1beta3", (1, 29), "v1.32", "v1"),
        )
        for kind in ("FlowSchema", "PriorityLevelConfiguration")
    },
    GVK("autoscaling", "v2beta2", "HorizontalPodAutoscaler"): (
        (1, 23),
        "v1.26",
        "autoscaling/v2 HorizontalPodAutoscaler",
    ),
}
# What a kind's object is warned of, each time it is written (by group and kind).
_ALWAYS: Mapping[tuple[str, str], Callable[[Object], list[str]]] = {
    ("", "Endpoints"): networking.endpoints,
    ("", "Node"): nodes.node,
    ("", "PersistentVolume"): storage.persistent_volume,
    ("", "PersistentVolumeClaim"): storage.persistent_volume_claim,
    ("", "Service"): networking.service,
    (DISCOVERY, "EndpointSlice"): networking.endpoint_slice,
    (NETWORKING, "NetworkPolicy"): networking.network_policy,
    (NODE, "RuntimeClass"): nodes.runtime_class,
    (RESOURCE, "ResourceSlice"): devices.resource_slice,
    (STORAGE, "CSIStorageCapacity"): storage.csi_storage_capacity,
    (STORAGE, "StorageClass"): storage.storage_class,
}
_ON_CREATE: Mapping[tuple[str, str], Callable[[Object], list[str]]] = {
    **_ALWAYS,
    **workloads.ON_CREATE,
    ("", "ResourceQuota"): quotas.resource_quota,
    ("", "ServiceAccount"): workloads.service_account,
    (APIEXTENSIONS, "CustomResourceDefinition"): custom.definition,
    (NETWORKING, "Ingress"): networking.ingress,
}
# Of which an older release says nothing yet.
_SINCE: Mapping[tuple[str, str], tuple[int, int]] = {("", "ResourceQuota"): (1, 35)}
_ON_CREATE_ALIKE: Mapping[tuple[str, str], Callable[[Object], list[str]]] = {("", "Pod"): workloads.pod_name}

_ON_UPDATE: Mapping[tuple[str, str], Callable[[Object, Object], list[str]]] = {
    **workloads.ON_UPDATE,
    (APIEXTENSIONS, "CustomResourceDefinition"): custom.changed_definition,
}
_ON_STATUS: Mapping[tuple[str, str], Callable[[Object], list[str]]] = {
    ("", "Pod"): addresses.pod_status,
    ("", "Service"): addresses.load_balancer_status,
    (NETWORKING, "Ingress"): addresses.load_balancer_status,
}


def deprecation(info: ResourceInfo) -> str:
    """The warning that every request for a deprecated kind gets; "" for one that is not."""
    if info.extension is not None:
        return info.extension.warning
    found = _DEPRECATED.get(info.gvk)
    if found is None or info.release < found[0]:
        return ""
    since, gone, instead = found
    text = f"{info.gvk.api_version} {info.kind} is deprecated in v{since[0]}.{since[1]}+"
    if gone:
        text += f", unavailable in {gone}+"
    return f"{text}; use {instead}" if instead else text


def removed_in(info: ResourceInfo) -> str | None:
    """The release that serves a deprecated built-in kind no more, as in "1.32", "" for one that stays; None for a kind
    that is not deprecated."""
    found = _DEPRECATED.get(info.gvk) if info.extension is None else None
    return None if found is None or info.release < found[0] else found[1].removeprefix("v")


def warnings_before_create(info: ResourceInfo, obj: Object) -> list[str]:
    """Of what the strategy is about to put right."""
    return profile_warnings(obj) if (info.gvr.group, info.kind) == ("", "Pod") else []


def warnings_on_create(info: ResourceInfo, obj: Object, *, alike: bool = False) -> list[str]:
    """`alike` says that there is nothing to warn of but, perhaps, the name (engine.api.alike_pods)."""
    if info.extension is not None:
        return custom.resource(obj)
    kind = (info.gvr.group, info.kind)
    found = (_ON_CREATE_ALIKE if alike else _ON_CREATE).get(kind)
    if kind in _SINCE and info.release < _SINCE[kind]:
        found = None
    told = [*name_warnings(info, obj.get("metadata", {}).get("name", "")), *rule_warnings(info, obj)]
    return [*told, *found(obj)] if found is not None else told


def warnings_on_status_update(info: ResourceInfo, new: Object) -> list[str]:
    """Most strategies of statuses have none."""
    found = _ON_STATUS.get((info.gvr.group, info.kind))
    return found(new) if found is not None else []


def warnings_on_update(info: ResourceInfo, new: Object, old: Object) -> list[str]:
    """Nobody is warned of a Pod that changes; of a workload's template only when what it wants has changed."""
    if info.extension is not None:
        return custom.resource(new, old)
    kind = (info.gvr.group, info.kind)
    changed = _ON_UPDATE.get(kind)
    if changed is not None:
        return changed(new, old)
    always = _ALWAYS.get(kind)
    return always(new) if always is not None else rule_warnings(info, new)
