"""The value of a body from which an object is to be read, and what is said of one from which nobody can tell what it
should have been.

Source: apiserver pkg/endpoints/handlers/create.go (transformDecodeError, summarizeData), apimachinery
pkg/runtime/serializer/json/meta.go.
"""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.errors import ApiError, bad_request, summary_of
from engine.api.golang.json import syntax_error
from engine.api.schema import Definitions
from engine.api.types import GVK
from engine.api.wire import JSON, Request
from engine.apiserver.broken_body import BrokenBody
from engine.apiserver.registry.body import media_type, read_value
from engine.apiserver.registry.type_meta import cannot_say


def check_syntax(request: Request, gvk: GVK) -> None:
    """Raises ApiError 400."""
    body = request.body
    if body is None:
        body = b""
    if not isinstance(body, bytes) or media_type(request) not in ("", JSON):
        return
    if problem := syntax_error(body):
        raise unrecognized(f"couldn't get version/kind; json parse error: {problem}", request, gvk)


def object_value(definitions: Definitions, request: Request, gvk: GVK) -> Any:
    """The JSON value of an object's body; of null, an object without anything. Raises ApiError 400, 415."""
    try:
        value = read_value(definitions, request, gvk)
    except BrokenBody as broken:
        raise _broken(broken, request, gvk) from None
    except ApiError:
        check_syntax(request, gvk)  # of a broken body there is more to say
        raise
    if value is None:
        check_syntax(request, gvk)
        return {}
    if problem := cannot_say(value):
        raise unrecognized(problem, request, gvk)
    return value


def _broken(body: BrokenBody, request: Request, gvk: GVK) -> ApiError:
    found = body.gvk
    if found is None or not found.kind:
        return unrecognized(body.message, request, gvk)
    said = f'{found.kind} in version "{found.version}" cannot be handled as a {gvk.kind}'
    return bad_request(f"{said}: {body.message}")


def unrecognized(problem: str, request: Request, gvk: GVK) -> ApiError:
    body = b"" if request.body is None else request.body
    if not isinstance(body, bytes):
        body = orjson.dumps(body)
    return bad_request(
        f"the object provided is unrecognized (must be of type {gvk.kind}): {problem} ({summary_of(body)})"
    )
