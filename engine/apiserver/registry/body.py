"""Bodies of requests: from bytes, or a caller's own value, to a private object of the right kind.

Source of the texts: apiserver pkg/endpoints/handlers/create.go, rest.go and negotiation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import orjson

from engine.api.decoders import Mismatch
from engine.api.decoding import Decoded, decode, load_json
from engine.api.errors import ApiError, KindMissing, bad_request, too_large, unsupported_media_type
from engine.api.golang.json import syntax_error
from engine.api.golang.media_type import MediaTypeError, parse_media_type
from engine.api.golang.text import json_text
from engine.api.json_objects import in_key_order, path_steps
from engine.api.schema import Definitions
from engine.api.types import GVK, Object
from engine.api.wire import BODY_LIMIT, JSON, PROTOBUF, YAML, Request
from engine.apiserver.call import Call
from engine.apiserver.protobuf import decode_body
from engine.apiserver.registry.yaml_body import read_yaml, twice_in_yaml, unmarshal_errors
from engine.trace import Hop

ACCEPTED = (JSON, YAML, PROTOBUF)
TOO_DEEP = "exceeded max depth"  # in the words of Go's encoding/json, whose limit is 10000
_MAX_WARNINGS_BYTES = 4096
_SEVERAL = "yaml: unmarshal errors:\n"  # warnings are given one by one


def media_type(request: Request) -> str:
    """Of the body, as it says; "" where it says nothing. What is no media type is given as it is: nobody reads it."""
    given = request.headers.get("content-type", "")
    if not given:
        return ""
    try:
        return parse_media_type(given)
    except MediaTypeError:
        return given


def read_json(text: bytes, *, strict: bool = True) -> Any:
    """Raises ApiError 400."""
    try:
        return load_json(text) if strict else _lenient(text)
    except RecursionError:
        raise bad_request(syntax_error(text) or TOO_DEEP) from None
    except ValueError as error:
        raise bad_request(syntax_error(text) or f"json: {error}") from None


def _lenient(text: bytes) -> Any:
    """Without a look at what is there twice, which is quicker, and the same where maps are made of it. Raises
    ValueError."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return load_json(text)  # which says in Go's words what is wrong, and takes what is no Unicode


def check_size(request: Request) -> None:
    """Raises ApiError 413 for a body that was too large to be read (endpoints/handlers/rest.go, limitedReadBody); 415
    for a new object of a media type that nobody reads, which is seen first."""
    if not request.oversized:
        return
    if request.method == "POST" and media_type(request) not in ("", *ACCEPTED):
        raise unsupported_media_type(ACCEPTED)
    raise too_large(f"limit is {BODY_LIMIT}")


def read_value(definitions: Definitions, request: Request, default: GVK | None = None) -> Any:
    """The JSON value of a body; `default` is the kind of one in protobuf that does not say. Raises BrokenBody for YAML
    and protobuf, ApiError 400 for JSON that is broken, 415 for another media type."""
    body = request.body
    if body is not None and not isinstance(body, bytes):
        return body
    kind = media_type(request)
    if kind == PROTOBUF:
        return decode_body(definitions, body or b"", default)
    if kind not in ("", JSON, YAML):
        raise unsupported_media_type(ACCEPTED)
    if not body:
        return None
    return read_yaml(body) if kind == YAML else read_json(body)


def decode_value(
    call: Call,
    definitions: Definitions,
    gvk: GVK,
    *,
    value: Any,
    validation: str,
    found: Iterable[str] = (),
    by_key: bool = False,
) -> Object:
    """The object of a value; fields that its kind does not have are errors, warnings or nothing, as asked.

    `found` are such errors that were met before. A value that is no such object is refused in the hop of the schema,
    before any admission. `by_key` says that upstream decodes what it has written from maps: not the document's order
    is that of what is wrong, but that of keys.
    """
    try:
        decoded = _decoded(definitions, gvk, value, by_key=by_key or media_type(call.request) == YAML)
        strict = [*found, *_twice_in_body(call.request, validation), *decoded.unknown]
        if strict and validation == "Strict":
            raise strict_error(gvk, strict)
    except ApiError as error:
        with call.span(Hop.SCHEMA):
            raise _as_written(error, call.request) from error.__cause__
    if strict and validation == "Warn":
        warn(call, [line.strip() for text in strict for line in text.removeprefix(_SEVERAL).split("\n")])
    if _forgets_owners(value):  # no other list tells an empty one from none
        decoded.object["metadata"]["managedFields"] = []
    return decoded.object


def _decoded(definitions: Definitions, gvk: GVK, value: Any, *, by_key: bool) -> Decoded:
    """Only where more than one thing may be wrong does their order matter."""
    try:
        decoded = decode(definitions, gvk, value)
    except ApiError:
        if by_key:
            decode(definitions, gvk, in_key_order(value))
        raise
    return decode(definitions, gvk, in_key_order(value)) if by_key and len(decoded.unknown) > 1 else decoded


def _as_written(error: ApiError, request: Request) -> ApiError:
    """The error with what it shows as it stands in the body: of a number `1e3`, where a float says 1000.0."""
    if isinstance(error, KindMissing) and isinstance(request.body, bytes) and request.method != "PATCH":
        return KindMissing(error.wanted, request.body.decode("utf-8", "replace"))
    mismatch = error.__cause__
    if not isinstance(mismatch, Mismatch) or type(mismatch.value) is not float or media_type(request) not in ("", JSON):
        return error
    if not isinstance(request.body, bytes):
        return error
    found = json.loads(json_text(request.body), parse_float=str)
    try:
        for step in path_steps(mismatch.path):
            found = found[step]
    except (KeyError, IndexError, TypeError):  # in what is there twice, and once only in the last
        return error
    return bad_request(error.message.replace(f"number {json.dumps(mismatch.value)}", f"number {found}", 1))


def _twice_in_body(request: Request, validation: str) -> list[str]:
    """What YAML has twice; of JSON the decoder tells."""
    if validation == "Ignore" or media_type(request) != YAML or not isinstance(request.body, bytes):
        return []
    found = twice_in_yaml(request.body)
    return [unmarshal_errors(found)] if found else []


def _forgets_owners(value: Any) -> bool:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    return isinstance(metadata, dict) and metadata.get("managedFields") == []


def strict_error(gvk: GVK, unknown: list[str]) -> ApiError:
    return bad_request(
        f'{gvk.kind} in version "{gvk.version}" cannot be handled as a {gvk.kind}: strict decoding error: '
        + ", ".join(unknown)
    )


def warn(call: Call, texts: list[str]) -> None:
    """Add Warning headers, as many as fit."""
    for text in texts:
        if sum(map(len, call.warnings)) + len(text) > _MAX_WARNINGS_BYTES:
            return
        if text not in call.warnings:
            call.warnings.append(text)
