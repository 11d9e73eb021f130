"""Spans, their links and the bounds of what is kept."""

from __future__ import annotations

import asyncio

import pytest

from engine.api.errors import ApiError
from engine.trace import Hop, SpanContext, Tracer, current_context
from engine.world import World

PARENT = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


@pytest.mark.parametrize(
    ("header", "valid"),
    [
        pytest.param(f"00-{PARENT}-{SPAN}-01", True, id="valid"),
        pytest.param(f"cc-{PARENT}-{SPAN}-01-what-the-future-will-be", True, id="a later version"),
        pytest.param(f"ff-{PARENT}-{SPAN}-01", False, id="version ff is forbidden"),
        pytest.param(f"00-{'0' * 32}-{SPAN}-01", False, id="all-zero trace id"),
        pytest.param(f"00-{PARENT}-{'0' * 16}-01", False, id="all-zero span id"),
        pytest.param(f"00-{PARENT[:-1]}-{SPAN}-01", False, id="short trace id"),
        pytest.param(f"00-{PARENT[:-1]}g-{SPAN}-01", False, id="not hexadecimal"),
        pytest.param("nonsense", False, id="nonsense"),
        pytest.param("", False, id="empty"),
    ],
)
def test_traceparent(header: str, valid: bool) -> None:
    assert (SpanContext.parse(header) == SpanContext(PARENT, SPAN)) is valid


async def test_a_span_is_the_child_of_the_one_around_it_unless_a_cause_is_given(world: World) -> None:
    tracer = world.tracer
    with tracer.span(Hop.CLIENT, component="kubectl", verb="apply") as root:
        assert current_context() == root.context
        with tracer.span(Hop.STORE, component="etcd", verb="put") as child:
            pass
        with tracer.span(Hop.CONTROLLER, component="c", verb="reconcile", cause=SpanContext(PARENT, SPAN)) as caused:
            pass
    assert (root.parent, child.parent, caused.parent) == ("", root.id, SPAN)
    assert caused.trace_id == PARENT
    assert current_context() is None
    assert [span.verb for span in tracer.recent] == ["put", "reconcile", "apply"]


async def test_a_failure_becomes_the_outcome(world: World) -> None:
    with pytest.raises(ApiError), world.tracer.span(Hop.STORE, component="etcd", verb="put") as refused:
        raise ApiError(409, "Conflict", "no")
    with pytest.raises(ZeroDivisionError), world.tracer.span(Hop.STORE, component="etcd", verb="put") as broken:
        raise ZeroDivisionError
    assert (refused.outcome, broken.outcome) == ("Conflict", "ZeroDivisionError")


async def test_what_is_given_up_is_canceled(world: World) -> None:
    with pytest.raises(asyncio.CancelledError), world.tracer.span(Hop.KUBELET, component="kubelet", verb="PullImage"):
        raise asyncio.CancelledError
    assert world.tracer.recent[-1].outcome == "Canceled"


async def test_a_slow_subscriber_loses_its_oldest_spans_and_knows_how_many(world: World) -> None:
    tracer = world.tracer
    with tracer.subscribe(size=2) as slow, tracer.subscribe() as quick:
        for number in range(5):
            with tracer.span(Hop.WATCH, component="c", verb=str(number)):
                pass
        assert [span.verb for span in await slow.next_batch()] == ["3", "4"]
        assert slow.dropped == 3
        assert len(await quick.next_batch()) == 5
    assert [span.sequence for span in tracer.recent] == [1, 2, 3, 4, 5]


async def test_the_ring_keeps_the_newest(world: World) -> None:
    tracer = Tracer(world.clock, world.rng, ring=3)
    for number in range(10):
        with tracer.span(Hop.WATCH, component="c", verb=str(number)):
            pass
    assert [span.verb for span in tracer.recent] == ["7", "8", "9"]
    assert tracer.ended == 10


async def test_a_span_in_json_has_hop_lane_object_revision_and_both_times(world: World) -> None:
    with world.tracer.span(Hop.STORE, component="etcd", verb="put", object="pod/default/web", revision=7) as span:
        pass
    json = span.to_json()
    assert {
        "id",
        "parent",
        "hop",
        "lane",
        "component",
        "verb",
        "object",
        "revision",
        "wall_ms",
        "model_ms",
        "outcome",
    } <= set(json)
    assert (json["hop"], json["lane"], json["revision"]) == (7, "etcd", 7)
