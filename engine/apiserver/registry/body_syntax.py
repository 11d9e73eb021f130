"""A body that is no JSON at all, where an object is to be read from it: nobody can tell what it should have been.

Source: apiserver pkg/endpoints/handlers/create.go (transformDecodeError, summarizeData), apimachinery
pkg/runtime/serializer/json/meta.go.
"""

from __future__ import annotations

import orjson

from engine.api.errors import ApiError, bad_request
from engine.api.golang.json import syntax_error
from engine.api.types import GVK
from engine.api.wire import JSON, Request
from engine.apiserver.registry.body import media_type

_SHOWN = 30  # bytes of the body


def check_syntax(request: Request, gvk: GVK) -> None:
    """Raises ApiError 400."""
    body = request.body
    if body is None:
        body = b""
    if not isinstance(body, bytes) or media_type(request) not in ("", JSON):
        return
    if problem := syntax_error(body):
        raise unrecognized(f"couldn't get version/kind; json parse error: {problem}", request, gvk)


def unrecognized(problem: str, request: Request, gvk: GVK) -> ApiError:
    body = b"" if request.body is None else request.body
    if not isinstance(body, bytes):
        body = orjson.dumps(body)
    return bad_request(
        f"the object provided is unrecognized (must be of type {gvk.kind}): {problem} ({_summary(body)})"
    )


def _summary(body: bytes) -> str:
    if not body:
        return "<empty>"
    start = body[:_SHOWN]
    shown = start.decode("utf-8", "replace") if body[:1] == b"{" else start.hex()
    return f"{shown} ..." if len(body) > _SHOWN else shown
