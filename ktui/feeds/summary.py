"""What the bar at the top shows: what the status endpoint tells, four times a second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

from engine.api.errors import ApiError
from engine.clock import Clock
from ktui.feeds import store as store_feed
from ktui.models.summary import ClusterSummary
from ktui.session import Session

PERIOD_SECONDS = 0.25
STORE_SECONDS = 2.0  # between two looks at the store's health: a real etcd's members are asked for it
PATIENCE_SECONDS = 2.0  # an engine that answers no sooner is said to be busy
LONG_SECONDS = 10.0  # an engine that answers no sooner is said not to answer
GIVE_UP_SECONDS = 60.0  # then it is asked anew: nobody answers over a connection that was lost without a word

STARTING = "starting the engine …"
CONNECTING = "connecting to the engine …"
ENDED = "the engine has ended · :up starts it again · q leaves"
LOST = "lost the connection to the engine · trying again"
AWAY = "cannot be reached · trying again · q leaves"
BUSY = "the engine does not answer · trying again"


async def follow(session: Session) -> AsyncGenerator[ClusterSummary, None]:
    """The summary, four times a second, also while the engine is away (then `state` says so)."""
    first = CONNECTING if session.begin is None else STARTING
    summary = ClusterSummary(name=session.name, state=first, is_starting=True)
    next_look = 0.0
    yield summary
    while True:
        asked = asyncio.ensure_future(_status(session, give_up=None if summary.is_starting else GIVE_UP_SECONDS))
        try:
            began = session.world.clock.monotonic()
            while not (summary.is_starting or await _is_answered(asked, session.world.clock)):
                # And waited for: who has much to do would never be heard else.
                _is_late(summary, session.world.clock.monotonic() - began)
                yield summary
            status = await asked
        except TimeoutError:
            _is_late(summary, GIVE_UP_SECONDS)
        except ConnectionError as error:
            known = bool(summary.revision)
            summary.state, summary.is_starting = _what_is_wrong(session, error, known), session.is_beginning
        except ApiError as error:
            summary.state, summary.is_starting = _refusal(error), False
        else:
            summary.take(status)
            if session.world.clock.monotonic() >= next_look:
                next_look = session.world.clock.monotonic() + STORE_SECONDS
                await _look_at_store(session, summary)
        finally:
            asked.cancel()
        yield summary
        await session.world.clock.sleep(PERIOD_SECONDS)


def _is_late(summary: ClusterSummary, seconds: float) -> None:
    """What was told last stays, with how old it is, for as long as the engine may well be at work."""
    summary.waited = seconds
    if not summary.revision or seconds >= LONG_SECONDS:
        summary.state = BUSY


async def _status(session: Session, *, give_up: float | None) -> dict[str, Any]:
    """Raises TimeoutError, ConnectionError and ApiError."""
    async with session.world.clock.timeout(give_up):
        answer: dict[str, Any] = await session.client.request("GET", "/debug/ktui/status")
    return answer


async def _is_answered(asked: asyncio.Task[Any], clock: Clock) -> bool:
    """Within the patience."""
    with suppress(TimeoutError):
        async with clock.timeout(PATIENCE_SECONDS):
            await asyncio.wait({asked})
    return asked.done()


async def _look_at_store(session: Session, summary: ClusterSummary) -> None:
    """Whether it takes writes, and who leads it; where that is not told, the rest is shown without."""
    with suppress(TimeoutError, ConnectionError, ApiError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            summary.take_store(*await store_feed.status(session.client))


def _what_is_wrong(session: Session, error: ConnectionError, known: bool) -> str:
    if session.is_beginning:
        return STARTING
    if session.is_alive is None:
        return f"{LOST if known else AWAY} · {error}"
    return LOST if session.is_alive() else ENDED


def _refusal(error: ApiError) -> str:
    match error.code:
        case 401:
            return "these credentials are not known here · q leaves"
        case 403:
            return "these credentials may not look inside the engine · q leaves"
        case 404:
            return "there is a server, but it is not ktui's · q leaves"
        case _:
            return error.message
