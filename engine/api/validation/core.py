"""ConfigMaps, Secrets, Namespaces and bindings (core validation)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import orjson

from engine.api.golang.json import syntax_error
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.metadata import object_meta_update, own_finalizers
from engine.api.validation.problems import NO_FIELD, Problems

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
# What encoding/json calls that which is no object. A null is none either, but goes into any map.
_JSON_KINDS: Mapping[type, str] = {str: "string", bool: "bool", int: "number", float: "number", list: "array"}
_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
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
        problems.too_long(NO_FIELD, _SIZE_LIMIT)


def frozen_config_map(new: Object, old: Object, problems: Problems) -> None:
    _frozen(new, old, ("data", "binaryData"), problems)


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


def frozen_secret(new: Object, old: Object, problems: Problems) -> None:
    problems.immutable("type", new.get("type"), old.get("type"))
    _frozen(new, old, ("data",), problems)


def _frozen(new: Object, old: Object, fields: tuple[str, ...], problems: Problems) -> None:
    if old.get("immutable"):
        if not new.get("immutable"):
            problems.forbidden("immutable", _FROZEN)
        for field in fields:
            if new.get(field, {}) != old.get(field, {}):
                problems.forbidden(field, _FROZEN)


def _decoded_size(value: str) -> int:
    return len(value) * 3 // 4 - value[-2:].count("=")


def _json_object(encoded: str, path: str, problems: Problems) -> None:
    content = base64.b64decode(encoded)
    try:
        value: Any = orjson.loads(content)
    except ValueError as error:
        problems.invalid(path, _REDACTED, syntax_error(content) or str(error))
        return
    kind = _JSON_KINDS.get(type(value))
    if kind is not None:
        detail = f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
        problems.invalid(path, _REDACTED, detail)


def namespace(obj: Object, problems: Problems) -> None:
    for finalizer in obj.get("spec", {}).get("finalizers", ()):
        _finalizer(finalizer, "spec.finalizers", problems)


def validate_namespace_finalize(new: Object, old: Object) -> Problems:
    """What the finalize subresource takes; here each finalizer has its place (ValidateNamespaceFinalizeUpdate)."""
    problems = Problems()
    object_meta_update(new["metadata"], old["metadata"], problems)
    own_finalizers(new["metadata"], problems)
    for index, finalizer in enumerate(new.get("spec", {}).get("finalizers", ())):
        _finalizer(finalizer, f"spec.finalizers[{index}]", problems)
    return problems


def _finalizer(finalizer: str, path: str, problems: Problems) -> None:
    problems.all_invalid(path, finalizer, text.qualified_name(finalizer))
    if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
        detail = "name is neither a standard finalizer name nor is it fully qualified"
        problems.invalid(path, finalizer, detail)


def namespace_status_update(new: Object, old: Object, problems: Problems) -> None:
    phase = new.get("status", {}).get("phase")
    if "deletionTimestamp" not in new["metadata"]:
        if phase not in ("Active", None):
            detail = "may only be 'Active' if `deletionTimestamp` is empty"
            problems.invalid("status.Phase", phase, detail)
    elif phase != "Terminating":
        detail = "may only be 'Terminating' if `deletionTimestamp` is not empty"
        problems.invalid("status.Phase", phase, detail)


def binding(obj: Object, problems: Problems) -> None:
    """Of a Pod to a node (ValidatePodBinding)."""
    target = obj.get("target", {})
    if target.get("kind") and target["kind"] != "Node":
        problems.not_supported("target.kind", target["kind"], ("Node", "<empty>"))
    if not target.get("name"):
        problems.required("target.name")
