"""ResourceClaims, ResourceSlices and DeviceClasses for tests."""

from __future__ import annotations

from typing import Any

from engine.api.types import Object

DRIVER = "gpu.example.com"


def device_class(name: str = "gpu", *expressions: str, **spec: Any) -> Object:
    if expressions:
        spec["selectors"] = [selector(each) for each in expressions]
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def selector(expression: str) -> Object:
    return {"cel": {"expression": expression}}


def wants(name: str = "r", *expressions: str, count: int = 1, kind: str = "gpu", **fields: Any) -> Object:
    """One exact request."""
    return {"name": name, "exactly": _part(expressions, count, kind, fields)}


def way(name: str, *expressions: str, count: int = 1, kind: str = "gpu", **fields: Any) -> Object:
    """An alternative within a request."""
    return {"name": name, **_part(expressions, count, kind, fields)}


def _part(expressions: tuple[str, ...], count: int, kind: str, fields: dict[str, Any]) -> Object:
    made: Object = {"deviceClassName": kind, "allocationMode": "ExactCount", "count": count, **fields}
    if made["allocationMode"] == "All":
        del made["count"]
    if expressions:
        made["selectors"] = [selector(each) for each in expressions]
    return made


def claim(name: str, *requests: Object, status: Object | None = None, **devices: Any) -> Object:
    made: Object = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"devices": {"requests": list(requests), **devices}},
    }
    return {**made, "status": status} if status else made


_PLACE = {"nodeName", "allNodes", "nodeSelector", "bindsToNode", "allowMultipleAllocations"}
_STATE = {"consumesCounters", "taints", "attributes", "bindingConditions", "bindingFailureConditions"}


def device(
    name: str, *, capacity: dict[str, str] | None = None, policies: dict[str, Object] | None = None, **fields: Any
) -> Object:
    """`fields` that are no fields of a device are its attributes; `policies` are of its capacities."""
    known = _PLACE | _STATE
    made: Object = {"name": name, **{key: value for key, value in fields.items() if key in known}}
    attributes = {key: _attribute(value) for key, value in fields.items() if key not in known}
    if attributes:
        made["attributes"] = attributes
    if capacity:
        made["capacity"] = {key: {"value": value} for key, value in capacity.items()}
    for key, policy in (policies or {}).items():
        made["capacity"][key]["requestPolicy"] = policy
    return made


def _attribute(value: Any) -> Object:
    if isinstance(value, bool):
        return {"bool": value}
    return {"int": value} if isinstance(value, int) else {"string": value}


def published(
    *devices: Object,
    name: str = "slice",
    pool: str = "",
    node: str = "n1",
    driver: str = DRIVER,
    generation: int = 1,
    count: int = 1,
    **spec: Any,
) -> Object:
    """A slice of a node, or with `node=""` of what `spec` says."""
    placed: Object = {"nodeName": node} if node else {}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": driver,
            "pool": {"name": pool or node or "pool", "generation": generation, "resourceSliceCount": count},
            "devices": list(devices),
            **placed,
            **spec,
        },
    }
