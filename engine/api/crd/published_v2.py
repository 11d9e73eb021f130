"""What OpenAPI v2 has of the published schema of a custom resource: less, so that kubectl refuses nothing valid.

Source of the behaviour: apiextensions-apiserver pkg/controller/openapi/v2/conversion.go and builder.go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from engine.api.types import Object

_NO_WORDS_FOR = frozenset(("allOf", "oneOf", "anyOf", "not", "nullable"))
_OF_RESOURCES = ("apiVersion", "kind", "metadata")
_ROOT = ("x-kubernetes-group-version-kind", "x-kubernetes-selectable-fields")


def root_in_v2(raw: Mapping[str, Any]) -> Object:
    """Nothing is said of a resource that may have any fields, not even that it has metadata."""
    if raw.get("x-kubernetes-preserve-unknown-fields"):
        return {"type": "object", **{key: raw[key] for key in _ROOT if key in raw}}
    return _in_v2(raw)


def _in_v2(raw: Mapping[str, Any]) -> Object:
    made = {key: value for key, value in raw.items() if key not in _NO_WORDS_FOR}
    anything = bool(raw.get("x-kubernetes-preserve-unknown-fields"))
    if raw.get("nullable") or anything:
        _open(made, resource=bool(raw.get("x-kubernetes-embedded-resource")) and not anything)
        if raw.get("nullable") or raw.get("type") == "object":
            made.pop("type", None)
    if made.get("type") == "array" and "items" not in made:
        del made["type"]
    _need_no_null(made)
    if isinstance(made.get("properties"), dict):
        made["properties"] = {name: _in_v2(node) for name, node in made["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = _in_v2(made[key])
    return made


def _open(node: Object, *, resource: bool) -> None:
    """kubectl takes a node with fields or items for one that has no others, and cannot do with null for one."""
    node.pop("items", None)
    fields = node.pop("properties", {})
    if resource:
        node["properties"] = {name: fields[name] for name in _OF_RESOURCES}
    elif node.get("x-kubernetes-embedded-resource"):
        _need_not(node, _OF_RESOURCES)


def _need_no_null(node: Object) -> None:
    fields = node.get("properties") or {}
    values = node.get("additionalProperties")
    if isinstance(values, dict) and values.get("nullable"):
        node.pop("required", None)
    else:
        _need_not(node, [name for name, field in fields.items() if isinstance(field, dict) and field.get("nullable")])


def _need_not(node: Object, names: Collection[str]) -> None:
    if node.get("required") and names:
        if required := [name for name in node["required"] if name not in names]:
            node["required"] = required
        else:
            del node["required"]
