"""Waking those who wait for an event, a thousand in one turn of the loop.

An event loop schedules each task that it wakes on its own, with a future and a handle for each, which costs more than
the hand-out of the event. Here all that are woken within one turn go on in its next, one after another from a single
callback, in the order of their waking: what asyncio would do, without the objects.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextvars import Context
from typing import Any


class Bell:
    """What one task at a time awaits, again and again: to the task it is a future (asyncio's Future-like protocol)."""

    __slots__ = ("_asyncio_future_blocking", "_cancelled", "_go_on", "_loop", "_where")

    def __init__(self) -> None:
        self._asyncio_future_blocking = False
        self._loop = asyncio.get_running_loop()
        self._cancelled: str | None = None
        self._go_on: Callable[[Bell], object] | None = None
        self._where: Context | None = None

    def __await__(self) -> Generator[Bell, None, None]:
        self._asyncio_future_blocking = True
        yield self

    @property
    def awaited(self) -> bool:
        return self._go_on is not None

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def add_done_callback(self, fn: Callable[[Bell], object], /, *, context: Context) -> None:
        self._go_on, self._where = fn, context

    def result(self) -> None:
        if self._cancelled is not None:
            message, self._cancelled = self._cancelled, None
            raise asyncio.CancelledError(*([message] if message else []))

    def cancel(self, msg: Any = None) -> bool:
        """The task is cancelled: it goes on in the next turn, as from any future."""
        if self._go_on is None:
            return False
        go_on, self._go_on = self._go_on, None
        self._cancelled = str(msg or "")
        self._loop.call_soon(go_on, self, context=self._where)
        return True

    def ring(self) -> None:
        """Let the task go on, here and now; not to be called from within a task."""
        go_on = self._go_on
        if go_on is not None and self._where is not None:
            self._go_on = None
            self._where.run(go_on, self)


class Waking:
    """The bells to be rung in the next turn of the loop."""

    def __init__(self) -> None:
        self._due: list[Bell] = []

    def wake(self, bell: Bell) -> None:
        if not self._due:
            bell.get_loop().call_soon(self._ring)
        self._due.append(bell)

    def _ring(self) -> None:
        due, self._due = self._due, []
        for bell in due:
            bell.ring()
