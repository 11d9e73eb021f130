"""What makes a schema structural, and what is wrong with one that is not.

Source of the rules and texts: apiextensions-apiserver pkg/apiserver/schema (validation.go, complete.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.crd import patterns
from engine.api.errors import Cause
from engine.api.validation.problems import Problems

_ROOT, _ITEM, _FIELD = "root", "item", "field"
_NO_TYPE = {
    _ROOT: "must not be empty at the root",
    _ITEM: "must not be empty for specified array items",
    _FIELD: "must not be empty for specified object fields",
}
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
# What may stand in no junctor, and what it must be there.
_FORBIDDEN = (
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("externalDocs", "must be undefined to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)

Raw = Mapping[str, Any]


def structural_problems(raw: Raw, path: str) -> list[Cause]:
    """Sorted by their texts, as upstream."""
    problems = Problems()
    _invariants(raw, _ROOT, path, problems)
    _junctors_complete(raw, raw, path, path, problems)
    return sorted(problems, key=str)


def _is(value: Any) -> bool:
    return isinstance(value, dict)


def _invariants(raw: Raw, level: str, path: str, problems: Problems) -> None:
    kind, extra = raw.get("type", ""), raw.get("additionalProperties")
    if kind == "array" and not _is(raw.get("items")):
        problems.required(f"{path}.items", "must be specified")
    if _is(raw.get("items")):
        _invariants(raw["items"], _ITEM, f"{path}.items", problems)
    for name, node in (raw.get("properties") or {}).items():
        _invariants(node, _FIELD, f"{path}.properties[{name}]", problems)
    if extra is not None:
        if level == _ROOT:
            problems.forbidden(f"{path}.additionalProperties", "must not be used at the root")
        if _is(extra):
            _invariants(extra, _FIELD, f"{path}.additionalProperties", problems)
    _extensions(raw, path, problems)
    _validations(
        raw,
        path,
        problems,
        skip_any=raw.get("anyOf") == _INT_OR_STRING,
        skip_first=bool(raw.get("allOf")) and raw["allOf"][0].get("anyOf") == _INT_OR_STRING,
    )
    _types(raw, level, path, problems)
    _metadata(raw, level, path, problems)
    if kind and kind != "object" and level == _ROOT:
        problems.invalid(f"{path}.type", kind, "must be object at the root")


def _extensions(raw: Raw, path: str, problems: Problems) -> None:
    if not raw.get("x-kubernetes-int-or-string"):
        return
    for name in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
        if raw.get(name):
            problems.invalid(f"{path}.{name}", True, "must be false if x-kubernetes-int-or-string is true")


def _types(raw: Raw, level: str, path: str, problems: Problems) -> None:
    kind = raw.get("type", "")
    preserve = raw.get("x-kubernetes-preserve-unknown-fields")
    if raw.get("x-kubernetes-embedded-resource"):
        if kind != "object":
            text = "must be object if x-kubernetes-embedded-resource is true"
            if kind:
                problems.invalid(f"{path}.type", kind, text)
            else:
                problems.required(f"{path}.type", text)
        if raw.get("additionalProperties") is not None:
            problems.forbidden(
                f"{path}.additionalProperties", "must not be used if x-kubernetes-embedded-resource is set"
            )
        if not preserve and not raw.get("properties"):
            problems.required(
                f"{path}.properties",
                "must not be empty if x-kubernetes-embedded-resource is true without "
                "x-kubernetes-preserve-unknown-fields",
            )
    elif not kind and not raw.get("x-kubernetes-int-or-string") and not preserve:
        problems.required(f"{path}.type", _NO_TYPE[level])


def _metadata(raw: Raw, level: str, path: str, problems: Problems) -> None:
    properties = raw.get("properties") or {}
    checked = level == _ROOT or raw.get("x-kubernetes-embedded-resource")
    if not checked:
        return
    for name in ("kind", "apiVersion"):
        node = properties.get(name)
        if node is not None and node.get("type") != "string":
            problems.invalid(f"{path}.properties[{name}].type", node.get("type", ""), "must be string")
    metadata = properties.get("metadata")
    if metadata is None:
        return
    at = f"{path}.properties[metadata]"
    if metadata.get("type") != "object":
        problems.invalid(f"{at}.type", metadata.get("type", ""), "must be object")
    if level == _ROOT and _says_more(metadata):
        problems.forbidden(
            at, "must not specify anything other than name and generateName, but metadata is implicitly specified"
        )


def _says_more(metadata: Raw) -> bool:
    """Whether a root's metadata says more than how names look."""
    names = set(metadata.get("properties") or {})
    allowed = {"type", "properties", "default"}
    told = {key for key, value in metadata.items() if value or (value == 0 and value is not False)}
    return not names <= {"name", "generateName"} or bool(told - allowed)


# -- value validations and what is nested in them


def _validations(raw: Raw, path: str, problems: Problems, *, skip_any: bool = False, skip_first: bool = False) -> None:
    if not skip_any:
        for index, node in enumerate(raw.get("anyOf", ())):
            _nested(node, f"{path}.anyOf[{index}]", problems)
    for index, node in enumerate(raw.get("allOf", ())):
        _nested(node, f"{path}.allOf[{index}]", problems, skip_any=skip_first and index == 0)
    for index, node in enumerate(raw.get("oneOf", ())):
        _nested(node, f"{path}.oneOf[{index}]", problems)
    if _is(raw.get("not")):
        _nested(raw["not"], f"{path}.not", problems)
    pattern = raw.get("pattern")
    if pattern and (why := patterns.what_is_wrong(pattern)):
        problems.invalid(f"{path}.pattern", pattern, f"must be a valid regular expression, but isn't: {why}")


def _nested(raw: Raw, path: str, problems: Problems, *, skip_any: bool = False) -> None:
    _validations(raw, path, problems, skip_any=skip_any)
    if _is(raw.get("items")):
        _nested(raw["items"], f"{path}.items", problems)
    for name, node in (raw.get("properties") or {}).items():
        _nested(node, f"{path}.properties[{name}]", problems)
    for name, text in _FORBIDDEN:
        if raw.get(name) or (name in ("default", "additionalProperties") and raw.get(name) is not None):
            problems.forbidden(f"{path}.{name}", text)
    if "metadata" in (raw.get("properties") or {}):
        problems.forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")


# -- completeness: what a junctor speaks of is part of the structure. Upstream looks at the junctors of the root alone.


def _junctors_complete(raw: Raw, spine: Raw, path: str, spine_path: str, problems: Problems) -> None:
    for junctor in ("allOf", "anyOf", "oneOf"):
        for index, node in enumerate(raw.get(junctor, ())):
            _nested_complete(node, spine, f"{path}.{junctor}[{index}]", spine_path, problems)
    if _is(raw.get("not")):
        _nested_complete(raw["not"], spine, f"{path}.not", spine_path, problems)


def _nested_complete(raw: Raw, spine: Raw, path: str, spine_path: str, problems: Problems) -> None:
    _junctors_complete(raw, spine, path, spine_path, problems)
    if _is(raw.get("items")):
        below, at = spine.get("items"), f"{spine_path}.items"
        if isinstance(below, dict):
            _nested_complete(raw["items"], below, f"{path}.items", at, problems)
        else:
            problems.required(at, f"because it is defined in {path}.items")
    for name, node in (raw.get("properties") or {}).items():
        below, at = (spine.get("properties") or {}).get(name), f"{spine_path}.properties[{name}]"
        if isinstance(below, dict):
            _nested_complete(node, below, f"{path}.properties[{name}]", at, problems)
        else:
            problems.required(at, f"because it is defined in {path}.properties[{name}]")
