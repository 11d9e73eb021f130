"""How long a request may take, and what who waited too long is told.

Source: apiserver pkg/endpoints/filters/request_deadline.go, pkg/server/filters/timeout.go and
pkg/endpoints/handlers/finisher. A request that is out of time goes on where it is, as upstream's does: whether a write
came to be, only a read can tell. Components of this process, which name no time, are not waited out.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any

from engine.api.errors import ApiError, bad_request, unavailable
from engine.api.golang.duration import parse_duration
from engine.api.wire import Request, Response
from engine.apiserver.request_info import RequestInfo
from engine.clock import Clock, Timer
from engine.tasks import Supervisor
from engine.world import World

LONGEST = 60.0  # --request-timeout
LONGEST_WRITE = 34.0  # handlers/rest.go requestTimeoutUpperBound
_WRITES = frozenset(("create", "update", "patch", "delete"))
_OF_WRITES = "request did not complete within requested timeout - context deadline exceeded"
_OF_OTHERS = "request did not complete within the allotted timeout"


class _Deadline:
    """When a request is to be done. None is left of it once it is: what the request has begun may go on.

    `over` is one future, where a shield and a scope of its own would cost a request more than all of its waits.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.end = clock.monotonic() + seconds
        self.over = asyncio.get_running_loop().create_future()
        self._clock = clock
        self._closed = False

    def left(self) -> float | None:
        return None if self._closed else self.end - self._clock.monotonic()

    def close(self, task: asyncio.Task[Any]) -> None:
        self._closed = True
        self.wake()

    def wake(self) -> None:
        if not self.over.done():
            self.over.set_result(None)


class _AsLong:
    """Open deadlines of requests that have the same time. The first to begin is the first to be out of it, so that one
    timer does for all."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: OrderedDict[_Deadline, None] = OrderedDict()
        self._timer: Timer | None = None

    async def wait(self, deadline: _Deadline) -> None:
        """Until the request is done, or out of time."""
        self._open[deadline] = None
        if self._timer is None:
            self._timer = self._clock.call_at(deadline.end, self._ring)
        try:
            await deadline.over
        finally:
            self._open.pop(deadline, None)
            if not self._open and self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _ring(self) -> None:
        self._timer = None
        now = self._clock.monotonic()
        for deadline in list(self._open):
            if deadline.end > now:
                self._timer = self._clock.call_at(deadline.end, self._ring)
                break
            del self._open[deadline]
            deadline.wake()


_CURRENT: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


def seconds_left() -> float | None:
    """Of the request that is being answered here, as Go's contexts tell it; None where nothing ends it."""
    deadline = _CURRENT.get()
    return None if deadline is None else deadline.left()


def out_of_time() -> ApiError:
    """What a request is refused with that has no time left."""
    return ApiError(504, "Timeout", "Timeout: request did not complete within requested timeout", details={})


def given_up() -> ApiError:
    """What the audit log says of a request whose client has gone (handlers/finisher): nobody reads the answer."""
    message = "Timeout: request did not complete within requested timeout - context canceled"
    return ApiError(504, "Timeout", message, details={})


def _shutting_down() -> ApiError:
    """What a request is told that the server has no time for any more (filters/waitgroup.go)."""
    error = unavailable("apiserver is shutting down")
    error.retry_after = 1
    return error


class Deadlines:
    def __init__(self, world: World, tasks: Supervisor) -> None:
        self._world = world
        self._tasks = tasks
        self._usual = {seconds: _AsLong(world.clock) for seconds in (LONGEST, LONGEST_WRITE)}

    async def keep(self, request: Request, info: RequestInfo, answer: Coroutine[Any, Any, Response]) -> Response:
        """The answer, if it comes in time. Raises ApiError 400 for a time that is none, and 504."""
        try:
            seconds = _seconds(request, info)
        except ApiError:
            answer.close()
            raise
        if seconds is None:
            return await answer
        deadline = _Deadline(self._world.clock, seconds)
        token = _CURRENT.set(deadline)
        try:
            task: asyncio.Task[Response] = self._tasks.spawn(answer, f"{request.method} {request.path}")
        finally:
            _CURRENT.reset(token)
        task.add_done_callback(deadline.close)
        try:
            await (self._usual.get(seconds) or _AsLong(self._world.clock)).wait(deadline)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done():
            why = _OF_WRITES if info.verb in _WRITES else _OF_OTHERS
            raise ApiError(504, "Timeout", f"Timeout: {why}", details={})
        if task.cancelled():
            raise _shutting_down()
        return task.result()


def _seconds(request: Request, info: RequestInfo) -> float | None:
    """None for what may stay open, and for who does not care."""
    if info.long_running:
        return None
    text = request.parameter("timeout")
    if not text and request.in_process:
        return None
    try:
        asked = parse_duration(text or "0")
    except ValueError as error:
        raise bad_request(f"invalid timeout specified in the request URL - {error}") from None
    longest = LONGEST_WRITE if info.is_resource and info.verb in _WRITES else LONGEST
    return min(asked, longest) if asked > 0 else longest
