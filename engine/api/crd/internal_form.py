"""Versions, schemas and rules as errors show them: in the internal version, whose fields bear their names in Go, and of
which JSON leaves none out.

Source of the forms: apiextensions-apiserver pkg/apis/apiextensions (types.go, types_jsonschema.go).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from engine.api.types import Object

# The name in JSON, what stands where it is not given, and the form of what is.
_Field: TypeAlias = tuple[str, Any, Callable[[Any], Any]]
_Fields: TypeAlias = Mapping[str, _Field]  # by their names in Go


def internal_versions(versions: Sequence[Object] | None, common: Object) -> list[Object] | None:
    """The versions without what they have in `common`, which stands at the top of the spec."""
    if versions is None:
        return None
    return [_form(_VERSION, {name: each[name] for name in each if name not in common}) for each in versions]


def internal_schema(raw: Mapping[str, Any]) -> Object:
    return _form(_SCHEMA, raw)


def internal_items(items: Any) -> Object:
    """One schema for all, or a list of them."""
    if isinstance(items, list):
        return {"Schema": None, "JSONSchemas": _schemas(items)}
    return {"Schema": internal_schema(items), "JSONSchemas": None}


def internal_rule(rule: Mapping[str, Any]) -> Object:
    return _form(_RULE, rule)


def _form(fields: _Fields, raw: Mapping[str, Any]) -> Object:
    return {name: zero if raw.get(key) is None else form(raw[key]) for name, (key, zero, form) in fields.items()}


def _same(value: Any) -> Any:
    return value


def _each(form: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    return [form(value) for value in values]


def _map(form: Callable[[Any], Any], values: Mapping[str, Any]) -> Object:
    """Maps are written in the order of their keys."""
    return {key: form(values[key]) for key in sorted(values)}


def _json(value: Any) -> Any:
    """Any value."""
    if isinstance(value, dict):
        return _map(_json, value)
    return _each(_json, value) if isinstance(value, list) else _number(value)


def _number(value: Any) -> Any:
    """Whole floats are written as digits alone."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e21 else value


def _schemas(values: Sequence[Any]) -> list[Any]:
    return _each(internal_schema, values)


def _named_schemas(values: Mapping[str, Any]) -> Object:
    return _map(internal_schema, values)


def _or_bool(value: Any) -> Object:
    if isinstance(value, bool):
        return {"Allows": value, "Schema": None}
    return {"Allows": True, "Schema": internal_schema(value)}


def _dependency(value: Any) -> Object:
    if isinstance(value, list):
        return {"Schema": None, "Property": value}
    return {"Schema": internal_schema(value), "Property": None}


def _text(key: str) -> _Field:
    return key, "", _same


def _flag(key: str) -> _Field:
    return key, False, _same


def _optional(key: str, form: Callable[[Any], Any] = _same) -> _Field:
    return key, None, form


_RULE: Final[_Fields] = {
    "Rule": _text("rule"),
    "Message": _text("message"),
    "MessageExpression": _text("messageExpression"),
    "Reason": _optional("reason"),
    "FieldPath": _text("fieldPath"),
    "OptionalOldSelf": _optional("optionalOldSelf"),
}
_DOCS: Final[_Fields] = {"Description": _text("description"), "URL": _text("url")}
_SCHEMA: Final[_Fields] = {
    "ID": _text("id"),
    "Schema": _text("$schema"),
    "Ref": _optional("$ref"),
    "Description": _text("description"),
    "Type": _text("type"),
    "Nullable": _flag("nullable"),
    "Format": _text("format"),
    "Title": _text("title"),
    "Default": _optional("default", _json),
    "Maximum": _optional("maximum", _number),
    "ExclusiveMaximum": _flag("exclusiveMaximum"),
    "Minimum": _optional("minimum", _number),
    "ExclusiveMinimum": _flag("exclusiveMinimum"),
    "MaxLength": _optional("maxLength"),
    "MinLength": _optional("minLength"),
    "Pattern": _text("pattern"),
    "MaxItems": _optional("maxItems"),
    "MinItems": _optional("minItems"),
    "UniqueItems": _flag("uniqueItems"),
    "MultipleOf": _optional("multipleOf", _number),
    "Enum": _optional("enum", _json),
    "MaxProperties": _optional("maxProperties"),
    "MinProperties": _optional("minProperties"),
    "Required": _optional("required"),
    "Items": _optional("items", internal_items),
    "AllOf": _optional("allOf", _schemas),
    "OneOf": _optional("oneOf", _schemas),
    "AnyOf": _optional("anyOf", _schemas),
    "Not": _optional("not", internal_schema),
    "Properties": _optional("properties", _named_schemas),
    "AdditionalProperties": _optional("additionalProperties", _or_bool),
    "PatternProperties": _optional("patternProperties", _named_schemas),
    "Dependencies": _optional("dependencies", partial(_map, _dependency)),
    "AdditionalItems": _optional("additionalItems", _or_bool),
    "Definitions": _optional("definitions", _named_schemas),
    "ExternalDocs": _optional("externalDocs", partial(_form, _DOCS)),
    "Example": _optional("example", _json),
    "XPreserveUnknownFields": _optional("x-kubernetes-preserve-unknown-fields"),
    "XEmbeddedResource": _flag("x-kubernetes-embedded-resource"),
    "XIntOrString": _flag("x-kubernetes-int-or-string"),
    "XListMapKeys": _optional("x-kubernetes-list-map-keys"),
    "XListType": _optional("x-kubernetes-list-type"),
    "XMapType": _optional("x-kubernetes-map-type"),
    "XValidations": _optional("x-kubernetes-validations", partial(_each, internal_rule)),
}
_SCALE: Final[_Fields] = {
    "SpecReplicasPath": _text("specReplicasPath"),
    "StatusReplicasPath": _text("statusReplicasPath"),
    "LabelSelectorPath": _optional("labelSelectorPath"),
}
_COLUMN: Final[_Fields] = {
    "Name": _text("name"),
    "Type": _text("type"),
    "Format": _text("format"),
    "Description": _text("description"),
    "Priority": ("priority", 0, _same),
    "JSONPath": _text("jsonPath"),
}
_VERSION: Final[_Fields] = {
    "Name": _text("name"),
    "Served": _flag("served"),
    "Storage": _flag("storage"),
    "Deprecated": _flag("deprecated"),
    "DeprecationWarning": _optional("deprecationWarning"),
    "Schema": _optional("schema", partial(_form, {"OpenAPIV3Schema": _optional("openAPIV3Schema", internal_schema)})),
    "Subresources": _optional(
        "subresources",
        partial(_form, {"Status": _optional("status"), "Scale": _optional("scale", partial(_form, _SCALE))}),
    ),
    "AdditionalPrinterColumns": _optional("additionalPrinterColumns", partial(_each, partial(_form, _COLUMN))),
    "SelectableFields": _optional("selectableFields", partial(_each, partial(_form, {"JSONPath": _text("jsonPath")}))),
}
