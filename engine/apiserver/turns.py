"""Doing a long piece of work between other requests (engine.api.turns)."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from engine.api.turns import Work
from engine.clock import Clock

T = TypeVar("T")


async def in_turns(work: Work[T], clock: Clock) -> T:
    """The result of the work. A task that takes long by itself is a thread's; but under a virtual clock it is done
    here, since there no thread's timing may put requests into another order."""
    answer: Any = None
    while True:
        try:
            task = work.send(answer)
        except StopIteration as done:
            result: T = done.value
            return result
        if task is None:
            await clock.sleep(0)
            answer = None
        elif clock.mode == "virtual":
            answer = task()
        else:
            answer = await asyncio.to_thread(task)
