"""From a protobuf body to the JSON value that it stands for.

The body is an envelope (runtime.Unknown) with the object's type and its message. How a field is read comes from the
published schema, what it is called from its number in `field_numbers.txt`.
Source: apimachinery pkg/runtime/serializer/protobuf, pkg/runtime/generated.proto.
"""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from engine.api.errors import unsupported_media_type
from engine.api.field_numbers import field_numbers, message_name
from engine.api.schema import INT_OR_STRING, MICRO_TIME, QUANTITY, TIME, Definitions, Schema
from engine.api.types import GVK
from engine.api.wire import JSON, YAML
from engine.apiserver.broken_body import BrokenBody
from engine.apiserver.protobuf.wire import WireError, fields, signed

MAGIC = b"k8s\0"
JSON_SCHEMAS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"
RAW = "io.k8s.apimachinery.pkg.runtime.RawExtension"
FIELDS_V1 = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"
# Lists that are a type of their own in Go, and so a message; as the values of maps all are.
TYPED_LISTS = frozenset({("meta.v1.APIResource", "verbs")})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Unsupported(Exception):
    """A message whose numbers are not known here."""


def decode_body(definitions: Definitions, body: bytes, default: GVK | None = None) -> Any:
    """The JSON value of a body, of a kind that is not known without its fields; what it does not say of its type is
    the default's. Raises BrokenBody, ApiError 415 for a kind whose numbers are not known."""
    if not body:
        raise BrokenBody("empty data")
    if not body.startswith(MAGIC):
        raise BrokenBody("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    if body == MAGIC:
        raise BrokenBody("empty body")
    gvk: GVK | None = None
    try:
        gvk, raw = _envelope(body[len(MAGIC) :])
        if default is not None:
            gvk = _completed(gvk, default)
        schema = schema_of(definitions, gvk)
        value = _message(definitions, schema, raw) if schema is not None else {}
    except _Unsupported:
        raise unsupported_media_type((JSON, YAML)) from None
    except (WireError, orjson.JSONDecodeError) as error:
        raise BrokenBody(str(error), gvk) from None
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, **value}


def _completed(gvk: GVK, default: GVK) -> GVK:
    """As `gvkWithDefaults` of apimachinery pkg/runtime/serializer/json."""
    group, version, kind = gvk
    if not version and group in ("", default.group):
        group, version = default.group, default.version
    return GVK(group, version, kind or default.kind)


def schema_of(definitions: Definitions, gvk: GVK) -> Schema | None:
    """Of a kind; DeleteOptions is of every group, so that no kind alone is its own."""
    return definitions.kind(gvk) or definitions.get(f"io.k8s.apimachinery.pkg.apis.meta.v1.{gvk.kind}")


def _envelope(data: bytes) -> tuple[GVK, bytes]:
    api_version = kind = ""
    raw = b""
    for field in fields(data):
        if not isinstance(field.value, bytes):
            continue
        if field.number == 1:
            for part in fields(field.value):
                if isinstance(part.value, bytes):
                    if part.number == 1:
                        api_version = _text(part.value)
                    elif part.number == 2:
                        kind = _text(part.value)
        elif field.number == 2:
            raw = field.value
    group, _, version = api_version.rpartition("/")
    return GVK(group, version, kind), raw


def _message(definitions: Definitions, schema: Schema, data: bytes) -> dict[str, Any]:
    name = message_name(schema.definition)
    found: dict[str, Any] = {}
    _fill(definitions, schema, name, data=data, found=found)
    return found


def _fill(definitions: Definitions, schema: Schema, message: str, *, data: bytes, found: dict[str, Any]) -> None:
    if not data:
        return
    numbers = field_numbers().get(message)
    if numbers is None:
        raise _Unsupported(message)
    for number, value in fields(data):
        if number not in numbers:
            continue  # of another release's client: Go's code skips what it does not know
        name, keeps_zero = numbers[number]
        if name.startswith("+"):
            if isinstance(value, bytes):
                _fill(definitions, schema, name[1:], data=value, found=found)
            continue
        node = schema.properties.get(name)
        if node is None:
            continue  # a field that this version no longer has
        if (message, name) in TYPED_LISTS and isinstance(value, bytes):
            found[name] = _typed_list(definitions, node, value)
        else:
            _add(definitions, node, name, value=value, found=found, keeps_zero=keeps_zero)


