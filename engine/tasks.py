"""Supervised tasks: no component makes a naked asyncio task (EXAMPLES, habit 16).

A `Supervisor` names its tasks, keeps hold of them, notes what a crashed one died of and cancels and awaits all when
it is closed, so that a stopped component leaves nothing running.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

log = logging.getLogger(__name__)


class Supervisor:
    """The tasks of one component."""

    def __init__(self, name: str, on_crash: Callable[[str, BaseException], None] | None = None) -> None:
        self.name = name
        self.crashes: dict[str, BaseException] = {}
        self._on_crash = on_crash
        self._tasks: dict[asyncio.Task[Any], None] = {}  # a dict: cancelled in the order of their start
        self.closed = False

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run `work` as the task `component/name` until it returns or the supervisor is closed."""
        if self.closed:
            work.close()
            raise RuntimeError(f"{self.name} is closed; {name} was not started")
        task = asyncio.get_running_loop().create_task(work, name=f"{self.name}/{name}")
        self._tasks[task] = None
        task.add_done_callback(self._ended)
        return task

    def __len__(self) -> int:
        return len(self._tasks)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(task, None)
        if task.cancelled() or (crash := task.exception()) is None:
            return
        name = task.get_name()
        self.crashes[name] = crash
        log.error("task %s crashed", name, exc_info=crash)
        if self._on_crash is not None:
            self._on_crash(name, crash)

    def reopen(self) -> None:
        """Take tasks again after a `close`, for a component that may be started more than once."""
        self.closed = False

    async def close(self) -> None:
        """Cancel all tasks and wait until they are gone. May be called twice."""
        self.closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def together(ends: Iterable[Awaitable[None]]) -> None:
    """End several things at once, so that none goes on making work for the others meanwhile.

    All come to their end, also where one fails; then the first failure is raised.
    """
    for failure in await asyncio.gather(*ends, return_exceptions=True):
        if failure is not None:
            raise failure
