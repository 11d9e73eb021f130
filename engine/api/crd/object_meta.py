"""Type and metadata of custom objects and of the resources in them, which Go reads by itself.

Source of the behaviour: apiextensions-apiserver pkg/apiserver/schema/objectmeta (algorithm.go and coerce.go).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from engine.api.crd.structural import Structural
from engine.api.decoders import Mismatch, Refused, compiler
from engine.api.decoding import mismatch_text
from engine.api.errors import Cause, field_invalid
from engine.api.json_objects import last_of_each
from engine.api.schema import Definitions
from engine.api.types import Object

_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


class MalformedError(Exception):
    """Metadata that Go cannot read; the message is that of its decoder."""


class NotCoercedError(Exception):
    """A resource in an object whose type or metadata is none. The first there is is told of."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(str(cause))
        self.cause = cause


def object_meta_of(definitions: Definitions, value: Any, path: str, strict: list[str]) -> Object:
    """`strict` gets the fields that there are not, by their `path`. Raises MalformedError."""
    if value is None:
        return {}
    schema = definitions[_OBJECT_META]
    try:
        decoded: Object = compiler(definitions).decoder(schema)(last_of_each(value), ((), path), strict)
    except Mismatch as mismatch:
        raise MalformedError(mismatch_text(schema, mismatch, above=1)) from None
    except Refused as refused:
        raise MalformedError(str(refused)) from None
    return decoded


def readable_meta(definitions: Definitions, value: Any, path: str, strict: list[str]) -> Any:
    """As much of the metadata as Go can read, field by field where it cannot read all; what has no fields as it is."""
    try:
        return object_meta_of(definitions, value, path, strict)
    except MalformedError:
        if not isinstance(value, dict):
            return value
    made: Object = {}
    for key, item in value.items():
        with suppress(MalformedError):
            made |= object_meta_of(definitions, {key: item}, path, strict)
    return made


def coerced(
    definitions: Definitions, schema: Structural | None, value: Any, path: str, strict: list[str], *, drop: bool = False
) -> Any:
    """The value with the metadata of embedded resources as Go reads it; `drop` takes away what it cannot read. Raises
    NotCoercedError."""
    if schema is None or not schema.has_embedded:
        return value
    if isinstance(value, list):
        return [
            coerced(definitions, schema.items, item, f"{path}[{index}]", strict, drop=drop)
            for index, item in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    made = {}
    for key, item in value.items():
        at = below(schema, path, key)
        made[key] = coerced(definitions, schema.child(key), item, at, strict, drop=drop)
        if not schema.embedded:
            continue
        if key in ("apiVersion", "kind") and not isinstance(item, str):
            if not drop:
                raise NotCoercedError(field_invalid(at, item, "must be a string"))
            del made[key]
        if key == "metadata":
            made[key] = (readable_meta if drop else _metadata)(definitions, item, at, strict)
    return made


def _metadata(definitions: Definitions, value: Any, path: str, strict: list[str]) -> Object:
    try:
        return object_meta_of(definitions, value, path, strict)
    except MalformedError as malformed:
        raise NotCoercedError(field_invalid(path, value, str(malformed))) from None


def below(schema: Structural, path: str, key: str) -> str:
    """The path of a field, or of a key that is no field's name."""
    if key not in schema.properties and schema.values is not None:
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key
