"""Whether the defaults of a schema fit it.

Source of the rules and texts: apiextensions-apiserver pkg/apiserver/schema/defaulting (validation.go,
surroundingobject.go).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.api.crd.embedded import check_embedded
from engine.api.crd.object_meta import NotCoercedError, coerced
from engine.api.crd.pruning import prune, prune_value
from engine.api.crd.structural import META_FIELDS, MISSING, Structural
from engine.api.crd.values import check_value, within
from engine.api.errors import Cause
from engine.api.schema import load_definitions
from engine.api.turns import at_once
from engine.api.types import Object
from engine.api.validation.problems import Problems

_META: Object = {"apiVersion": "validation/v1", "kind": "Validation"}
Surround = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Place:
    """`root` is the resource that a node is part of, `surround` makes an object of that resource for a value at the
    node, and `in_meta` tells that it is part of type or metadata."""

    root: Structural
    surround: Surround
    in_meta: bool = False

    def child(self, key: str, *, in_meta: bool) -> Place:
        outer = self.surround
        return replace(self, surround=lambda value: outer({key: value}), in_meta=in_meta)

    def item(self) -> Place:
        outer = self.surround
        return replace(self, surround=lambda value: outer([value]))


@dataclass(slots=True)
class Purse:
    """What the rules may cost yet that are asked about the defaults of a schema: all of them together have what those
    of one object have, and when it is spent no further default is looked at. None before the first."""

    left: int | None = None

    @property
    def spent(self) -> bool:
        return self.left is not None and self.left < 0


def default_problems(raw: Mapping[str, Any], path: str, *, pruned: bool) -> list[Cause]:
    """`pruned` says that defaults may hold no fields that the schema does not know."""
    schema, problems = Structural({**raw, "x-kubernetes-embedded-resource": True}), Problems()
    _check(schema, path, problems, _resource(schema), Purse(), pruned=pruned)
    return problems


def _resource(schema: Structural) -> Place:
    return Place(schema, lambda value: {**_META, **value} if isinstance(value, dict) else value)


def _check(schema: Structural, path: str, problems: Problems, place: Place, purse: Purse, *, pruned: bool) -> None:
    """Defaults below `additionalProperties` are forbidden in metadata, and elsewhere not looked at."""
    if purse.spent or not schema.has_defaults:
        return
    if schema.embedded:
        place = _resource(schema)
    if schema.default is not MISSING and schema.default is not None:
        problems.extend(_default(schema, f"{path}.default", place, purse, pruned=pruned))
    if schema.items is not None:
        _check(schema.items, f"{path}.items", problems, place.item(), purse, pruned=pruned)
    for name, node in schema.properties.items():
        meta = place.in_meta or (schema.embedded and name in META_FIELDS)
        _check(node, f"{path}.properties[{name}]", problems, place.child(name, in_meta=meta), purse, pruned=pruned)


def _default(schema: Structural, path: str, place: Place, purse: Purse, *, pruned: bool) -> list[Cause]:
    value, problems = schema.default, Problems()
    if place.in_meta:
        if wrong := _wrong_resources(place.root, place.surround(value), ""):
            texts = list(dict.fromkeys(map(str, wrong)))
            told = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
            problems.invalid(path, value, f"must result in valid metadata: {told}")
            return problems
        found = wrong
    else:
        if pruned and _unknown(schema, value):
            problems.invalid(path, value, "must not have unknown fields")
        found = _wrong_resources(schema, value, path)
    if not found:
        found = _wrong_values(schema, value, path)
    return [*problems, *(found or _rules(schema, value, path, purse, root=schema is place.root))]


def _wrong_resources(schema: Structural, value: Any, path: str) -> Problems:
    """What is wrong with the resources in a value: only the first whose type or metadata cannot be read, else all."""
    found = Problems()
    try:
        read = coerced(load_definitions(), schema, value, path, [])
    except NotCoercedError as error:
        found.append(error.cause)
    else:
        check_embedded(schema, read, path, found)
    return found


def _wrong_values(schema: Structural, value: Any, path: str) -> Problems:
    """What is said of a place is said as of one in the default, which may be anything where an integer or text must be:
    the structure says nothing of its type (ToKubeOpenAPI)."""
    found = Problems()
    check_value(Structural(_open(schema.raw)), value, "", found)
    found[:] = [cause._replace(field=within(path, cause.field)) for cause in found]
    return found


def _open(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """A structure's own nodes, without what says that they are integers or texts."""
    made = {key: value for key, value in raw.items() if key != "x-kubernetes-int-or-string"}
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = _open(made[key])
    if made.get("properties"):
        made["properties"] = {name: _open(node) for name, node in made["properties"].items()}
    return made


def _unknown(schema: Structural, value: Any) -> bool:
    unknown: list[str] = []
    if schema.embedded and isinstance(value, dict):
        prune(schema, value, unknown)
    else:
        prune_value(schema, value, unknown)
    return bool(unknown)


def _rules(schema: Structural, value: Any, path: str, purse: Purse, *, root: bool) -> list[Cause]:
    """The default must do as a value that stays, and as one that comes new; the dearer of the two is paid for."""
    if not schema.has_rules:
        return []
    from engine.api.crd.cel.rules import BUDGET, Validator, Walk

    validator = Validator.of(schema, root=root)
    found = Problems()
    if validator is not None:
        budget = BUDGET if purse.left is None else purse.left
        stays = Walk(found, ratcheting=False, budget=budget)
        at_once(validator.ask(value, value, path, stays))
        purse.left = stays.budget
        if not found:
            comes = Walk(found, ratcheting=True, budget=budget)
            at_once(validator.ask(value, MISSING, path, comes))
            purse.left = min(stays.budget, comes.budget)
    return found
