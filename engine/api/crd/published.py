"""The schema of a custom resource as it is published: with its type and metadata, named as in OpenAPI documents.

Source of the shape: apiextensions-apiserver pkg/controller/openapi/builder. The dialect is that of
kubernetes-validate, which all other definitions have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.types import GVK, Object

_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_REFERENCE = "#/$defs/"
_API_VERSION = (
    "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized "
    "schemas to the latest internal value, and may reject unrecognized values. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
)
_KIND = (
    "Kind is a string value representing the REST resource this object represents. Servers may infer this from the "
    "endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)
_TYPE_META = {
    "apiVersion": {"description": _API_VERSION, "type": "string"},
    "kind": {"description": _KIND, "type": "string"},
}


def published_name(gvk: GVK) -> str:
    """As in `com.example.stable.v1.CronTab`."""
    return ".".join([*reversed(gvk.group.split(".")), gvk.version, gvk.kind])


def list_name(gvk: GVK, list_kind: str) -> str:
    return published_name(gvk._replace(kind=list_kind))


def published(gvk: GVK, raw: Mapping[str, Any]) -> Object:
    properties = raw.get("properties") or {}
    described = _typed(properties)
    metadata: Object = {"$ref": f"{_REFERENCE}{_META}.ObjectMeta"}
    if text := (properties.get("metadata") or {}).get("description"):
        metadata["description"] = text
    return {
        **raw,
        "type": "object",
        "properties": {**described, "metadata": metadata},
        "x-kubernetes-group-version-kind": [gvk._asdict()],
    }


def _typed(properties: Mapping[str, Any]) -> Object:
    """The fields with those of type and metadata, here and in embedded resources below."""
    return {**_TYPE_META, **{name: _embedded(node) for name, node in properties.items()}}


def _embedded(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    made = dict(node)
    if isinstance(node.get("properties"), dict):
        made["properties"] = {name: _embedded(below) for name, below in node["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            made[key] = _embedded(node[key])
    if node.get("x-kubernetes-embedded-resource"):
        metadata = {"$ref": f"{_REFERENCE}{_META}.ObjectMeta"}
        made["properties"] = {**_TYPE_META, **made.get("properties", {}), "metadata": metadata}
    return made


def published_list(gvk: GVK, list_kind: str, item: str) -> Object:
    return {
        "description": f"{list_kind} is a list of {gvk.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **_TYPE_META,
            "items": {
                "description": f"List of {gvk.kind.lower()}s.",
                "type": "array",
                "items": {"$ref": f"{_REFERENCE}{item}"},
            },
            "metadata": {"$ref": f"{_REFERENCE}{_META}.ListMeta"},
        },
        "x-kubernetes-group-version-kind": [gvk._replace(kind=list_kind)._asdict()],
    }
