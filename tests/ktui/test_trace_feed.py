"""Spans on their way from the engine to the Flow screen."""

from __future__ import annotations

import orjson

from engine.clock import VirtualClock
from ktui.feeds.trace import WAITING_MOST, WRITES_MOST, Spans, slices


def lines(first: int, count: int) -> bytes:
    return b"".join(orjson.dumps({"id": number}) + b"\n" for number in range(first, first + count))


def ids(spans: Spans, most: int = WAITING_MOST) -> list[int]:
    return [span["id"] for span in spans.take(most)]


def test_lines_are_put_together_from_chunks() -> None:
    spans = Spans()
    whole = lines(0, 3)
    spans.read(whole[:11])
    assert ids(spans) == [0]
    spans.read(whole[11:])
    assert ids(spans, most=1) == [1]
    assert ids(spans) == [2]
    assert not spans


def test_the_newest_are_kept_and_the_others_counted() -> None:
    spans = Spans()
    spans.read(lines(0, 1))
    assert ids(spans) == [0]
    spans.read(lines(1, WAITING_MOST + 10))
    assert spans.skipped == 10
    assert ids(spans)[0] == 11


def test_what_the_engine_kept_from_before_was_not_skipped() -> None:
    spans = Spans()
    spans.read(lines(0, WAITING_MOST + 10))
    assert spans.skipped == 0


def heartbeats(first: int, count: int) -> bytes:
    return b"".join(
        orjson.dumps({"id": number, "object": "lease/kube-node-lease/node-1"}) + b"\n"
        for number in range(first, first + count)
    )


def test_a_write_of_an_hour_ago_is_not_pushed_out_by_the_heartbeats_since() -> None:
    spans = Spans()
    spans.read(lines(0, 5) + heartbeats(5, WAITING_MOST))
    assert ids(spans) == [0, 1, 2, 3, 4]
    spans.read(heartbeats(WAITING_MOST + 5, 2))  # those that come from now on can be looked at
    assert ids(spans) == [WAITING_MOST + 5, WAITING_MOST + 6]


def test_what_a_client_wrote_is_not_pushed_out_by_all_that_came_of_it() -> None:
    def of_clients(first: int, *verbs: str) -> bytes:
        made = ({"id": first + place, "hop": 1, "verb": verb} for place, verb in enumerate(verbs))
        return b"".join(orjson.dumps(each) + b"\n" for each in made)

    spans = Spans()
    spans.read(of_clients(0, "get", "create", "list") + lines(3, WAITING_MOST))
    assert ids(spans, most=2) == [1, 3]
    spans = Spans()
    spans.read(of_clients(0, *["create"] * (WRITES_MOST + 5)) + lines(WRITES_MOST + 5, WAITING_MOST))
    assert ids(spans, most=2 * WAITING_MOST)[:2] == [5, 6]  # and not all of those who write without an end
    assert not spans


async def test_that_all_is_told_which_the_engine_kept_is_said_were_it_nothing_to_show(
    virtual_clock: VirtualClock,
) -> None:
    spans = Spans()
    coming = slices(spans, virtual_clock)
    spans.read(lines(0, 1)[:-1])  # not yet a whole line
    assert not spans.is_told
    spans.read(b"\n")
    assert [span["id"] for span in await anext(coming)] == [0]
    spans.read(lines(1, 1))  # within the frame
    assert [span["id"] for span in await anext(coming)] == [1]
    assert await anext(coming) == []  # that was all
    spans = Spans()
    coming = slices(spans, virtual_clock)
    spans.read(heartbeats(0, 2))
    assert await anext(coming) == []
    spans.read(lines(2, WAITING_MOST + 10))  # was kept from before too
    assert spans.skipped == 0
