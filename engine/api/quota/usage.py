"""How much of which resource an object takes (pkg/quota/v1/evaluator/core: pods.go, services.go,
persistent_volume_claims.go; apiserver pkg/quota/v1/generic for counts)."""

from __future__ import annotations

from datetime import datetime, timedelta

from engine.api.duration import parse_time
from engine.api.pod_amounts import parsed, pod_amounts
from engine.api.quantity import Quantity
from engine.api.quota.amounts import Amounts
from engine.api.quota.extended_resources import DEVICES, ExtendedResources
from engine.api.types import Object
from engine.api.validation.resources import native

COMPUTE = ("cpu", "memory", "ephemeral-storage")
_ONE = Quantity.of(1)
_STORAGE_CLASS = ".storageclass.storage.k8s.io/"
_RESOURCE_CLAIMS = "resourceclaims.resource.k8s.io"
_ALL_DEVICES = 32  # what a request for all of them is charged (resource.AllocationResultsMaxSize)
_HUGE_PAGES = "hugepages-"
_IMPLICIT = "deviceclass.resource.kubernetes.io/"
# Kinds that are also counted under their bare name.
_COUNTED = frozenset(
    ("configmaps", "secrets", "replicationcontrollers", "resourcequotas", "services", "persistentvolumeclaims", "pods")
)
_TERMINAL = frozenset(("Failed", "Succeeded"))


def usage(
    group_resource: str, obj: Object, now: datetime | None = None, extended: ExtendedResources | None = None
) -> Amounts:
    """What one object takes. A Pod whose end is overdue takes nothing but its place; without `now` none is. A claim of
    devices takes of `extended` resources, too."""
    counted: Amounts = {f"count/{group_resource}": _ONE}
    if group_resource == "pods":
        return counted if now is not None and _overdue(obj, now) else {**counted, **_pod(obj)}
    if group_resource in _COUNTED:
        counted[group_resource] = _ONE
    if group_resource == "services":
        return {**counted, **_service(obj)}
    if group_resource == "persistentvolumeclaims":
        return {**counted, **_claim(obj)}
    if group_resource == _RESOURCE_CLAIMS:
        devices = _devices(obj)
        return {**counted, **devices, **(extended.taken(devices) if extended is not None else {})}
    return counted


def concerns(group_resource: str, name: str, extended: ExtendedResources | None = None) -> bool:
    """Whether objects of a resource can take of the quota's resource `name`. Events take of none."""
    if group_resource == "events":
        return False
    if name == f"count/{group_resource}" or (name == group_resource and name in _COUNTED):
        return True
    if group_resource == "pods":
        return _compute_name(name)
    if group_resource == "services":
        return name in ("services.nodeports", "services.loadbalancers")
    if group_resource == "persistentvolumeclaims":
        return name == "requests.storage" or _STORAGE_CLASS in name
    if group_resource == _RESOURCE_CLAIMS:
        return name.endswith(DEVICES) or (extended is not None and extended.has(name))
    return False


def _compute_name(name: str) -> bool:
    bare = name.removeprefix("requests.").removeprefix("limits.")
    if bare in COMPUTE or bare.startswith(_HUGE_PAGES):
        return True
    return name.startswith("requests.") and _STORAGE_CLASS not in bare and _is_of_devices(bare)


def _is_of_devices(name: str) -> bool:
    """Whether a resource is an extended one, or one that stands for a DeviceClass (IsDRAExtendedResourceName)."""
    return not native(name) or name.startswith(_IMPLICIT)


# -- Pods


def _overdue(pod: Object, now: datetime) -> bool:
    """Whether its grace is over once more since it should be gone: its node may be lost (QuotaV1Pod)."""
    metadata = pod["metadata"]
    end, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    return bool(end) and grace is not None and now > parse_time(end) + timedelta(seconds=grace)


def _pod(pod: Object) -> Amounts:
    if (pod.get("status") or {}).get("phase") in _TERMINAL:
        return {}
    result: Amounts = {"pods": _ONE}
    for name, amount in pod_amounts(pod, "requests", resizing=True).items():
        if name in COMPUTE or name.startswith(_HUGE_PAGES):
            result[name] = result[f"requests.{name}"] = amount
        elif _is_of_devices(name):
            result[f"requests.{name}"] = amount
    for name, amount in pod_amounts(pod, "limits", resizing=True).items():
        if name in COMPUTE:
            result[f"limits.{name}"] = amount
    return result


# -- Services and claims


def _service(service: Object) -> Amounts:
    spec = service.get("spec") or {}
    ports = Quantity.of(len(spec.get("ports") or ()))
    if spec.get("type") == "NodePort":
        return {"services.nodeports": ports}
    if spec.get("type") == "LoadBalancer":
        given = spec.get("allocateLoadBalancerNodePorts", True)
        set_by_hand = Quantity.of(sum(1 for port in spec.get("ports") or () if port.get("nodePort")))
        return {"services.loadbalancers": _ONE, "services.nodeports": ports if given else set_by_hand}
    return {}


def _claim(claim: Object) -> Amounts:
    """Storage counts in whole bytes: a quota has no others."""
    spec = claim.get("spec") or {}
    asked = parsed((spec.get("resources") or {}).get("requests")).get("storage")
    allocated = parsed((claim.get("status") or {}).get("allocatedResources")).get("storage")
    if asked is not None:
        asked = (asked if allocated is None else max(asked, allocated)).rounded_up(0)
    annotations = (claim.get("metadata") or {}).get("annotations") or {}
    storage_class = annotations.get("volume.beta.kubernetes.io/storage-class") or spec.get("storageClassName") or ""
    result: Amounts = {}
    if asked is not None:
        result["requests.storage"] = asked
    if storage_class:
        result[f"{storage_class}{_STORAGE_CLASS}persistentvolumeclaims"] = _ONE
        if asked is not None:
            result[f"{storage_class}{_STORAGE_CLASS}requests.storage"] = asked
    return result


def _devices(claim: Object) -> Amounts:
    """Devices by class; of alternatives the most that one of them would take (resource_claims.go)."""
    total: dict[str, int] = {}
    for request in ((claim.get("spec") or {}).get("devices") or {}).get("requests") or ():
        most: dict[str, int] = {}
        for each in (request["exactly"],) if request.get("exactly") else request.get("firstAvailable") or ():
            asked = _ALL_DEVICES if each.get("allocationMode") == "All" else each.get("count") or 1
            name = each.get("deviceClassName", "")
            most[name] = max(most.get(name, 0), asked)
        for name, count in most.items():
            total[name] = total.get(name, 0) + count
    return {f"{name}{DEVICES}": Quantity.of(count) for name, count in total.items()}
