"""What is asked of a definition that is changed: not more than it has kept so far.

Rules were added to the API over the years, and a definition from before must still be changeable. Source:
apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go (validationOptions and the functions that fill
them in from the old definition).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.api.crd.hoisting import hoisted
from engine.api.crd.naming import is_true, wrong_bundle
from engine.api.crd.pruning import prune_value
from engine.api.crd.structural import MISSING, Structural
from engine.api.crd.structural_rules import structural_problems
from engine.api.types import Object

Raw = Mapping[str, Any]

TYPES = ("array", "boolean", "integer", "number", "object", "string")
REVIEW_VERSIONS = ("v1", "v1beta1")
MAX_SELECTABLE = 8
TOP = ""
_EXTENSIONS = ("x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys",
               "x-kubernetes-validations")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Demands:
    """Each says that a rule holds. `unchanged` names the versions whose rules are not asked what each of them costs,
    `many_selectable` those that may keep more selectable fields than there may be now (TOP: what all share)."""

    schemas: bool = True
    types: bool = True
    structural: bool = True
    pruned_defaults: bool = True
    atomic_sets: bool = True
    map_keys: bool = True
    review_version: bool = True
    ca_bundle: bool = False
    fixed_names: bool = False
    unchanged: frozenset[str] = frozenset()
    many_selectable: frozenset[str] = frozenset()

    @classmethod
    def of_update(cls, new: Object, old: Object) -> Demands:
        """What the old definition kept. A CA bundle that is none is let be until the definition is served."""
        spec, established = old["spec"], is_true(old, "Established")
        schemas = list(all_schemas(spec))
        return cls(
            schemas=len(schemas) == len(spec.get("versions") or ()),
            types=not _any(schemas, _strange_type),
            structural=not any(structural_problems(each, "") for each in schemas),
            pruned_defaults=not any(_unpruned(each) for each in schemas),
            atomic_sets=not _any(schemas, _loose_set),
            map_keys=not _any(schemas, _loose_keys),
            review_version=_known_review(spec),
            ca_bundle=established and not wrong_bundle(spec),
            fixed_names=established,
            unchanged=frozenset(_unchanged(new.get("spec", {}), spec)),
            many_selectable=frozenset(_kept_too_many(new.get("spec", {}), spec)),
        )

    def for_schemas(self, spec: Object) -> Demands:
        """Schemas must be structural where fields are pruned, and where they have defaults or extensions."""
        needed = not spec.get("preserveUnknownFields") or has_defaults(spec) or _any(all_schemas(spec), _extended)
        return replace(self, structural=True) if needed else self


def all_schemas(spec: Object) -> Iterator[Raw]:
    for version in spec.get("versions") or ():
        raw = (version.get("schema") or {}).get("openAPIV3Schema")
        if raw is not None:
            yield raw


def has_defaults(spec: Object) -> bool:
    return _any(all_schemas(spec), lambda raw: raw.get("default") is not None)


def below(raw: Raw) -> Iterator[Raw]:
    """The schema, and all that it is made of."""
    yield raw
    for name in ("items", "not", "additionalProperties", "additionalItems"):
        if isinstance(raw.get(name), dict):
            yield from below(raw[name])
    for name in ("allOf", "anyOf", "oneOf"):
        for node in raw.get(name) or ():
            yield from below(node)
    for name in ("properties", "patternProperties", "definitions"):
        for node in (raw.get(name) or {}).values():
            yield from below(node)


def _any(schemas: Iterable[Raw], found: Callable[[Raw], bool]) -> bool:
    return any(found(node) for schema in schemas for node in below(schema))


def _strange_type(raw: Raw) -> bool:
    return bool(raw.get("type")) and raw["type"] not in TYPES


def _extended(raw: Raw) -> bool:
    stated = ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-list-type")
    return any(raw.get(name) for name in _EXTENSIONS) or any(raw.get(name) is not None for name in stated)


def _unpruned(raw: Raw) -> bool:
    """Whether a structural schema has a default with fields that the schema does not know."""
    return not structural_problems(raw, "") and any(_unknown(Structural(node)) for node in below(raw))


def _unknown(node: Structural) -> bool:
    unknown: list[str] = []
    if node.default is not MISSING and node.default is not None:
        prune_value(node, node.default, unknown)
    return bool(unknown)


def _loose_set(raw: Raw) -> bool:
    return (
        raw.get("x-kubernetes-list-type") == "set" and isinstance(raw.get("items"), dict) and not atomic(raw["items"])
    )


def atomic(items: Raw) -> bool:
    """Whether the elements of a set are compared as a whole."""
    if items.get("type") == "array":
        return items.get("x-kubernetes-list-type") in (None, "atomic")
    return items.get("type") != "object" or items.get("x-kubernetes-map-type") == "atomic"


def _loose_keys(raw: Raw) -> bool:
    """Whether elements of a set or map may be null, or a key of theirs missing."""
    kind, items = raw.get("x-kubernetes-list-type"), raw.get("items")
    if kind not in ("set", "map") or not isinstance(items, dict):
        return False
    keys = raw.get("x-kubernetes-list-map-keys") or () if kind == "map" else ()
    return bool(items.get("nullable")) or any(may_be_missing(items, key) or nullable(items, key) for key in keys)


def may_be_missing(items: Raw, key: str) -> bool:
    node = (items.get("properties") or {}).get(key)
    return node is not None and key not in (items.get("required") or ()) and node.get("default") is None


def nullable(items: Raw, key: str) -> bool:
    return bool(((items.get("properties") or {}).get(key) or {}).get("nullable"))


def _known_review(spec: Object) -> bool:
    versions = ((spec.get("conversion") or {}).get("webhook") or {}).get("conversionReviewVersions") or ()
    return not versions or any(each in REVIEW_VERSIONS for each in versions)


def _unchanged(new: Object, old: Object) -> Iterator[str]:
    before = {version.get("name"): version.get("schema") for version in old.get("versions") or ()}
    for version in new.get("versions") or ():
        name = version.get("name", "")
        if name in before and before[name] == version.get("schema"):
            yield name


def _kept_too_many(new: Object, old: Object) -> Iterator[str]:
    """Where there were too many selectable fields before, and are the same now (findTooManySelectableFieldsAllowed)."""
    before = dict(_selectable_fields(old))
    for where, fields in _selectable_fields(new):
        if len(fields) > MAX_SELECTABLE and before.get(where) == fields:
            yield where


def _selectable_fields(spec: Object) -> Iterator[tuple[str, list[Object]]]:
    versions = spec.get("versions") or []
    common = hoisted(versions)
    yield TOP, common.get("selectableFields") or []
    if "selectableFields" not in common:
        for version in versions:
            yield version.get("name", ""), version.get("selectableFields") or []
