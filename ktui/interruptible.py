"""`asyncio.run` for commands that wait for a server, and are ended with ctrl-C.

`asyncio.run` alone lets SIGINT wake its loop only where the loop already sleeps: one that comes the moment before is
seen when something else happens, which for a watch of quiet keys is never.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Raises KeyboardInterrupt once the work has ended in order, from what it ended with; at once where it is
    interrupted again."""
    if threading.current_thread() is not threading.main_thread():  # to which no signal comes
        return asyncio.run(work)
    interrupts = 0

    async def interruptible() -> T:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()

        def interrupt() -> None:
            nonlocal interrupts
            interrupts += 1
            if interrupts > 1 or task is None:
                raise KeyboardInterrupt
            task.cancel()

        loop.add_signal_handler(
            signal.SIGINT, interrupt
        )  # which also has the loop woken by what comes before it sleeps
        try:
            return await work
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    try:
        return asyncio.run(interruptible())
    except asyncio.CancelledError as ended:
        if not interrupts:
            raise
        raise KeyboardInterrupt from ended
