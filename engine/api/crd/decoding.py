"""From a request's JSON value to a custom object: type and metadata as in Go, the rest pruned to its schema.

Values are not type-checked here, which validation does. Source: apiextensions-apiserver pkg/apiserver
(schemaCoercingDecoder, conversion/converter.go) and pkg/apiserver/schema/objectmeta.
"""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.crd.defaulting import completed
from engine.api.crd.object_meta import MalformedError, NotCoercedError, coerced, object_meta_of
from engine.api.crd.pruning import prune
from engine.api.crd.structural import Structural
from engine.api.decoders import as_float, json_type
from engine.api.errors import ApiError, KindMissing, OtherVersion, bad_request, field_invalid, invalid
from engine.api.golang.floats import WholeFloat
from engine.api.json_objects import duplicates
from engine.api.schema import Definitions
from engine.api.types import GVK, Object

_EXACT = 2**63


def decode_custom(definitions: Definitions, schema: Structural, value: Any, *, gvk: GVK) -> tuple[Object, list[str]]:
    """Raises ApiError 400, or 422 for an object of another kind."""
    if not isinstance(value, dict):
        raise bad_request(
            f"json: cannot unmarshal {json_type(value, 'object')} into Go value of type map[string]interface {{}}"
        )
    _check_kind(value, gvk)
    strict: list[str] = []
    duplicates(value, (), strict)
    strict = [*dict.fromkeys(strict)]
    try:
        copied: Object = _plain(value)
    except OverflowError as error:
        raise bad_request(str(error)) from None
    strange: list[str] = []
    try:
        metadata = object_meta_of(definitions, copied.pop("metadata", None), "metadata", strange)
    except MalformedError as malformed:
        raise _refused(gvk, str(malformed)) from None
    strict += _unknown(strange)
    copied.pop("apiVersion", None)
    copied.pop("kind", None)
    obj = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, **copied}
    unknown: list[str] = []
    obj = prune(schema, obj, unknown)
    strict += [f'unknown field "{path}"' for path in sorted(unknown)]
    if schema.has_embedded:
        obj = _embedded(definitions, schema, obj, strict, gvk=gvk)
    return completed(schema, obj), strict


def _embedded(definitions: Definitions, schema: Structural, obj: Object, strict: list[str], *, gvk: GVK) -> Object:
    strange: list[str] = []
    try:
        made: Object = coerced(definitions, schema, obj, "", strange)
    except NotCoercedError as error:
        raise _refused(gvk, str(error)) from None
    strict += _unknown(strange)
    return made


def _unknown(strange: list[str]) -> list[str]:
    """Without the fields that come twice, which are told of with those of the whole object."""
    return [text for text in strange if text.startswith("unknown")]


def _refused(gvk: GVK, text: str) -> ApiError:
    return bad_request(f'{gvk.kind} in version "{gvk.version}" cannot be handled as a {gvk.kind}: {text}')


def _check_kind(value: Object, gvk: GVK) -> None:
    """Raises ApiError."""
    kind, api_version = value.get("kind"), value.get("apiVersion")
    api_version = api_version if isinstance(api_version, str) else ""
    if not isinstance(kind, str) or not kind or api_version.count("/") > 1:
        raise KindMissing(gvk.kind, orjson.dumps(value).decode())
    if api_version != gvk.api_version:
        raise OtherVersion(api_version, gvk.api_version)
    if kind != gvk.kind:
        metadata = value.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else ""
        raise invalid(gvk._replace(kind=kind), str(name or ""), [field_invalid("kind", kind, f"must be {gvk.kind}")])


def _plain(value: Any) -> Any:
    """A private copy, with numbers as Go keeps them: digits alone as int64, what that does not hold and what has a
    point or an exponent as float64."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if type(value) is int:
        return value if abs(value) < _EXACT else as_float(value)
    return WholeFloat(value) if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT else value
