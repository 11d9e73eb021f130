"""Who waits for a picture, and what steps aside until it is there."""

from __future__ import annotations

from engine.clock import VirtualClock
from ktui.feeds.trace import Spans, slices
from ktui.haste import PATIENCE_SECONDS, REST_SECONDS, Haste


async def test_a_key_is_waited_for_until_the_next_picture(virtual_clock: VirtualClock) -> None:
    haste = Haste(virtual_clock)
    assert not haste.is_waited_for()
    haste.come()
    assert haste.is_waited_for()
    haste.handled()
    haste.drawn()
    assert not haste.is_waited_for()


async def test_a_picture_from_before_the_key_was_handled_is_not_what_was_waited_for(
    virtual_clock: VirtualClock,
) -> None:
    haste = Haste(virtual_clock)
    await virtual_clock.sleep(1)
    haste.come()
    assert haste.is_under_way()
    assert not haste.is_due()
    haste.drawn()
    haste.handled()
    assert haste.is_waited_for()
    assert not haste.is_under_way()


async def test_a_key_that_changes_nothing_is_not_waited_for_for_ever(virtual_clock: VirtualClock) -> None:
    haste = Haste(virtual_clock)
    haste.come()
    await virtual_clock.sleep(PATIENCE_SECONDS)
    assert not haste.is_waited_for()


async def test_pictures_for_a_key_that_is_held_down_come_at_the_pace_of_the_frame_clock(
    virtual_clock: VirtualClock,
) -> None:
    haste = Haste(virtual_clock)
    await virtual_clock.sleep(1)
    haste.come()
    haste.handled()
    assert haste.is_due()
    haste.drawn()
    haste.come()
    haste.handled()
    assert not haste.is_due()
    await virtual_clock.sleep(REST_SECONDS)
    assert haste.is_due()


async def test_spans_step_aside_for_a_key(virtual_clock: VirtualClock) -> None:
    haste, spans = Haste(virtual_clock), Spans()
    spans.read(b'{"id":1}\n')
    haste.come()
    began = virtual_clock.monotonic()
    feed = slices(spans, virtual_clock, after=haste.is_waited_for)
    assert await anext(feed) == [{"id": 1}]
    assert virtual_clock.monotonic() >= began + PATIENCE_SECONDS
    await feed.aclose()
