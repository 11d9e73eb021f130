"""Where audit events go: a file with one event a line, as --audit-log-path with --audit-log-format=json has it.

Lines are written in order, in a thread, many at once when there are many. What was told before a stop is in the file
after it.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from engine.api.golang.json import written_in_order
from engine.api.types import Object
from engine.clock import Clock
from engine.tasks import Supervisor


class AuditLog:
    """`-` for a path is the standard output."""

    def __init__(self, path: str, clock: Clock, tasks: Supervisor) -> None:
        self._path = path
        self._clock = clock
        self._tasks = tasks
        self._waiting: list[bytes] = []
        self._writing: asyncio.Task[None] | None = None

    def write(self, event: Object) -> None:
        """Soon; the event is encoded now, so that nobody's change is in it."""
        self._waiting.append(written_in_order(event).encode())
        if self._writing is None and not self._tasks.closed:
            self._writing = self._tasks.spawn(self._drain(), "audit log")

    async def flush(self) -> None:
        """Return when all that was told is written."""
        while self._writing is not None:
            await asyncio.wait([self._writing])
        if self._waiting:
            await self._drain()

    async def _drain(self) -> None:
        try:
            while self._waiting:
                lines, self._waiting = self._waiting, []
                with self._clock.hold():
                    await asyncio.to_thread(self._append, b"\n".join([*lines, b""]))
        finally:
            self._writing = None

    def _append(self, data: bytes) -> None:
        if self._path == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            return
        with Path(self._path).open("ab") as file:
            file.write(data)
