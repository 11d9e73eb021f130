"""What an `openAPIV3Schema` may say.

Source of the rules and texts: apiextensions-apiserver pkg/apis/apiextensions/validation (validation.go) and
pkg/apiserver/schema (convert.go). A node's rules are compiled where the node and all below it are sound, and what is
wrong with rules is told after all else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.api.crd.cel.definition_rules import Count, Total, check_rules
from engine.api.crd.default_rules import default_problems
from engine.api.crd.demands import TYPES, Demands
from engine.api.crd.internal_form import internal_schema
from engine.api.crd.list_rules import check_lists
from engine.api.crd.rule_texts import check_texts
from engine.api.crd.structural import META_FIELDS, Structural
from engine.api.crd.structural_rules import structural_problems
from engine.api.crd.unreadable import why_unreadable
from engine.api.validation.new_expressions import NewExpressions
from engine.api.validation.problems import Problems

# What is refused, and whether an empty one is too.
_UNSUPPORTED = (
    ("id", False),
    ("additionalItems", True),
    ("patternProperties", False),
    ("definitions", False),
    ("dependencies", True),
    ("$ref", True),
)
_ROOT_WITH_STATUS = (
    "Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum",
    "MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items",
    "Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
)  # fmt: skip
_ROOT_KEYS = frozenset(name[:1].lower() + name[1:] for name in _ROOT_WITH_STATUS if not name.startswith("X")) | {
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
}
# What Go keeps as a plain value, of which it cannot tell whether it was said to be empty.
_PLAIN = frozenset(("id", "$schema", "nullable", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"))
_DEMANDS = Demands()

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the schema a node is. Rules are not asked below junctors, where `count` is None; within `lost` old
    values cannot be told from each other."""

    root: bool = False
    in_meta: bool = False
    no_defaults: str = ""
    lost: str = ""
    count: Count | None = None


@dataclass(slots=True)
class Found:
    schema: Problems = field(default_factory=Problems)
    rules: Problems = field(default_factory=Problems)


def check_schema(raw: Raw, path: str, problems: Problems, *, status: bool, demands: Demands = _DEMANDS) -> None:
    """A version's whole schema; `status` says whether the status subresource is on."""
    before = len(problems)
    if status:
        _root_with_status(raw, path, problems)
    if raw.get("nullable"):
        problems.forbidden(f"{path}.nullable", "nullable cannot be true at the root")
    unreadable = why_unreadable(raw) if demands.structural else ""
    ruled = demands.structural and not unreadable and _sound(raw, path, problems, demands)
    walk, found = _Walk(demands, problems.expressions), Found()
    walk.node(raw, path, found, Place(root=True, count=Count() if ruled else None))
    problems += [*found.schema, *found.rules]
    if unreadable and len(problems) == before:
        problems.invalid(path, "", unreadable)
    walk.total.report(path, problems)


def _sound(raw: Raw, path: str, problems: Problems, demands: Demands) -> bool:
    """Whether the schema is structural and its defaults fit it."""
    wrong = structural_problems(raw, path) or default_problems(raw, path, pruned=demands.pruned_defaults)
    problems += wrong
    return not wrong


def _root_with_status(raw: Raw, path: str, problems: Problems) -> None:
    kind, first = raw.get("type"), bool(raw.get("id") or raw.get("$schema")) or raw.get("$ref") is not None
    if kind and kind != "object" and not first:  # of what Go comes to before the type, only that is told
        text = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        problems.invalid(f"{path}.type", kind, text)
    elif first or any(
        value is not None and (value or key not in _PLAIN) for key, value in raw.items() if key not in _ROOT_KEYS
    ):
        text = (
            f"only [{' '.join(_ROOT_WITH_STATUS)}] fields are allowed at the root of the schema if the status "
            "subresource is enabled"
        )
        problems.invalid(path, internal_schema(raw), text)


