"""How long a request has waited for others: for its turn, and for webhooks.

Source: apiserver pkg/endpoints/request (webhook_duration.go, the latency trackers).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from engine.clock import wall


class Waits:
    """Of one request."""

    def __init__(self) -> None:
        self.seconds = 0.0


_current: ContextVar[Waits | None] = ContextVar("waits", default=None)


@contextmanager
def waits() -> Iterator[Waits]:
    """Gather what a request waits, in its task and those that it starts."""
    found = Waits()
    token = _current.set(found)
    try:
        yield found
    finally:
        _current.reset(token)


@contextmanager
def waiting() -> Iterator[None]:
    began = wall()
    try:
        yield
    finally:
        if (found := _current.get()) is not None:
            found.seconds += wall() - began
