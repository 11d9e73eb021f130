"""What an `openAPIV3Schema` may say: types, list and map types, defaults, rules.

Source of the rules and texts: apiextensions-apiserver pkg/apis/apiextensions/validation (validation.go) and
pkg/apiserver/schema/defaulting (validation.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.api.crd.cel.definition_rules import check_rules
from engine.api.crd.list_types import check_list_types
from engine.api.crd.pruning import prune_value
from engine.api.crd.structural import META_FIELDS, Structural
from engine.api.crd.structural_rules import structural_problems
from engine.api.crd.values import check_value
from engine.api.validation.problems import Problems

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED = (
    ("id", "id is not supported"),
    ("additionalItems", "additionalItems is not supported"),
    ("patternProperties", "patternProperties is not supported"),
    ("definitions", "definitions is not supported"),
    ("dependencies", "dependencies is not supported"),
    ("$ref", "$ref is not supported"),
)
_ROOT_WITH_STATUS = (
    "Description",
    "Type",
    "Format",
    "Title",
    "Maximum",
    "ExclusiveMaximum",
    "Minimum",
    "ExclusiveMinimum",
    "MaxLength",
    "MinLength",
    "Pattern",
    "MaxItems",
    "MinItems",
    "UniqueItems",
    "MultipleOf",
    "Required",
    "Items",
    "Properties",
    "ExternalDocs",
    "Example",
    "XPreserveUnknownFields",
    "XValidations",
)
_ROOT_KEYS = frozenset(name[:1].lower() + name[1:] for name in _ROOT_WITH_STATUS if not name.startswith("X")) | {
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
}

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the schema a node is."""

    root: bool = False
    in_meta: bool = False
    no_defaults: str = ""


def check_schema(raw: Raw, path: str, problems: Problems, *, status: bool) -> None:
    """A version's whole schema; `status` says whether the status subresource is on."""
    found = Problems()
    if status:
        _root_with_status(raw, path, found)
    if raw.get("nullable"):
        found.forbidden(f"{path}.nullable", "nullable cannot be true at the root")
    _node(raw, path, found, Place(root=True))
    structure = structural_problems(raw, path)
    found.extend(structure)
    if not structure:
        _defaults(Structural(raw), path, found, Place(root=True))
    if not found:
        check_rules(Structural(raw), path, found)
    problems.extend(found)


def _root_with_status(raw: Raw, path: str, problems: Problems) -> None:
    kind = raw.get("type")
    if kind and kind != "object":
        text = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        problems.invalid(f"{path}.type", kind, text)
    elif any(value for key, value in raw.items() if key not in _ROOT_KEYS):
        text = (
            f"only [{' '.join(_ROOT_WITH_STATUS)}] fields are allowed at the root of the schema if the status "
            "subresource is enabled"
        )
        problems.invalid(path, raw, text)


