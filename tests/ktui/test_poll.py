"""Questions asked again and again: how often, what is told, and what comes of failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from engine.api.errors import ApiError
from engine.clock import VirtualClock
from ktui.feeds.poll import IDLE_SHARE, PERIOD_SECONDS, REST_MOST_SECONDS, Answer, Poll
from ktui.models.trouble import LOST


class Engine:
    """Answers what it was told to, after `seconds`."""

    def __init__(self, clock: VirtualClock) -> None:
        self.answer: Any = 1
        self.seconds = 0.0
        self.asked: list[float] = []
        self._clock = clock

    async def ask(self) -> Any:
        self.asked.append(self._clock.monotonic())
        if self.seconds:
            await self._clock.sleep(self.seconds)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def told(answers: AsyncIterator[Answer], clock: VirtualClock) -> Answer | None:
    """The next answer within a minute."""
    try:
        async with clock.timeout(60):
            return await anext(answers)
    except TimeoutError:
        return None


async def test_what_is_unchanged_is_not_told_again(virtual_clock: VirtualClock) -> None:
    engine = Engine(virtual_clock)
    answers = Poll(virtual_clock, engine.ask).answers()
    assert await told(answers, virtual_clock) == Answer(1)
    assert await told(answers, virtual_clock) is None
    assert len(engine.asked) > 100


async def test_it_asks_at_a_bounded_rate_and_less_often_what_takes_long(virtual_clock: VirtualClock) -> None:
    engine = Engine(virtual_clock)
    answers = Poll(virtual_clock, engine.ask).answers()
    for engine.answer in (1, 2, 3):
        await told(answers, virtual_clock)
    engine.seconds, engine.answer = 0.2, 4
    await told(answers, virtual_clock)
    engine.answer = 5
    await told(answers, virtual_clock)
    pauses = [after - before for before, after in zip(engine.asked, engine.asked[1:], strict=False)]
    often = [PERIOD_SECONDS] * 3
    assert [round(pause, 3) for pause in pauses] == [*often, round(0.2 * (1 + IDLE_SHARE), 3)]


async def test_an_answer_that_takes_seconds_is_asked_for_again_soon_all_the_same(virtual_clock: VirtualClock) -> None:
    engine = Engine(virtual_clock)
    engine.seconds = 3.0
    answers = Poll(virtual_clock, engine.ask).answers()
    for engine.answer in (1, 2, 3):
        await told(answers, virtual_clock)
    assert engine.asked == [0.0, 3 + REST_MOST_SECONDS, 2 * (3 + REST_MOST_SECONDS)]


async def test_a_failure_is_told_with_what_was_known_before(virtual_clock: VirtualClock) -> None:
    engine = Engine(virtual_clock)
    answers = Poll(virtual_clock, engine.ask).answers()
    await told(answers, virtual_clock)
    engine.answer = ApiError(404, "NotFound", 'view "scheduler/queue" not found')
    assert await told(answers, virtual_clock) == Answer(1, 'view "scheduler/queue" not found', is_absent=True)
    engine.answer = ConnectionError("connection refused")
    assert await told(answers, virtual_clock) == Answer(1, LOST)
    engine.answer = 2
    assert await told(answers, virtual_clock) == Answer(2)


async def test_nobody_is_asked_while_nobody_looks(virtual_clock: VirtualClock) -> None:
    engine = Engine(virtual_clock)
    is_looked_at = False
    answers = Poll(virtual_clock, engine.ask, wanted=lambda: is_looked_at).answers()
    assert await told(answers, virtual_clock) is None
    assert not engine.asked


async def test_hurry_asks_at_once(virtual_clock: VirtualClock) -> None:
    engine = Engine(virtual_clock)
    poll = Poll(virtual_clock, engine.ask, period=30)
    answers = poll.answers()
    await told(answers, virtual_clock)
    engine.answer = 2
    virtual_clock.call_later(1, poll.hurry)
    assert await told(answers, virtual_clock) == Answer(2)
    assert engine.asked == [0, 1]
    await asyncio.sleep(0)
