"""The CEL types of built-in kinds, from their schemas (apiserver pkg/cel/openapi, pkg/cel/common/schemas.go)."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.cel import types
from engine.api.cel.types import DYN, STRING, Type, list_of, map_of, struct
from engine.api.crd.cel.escaping import escaped
from engine.api.schema import Schema

_SCALARS = {"string": STRING, "integer": types.INT, "number": types.DOUBLE, "boolean": types.BOOL}
_FORMATS = {
    "byte": types.BYTES,
    "date": types.TIMESTAMP,
    "date-time": types.TIMESTAMP,
    "duration": types.DURATION,
}
Structs = dict[str, Mapping[str, Type]]


def type_of_kind(schema: Schema, name: str) -> tuple[Type, Structs]:
    """The type of an object, and the fields of all types within it."""
    structs: Structs = {}
    return _Walk(structs).type_of(schema, name, ()) or DYN, structs


class _Walk:
    def __init__(self, structs: Structs) -> None:
        self._structs = structs

    def type_of(self, schema: Schema, name: str, within: tuple[str, ...]) -> Type | None:
        """None for what expressions cannot speak of, as quantities, whose schema says two types and so none. Of a
        definition within itself nothing is known but that it is an object (resolver/refs.go)."""
        if schema.int_or_string:
            return DYN
        if schema.quantity:
            return None
        if schema.definition in within:
            self._structs[name] = {}
            return struct(name)
        if schema.definition:
            within = (*within, schema.definition)
        match schema.type:
            case "array":
                item = self.type_of(schema.items, f"{name}.@idx", within) if schema.items is not None else None
                return list_of(item) if item is not None else None
            case "object" if schema.values is not None:
                value = self.type_of(schema.values, f"{name}.@elem", within)
                return map_of(STRING, value) if value is not None else None
            case "object":
                return self._struct(schema, name, within)
            case "string":
                return _FORMATS.get(schema.format, STRING)
        return _SCALARS.get(schema.type)

    def _struct(self, schema: Schema, name: str, within: tuple[str, ...]) -> Type:
        fields: dict[str, Type] = {}
        for key, node in schema.properties.items():
            known = escaped(key)
            below = self.type_of(node, f"{name}.{known}", within)
            if known is not None and below is not None:
                fields[known] = below
        self._structs[name] = fields
        return struct(name)
