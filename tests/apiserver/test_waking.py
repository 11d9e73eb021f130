"""Watchers that wait for an event: all are woken in order, and one that goes away meanwhile takes nothing with it."""

from __future__ import annotations

import asyncio

import pytest

from engine.api.types import CONFIGMAPS
from engine.api.wire import WatchEvent
from engine.client import Client
from engine.client.client import Watch
from engine.clock import VirtualClock
from tests.apiserver.conftest import config_map


async def opened(client: Client) -> Watch:
    listed = await client.list(CONFIGMAPS, namespace="default")
    return await client.watch(CONFIGMAPS, namespace="default", resource_version=listed.resource_version)


async def upcoming(watch: Watch) -> WatchEvent:
    return await anext(aiter(watch))


async def following(watch: Watch) -> asyncio.Task[WatchEvent]:
    """A task that waits for the next event."""
    task = asyncio.ensure_future(upcoming(watch))
    await asyncio.sleep(0)
    return task


async def test_all_who_wait_are_woken_in_the_order_in_which_they_came(client: Client) -> None:
    order: list[int] = []

    async def follow(number: int, watch: Watch) -> None:
        await anext(aiter(watch))
        order.append(number)

    watches = [await opened(client) for _ in range(20)]
    tasks = [asyncio.ensure_future(follow(number, watch)) for number, watch in enumerate(watches)]
    await asyncio.sleep(0)
    await client.create(CONFIGMAPS, config_map("one"), namespace="default")
    await asyncio.gather(*tasks)
    assert order == list(range(20))


async def test_an_event_stays_for_whoever_asks_after_one_that_was_cancelled(client: Client) -> None:
    watch = await opened(client)
    first = await following(watch)
    first.cancel("gone")
    with pytest.raises(asyncio.CancelledError, match="gone"):
        await first
    second = await following(watch)
    await client.create(CONFIGMAPS, config_map("one"), namespace="default")
    assert (await second).object["metadata"]["name"] == "one"


async def test_a_time_out_in_the_turn_of_the_event_loses_neither(client: Client) -> None:
    """The task is cancelled after it was woken and before it went on."""
    watch = await opened(client)
    waiting = await following(watch)
    other = await opened(client)

    async def cancel_first() -> None:
        await anext(aiter(other))

    beside = asyncio.ensure_future(cancel_first())
    await asyncio.sleep(0)
    await client.create(CONFIGMAPS, config_map("one"), namespace="default")
    waiting.cancel()
    await asyncio.wait([waiting, beside])
    event = waiting.result() if not waiting.cancelled() else await (await following(watch))
    assert event.object["metadata"]["name"] == "one"


async def test_waiting_with_a_time_limit(client: Client, virtual_clock: VirtualClock) -> None:
    watch = await opened(client)
    with pytest.raises(TimeoutError):
        async with virtual_clock.timeout(5):
            await anext(aiter(watch))
    await client.create(CONFIGMAPS, config_map("late"), namespace="default")
    assert (await anext(aiter(watch))).object["metadata"]["name"] == "late"
