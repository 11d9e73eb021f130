"""Model time: real, scaled, paused, stepped and virtual."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.clock import Clock, VirtualClock, wall
from engine.kept_time import KeptTime
from engine.latency import Latency
from engine.rng import Rng
from engine.trace import Hop, Tracer
from engine.world import World


async def test_virtual_time_jumps_to_the_next_timer_and_takes_no_wall_time(virtual_clock: VirtualClock) -> None:
    began = wall()
    await virtual_clock.sleep(86_400)
    assert virtual_clock.monotonic() == 86_400
    assert virtual_clock.timestamp() == "2026-01-02T00:00:00Z"
    assert wall() - began < 3600


async def test_timers_of_one_instant_fire_in_the_order_they_were_set(virtual_clock: VirtualClock) -> None:
    fired: list[str] = []
    virtual_clock.call_at(5, lambda: fired.append("first"))
    virtual_clock.call_at(5, lambda: fired.append("second"))
    virtual_clock.call_at(1, lambda: fired.append("early"))
    await virtual_clock.sleep(6)
    assert fired == ["early", "first", "second"]


async def test_virtual_time_stands_still_while_anything_can_run(virtual_clock: VirtualClock) -> None:
    seen: list[float] = []

    async def busy() -> None:
        for _ in range(100):
            await asyncio.sleep(0)
            seen.append(virtual_clock.monotonic())

    await asyncio.gather(busy(), virtual_clock.sleep(1))
    assert set(seen) == {0.0}


async def test_a_cancelled_timer_neither_fires_nor_moves_time(virtual_clock: VirtualClock) -> None:
    timer = virtual_clock.call_later(1000, lambda: pytest.fail("cancelled"))
    timer.cancel()
    await virtual_clock.sleep(1)
    assert virtual_clock.monotonic() == 1


async def test_virtual_time_stands_still_while_the_model_waits_for_a_thread(virtual_clock: VirtualClock) -> None:
    fired: list[str] = []
    virtual_clock.call_later(1, lambda: fired.append("a second"))
    started, go_on = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        go_on.wait()

    with virtual_clock.hold():
        working = asyncio.get_running_loop().run_in_executor(None, work)
        started.wait()
        asyncio.get_running_loop().call_later(0.05, go_on.set)  # the machine's time: the loop is idle until then
        await working
        assert (fired, virtual_clock.monotonic()) == ([], 0.0)
    await virtual_clock.sleep(1)
    assert fired == ["a second"]


async def test_timeout_raises_after_model_seconds(virtual_clock: VirtualClock) -> None:
    with pytest.raises(TimeoutError):
        async with virtual_clock.timeout(30):
            await asyncio.Event().wait()
    assert virtual_clock.monotonic() == 30


async def test_timeout_lets_a_quick_body_through(virtual_clock: VirtualClock) -> None:
    async with virtual_clock.timeout(30):
        await virtual_clock.sleep(29)
    async with virtual_clock.timeout(None):
        await virtual_clock.sleep(100)
    assert virtual_clock.monotonic() == 129


async def test_a_scaled_clock_runs_faster_than_the_machine() -> None:
    clock = Clock(speed=10_000)
    assert clock.mode == "scaled"
    began = wall()
    await clock.sleep(100)
    assert clock.monotonic() >= 100
    assert wall() - began < 50


async def test_a_clock_that_is_sped_up_waits_for_what_is_due() -> None:
    clock = Clock()
    fired: list[float] = []
    clock.call_at(5, lambda: fired.append(clock.monotonic()))
    clock.set_speed(10_000)
    before = wall()
    while wall() < before + 0.01:  # the loop is busy for a hundred model seconds
        pass
    assert clock.monotonic() == 6.0
    clock.call_at(1, lambda: None)  # what was due before does not turn it back
    assert clock.monotonic() == 6.0
    await clock.sleep(1)
    assert fired[0] >= 6.0
    clock.set_speed(1)
    clock.call_later(0, lambda: None)
    before = wall()
    while wall() < before + 0.01:
        pass
    assert clock.monotonic() >= 6.01  # the machine's own time waits for nobody


def test_time_does_not_go_back_over_a_restart(tmp_path: Path) -> None:
    kept, start = KeptTime(tmp_path / "time"), datetime.now(UTC)
    ahead = Clock(epoch=start + timedelta(hours=1))
    kept.note(ahead)
    assert kept.clock().now() >= start + timedelta(hours=1)
    kept.note(ahead, ahead=60)
    assert kept.clock().now() >= start + timedelta(hours=1, minutes=1)
    kept.note(Clock())  # no longer ahead
    assert not (tmp_path / "time").exists()
    (tmp_path / "time").write_text("soon")
    assert kept.clock().now() < start + timedelta(minutes=5)


async def test_a_paused_clock_stands_still_until_it_is_stepped_or_resumed() -> None:
    clock = Clock()
    clock.pause()
    fired: list[str] = []
    clock.call_later(3600, lambda: fired.append("an hour"))
    clock.call_later(7200, lambda: fired.append("two hours"))
    before = clock.monotonic()
    await asyncio.sleep(0)
    assert (clock.mode, clock.monotonic(), fired) == ("paused", before, [])
    assert clock.step()
    assert fired == ["an hour"]
    assert clock.monotonic() == before + 3600
    assert clock.step()
    assert not clock.step()
    clock.resume()
    assert (clock.mode, clock.speed) == ("real", 1.0)


async def test_resume_goes_on_at_the_speed_before_the_pause() -> None:
    clock = Clock(speed=50)
    clock.pause()
    clock.resume()
    assert clock.speed == 50


def test_a_negative_speed_is_refused() -> None:
    with pytest.raises(ValueError, match="below 0"):
        Clock().set_speed(-1)


def test_a_virtual_clock_has_no_speed() -> None:
    with pytest.raises(ValueError, match="jumps from timer to timer"):
        VirtualClock().set_speed(2)


def test_streams_of_one_seed_repeat_and_do_not_disturb_each_other() -> None:
    first, second = Rng(7), Rng(7)
    pods = first.stream("pods")
    first.stream("other").name_suffix()
    assert [pods.name_suffix() for _ in range(3)] == [first.stream("pods").name_suffix(), *_rest(second, 2)]
    assert first.stream("a").uid() != first.stream("b").uid()
    assert Rng(None).seed != Rng(None).seed


def _rest(rng: Rng, count: int) -> list[str]:
    stream = rng.stream("pods")
    stream.name_suffix()
    return [stream.name_suffix() for _ in range(count)]


async def test_simulated_latency_is_model_time_and_not_wall_time(virtual_clock: VirtualClock) -> None:
    rng = Rng(1)
    tracer = Tracer(virtual_clock, rng)
    latency = Latency(virtual_clock, rng, {"store": (1000, 1000)})
    with (
        tracer.span(Hop.CONTROLLER, component="c", verb="reconcile") as outer,
        tracer.span(Hop.STORE, component="etcd", verb="put") as inner,
    ):
        assert await latency.pause("store") == 1.0
        assert await latency.pause("unknown to the profile") == 0.0
    assert (inner.model_ms, outer.model_ms) == (1000, 1000)
    assert outer.wall_ms < 1000
    assert inner.parent == outer.id
    assert inner.trace_id == outer.trace_id


async def test_a_custom_profile_stands_in_place_of_the_named_one(virtual_clock: VirtualClock) -> None:
    custom = World.create(clock=virtual_clock, seed=1, latencies={"store": (5, 5)})
    assert (custom.latency.name, custom.latency.draw("store"), custom.latency.draw("client")) == ("custom", 0.005, 0.0)
