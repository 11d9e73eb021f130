"""A question asked again and again at a bounded rate; its answer is told only where it is another than before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from engine.api.errors import ApiError
from engine.client import Client
from engine.clock import Clock
from ktui.models.trouble import words

PREFIX = "/debug/ktui"
PERIOD_SECONDS = 0.25
IDLE_SHARE = 19  # times what an answer took to come and to be shown, until the next is asked for: a twentieth
REST_MOST_SECONDS = 5.0  # older than that and what the answer took nobody wants to look at, however busy the engine is


@dataclass(frozen=True, slots=True)
class Answer:
    """`problem` is why there is no newer `value`; `is_absent`: nobody offers what was asked for."""

    value: Any = None
    problem: str = ""
    is_absent: bool = False


class Poll:
    """`ask` may raise ApiError and ConnectionError; while `wanted` is false nobody is asked. `asked_at` is when what is
    not answered yet was asked, None where nothing is.
    """

    def __init__(
        self,
        clock: Clock,
        ask: Callable[[], Awaitable[Any]],
        *,
        wanted: Callable[[], bool] = lambda: True,
        period: float = PERIOD_SECONDS,
    ) -> None:
        self._clock = clock
        self._ask = ask
        self._wanted = wanted
        self._period = period
        self._wake = asyncio.Event()
        self.asked_at: float | None = None

    def hurry(self) -> None:
        """Ask at once: the question has changed."""
        self._wake.set()

    async def answers(self) -> AsyncIterator[Answer]:
        last: Answer | None = None
        while True:
            began = self._clock.monotonic()
            self._wake.clear()
            if self._wanted():
                self.asked_at = began
                try:
                    answer = await self._once(last)
                finally:
                    self.asked_at = None
                if answer != last:
                    last = answer
                    yield answer
            took = self._clock.monotonic() - began
            await self._rest(max(self._period, min(IDLE_SHARE * took, REST_MOST_SECONDS)))

    async def _once(self, last: Answer | None) -> Answer:
        known = last.value if last is not None else None
        try:
            return Answer(await self._ask())
        except ApiError as error:
            return Answer(known, words(error), is_absent=error.code == 404)
        except ConnectionError as error:
            return Answer(known, words(error))

    async def _rest(self, seconds: float) -> None:
        try:
            async with self._clock.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return


async def view(client: Client, name: str, **query: str) -> Any:
    """What a component offers under `/debug/ktui/views/`. Raises ApiError, 404 where nobody offers it."""
    return await look(client, f"views/{name}", **query)


async def look(client: Client, what: str, **query: str) -> Any:
    return await client.request("GET", f"{PREFIX}/{what}", query={name: [text] for name, text in query.items()})