def _add(
    definitions: Definitions,
    node: Schema,
    name: str,
    *,
    value: int | float | bytes,
    found: dict[str, Any],
    keeps_zero: bool,
) -> None:
    if node.type == "array" and node.items is not None:
        found.setdefault(name, []).append(_value(definitions, node.items, value))
    elif node.type == "object" and node.values is not None and isinstance(value, bytes):
        key, inner = _entry(definitions, node.values, value)
        found.setdefault(name, {})[key] = inner
    else:
        plain = _value(definitions, node, value)
        # Go sends a plain field also where it is zero, and a pointer only where it is set.
        if plain not in ("", 0, None) or (keeps_zero and plain is not None):
            found[name] = plain


def _entry(definitions: Definitions, node: Schema, data: bytes) -> tuple[str, Any]:
    """One entry of a map: the key is field 1, the value field 2."""
    key, value = "", _empty(node)
    for field in fields(data):
        if field.number == 1 and isinstance(field.value, bytes):
            key = _text(field.value)
        elif field.number == 2:
            if node.type == "array" and isinstance(field.value, bytes):
                value = _typed_list(definitions, node, field.value)
            else:
                value = _value(definitions, node, field.value)
    return key, value


def _typed_list(definitions: Definitions, node: Schema, data: bytes) -> list[Any]:
    """A list that is a message of its own, whose field 1 repeats."""
    return [_value(definitions, node.items, item.value) for item in fields(data)] if node.items is not None else []


def _empty(node: Schema) -> Any:
    if node.quantity:
        return "0"
    return {"array": [], "object": {}, "integer": 0, "boolean": False}.get(node.type, "")


def _value(definitions: Definitions, node: Schema, value: int | float | bytes) -> Any:
    if isinstance(value, int):
        return bool(value) if node.type == "boolean" else signed(value)
    if isinstance(value, float):
        return value
    return _bytes(definitions, node, value)


def _bytes(definitions: Definitions, node: Schema, data: bytes) -> Any:
    if node.quantity or node.definition == QUANTITY:
        return next((_text(f.value) for f in fields(data) if f.number == 1 and isinstance(f.value, bytes)), "0")
    if node.int_or_string or node.definition == INT_OR_STRING:
        return _int_or_string(data)
    if node.definition in (TIME, MICRO_TIME):
        return _time(data, micro=node.definition == MICRO_TIME)
    if node.definition in (RAW, FIELDS_V1):
        raw = next((f.value for f in fields(data) if f.number == 1 and isinstance(f.value, bytes)), b"null")
        return orjson.loads(raw) if node.definition == RAW else _field_set(raw)
    if node.definition.startswith(JSON_SCHEMAS) and node.type != "object":
        return _schema_part(definitions, node, data)
    if node.type == "object":
        return _message(definitions, node, data)
    if node.format == "byte":
        return b64encode(data).decode()
    return _text(data)


def _text(data: bytes) -> str:
    """Go looks at no text before it shows it."""
    return data.decode(errors="replace")


def _field_set(raw: bytes) -> Any:
    """What is no JSON does not break the body: it becomes a text, which is no set of fields and is given up later."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _text(raw)


def _schema_part(definitions: Definitions, node: Schema, data: bytes) -> Any:
    """What in a JSON schema has no one type: any JSON, or a schema or else a truth value, schemas or names."""
    kind = node.definition.removeprefix(JSON_SCHEMAS)
    props = definitions[f"{JSON_SCHEMAS}SchemaProps"]
    found: dict[int, list[int | float | bytes]] = {}
    for field in fields(data):
        found.setdefault(field.number, []).append(field.value)
    first, second = found.get(1, []), [each for each in found.get(2, []) if isinstance(each, bytes)]
    if kind == "":
        return orjson.loads(first[0]) if first and isinstance(first[0], bytes) else None
    if kind == "SchemaPropsOrBool":
        return _message(definitions, props, second[0]) if second else bool(first and first[0])
    if first and isinstance(first[0], bytes):
        return _message(definitions, props, first[0])
    if kind == "SchemaPropsOrArray":
        return [_message(definitions, props, each) for each in second]
    return [_text(each) for each in second]


def _int_or_string(data: bytes) -> int | str:
    kind, number, text = 0, 0, ""
    for field in fields(data):
        if field.number == 1 and isinstance(field.value, int):
            kind = field.value
        elif field.number == 2 and isinstance(field.value, int):
            number = signed(field.value)
        elif field.number == 3 and isinstance(field.value, bytes):
            text = _text(field.value)
    return text if kind else number


def _time(data: bytes, *, micro: bool) -> str | None:
    seconds = nanos = 0
    for field in fields(data):
        if isinstance(field.value, int):
            if field.number == 1:
                seconds = signed(field.value)
            elif field.number == 2:
                nanos = signed(field.value)
    if not data or seconds < -62135596800 + 1:  # Go's zero time
        return None
    moment = _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ")
