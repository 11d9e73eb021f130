"""What a Go struct holds once a field came twice in a document: encoding/json fills what is there already.

A struct keeps the fields that the second value does not name, a map its other keys, a slice the structs that stand at
the same place; anything else is replaced. So is what reads its JSON itself (UnmarshalJSON).
"""

from __future__ import annotations

from typing import Any

from engine.api.golang.fields import omits_zero
from engine.api.json_objects import DuplicatesDict
from engine.api.schema import FIELDS_V1, INT_OR_STRING, MICRO_TIME, QUANTITY, RAW_EXTENSION, TIME, Definitions, Schema
from engine.api.types import Object

_READ_THEMSELVES = frozenset((FIELDS_V1, INT_OR_STRING, MICRO_TIME, QUANTITY, RAW_EXTENSION, TIME))
# The structs that hardly any kind has behind a pointer.
_PLAIN = frozenset(("metadata", "spec", "status", "template", "strategy", "updateStrategy", "resources"))
_SCHEMAS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
_PARTS_OF_SCHEMAS = f"{_SCHEMAS}Or"


def settled(definitions: Definitions, schema: Schema, value: Any) -> Any:
    """A value in which nothing is there twice any more, but in what reads itself."""
    if schema.definition in _READ_THEMSELVES:
        return value
    if schema.definition.startswith(_PARTS_OF_SCHEMAS):
        schema = definitions[_SCHEMAS]
        if isinstance(value, list):
            return [settled(definitions, schema, item) if isinstance(item, dict) else item for item in value]
    if isinstance(value, dict):
        whole = _filled(schema, value) if isinstance(value, DuplicatesDict) else value
        return {
            key: item
            if (node := schema.properties.get(key, schema.values)) is None
            else settled(definitions, node, item)
            for key, item in whole.items()
        }
    if isinstance(value, list) and schema.items is not None:
        return [settled(definitions, schema.items, item) for item in value]
    return value


def _filled(schema: Schema, value: DuplicatesDict) -> Object:
    """An object with each field once; within a field that came once things may still be there twice."""
    return _object(schema, {}, value)


def _object(schema: Schema, before: Object, value: Object) -> Object:
    found = dict(before)
    for key, item in value.pairs if isinstance(value, DuplicatesDict) else value.items():
        node = schema.properties.get(key)
        if key not in found or node is None:
            found[key] = item
        elif item is not None:
            found[key] = _again(node, found[key], item)
        elif _behind_pointer(schema, key, node):
            del found[key]
    return found


def _behind_pointer(schema: Schema, key: str, node: Schema) -> bool:
    """Whether null takes away what is there: of a pointer, a map or a slice; anything else it leaves as it is."""
    if key in _PLAIN or omits_zero(schema.definition, key):
        return False
    return key not in schema.required or node.type in ("array", "object")


def _again(schema: Schema, before: Any, value: Any) -> Any:
    if schema.definition in _READ_THEMSELVES or schema.definition.startswith(_PARTS_OF_SCHEMAS):
        return value
    if isinstance(value, dict) and isinstance(before, dict):
        return _object(schema, _filled(schema, before) if isinstance(before, DuplicatesDict) else before, value)
    if isinstance(value, list) and isinstance(before, list) and schema.items is not None:
        pairs = zip(before, value, strict=False)
        return [*(_element(schema.items, old, new) for old, new in pairs), *value[len(before) :]]
    return value


def _element(schema: Schema, before: Any, value: Any) -> Any:
    return before if value is None else _again(schema, before, value)
