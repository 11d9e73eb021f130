"""Component schemas of the OpenAPI documents: the published definitions, brought back to what an API server serves.

kubernetes-validate writes optional fields as [type, "null"], pins kind and apiVersion by `enum`, and spells unions as
JSON schema does; OpenAPI v2 and v3 each have their own form for those (kube-openapi pkg/common and pkg/builder3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from engine.api.crd.published_v2 import root_in_v2
from engine.api.openapi.enums import with_enums
from engine.api.schema import INT_OR_STRING, QUANTITY, Definitions
from engine.api.types import Object

Dialect = Literal["v2", "v3"]

_DEFS = "#/$defs/"
PREFIX: Mapping[Dialect, str] = {"v2": "#/definitions/", "v3": "#/components/schemas/"}

_SPECIAL: Mapping[Dialect, Mapping[str, Object]] = {
    "v2": {
        INT_OR_STRING: {"description": "A number or a string.", "format": "int-or-string", "type": "string"},
        QUANTITY: {"description": "A fixed-point number, such as 500m or 1Gi.", "type": "string"},
    },
    "v3": {
        INT_OR_STRING: {
            "description": "A number or a string.",
            "format": "int-or-string",
            "oneOf": [{"type": "integer"}, {"type": "string"}],
        },
        QUANTITY: {
            "description": "A fixed-point number, such as 500m or 1Gi.",
            "oneOf": [{"type": "string"}, {"type": "number"}],
        },
    },
}


def component(definitions: Definitions, name: str, dialect: Dialect) -> Object:
    """The schema of a definition as a document of this dialect has it."""
    special = _SPECIAL[dialect].get(name)
    if special is not None:
        return special
    custom = name in definitions.raw and name not in definitions.root.raw
    raw = definitions.raw[name]
    if custom:
        return _converted(root_in_v2(raw) if dialect == "v2" else raw, dialect, custom=True)
    return with_enums(name, _converted(raw, dialect), definitions.release)


def _converted(raw: Mapping[str, Any], dialect: Dialect, *, custom: bool = False) -> Object:
    schema: Object = {}
    for key, value in raw.items():
        match key:
            case "enum" if custom:
                schema[key] = value
            case "type":
                schema[key] = _type(value)
            case "enum" if value and len(value) == 1:
                continue  # kind and apiVersion: the server does not say so
            case "$ref":
                schema[key] = PREFIX[dialect] + str(value).removeprefix(_DEFS)
            case "properties":
                schema[key] = {name: _converted(field, dialect, custom=custom) for name, field in value.items()}
            case "items" | "additionalProperties" if isinstance(value, dict):
                schema[key] = _converted(value, dialect, custom=custom)
            case _:
                schema[key] = value
    if dialect == "v3" and "$ref" in schema and len(schema) > 1:  # OpenAPI 3.0 allows nothing beside a reference
        schema = {"allOf": [{"$ref": schema.pop("$ref")}], **schema}
    return schema


def _type(value: Any) -> Any:
    return next(item for item in value if item != "null") if isinstance(value, list) else value


def closure(definitions: Definitions, names: Iterable[str]) -> list[str]:
    """The definitions named and all that they refer to, sorted."""
    found: dict[str, None] = {}
    waiting = [name for name in names if name in definitions.raw]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            waiting.extend(_references(definitions.raw[name]))
    return sorted(found)


def _references(raw: Any) -> Iterator[str]:
    if isinstance(raw, dict):
        reference = raw.get("$ref")
        if isinstance(reference, str):
            yield reference.removeprefix(_DEFS)
        for value in raw.values():
            yield from _references(value)
    elif isinstance(raw, list):
        for value in raw:
            yield from _references(value)
