"""Which requests over a socket are sent once more, and when (client-go rest with_retry.go, request.go).

What the server itself asks to come back with is: too many requests or a failure of its own, with a Retry-After in
seconds. A question whose connection broke is asked again, a write is not: nobody knows whether it was done.
"""

from __future__ import annotations

from engine.api.wire import Request, Response

MAX_RETRIES = 10
BROKEN_SECONDS = 1  # until the next try on another connection


def seconds_asked_for(response: Response) -> int | None:
    """How long the server wants to be left alone before the same request comes again; None if it should not come."""
    if response.status != 429 and response.status < 500:
        return None
    try:
        return max(int(response.headers.get("retry-after", "")), 0)
    except ValueError:
        return None  # a date, which client-go does not read either, or nothing


def is_repeatable(request: Request) -> bool:
    """Whether a request may be sent once more when its connection broke without an answer."""
    return request.method == "GET"
