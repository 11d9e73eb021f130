"""Stepping through the recorded apply, on and back."""

from __future__ import annotations

import pytest

from ktui.models.flow import FlowModel
from ktui.models.replay import Replay
from ktui.models.story import DONE, tell
from tests.ktui import recorded


@pytest.fixture(scope="module")
def pinned() -> FlowModel:
    """The trace of the Deployment alone."""
    live = FlowModel()
    live.add(recorded.spans())
    model = FlowModel()
    model.add(live.traces[live.story])
    return model


def replay(pinned: FlowModel, *, from_end: bool = False) -> Replay:
    return Replay.of(next(iter(pinned.traces.values())), pinned.rows, from_end=from_end)


def test_it_begins_with_the_first_hop_of_the_request(pinned: FlowModel) -> None:
    at = replay(pinned)
    assert (at.current["hop"], len(at.shown), at.at) == (2, 1, 0)


def test_each_step_shows_one_hop_more_and_each_step_back_one_less(pinned: FlowModel) -> None:
    at = replay(pinned)
    hops = [at.current["hop"]]
    for _ in range(5):
        assert at.move(1)
        hops.append(at.current["hop"])
    assert hops == [2, 3, 4, 5, 6, 7]
    assert at.move(-1)
    assert at.current["hop"] == 6
    at.move(-100)
    assert at.at == 0


def test_an_event_comes_behind_its_write(pinned: FlowModel) -> None:
    trace = next(iter(pinned.traces.values()))
    event = next(span for span in trace if span["hop"] == 8)
    told_early = [event, *(span for span in trace if span is not event)]
    spans = list(Replay.of(told_early, pinned.rows, from_end=False).spans)
    before = spans[spans.index(event) - 1]
    assert before["id"] == event["parent"]
    assert len(spans) == len(trace)


def test_beyond_the_last_hop_there_is_nothing_to_replay(pinned: FlowModel) -> None:
    at = replay(pinned, from_end=True)
    assert at.move(1)
    assert not at.move(1)
    assert len(at.shown) == at.stops[-1]


def test_what_is_hidden_is_no_step(pinned: FlowModel) -> None:
    at = replay(pinned)
    assert not any(span["object"].startswith("event/") for span in (at.spans[stop - 1] for stop in at.stops))
    assert any(span["object"].startswith("event/") for span in at.spans)


def test_the_lamps_show_how_far_it_had_come(pinned: FlowModel) -> None:
    at = replay(pinned)
    at.move(3)
    story = tell(at.from_root)
    assert story is not None
    assert story.title == "kubectl create deployment/web · by kubernetes-admin"
    assert [lamp.sign for lamp in story.lamps[:7]] == [DONE] * 5 + ["◐", "○"]


def test_the_cursor_is_on_the_hop_that_ended_last(pinned: FlowModel) -> None:
    at = replay(pinned)
    at.move(5)
    model = FlowModel()
    model.add(at.shown)
    row = at.row_of_current(model.rows)
    assert row is not None
    assert row.text == "txn put"