def _node(raw: Raw, path: str, problems: Problems, place: Place) -> None:
    _standard(raw, path, problems, place)
    if raw.get("uniqueItems"):
        problems.forbidden(
            f"{path}.uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        )
    _below(raw, path, problems, place)
    if raw.get("x-kubernetes-preserve-unknown-fields") is False:
        problems.invalid(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined")
    _map_type(raw, path, problems)
    _list_type(raw, path, problems)
    _rule_texts(raw, path, problems)


def _standard(raw: Raw, path: str, problems: Problems, place: Place) -> None:
    kind = raw.get("type")
    if kind == "null":
        problems.forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
    elif kind and kind not in _TYPES:
        problems.not_supported(f"{path}.type", kind, _TYPES)
    if "default" in raw and place.no_defaults:
        problems.forbidden(f"{path}.default", f"must not be set {place.no_defaults}")
    for name, text in _UNSUPPORTED:
        if raw.get(name):
            problems.forbidden(f"{path}.{name}", text)
    if isinstance(raw.get("items"), list):
        problems.forbidden(f"{path}.items", "items must be a schema object and not an array")
    if place.in_meta and raw.get("x-kubernetes-embedded-resource"):
        problems.forbidden(f"{path}.x-kubernetes-embedded-resource", "must not be used inside of resource meta")


def _below(raw: Raw, path: str, problems: Problems, place: Place) -> None:
    inner = replace(place, root=False)
    extra, properties = raw.get("additionalProperties"), raw.get("properties") or {}
    if extra is not None:
        if properties and extra is not True:
            text = "additionalProperties and properties are mutual exclusive"
            problems.forbidden(f"{path}.additionalProperties", text)
        if isinstance(extra, dict):
            below = inner
            if place.in_meta:
                below = replace(inner, no_defaults="inside additionalProperties applying to object metadata")
            _node(extra, f"{path}.additionalProperties", problems, below)
    embedded = raw.get("x-kubernetes-embedded-resource")
    for name, node in properties.items():
        below = inner
        if (place.root or embedded) and name in META_FIELDS:
            reason = f"in top-level {name}" if place.root else inner.no_defaults
            below = replace(inner, in_meta=True, no_defaults=reason)
        _node(node, f"{path}.properties[{name}]", problems, below)
    for junctor in ("allOf", "oneOf", "anyOf"):
        for index, node in enumerate(raw.get(junctor, ())):
            _node(node, f"{path}.{junctor}[{index}]", problems, inner)
    for name in ("not", "items"):
        if isinstance(raw.get(name), dict):
            _node(raw[name], f"{path}.{name}", problems, inner)


# -- list and map types


def _wrong_kind(raw: Raw, path: str, text: str, problems: Problems) -> None:
    if raw.get("type"):
        problems.invalid(f"{path}.type", raw["type"], text)
    else:
        problems.required(f"{path}.type", text)


def _map_type(raw: Raw, path: str, problems: Problems) -> None:
    map_type = raw.get("x-kubernetes-map-type")
    if map_type is None:
        return
    if raw.get("type") != "object":
        _wrong_kind(raw, path, "must be object if x-kubernetes-map-type is specified", problems)
    if map_type not in ("atomic", "granular"):
        problems.not_supported(f"{path}.x-kubernetes-map-type", map_type, ("atomic", "granular"))


def _list_type(raw: Raw, path: str, problems: Problems) -> None:
    list_type, keys = raw.get("x-kubernetes-list-type"), raw.get("x-kubernetes-list-map-keys") or []
    items = raw.get("items") if isinstance(raw.get("items"), dict) else None
    at = f"{path}.x-kubernetes-list-type"
    if list_type is not None and raw.get("type") != "array":
        _wrong_kind(raw, path, "must be array if x-kubernetes-list-type is specified", problems)
    elif list_type == "set" and items is not None:
        _set_items(items, f"{path}.items", problems)
    if list_type is not None and list_type not in ("atomic", "set", "map"):
        problems.not_supported(at, list_type, ("atomic", "map", "set"))
    if keys and list_type != "map":
        text = "must be map if x-kubernetes-list-map-keys is non-empty"
        if list_type is None:
            problems.required(at, text)
        else:
            problems.invalid(at, list_type, text)
    if list_type == "map":
        _map_list(raw, items, keys, path=path, problems=problems)
    if list_type in ("set", "map") and items is not None and items.get("nullable"):
        problems.forbidden(f"{path}.items.nullable", f"cannot be nullable when x-kubernetes-list-type is {list_type}")


def _set_items(items: Raw, path: str, problems: Problems) -> None:
    text = "must be atomic as item of a list with x-kubernetes-list-type=set"
    if items.get("type") == "array" and items.get("x-kubernetes-list-type", "atomic") != "atomic":
        problems.invalid(f"{path}.x-kubernetes-list-type", items["x-kubernetes-list-type"], text)
    if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        problems.invalid(f"{path}.x-kubernetes-map-type", items.get("x-kubernetes-map-type"), text)


def _map_list(raw: Raw, items: Raw | None, keys: list[str], *, path: str, problems: Problems) -> None:
    at = f"{path}.x-kubernetes-list-map-keys"
    if not keys:
        problems.required(at, "must not be empty if x-kubernetes-list-type is map")
    if raw.get("items") is None:
        problems.required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map")
    if items is None:
        return
    if items.get("type") != "object":
        text = "must be object if parent array's x-kubernetes-list-type is map"
        problems.invalid(f"{path}.items.type", items.get("type", ""), text)
        return
    properties = items.get("properties") or {}
    for index, key in enumerate(keys):
        node, where = properties.get(key), f"{path}.items.properties[{key}]"
        if key in keys[:index]:
            problems.invalid(at, keys, "must not contain duplicate entries")
        if node is None:
            problems.invalid(at, keys, "entries must all be names of item properties")
            continue
        if node.get("type") in ("array", "object"):
            text = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            problems.invalid(f"{where}.type", items["type"], text)
        if key not in items.get("required", ()) and "default" not in node:
            problems.required(
                f"{where}.default",
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            )
        if node.get("nullable"):
            problems.forbidden(
                f"{where}.nullable", "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            )


# -- rules


def _rule_texts(raw: Raw, path: str, problems: Problems) -> None:
    for index, rule in enumerate(raw.get("x-kubernetes-validations", ())):
        at = f"{path}.x-kubernetes-validations[{index}]"
        text, message = rule.get("rule", "").strip(), rule.get("message", "")
        if not text:
            problems.required(f"{at}.rule", "rule is not specified")
        elif message and not message.strip():
            problems.invalid(f"{at}.message", message, "message must be non-empty if specified")
        elif _broken(message.strip()):
            problems.invalid(f"{at}.message", message, "message must not contain line breaks")
        elif _broken(text) and not message.strip():
            problems.required(f"{at}.message", "message must be specified if rule contains line breaks")
        computed, field = rule.get("messageExpression", ""), rule.get("fieldPath", "")
        if computed and not computed.strip():
            problems.required(f"{at}.messageExpression", "messageExpression must be non-empty if specified")
        if field and not field.strip():
            problems.invalid(f"{at}.fieldPath", field, "fieldPath must be non-empty if specified")
        elif _broken(field):
            problems.invalid(f"{at}.fieldPath", field, "fieldPath must not contain line breaks")
        reason = rule.get("reason")
        if reason is not None and reason not in _REASONS:
            problems.not_supported(f"{at}.reason", reason, _REASONS)


_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def _broken(text: str) -> bool:
    return "\n" in text or "\r" in text


# -- defaults


def _defaults(schema: Structural, path: str, problems: Problems, place: Place) -> None:
    """Each default must fit its schema and hold nothing unknown."""
    if not schema.has_defaults:
        return
    if "default" in schema.raw and not place.root:
        _default(schema, path, problems)
    for name, node in schema.properties.items():
        _defaults(node, f"{path}.properties[{name}]", problems, Place())
    if schema.items is not None:
        _defaults(schema.items, f"{path}.items", problems, Place())
    if schema.values is not None:
        _defaults(schema.values, f"{path}.additionalProperties", problems, Place())


def _default(schema: Structural, path: str, problems: Problems) -> None:
    at, value = f"{path}.default", schema.raw["default"]
    unknown: list[str] = []
    prune_value(schema, value, unknown)
    if unknown:
        problems.invalid(at, value, f"must not have unknown fields: {', '.join(unknown)}")
        return
    found = Problems()
    check_value(schema, value, at, found)
    check_list_types(schema, value, at, found)
    problems.extend(found)
