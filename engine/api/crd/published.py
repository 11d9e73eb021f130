"""The schema of a custom resource as it is published: with its type and metadata, named as in OpenAPI documents.

Source of the shape: apiextensions-apiserver pkg/controller/openapi/builder and pkg/apiserver/schema/unfold.go. The
dialect is that of kubernetes-validate, which all other definitions have; what OpenAPI v2 has of it, published_v2 says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.api.types import GVK, Object

_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_REFERENCE = "#/$defs/"
_CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
_API_VERSION = (
    "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized "
    f"schemas to the latest internal value, and may reject unrecognized values. More info: {_CONVENTIONS}#resources"
)
_KIND = (
    "Kind is a string value representing the REST resource this object represents. Servers may infer this from the "
    "endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: "
    f"{_CONVENTIONS}#types-kinds"
)
_TYPE_META = {
    "apiVersion": {"description": _API_VERSION, "type": "string"},
    "kind": {"description": _KIND, "type": "string"},
}
_METADATA = {
    "$ref": f"{_REFERENCE}{_META}.ObjectMeta",
    "description": f"Standard object's metadata. More info: {_CONVENTIONS}#metadata",
}
_EMBEDDED_META = {
    "apiVersion": {
        "description": "apiVersion defines the versioned schema of this representation of an object. More info: "
        f"{_CONVENTIONS}#resources",
        "type": "string",
    },
    "kind": {
        "description": "kind is a string value representing the type of this object. In CamelCase. More info: "
        f"{_CONVENTIONS}#types-kinds",
        "type": "string",
    },
    "metadata": _METADATA,
}
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def published_name(gvk: GVK) -> str:
    """As in `com.example.stable.v1.CronTab`."""
    return ".".join([*reversed(gvk.group.split(".")), gvk.version, gvk.kind])


def list_name(gvk: GVK, list_kind: str) -> str:
    return published_name(gvk._replace(kind=list_kind))


def published(gvk: GVK, raw: Mapping[str, Any], selectable: Iterable[str] = ()) -> Object:
    """`selectable` are the fields that lists of the kind can be selected by, as in `spec.colour`."""
    properties = raw.get("properties") or {}
    described = {name: _embedded(node) for name, node in properties.items()}
    made = {
        **raw,
        "type": "object",
        "properties": {**described, **_TYPE_META, "metadata": _METADATA},
        "x-kubernetes-group-version-kind": [gvk._asdict()],
    }
    if fields := [{"fieldPath": path} for path in selectable]:
        made["x-kubernetes-selectable-fields"] = fields
    return made


def _embedded(node: Any) -> Any:
    """A node with what embedded resources have besides, and with what int-or-string stands for, at every depth."""
    if not isinstance(node, dict):
        return node
    made = dict(node)
    if isinstance(node.get("properties"), dict):
        made["properties"] = {name: _embedded(below) for name, below in node["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            made[key] = _embedded(node[key])
    if node.get("x-kubernetes-int-or-string"):
        _unfold(made)
    if node.get("x-kubernetes-embedded-resource"):
        made["properties"] = {**made.get("properties", {}), **_EMBEDDED_META}
        required = made.get("required") or []
        made["required"] = [*required, *(name for name in ("kind", "apiVersion") if name not in required)]
    return made


def _unfold(node: Object) -> None:
    first: Object = next(iter(node.get("allOf") or ()), {})
    if _INT_OR_STRING in (node.get("anyOf"), first.get("anyOf")):
        return  # it is said already
    if node.get("anyOf"):
        node["allOf"] = [{"anyOf": _INT_OR_STRING}, *(node.get("allOf") or ())]
    else:
        node["anyOf"] = _INT_OR_STRING


def published_list(gvk: GVK, list_kind: str, plural: str, item: str) -> Object:
    return {
        "description": f"{list_kind} is a list of {gvk.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **_TYPE_META,
            "items": {
                "description": f"List of {plural}. More info: {_CONVENTIONS}",
                "type": "array",
                "items": {"$ref": f"{_REFERENCE}{item}"},
            },
            "metadata": {
                "$ref": f"{_REFERENCE}{_META}.ListMeta",
                "description": f"Standard list metadata. More info: {_CONVENTIONS}#types-kinds",
            },
        },
        "x-kubernetes-group-version-kind": [gvk._replace(kind=list_kind)._asdict()],
    }
