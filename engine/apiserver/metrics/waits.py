"""How long a request has waited for others: for its turn, and for webhooks.

Source: apiserver pkg/endpoints/request (webhook_duration.go, the latency trackers).
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from types import TracebackType

from engine.clock import wall

# Classes and not generators: every request opens both.


class waits:
    """Gathers what a request waits, in its task and those that it starts, as long as it is open."""

    __slots__ = ("_token", "seconds")

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> waits:
        self._token: Token[waits | None] = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _current.reset(self._token)


class waiting:
    """A wait of the request that it is opened in."""

    __slots__ = ("_began",)

    def __enter__(self) -> None:
        self._began = wall()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if (found := _current.get()) is not None:
            found.seconds += wall() - self._began


_current: ContextVar[waits | None] = ContextVar("waits", default=None)
