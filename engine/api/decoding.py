"""Hop 05, first half: a request's JSON value becomes an object of its kind, as a Go struct would take it in.

Types are checked, nulls dropped, quantities and times brought to their canonical form, unknown and duplicate fields
dropped and reported. The decoder of a kind is compiled from its schema once, as nested closures. Errors have the texts
of sigs.k8s.io/json and of apiserver's endpoints/handlers (transformDecodeError); what becomes of the strict errors is
for the REST layer to say, which knows `fieldValidation`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isinf
from typing import Any, NamedTuple, NoReturn

from engine.api.decoders import Mismatch, Refused, compiler, json_type
from engine.api.errors import ApiError, bad_request
from engine.api.go_schemes import registered, scheme_of
from engine.api.golang.fields import embedding, field_type
from engine.api.golang.text import json_text
from engine.api.golang.types import short_name
from engine.api.json_objects import DUPLICATE, DuplicatesDict, path_steps
from engine.api.repeated_fields import settled
from engine.api.schema import JSON_SCHEMA, Definitions, Schema
from engine.api.types import GVK, Object

_MAX_STRICT_ERRORS = 100
_MOST_MISFITS = 100  # that are looked past
# Kinds of older versions that are taken as well where they are posted (pkg/registry AcceptsGroupVersion).
_TAKEN_TOO = {GVK("policy", "v1beta1", "Eviction"): GVK("policy", "v1", "Eviction")}


class Decoded(NamedTuple):
    """`unknown` are the strict-decoding errors, such as `unknown field "spec.foo"`, in the order of the document."""

    object: Object
    unknown: list[str]


def load_json(body: bytes) -> Any:
    """The JSON value of a request's body, with a DuplicatesDict where fields are duplicated. Raises ValueError."""
    text = json_text(body)
    try:
        return json.loads(text, object_pairs_hook=_from_pairs, parse_constant=_no_number, parse_float=_finite)
    except (json.JSONDecodeError, UnfitNumber):
        raise
    except ValueError:  # of more digits than Python takes for an integer: it does not say which
        return json.loads(text, parse_constant=_no_number, parse_float=_finite, parse_int=_of_few_digits)


class UnfitNumber(ValueError):
    """In the words of Go's encoding/json."""


def _no_number(word: str) -> NoReturn:
    """Of NaN and its like Python would make numbers."""
    raise UnfitNumber(f"{word} is no JSON")


