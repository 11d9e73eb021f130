"""A TCP connection into a simulated container, from `kubectl port-forward`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from engine.clock import Clock
from engine.kubelet.runtime import pages, web
from engine.kubelet.runtime.container import SimulatedContainer
from engine.streaming import Output


class Connection:
    """Answers HTTP where the port's server speaks it; any other protocol is cut off at the first word, for no server
    is there to speak it."""

    def __init__(self, container: SimulatedContainer, port: int, *, output: Output, clock: Clock) -> None:
        self._container = container
        self._speaks_http = web.speaks_http(port)
        self._output = output
        self._clock = clock
        self._data = b""
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._leave: Callable[[], None] = container.when_ended(self._end)

    def write(self, data: bytes) -> None:
        if self._ended.done():
            return
        if not self._speaks_http:
            self._end()
            return
        self._data += data
        try:
            while (found := web.parse(self._data)) is not None:
                request, self._data = found
                self._answer(request)
        except ValueError:
            self._answer(web.HttpRequest("GET", "/", {"connection": "close"}, b""), status=400)

    def _answer(self, request: web.HttpRequest, *, status: int = 0) -> None:
        now = self._clock.now()
        given = (
            web.HttpAnswer(status, "", "text/plain", pages.LABEL)
            if status
            else web.answer(self._container, request, now)
        )
        self._output(1, web.on_the_wire(request, given, now))
        if not request.keeps_alive:
            self._end()

    def close_input(self) -> None:
        self._end()

    def resize(self, columns: int, rows: int) -> None:
        """A connection has no size."""

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    def close(self) -> None:
        self._end()

    def _end(self) -> None:
        self._leave()
        if not self._ended.done():
            self._ended.set_result(0)
