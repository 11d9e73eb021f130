"""ctrl-C ends what waits for a server, whenever it comes."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable

import pytest

from ktui.interruptible import run


def asleep(thread: threading.Thread) -> bool:
    """Whether the loop of a thread waits for something to happen."""
    frame = sys._current_frames().get(thread.ident or 0)
    return frame is not None and frame.f_code.co_name == "select"


def interrupted(work: Callable[[], None]) -> threading.Thread:
    """Begin a thread that takes SIGINT itself once the main one sleeps: of the handler the main one then knows as
    little as of a signal that came the moment before."""

    def interrupt() -> None:
        while not asleep(threading.main_thread()):
            pass
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    work()
    return thread


def test_an_interrupt_wakes_a_loop_that_has_nothing_else_to_wake_it() -> None:
    steps: list[str] = []

    async def work() -> None:
        asyncio.get_running_loop().call_later(20, steps.append, "woken by something else")
        try:
            await asyncio.Event().wait()
        finally:
            steps.append("ended in order")

    def waits() -> None:
        with pytest.raises(KeyboardInterrupt):
            run(work())

    interrupted(waits).join()
    assert steps == ["ended in order"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_the_work_ended_with_is_the_cause() -> None:
    class Ended(asyncio.CancelledError):
        pass

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as ended:
            raise Ended from ended

    def waits() -> None:
        with pytest.raises(KeyboardInterrupt) as caught:
            run(work())
        assert isinstance(caught.value.__cause__, Ended)

    interrupted(waits).join()


def test_what_is_not_interrupted_ends_as_it_does() -> None:
    async def answers() -> int:
        return 1

    async def gives_up() -> None:
        raise asyncio.CancelledError

    assert run(answers()) == 1
    with pytest.raises(asyncio.CancelledError):
        run(gives_up())
