"""The work queue: de-duplication, retries, delays and shutting down (after client-go's util/workqueue tests)."""

from __future__ import annotations

import asyncio

import pytest

from engine.client import Origin, QueueShutDownError, WorkQueue
from engine.clock import VirtualClock
from engine.trace import SpanContext

CAUSE = SpanContext("a" * 32, "b" * 16)


async def test_a_key_added_twice_is_handed_out_once_with_both_origins(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    queue.add("default/web", Origin(7, CAUSE))
    queue.add("default/web", Origin(8))
    assert len(queue) == 1
    assert await queue.get() == ("default/web", [Origin(7, CAUSE), Origin(8)])
    assert len(queue) == 0


async def test_a_key_added_while_it_is_processed_comes_again_after_done(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    queue.add("foo", Origin(1))
    key, _ = await queue.get()
    queue.add("foo", Origin(2))
    assert len(queue) == 0, "two workers must never hold one key"
    queue.done(key)
    assert await queue.get() == ("foo", [Origin(2)])


async def test_done_without_a_further_add_does_not_bring_the_key_back(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    queue.add("foo")
    await queue.get()
    queue.done("foo")
    assert len(queue) == 0
    assert queue.processing() == []


async def test_keys_come_in_the_order_of_their_first_add(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    for key in ("a", "b", "a", "c"):
        queue.add(key)
    assert [(await queue.get())[0] for _ in range(3)] == ["a", "b", "c"]


async def test_a_delayed_key_comes_when_it_is_due(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    queue.add_after("late", 10, Origin(3))
    assert queue.waiting() == {"late": 10}
    assert await queue.get() == ("late", [Origin(3)])
    assert virtual_clock.monotonic() == 10


@pytest.mark.parametrize(
    ("delays", "due"),
    [
        pytest.param((10, 5), 5, id="an earlier time wins"),
        pytest.param((5, 10), 5, id="a later time is ignored"),
        pytest.param((5, 0), 0, id="now is now"),
    ],
)
async def test_of_two_delays_the_earlier_stands(
    virtual_clock: VirtualClock, delays: tuple[float, float], due: float
) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    for delay in delays:
        queue.add_after("key", delay)
    await queue.get()
    assert virtual_clock.monotonic() == due


async def test_failures_back_off_by_doubling_until_forgotten(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    waits = []
    for _ in range(5):
        before = virtual_clock.monotonic()
        queue.add_rate_limited("key")
        await queue.get()
        queue.done("key")
        waits.append(round(virtual_clock.monotonic() - before, 6))
    assert waits == [0.005, 0.01, 0.02, 0.04, 0.08]
    assert queue.num_requeues("key") == 5
    queue.forget("key")
    assert queue.num_requeues("key") == 0
    before = virtual_clock.monotonic()
    queue.add_rate_limited("key")
    await queue.get()
    assert virtual_clock.monotonic() - before == pytest.approx(0.005)


async def test_the_overall_bucket_holds_back_what_comes_after_a_burst_of_a_hundred(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[int] = WorkQueue(virtual_clock)
    for number in range(110):
        queue.add_rate_limited(number)
    waiting = queue.waiting()
    assert waiting[99] == pytest.approx(0.005)
    assert waiting[100] == pytest.approx(0.1), "ten a second after the burst"
    assert waiting[109] == pytest.approx(1.0)


async def test_shutting_down_hands_out_what_is_queued_and_then_ends_all_workers(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    idle = [asyncio.ensure_future(queue.get()) for _ in range(2)]
    await asyncio.sleep(0)
    queue.shut_down()
    queue.add("ignored")
    for worker in idle:
        with pytest.raises(QueueShutDownError):
            await worker
    assert len(queue) == 0


async def test_draining_waits_for_what_is_in_flight(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    queue.add("slow")
    key, _ = await queue.get()
    drained = asyncio.ensure_future(queue.shut_down_with_drain())
    await virtual_clock.sleep(1)
    assert not drained.done()
    queue.done(key)
    await drained


async def test_a_cancelled_worker_does_not_swallow_the_wake_up_that_was_meant_for_it(
    virtual_clock: VirtualClock,
) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    first, second = asyncio.ensure_future(queue.get()), asyncio.ensure_future(queue.get())
    await asyncio.sleep(0)
    queue.add("key")
    first.cancel()
    assert (await second)[0] == "key"
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_draining_waits_for_what_was_added_again_meanwhile(virtual_clock: VirtualClock) -> None:
    """client-go TestQueueDrainageUsingShutDownWithDrainWithDirtyItem."""
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    queue.add("foo")
    key, _ = await queue.get()
    queue.add("foo")
    drained = asyncio.ensure_future(queue.shut_down_with_drain())
    await virtual_clock.sleep(1)
    with pytest.raises(QueueShutDownError):
        await queue.get()
    queue.done(key)
    await virtual_clock.sleep(1)
    assert not drained.done(), "foo is dirty: it is processed once more"
    queue.done((await queue.get())[0])
    await drained
    with pytest.raises(QueueShutDownError):
        await queue.get()


async def test_shutting_down_ends_a_wait_for_the_drain(virtual_clock: VirtualClock) -> None:
    """client-go TestForceQueueShutdownUsingShutDown."""
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    queue.add("foo")
    await queue.get()
    drained = asyncio.ensure_future(queue.shut_down_with_drain())
    await virtual_clock.sleep(1)
    assert not drained.done()
    queue.shut_down()
    await drained


async def test_a_key_that_is_added_as_a_worker_is_cancelled_goes_to_the_next(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    cancelled, next_one = (asyncio.ensure_future(queue.get()) for _ in range(2))
    await virtual_clock.sleep(0)
    cancelled.cancel()
    queue.add("a")
    assert await next_one == ("a", [])
    with pytest.raises(asyncio.CancelledError):
        await cancelled
