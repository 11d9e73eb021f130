"""What a request to the debug endpoints asks: its query parameters and its body."""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.errors import bad_request
from engine.api.golang.integer import parse_int
from engine.api.wire import Request
from engine.apiserver.registry.body import check_size


def number(request: Request, name: str) -> int:
    """An integer, 0 where it is not given. Raises ApiError 400."""
    try:
        return parse_int(request.parameter(name) or "0")
    except ValueError as error:
        raise bad_request(f"{name}: {error}") from None


def count(request: Request, name: str) -> int:
    """A number from 0 on. Raises ApiError 400."""
    if (found := number(request, name)) < 0:
        raise bad_request(f"{name}: must be greater than or equal to 0")
    return found


def body_of(request: Request) -> dict[str, Any]:
    """The object in the body, an empty one where there is none. Raises ApiError 400, 413."""
    check_size(request)
    found = request.body
    if isinstance(found, bytes):
        try:
            found = orjson.loads(found)
        except ValueError as error:
            raise bad_request(f"json: {error}") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise bad_request("the body must be an object")
    return found
