"""From a request's JSON value to a custom object: type and metadata as in Go, the rest pruned to its schema.

Values are not type-checked here, which validation does. Source: apiextensions-apiserver pkg/apiserver
(schemaCoercingDecoder, conversion/converter.go) and pkg/apiserver/schema/objectmeta.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import orjson

from engine.api.crd.defaulting import completed
from engine.api.crd.pruning import prune
from engine.api.crd.structural import Structural
from engine.api.decoders import FLOAT_OVERFLOW, DuplicatesDict, Mismatch, Refused, compiler, json_type, path_text
from engine.api.errors import KindMissing, bad_request, field_invalid, invalid
from engine.api.schema import Definitions
from engine.api.types import GVK, Object

_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_EXACT = 2**63


def decode_custom(
    definitions: Definitions, schema: Structural, value: Any, *, gvk: GVK, versions: Collection[str]
) -> tuple[Object, list[str]]:
    """Raises ApiError 400, or 422 for an object of another kind."""
    if not isinstance(value, dict):
        raise bad_request(
            f"json: cannot unmarshal {json_type(value, 'object')} into Go value of type map[string]interface {{}}"
        )
    _check_kind(value, gvk, versions)
    strict: list[str] = []
    _duplicates(value, (), strict)
    try:
        copied: Object = _plain(value)
    except OverflowError:
        raise bad_request(FLOAT_OVERFLOW) from None
    metadata = _metadata(definitions, copied.pop("metadata", None), "metadata", strict, gvk=gvk)
    copied.pop("apiVersion", None)
    copied.pop("kind", None)
    obj = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, **copied}
    unknown: list[str] = []
    obj = prune(schema, obj, unknown)
    strict += [f'unknown field "{path}"' for path in sorted(unknown)]
    if schema.has_embedded:
        obj = _embedded(definitions, schema, obj, "", strict, gvk=gvk)
    return completed(schema, obj), strict


def _check_kind(value: Object, gvk: GVK, versions: Collection[str]) -> None:
    """`versions` are all that the definition has. Raises ApiError."""
    kind, api_version = value.get("kind"), value.get("apiVersion")
    api_version = api_version if isinstance(api_version, str) else ""
    if not isinstance(kind, str) or not kind or api_version.count("/") > 1:
        raise KindMissing(gvk.kind, orjson.dumps(value).decode())
    group, _, version = api_version.rpartition("/")
    if group != gvk.group:
        raise bad_request(
            f'{kind} in version "{version}" cannot be handled as a {gvk.kind}: {group}/{version}, Kind={kind} is '
            f'unstructured and is not suitable for converting to "{gvk.api_version}"'
        )
    if version not in versions:
        raise bad_request(
            f'{kind} in version "{version}" cannot be handled as a {gvk.kind}: request to convert CR from an invalid '
            f"group/version: {api_version}"
        )
    if version != gvk.version:
        raise bad_request(
            f"the API version in the data ({api_version}) does not match the expected API version ({gvk.api_version})"
        )
    if kind != gvk.kind:
        metadata = value.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else ""
        raise invalid(gvk._replace(kind=kind), str(name or ""), [field_invalid("kind", kind, f"must be {gvk.kind}")])


def _metadata(definitions: Definitions, value: Any, path: str, strict: list[str], *, gvk: GVK) -> Object:
    if value is None:
        return {}
    unknown: list[str] = []
    decode = compiler(definitions).decoder(definitions[_OBJECT_META])
    try:
        decoded: Object = decode(value, ((), path), unknown)
    except Mismatch as mismatch:
        where = path_text(mismatch.path)
        found = json_type(mismatch.value, mismatch.type_name)
        text = f"json: cannot unmarshal {found} into Go struct field ObjectMeta.{where} of type {mismatch.type_name}"
        raise _refused(gvk, text) from None
    except Refused as refused:
        raise _refused(gvk, str(refused)) from None
    strict += [text for text in unknown if text.startswith("unknown")]
    return decoded


def _refused(gvk: GVK, text: str) -> Exception:
    return bad_request(f'{gvk.kind} in version "{gvk.version}" cannot be handled as a {gvk.kind}: {text}')


def _embedded(
    definitions: Definitions, schema: Structural | None, value: Any, path: str, strict: list[str], *, gvk: GVK
) -> Any:
    """The value with the metadata of embedded resources decoded."""
    if schema is None or not schema.has_embedded:
        return value
    if isinstance(value, list):
        return [
            _embedded(definitions, schema.items, item, f"{path}[{index}]", strict, gvk=gvk)
            for index, item in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    made = {}
    for key, item in value.items():
        at = f"{path}.{key}" if path else key
        if schema.embedded and key == "metadata":
            made[key] = _metadata(definitions, item, at, strict, gvk=gvk)
        else:
            made[key] = _embedded(definitions, schema.child(key), item, at, strict, gvk=gvk)
    return made


def _duplicates(value: Any, path: Any, strict: list[str]) -> None:
    if isinstance(value, dict):
        if isinstance(value, DuplicatesDict):
            strict.extend(f'duplicate field "{path_text((path, key))}"' for key in value.duplicates)
        for key, item in value.items():
            if isinstance(item, dict | list):
                _duplicates(item, (path, key), strict)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                _duplicates(item, (path, index), strict)


def _plain(value: Any) -> Any:
    """A private copy, with numbers as Go keeps them: whole ones as int64, what that does not hold as float64."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if type(value) is int:
        return value if abs(value) < _EXACT else float(value)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT else value