def _of_few_digits(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise _unfit(digits) from None


def _finite(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise _unfit(digits)
    return number


def _unfit(digits: str) -> UnfitNumber:
    return UnfitNumber(f"cannot unmarshal number {digits} into Go value of type float64")


def _from_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    found = DuplicatesDict(plain)
    found.pairs = tuple(pairs)
    return found


def decode(definitions: Definitions, gvk: GVK, value: Any) -> Decoded:
    """The object that a JSON value stands for. `value` is not changed, and shares nothing with the result.

    Raises ApiError 400 if it is no such object.
    """
    if (extension := definitions.extensions.get(gvk)) is not None:
        return Decoded(*extension.decode(value))
    schema = definitions.kind(gvk)
    if schema is None:
        raise bad_request(f'no kind "{gvk.kind}" is registered for version "{gvk.api_version}"')
    return decode_as(definitions, schema, value, gvk=gvk)


def decode_as(definitions: Definitions, schema: Schema, value: Any, *, gvk: GVK) -> Decoded:
    """As `decode`, for a schema of one's own; `gvk` is for the error text and the object's type.

    The error of a value with a wrong type has its Mismatch as its cause.
    """
    found = _found_kind(definitions, value, gvk)
    try:
        return unmarshalled(definitions, schema, value, gvk=gvk)
    except Unfit as unfit:
        raise _cannot_be_handled(found, gvk, str(unfit)) from unfit.__cause__


class Unfit(ValueError):
    """A value that cannot become what it should, in the words of encoding/json. A wrong type is its cause."""


def unmarshalled(definitions: Definitions, schema: Schema, value: Any, *, gvk: GVK) -> Decoded:
    """The object of a value that is taken to be of the kind, as encoding/json reads it. Raises Unfit."""
    strict: list[str] = []
    try:
        decoder = compiler(definitions).decoder(schema)
        decoded = decoder(value, (), strict)
        if any(told.startswith(DUPLICATE) for told in strict):
            decoded = decoder(settled(definitions, schema, value), (), [])
    except Mismatch as mismatch:
        told = _told(definitions, schema, value, mismatch)
        text = mismatch_text(schema, told) if isinstance(told, Mismatch) else str(told)
        raise Unfit(text) from told
    except Refused as refused:
        raise Unfit(str(refused)) from None
    if strict:
        strict = [told for told in dict.fromkeys(strict) if told != DUPLICATE][:_MAX_STRICT_ERRORS]
    # Not of this schema's order: the type is written first, as all printers show it.
    return Decoded({"apiVersion": gvk.api_version, "kind": gvk.kind, **_typeless(decoded)}, strict)


def _told(definitions: Definitions, schema: Schema, value: Any, first: Mismatch) -> Mismatch | Refused:
    """What is told of a value with wrong types: the first of them, unless a type that reads its JSON itself refuses it
    further on, at which Go reads no more."""
    found, decoder = first, compiler(definitions).decoder(schema)
    for _ in range(_MOST_MISFITS):
        if found.by_type or (value := _without(value, path_steps(found.path))) is None:
            break
        try:
            decoder(value, (), [])
        except Mismatch as following:
            found = following
        except Refused as refused:
            return refused
        else:
            return first
    return found if found.by_type else first


def _without(value: Any, steps: Sequence[str | int]) -> Any:
    """A copy that has null at the end of the way; nothing where the way leads through fields that are there twice."""
    if not steps or isinstance(value, DuplicatesDict):
        return None
    step, *rest = steps
    inner = _without(value[step], rest) if rest else None
    if rest and inner is None:
        return None
    if isinstance(value, list):
        return [inner if index == step else item for index, item in enumerate(value)]
    return {key: inner if key == step else item for key, item in value.items()}


def type_error(definitions: Definitions, schema: Schema, value: Any) -> str:
    """What encoding/json has against a value that is to become a struct of this schema; "" for nothing."""
    try:
        compiler(definitions).decoder(schema)(value, (), [])
    except Mismatch as mismatch:
        return mismatch_text(schema, mismatch)
    except Refused as refused:
        return str(refused)
    return ""


def _typeless(decoded: Object) -> Object:
    decoded.pop("apiVersion", None)
    decoded.pop("kind", None)
    return decoded


def _found_kind(definitions: Definitions, value: Any, gvk: GVK) -> GVK:
    """The kind that the value says it is; what it leaves out is taken from where it was sent."""
    if not isinstance(value, dict):
        return gvk
    api_version, kind = value.get("apiVersion"), value.get("kind")
    group, _, version = api_version.rpartition("/") if isinstance(api_version, str) else ("", "", "")
    if not version and group in ("", gvk.group):
        group, version = gvk.group, gvk.version
    found = GVK(group, version, kind if isinstance(kind, str) and kind else gvk.kind)
    if found == gvk:
        return found
    if _TAKEN_TOO.get(found) == gvk:
        return gvk
    if why := other_kind(definitions, found, gvk):
        raise _cannot_be_handled(found, gvk, why)
    raise bad_request(
        f"the API version in the data ({found.api_version}) does not match the expected API version ({gvk.api_version})"
    )


def other_kind(definitions: Definitions, found: GVK, wanted: GVK) -> str:
    """What upstream's scheme has against making one kind of another; "" for nothing: they differ in the version."""
    if not registered(definitions, found, wanted.group):
        scheme = scheme_of(wanted.group)
        return f'no kind "{found.kind}" is registered for version "{found.api_version}" in scheme "{scheme}"'
    if found.kind != wanted.kind:
        internal = f"{wanted.group.partition('.')[0] or 'core'}.{wanted.kind}"
        return f"converting ({found.version}.{found.kind}) to ({internal}): unknown conversion"
    return ""


def _cannot_be_handled(found: GVK, wanted: GVK, why: str) -> ApiError:
    return bad_request(f'{found.kind} in version "{found.version}" cannot be handled as a {wanted.kind}: {why}')


# -- error texts


def _within(node: Schema) -> Schema:
    """What is in a place for a schema or something else: such a value reads itself, and the way on from it is told."""
    return node.other(JSON_SCHEMA) if node.definition.startswith(f"{JSON_SCHEMA}Or") else node


def mismatch_text(root: Schema, mismatch: Mismatch, *, above: int = 0) -> str:
    """Go names the struct that has the field, and the fields on the way to it with the structs they are embedded from,
    but neither indices nor map keys. `above` counts the steps of the path that lead to the root."""
    owner, fields, depth, node = "", [], 0, root
    for step in path_steps(mismatch.path)[above:]:
        depth += 1
        node = _within(node)
        if isinstance(step, int) and node.definition == JSON_SCHEMA:
            continue
        if isinstance(step, str) and step in node.properties:
            owner, depth = node.definition, 0
            fields += [*embedding(owner, step), step]
        following = node.items if isinstance(step, int) else node.field(step)
        if following is None:
            break
        node = following
    value = json_type(mismatch.value, mismatch.type_name)
    if not fields:
        return f"json: cannot unmarshal {value} into Go value of type {mismatch.type_name}"
    type_name = field_type(owner, fields[-1], depth, mismatch.type_name)
    field = f"{short_name(owner)}.{'.'.join(fields)}"
    return f"json: cannot unmarshal {value} into Go struct field {field} of type {type_name}"
