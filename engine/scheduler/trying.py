"""Requests that are tried again where the API server cannot answer at the moment (client-go retry.OnError, as
pkg/scheduler/util uses it)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from engine.api.errors import ApiError
from engine.clock import Clock

RETRIABLE = ("InternalError", "ServiceUnavailable")
PAUSES = (0.01, 0.05, 0.25)  # between tries (client-go retry.DefaultBackoff)


async def tried_again(request: Callable[[], Awaitable[None]], clock: Clock, pauses: Sequence[float] = PAUSES) -> None:
    """Raises what the last try raises, or what no other try would mend."""
    for pause in (*pauses, None):
        try:
            await request()
            return
        except (ApiError, ConnectionRefusedError) as failure:
            if pause is None or (isinstance(failure, ApiError) and failure.reason not in RETRIABLE):
                raise
        await clock.sleep(pause)
