"""Which schemas no structure can be made of (apiextensions-apiserver pkg/apiserver/schema, NewStructural)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.crd.demands import below

_UNREADABLE = ("id", "schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions")


def why_unreadable(raw: Mapping[str, Any]) -> str:
    """In upstream's words; "" for a schema that a structure can be made of."""
    for node in below(raw):
        for name in _UNREADABLE:
            if node.get("$schema" if name == "schema" else name) or (name == "additionalItems" and name in node):
                return f"OpenAPIV3Schema '{name}' is not supported"
        if node.get("x-kubernetes-preserve-unknown-fields") is False:
            return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
        if isinstance(node.get("items"), list) and node["items"]:
            return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    return ""
