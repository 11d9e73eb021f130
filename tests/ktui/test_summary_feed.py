"""What the top line learns of the engine."""

from __future__ import annotations

from engine.api.wire import Request, Response
from engine.client import Client
from engine.clock import VirtualClock
from engine.world import World
from ktui.feeds import summary as feed
from ktui.session import Session

STATUS = {
    "revision": 7,
    "kubernetesVersion": "1.37.0",
    "profile": "instant",
    "nodes": {"ready": 3},
    "clock": {"mode": "real", "speed": 1.0, "now": "2026-01-01T00:00:00.000000Z"},
}


class Slow:
    """Answers the status after `seconds`; the store is not told of."""

    def __init__(self, clock: VirtualClock) -> None:
        self.seconds = 0.0
        self.asked = 0
        self._clock = clock

    async def send(self, request: Request) -> Response:
        if not request.path.endswith("debug/ktui/status"):
            return Response(404, {"kind": "Status", "reason": "NotFound", "message": "not here", "code": 404})
        self.asked += 1
        await self._clock.sleep(self.seconds)
        return Response(200, STATUS)

    async def close(self) -> None: ...


async def test_an_engine_that_is_slow_to_answer_is_said_to_be_busy_and_heard_all_the_same(
    virtual_clock: VirtualClock, world: World
) -> None:
    engine = Slow(virtual_clock)
    summaries = feed.follow(Session(name="default", client=Client(engine, user_agent="ktui"), world=world))
    assert (await anext(summaries)).state == feed.CONNECTING
    assert (await anext(summaries)).state == ""
    engine.seconds = 3 * feed.PATIENCE_SECONDS + 0.5
    told = []
    for _ in range(4):
        summary = await anext(summaries)
        told.append((summary.waited, summary.state))
    assert told == [(2, ""), (4, ""), (6, ""), (0, "")]
    assert engine.asked == 2
    engine.seconds = 6 * feed.PATIENCE_SECONDS
    told = []
    for _ in range(6):
        summary = await anext(summaries)
        told.append((summary.waited, summary.state))
    assert told == [(2, ""), (4, ""), (6, ""), (8, ""), (10, feed.BUSY), (0, "")]
    await summaries.aclose()


async def test_an_engine_that_never_answers_is_asked_anew(virtual_clock: VirtualClock, world: World) -> None:
    engine = Slow(virtual_clock)
    summaries = feed.follow(Session(name="default", client=Client(engine, user_agent="ktui"), world=world))
    await anext(summaries)
    await anext(summaries)
    engine.seconds = 10 * feed.GIVE_UP_SECONDS
    while engine.asked < 3:
        assert (await anext(summaries)).waited
    await summaries.aclose()
    await virtual_clock.sleep(1)
