"""ConfigMaps, Secrets, Namespaces, Nodes, Events, LimitRanges, ResourceQuotas and bindings (core validation)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import orjson

from engine.api.go_json import syntax_error
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.placement import taints
from engine.api.validation.problems import IMMUTABLE, Problems
from engine.api.validation.resources import container_resource_name, quantity, quota_resource_name, resource_name

_SIZE_LIMIT = 1024 * 1024
_FROZEN = "field is immutable when `immutable` is set"
_REDACTED = "<secret contents redacted>"
_TOKEN_ANNOTATION = "kubernetes.io/service-account.name"
_REQUIRED_KEYS: Mapping[str, tuple[str, ...]] = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_BASIC_AUTH_KEYS = ("username", "password")


def config_map(obj: Object, problems: Problems) -> None:
    data, binary = obj.get("data", {}), obj.get("binaryData", {})
    size = 0
    for key, value in data.items():
        problems.all_invalid(f"data[{key}]", key, text.config_key(key))
        if key in binary:
            problems.invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
        size += len(value.encode())
    for key, value in binary.items():
        problems.all_invalid(f"binaryData[{key}]", key, text.config_key(key))
        size += _decoded_size(value)
    if size > _SIZE_LIMIT:
        problems.too_long("", _SIZE_LIMIT)


def config_map_update(new: Object, old: Object, problems: Problems) -> None:
    _frozen(new, old, ("data", "binaryData"), problems)
    config_map(new, problems)


def secret(obj: Object, problems: Problems) -> None:
    data, kind = obj.get("data", {}), obj.get("type", "")
    for key in data:
        problems.all_invalid(f"data[{key}]", key, text.config_key(key))
    if sum(_decoded_size(value) for value in data.values()) > _SIZE_LIMIT:
        problems.too_long("data", _SIZE_LIMIT)
    for key in _REQUIRED_KEYS.get(kind, ()):
        if key not in data or (kind == "kubernetes.io/ssh-auth" and not data[key]):
            problems.required(f"data[{key}]")
        elif key.startswith(".docker"):
            _json_object(data[key], f"data[{key}]", problems)
    if kind == "kubernetes.io/basic-auth" and not any(key in data for key in _BASIC_AUTH_KEYS):
        for key in _BASIC_AUTH_KEYS:
            problems.required(f"data[{key}]")
    annotations = obj.get("metadata", {}).get("annotations", {})
    if kind == "kubernetes.io/service-account-token" and not annotations.get(_TOKEN_ANNOTATION):
        problems.required(f"metadata.annotations[{_TOKEN_ANNOTATION}]")


def secret_update(new: Object, old: Object, problems: Problems) -> None:
    problems.immutable("type", new.get("type"), old.get("type"))
    _frozen(new, old, ("data",), problems)
    secret(new, problems)


def _frozen(new: Object, old: Object, fields: tuple[str, ...], problems: Problems) -> None:
    if old.get("immutable"):
        if not new.get("immutable"):
            problems.forbidden("immutable", _FROZEN)
        for field in fields:
            if new.get(field, {}) != old.get(field, {}):
                problems.forbidden(field, _FROZEN)


def _decoded_size(value: str) -> int:
    return len(value) * 3 // 4


def _json_object(encoded: str, path: str, problems: Problems) -> None:
    content = base64.b64decode(encoded)
    try:
        value: Any = orjson.loads(content)
    except ValueError as error:
        problems.invalid(path, _REDACTED, syntax_error(content) or str(error))
        return
    if not isinstance(value, dict):
        problems.invalid(path, _REDACTED, "json: cannot unmarshal array into Go value of type map[string]interface {}")


def namespace(obj: Object, problems: Problems) -> None:
    for finalizer in obj.get("spec", {}).get("finalizers", ()):
        problems.all_invalid("spec.finalizers", finalizer, text.qualified_name(finalizer))
        if "/" not in finalizer and finalizer != "kubernetes":
            problems.invalid(
                "spec.finalizers", finalizer, "name is neither a standard finalizer name nor is it fully qualified"
            )


def namespace_status_update(new: Object, old: Object, problems: Problems) -> None:
    phase = new.get("status", {}).get("phase")
    if "deletionTimestamp" not in new["metadata"]:
        if phase not in ("Active", None):
            detail = "may only be 'Active' if `deletionTimestamp` is empty"
            problems.invalid("status.Phase", phase, detail)
    elif phase != "Terminating":
        detail = "may only be 'Terminating' if `deletionTimestamp` is not empty"
        problems.invalid("status.Phase", phase, detail)


def node(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    taints(spec.get("taints", ()), "metadata.taints", problems)
    _node_resources(obj, problems)
    ranges = spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])
    for index, value in enumerate(ranges):
        problems.all_invalid(f"spec.podCIDRs[{index}]", value, text.cidr(value))
    if len(ranges) > 2:
        problems.invalid("spec.podCIDRs", ranges, "may specify no more than one CIDR for each IP family")


def _node_resources(obj: Object, problems: Problems) -> None:
    for field in ("capacity", "allocatable"):
        for name, amount in obj.get("status", {}).get(field, {}).items():
            quantity(name, amount, f"status.{field}.{name}", problems)


def node_update(new: Object, old: Object, problems: Problems) -> None:
    _node_resources(new, problems)
    addresses: list[Object] = []
    for index, address in enumerate(new.get("status", {}).get("addresses", ())):
        if address in addresses:
            problems.duplicate(f"status.addresses[{index}]", address)
        addresses.append(address)
    after, before = new.get("spec", {}), old.get("spec", {})
    for field, shown in (("podCIDRs", "podCIDR"), ("providerID", "providerID")):
        if before.get(field) and before[field] != after.get(field):
            detail = f'node updates may not change {shown} except from "" to valid'
            problems.forbidden(f"spec.{field}", detail)
    taints(after.get("taints", ()), "metadata.taints", problems)


_EVENT_TYPES = ("Normal", "Warning")


def event(obj: Object, problems: Problems) -> None:
    """Of the core group: only the namespace of what it is about is checked (legacy events)."""
    own, involved = obj.get("metadata", {}).get("namespace", ""), obj.get("involvedObject", {}).get("namespace", "")
    if not involved:
        if own not in ("", "default", "kube-system"):
            problems.invalid("involvedObject.namespace", involved, "does not match event.namespace")
    elif own != involved:
        problems.invalid("involvedObject.namespace", involved, "does not match event.namespace")


def new_event(obj: Object, problems: Problems) -> None:
    """Of events.k8s.io (legacy fields are not set; what, where and why are)."""
    for field, limit in (("reportingController", 0), ("reportingInstance", 128), ("action", 128), ("reason", 128)):
        value = obj.get(field, "")
        if not value:
            problems.required(field)
        elif limit and len(value) > limit:
            problems.invalid(field, "", f"can have at most {limit} characters")
    if obj.get("eventTime") is None:
        problems.required("eventTime")
    if obj.get("type") not in _EVENT_TYPES:
        problems.invalid("type", "", "has invalid value: " + str(obj.get("type", "")))
    if len(obj.get("note", "")) > 1024:
        problems.invalid("message", "", "can have at most 1024 characters")


_SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "VolumeAttributesClass")


def resource_quota(obj: Object, problems: Problems) -> None:
    for name, amount in obj.get("spec", {}).get("hard", {}).items():
        quota_resource_name(name, f"spec.hard[{name}]", problems)
        quantity(name, amount, f"spec.hard[{name}]", problems)
    scopes = obj.get("spec", {}).get("scopes", [])
    for scope in scopes:
        if scope not in _SCOPES:
            problems.invalid("spec.scopes", scopes, "unsupported scope")


def resource_quota_update(new: Object, old: Object, problems: Problems) -> None:
    resource_quota(new, problems)
    scopes, before = new.get("spec", {}).get("scopes", []), old.get("spec", {}).get("scopes", [])
    if sorted(scopes) != sorted(before):
        problems.invalid("spec.scopes", scopes, IMMUTABLE)


_LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")


def limit_range(obj: Object, problems: Problems) -> None:
    seen = set()
    for index, limit in enumerate(obj.get("spec", {}).get("limits", ())):
        path, kind = f"spec.limits[{index}]", limit.get("type", "")
        problems.all_invalid(f"{path}.type", kind, text.qualified_name(kind))
        if kind in seen:
            problems.duplicate(f"{path}.type", kind)
        seen.add(kind)
        if "/" not in kind and kind not in _LIMIT_TYPES and not text.qualified_name(kind):
            problems.invalid(f"{path}.type", kind, "must be a standard limit type or fully qualified")
        _limit(limit, path, kind, problems)


def _limit(limit: Object, path: str, kind: str, problems: Problems) -> None:
    fields: tuple[str, ...] = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
    rule = container_resource_name if kind in ("Pod", "Container") else resource_name
    if kind == "Pod":
        for field in ("default", "defaultRequest"):
            if limit.get(field):
                problems.forbidden(f"{path}.{field}", "may not be specified when `type` is 'Pod'")
        fields = ("max", "min", "maxLimitRequestRatio")
    for field in fields:
        for name in limit.get(field, {}):
            rule(name, f"{path}.{field}[{name}]", problems)
    if kind == "PersistentVolumeClaim" and not any("storage" in limit.get(field, {}) for field in ("min", "max")):
        detail = "either minimum or maximum storage value is required, but neither was provided"
        problems.required(f"{path}.limits", detail)
    for low, high, at, words in (
        ("min", "max", "min", "min value {} is greater than max value {}"),
        ("min", "defaultRequest", "defaultRequest", "min value {} is greater than default request value {}"),
        ("defaultRequest", "max", "defaultRequest", "default request value {} is greater than max value {}"),
        (
            "defaultRequest",
            "default",
            "defaultRequest",
            "default request value {} is greater than default limit value {}",
        ),
        ("min", "default", "default", "min value {} is greater than default value {}"),
        ("default", "max", "default", "default value {} is greater than max value {}"),
    ):
        for name, amount in limit.get(low, {}).items():
            other = limit.get(high, {}).get(name)
            if other is not None and Quantity.parse(amount) > Quantity.parse(other):
                problems.invalid(f"{path}.{at}[{name}]", limit[at].get(name), words.format(amount, other))


def binding(obj: Object, problems: Problems) -> None:
    """Of a Pod to a node (ValidatePodBinding)."""
    target = obj.get("target", {})
    if target.get("kind") and target["kind"] != "Node":
        problems.not_supported("target.kind", target["kind"], ("Node", "<empty>"))
    if not target.get("name"):
        problems.required("target.name")