class _Walk:
    def __init__(self, demands: Demands, expressions: NewExpressions) -> None:
        self._demands = demands
        self._expressions = expressions
        self.total = Total(named=not demands.unchanged)

    def node(self, raw: Raw, path: str, found: Found, place: Place) -> None:
        own = Found()
        self._standard(raw, path, own.schema, place)
        if raw.get("uniqueItems"):
            text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
            own.schema.forbidden(f"{path}.uniqueItems", text)
        if raw.get("additionalProperties") not in (None, True) and raw.get("properties"):
            text = "additionalProperties and properties are mutual exclusive"
            own.schema.forbidden(f"{path}.additionalProperties", text)
        for node, at, below_ in _parts(raw, path, place):
            self.node(node, at, own, below_)
        if raw.get("x-kubernetes-preserve-unknown-fields") is False:
            own.schema.invalid(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined")
        check_lists(raw, path, own.schema, self._demands)
        check_texts(raw, path, own.schema)
        if raw.get("x-kubernetes-validations") and not own.schema and place.count is not None:
            check_rules(
                Structural(raw), path, own.rules, self.total, place.count, lost=place.lost, new=self._expressions
            )
        found.schema += own.schema
        found.rules += own.rules

    def _standard(self, raw: Raw, path: str, problems: Problems, place: Place) -> None:
        kind = raw.get("type")
        if self._demands.types and kind and kind not in TYPES:
            problems.not_supported(f"{path}.type", kind, TYPES)
        if raw.get("default") is not None and place.no_defaults:
            problems.forbidden(f"{path}.default", f"must not be set {place.no_defaults}")
        for name, empty in _UNSUPPORTED:
            if raw.get(name) or (empty and raw.get(name) is not None):
                problems.forbidden(f"{path}.{name}", f"{name} is not supported")
        if kind == "null":
            problems.forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
        if isinstance(raw.get("items"), list) and raw["items"]:
            problems.forbidden(f"{path}.items", "items must be a schema object and not an array")
        if place.in_meta and raw.get("x-kubernetes-embedded-resource"):
            problems.forbidden(f"{path}.x-kubernetes-embedded-resource", "must not be used inside of resource meta")


def _parts(raw: Raw, path: str, place: Place) -> Iterator[tuple[Raw, str, Place]]:
    """What a node is made of, in upstream's order, with its path and place."""
    inner = replace(place, root=False)
    if isinstance(raw.get("additionalProperties"), dict):
        values = raw["additionalProperties"]
        below_ = replace(inner, count=_counted(place, raw.get("maxProperties"), values))
        if place.in_meta:
            below_ = replace(below_, no_defaults="inside additionalProperties applying to object metadata")
        yield values, f"{path}.additionalProperties", below_
    for name, node in (raw.get("properties") or {}).items():
        yield node, f"{path}.properties[{name}]", _property(raw, path, place, name, node)
    aside = replace(inner, count=None)
    if isinstance(raw.get("not"), dict):
        yield raw["not"], f"{path}.not", aside
    for junctor in ("allOf", "oneOf", "anyOf"):
        for index, node in enumerate(raw.get(junctor) or ()):
            yield node, f"{path}.{junctor}[{index}]", aside
    for name, node in (raw.get("definitions") or {}).items():
        yield node, f"{path}.definitions[{name}]", aside
    items, keyed = raw.get("items"), raw.get("x-kubernetes-list-type") == "map"
    lost = place.lost or ("" if keyed else path)
    if isinstance(items, dict):
        yield items, f"{path}.items", replace(inner, lost=lost, count=_counted(place, raw.get("maxItems"), items))
    elif isinstance(items, list):
        for index, node in enumerate(items):
            yield node, f"{path}.items[{index}]", replace(aside, lost=lost)


def _property(raw: Raw, path: str, place: Place, name: str, node: Raw) -> Place:
    known = raw.get("x-kubernetes-map-type") in (None, "granular", "atomic")
    made = replace(place, root=False, lost=place.lost or ("" if known else path), count=_counted(place, 1, node))
    if not (place.root or raw.get("x-kubernetes-embedded-resource")) or name not in META_FIELDS:
        return made
    reason = f"in top-level {name}" if place.root else made.no_defaults
    return replace(made, in_meta=True, no_defaults=reason)


def _counted(place: Place, limit: int | None, node: Raw) -> Count | None:
    if place.count is None:
        return None
    return place.count.each(limit, root=bool(node.get("x-kubernetes-embedded-resource")))
