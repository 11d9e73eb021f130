"""`jsonpatch.escapeKey`, and the types of `Object{...}` and `JSONPatch{...}`.

Source: apiserver pkg/cel/library/jsonpatch.go, pkg/cel/mutation.
"""

from __future__ import annotations

from engine.api.cel import types
from engine.api.cel.functions import Library
from engine.api.cel.types import STRING, Type, struct

OBJECT, JSON_PATCH = struct("Object"), struct("JSONPatch")
_PATCH_FIELDS = {"op": STRING, "path": STRING, "from": STRING, "value": types.DYN}


def patches() -> Library:
    made = Library()
    made.add("jsonpatch.escapeKey", (STRING,), STRING, lambda key: key.replace("~", "~0").replace("/", "~1"))
    return made


def literal_type(name: str) -> Type | None:
    """Any path of fields from Object names a type."""
    return struct(name) if name in ("Object", "JSONPatch") or name.startswith("Object.") else None


def literal_field(type_name: str, name: str) -> Type | None:
    return _PATCH_FIELDS.get(name) if type_name == "JSONPatch" else types.DYN
