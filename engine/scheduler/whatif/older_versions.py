"""Objects of a dump that were served in an older version of their group, as ours has them.

Source: pkg/apis/resource/v1beta1/conversion.go. Of all other kinds that a scheduler reads (PodDisruptionBudgets,
PriorityClasses, RuntimeClasses, what is of storage.k8s.io) the older versions have the form of the newer.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.types import Object

_NESTED = ("v1alpha3", "v1beta1")  # where a device is `basic`, and what a request asks for stands beside its name


def of_today(obj: Object, api_version: str) -> Object:
    """The same object in the version that is asked for; itself where it is in that already."""
    own = str(obj.get("apiVersion", ""))
    if own == api_version:
        return obj
    made = {**obj, "apiVersion": api_version}
    group, _, version = own.rpartition("/")
    convert = _CONVERSIONS.get(str(obj.get("kind", ""))) if group == "resource.k8s.io" and version in _NESTED else None
    return convert(made) if convert is not None and isinstance(obj.get("spec"), dict) else made


def _slice(obj: Object) -> Object:
    devices = [_device(device) for device in obj["spec"].get("devices") or ()]
    return {**obj, "spec": {**obj["spec"], "devices": devices}}


def _device(device: Object) -> Object:
    made = {"name": device.get("name", ""), **(device.get("basic") or {})}
    if capacity := made.get("capacity"):
        # v1alpha3 has the bare quantity.
        made["capacity"] = {k: v if isinstance(v, dict) else {"value": v} for k, v in capacity.items()}
    return made


def _claim(obj: Object) -> Object:
    devices = obj["spec"].get("devices") or {}
    requests = [_request(request) for request in devices.get("requests") or ()]
    return {**obj, "spec": {**obj["spec"], "devices": {**devices, "requests": requests}}}


def _template(obj: Object) -> Object:
    claim = obj["spec"]
    return {**obj, "spec": _claim(claim)} if isinstance(claim.get("spec"), dict) else obj


def _request(request: Object) -> Object:
    if request.get("firstAvailable"):
        return request
    return {"name": request.get("name", ""), "exactly": {k: v for k, v in request.items() if k != "name"}}


_CONVERSIONS: dict[str, Callable[[Object], Object]] = {
    "ResourceSlice": _slice,
    "ResourceClaim": _claim,
    "ResourceClaimTemplate": _template,
}
