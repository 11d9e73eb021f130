"""Query parameters of the debug endpoints."""

from __future__ import annotations

from engine.api.errors import bad_request
from engine.api.go_integer import parse_int
from engine.api.wire import Request


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
