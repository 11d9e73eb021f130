"""What Go knows of fields and the published schemas leave out: names of string types, embedded structs, `omitempty`.

`fields.json` is written by `python -m tests.conformance.go_decoder`, which reads all of it off the real kubectl;
`tags.json` has what that cannot be asked about, from the tags in k8s.io/api's types.go: which zero values are left out,
which texts have a type of their own, and which fields are there although the schema does not require them, or the other
way round.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from engine.api.schema import DURATION, MICRO_TIME, TIME, Schema

FILE = Path(__file__).with_name("fields.json")
TAGS = Path(__file__).with_name("tags.json")

# What is there in any case, required or not: structs that are no pointers.
_STRUCTS = ("metadata", "spec", "status")
# Whose zero values are nobody's to see: metadata and selectors have rules for what is missing, others defaults.
_READ_OTHERWISE = ("apimachinery.pkg.", "apiextensions-apiserver.pkg.", "api.flowcontrol.")
_CONDITION = "apimachinery.pkg.apis.meta.v1.Condition"
_DEFAULTED = {
    "RoleRef": ("apiGroup",),
    "PodFailurePolicyOnPodConditionsPattern": ("status",),
    **dict.fromkeys(("HTTPGetAction", "TCPSocketAction"), ("port",)),
    "ServicePort": ("targetPort",),
}
_PLAIN: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}


def field_type(definition: str, field: str, depth: int, otherwise: str) -> str:
    """The Go type of a field, or of what is `depth` lists or maps within it."""
    types = _of(definition).get("types", {}).get(field) or _tagged(definition).get("types", {}).get(field, {})
    return str(types.get(str(depth), otherwise))


def embedding(definition: str, field: str) -> list[str]:
    """The embedded structs that a field comes from, outermost first; none for a field of the struct itself."""
    for structs, fields in _of(definition).get("within", {}).items():
        if field in fields:
            return str(structs).split(".")
    return []


@lru_cache(maxsize=1)
def named_strings() -> frozenset[str]:
    """All Go types that are strings by another name."""
    types = (
        name
        for owner in (*_load().values(), *_load_tags().values())
        for by_depth in owner.get("types", {}).values()
        for name in by_depth.values()
    )
    return frozenset(name for name in types if not name.startswith(("[]", "map[")))


def omits_zero(definition: str, field: str) -> bool:
    """Whether a zero value in this field does not survive a round trip through Go's struct (`omitempty`)."""
    return field in _of(definition).get("omitted", ()) or field in _tagged(definition).get("omitted", ())


def born_with(schema: Schema) -> dict[str, Any]:
    """The fields that a Go struct holds whatever is set, and their values as long as nobody sets them."""
    tagged = _tagged(schema.definition)
    lacking = tagged.get("lacking", ())
    names = [name for name in schema.properties if name in schema.required or name in _STRUCTS]
    found = {name: _zero(schema.properties[name]) for name in names if name not in lacking}
    return {**found, **tagged.get("held", {})}


def written(schema: Schema) -> tuple[tuple[str, Any], ...]:
    """The plain fields that are written whatever they hold, and what: texts, numbers and truths without `omitempty`.

    Not those that a default is for."""
    name = schema.definition.removeprefix("io.k8s.")
    if name.startswith(_READ_OTHERWISE) and name != _CONDITION:
        return ()
    defaulted = _DEFAULTED.get(name.rpartition(".")[2], ())
    return tuple(
        (field, value)
        for field, value in born_with(schema).items()
        if isinstance(value, str | int) and field not in defaulted
    )


def _zero(schema: Schema) -> Any:
    """Of a field that is no pointer."""
    if schema.quantity or schema.int_or_string:
        return "0" if schema.quantity else 0
    if schema.type == "object":
        return {} if schema.properties else None
    if schema.definition in (TIME, MICRO_TIME) or schema.format == "byte":
        return None
    return "0s" if schema.definition == DURATION else _PLAIN.get(schema.type)


def _of(definition: str) -> dict[str, Any]:
    found: dict[str, Any] = _load().get(definition.removeprefix("io.k8s."), {})
    return found


def _tagged(definition: str) -> dict[str, Any]:
    found: dict[str, Any] = _load_tags().get(definition.removeprefix("io.k8s."), {})
    return found


@lru_cache(maxsize=1)
def _load_tags() -> dict[str, Any]:
    loaded: dict[str, Any] = orjson.loads(TAGS.read_bytes())
    return loaded


@lru_cache(maxsize=1)
def _load() -> dict[str, Any]:
    loaded: dict[str, Any] = orjson.loads(FILE.read_bytes())
    return loaded
