"""The Controllers screen's rows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ktui.models.controllers import ControllersModel
from ktui.widgets.reconcile_details import queue_parts, reconcile_parts

NOW = datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
QUIET = {"depth": 0, "inFlight": 0, "adds": 0, "retries": 0, "queued": [], "processing": [], "waiting": []}
FAILED = {"key": "default/web", "seconds": 1.28, "retries": 8}
LATER = {"key": "default/web", "seconds": 600.0, "retries": 0}


def told(name: str = "job-controller", *, reconciles: int = 0, **queue: Any) -> dict[str, Any]:
    return {
        "name": name, "workers": 5, "queue": {**QUIET, **queue}, "reconciles": reconciles, "errors": 0, "last": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("shown", "state", "tone"),
    [
        pytest.param(told(), "· idle", "foreground", id="never worked"),
        pytest.param(told(reconciles=3), "✓ in step", "foreground", id="nothing to do"),
        pytest.param(told(depth=2), "◐ works", "warning", id="in line"),
        pytest.param(told(inFlight=1), "◐ works", "warning", id="in flight"),
        pytest.param(told(waiting=[FAILED]), "✖ retries", "error", id="failed, and tried again"),
        pytest.param(told(reconciles=1, waiting=[LATER]), "✓ in step", "foreground", id="looks again by itself"),
    ],
)
def test_the_state_of_a_controller(shown: dict[str, Any], state: str, tone: str) -> None:
    row = ControllersModel({"controllers/x": shown}).rows()[0]
    assert (row.cells[0], row.cells[1], row.tone) == ("job", state, tone)


def test_those_that_work_come_first() -> None:
    model = ControllersModel({"a": told("a"), "b": told("b", reconciles=1), "c": told("c", depth=1)})
    assert [row.key for row in model.rows()] == ["c", "b", "a"]
    assert model.totals["in line"] == 1


def test_a_queue_says_when_a_key_is_tried_again() -> None:
    text = "\n".join(part.plain for part in queue_parts(told(waiting=[FAILED, LATER]), width=80, colours={}))
    assert "✖ default/web" not in text
    assert "✖ web  retry 8 again in 1.3 s" in text


def test_a_long_key_gives_way_to_when_it_is_tried_again() -> None:
    key = {**FAILED, "key": "small/three-6795bb6744-with-a-long-name"}
    line = queue_parts(told(waiting=[key]), width=48, colours={})[-1].plain
    assert line.endswith("  retry 8 again in 1.3 s")
    assert len(line) <= 48


@pytest.mark.parametrize(
    ("outcome", "words", "tone"),
    [
        pytest.param("ok", "✓ done", "foreground", id="done"),
        pytest.param("RetryLater", "◐ RetryLater", "warning", id="its cache has not seen its own write"),
        pytest.param("Conflict", "◐ Conflict", "warning", id="somebody was before it"),
        pytest.param("Forbidden", "✖ Forbidden", "error", id="a failure"),
    ],
)
def test_the_outcome_of_a_reconcile_looks_as_it_does_in_flow(outcome: str, words: str, tone: str) -> None:
    last = {"key": "a/b", "outcome": outcome, "wokenBy": [], "span": "s", "model_ms": 0.0, "wall_ms": 0.1}
    row = ControllersModel(inside={"last": [last]}).reconciles()[0]
    assert (row.cells[1], row.tone) == (words, tone)


def test_a_reconcile_shows_desired_against_actual() -> None:
    last = {
        "key": "default/web", "object": "deployment/default/web", "outcome": "Conflict", "wokenBy": [7], "span": "s",
        "model_ms": 5.0, "wall_ms": 0.2, "desired": {"replicas": 3}, "actual": 2, "error": "changed meanwhile",
    }  # fmt: skip
    text = "\n".join(part.plain for part in reconcile_parts(last, colours={}))
    for words in (
        "◐ web  Conflict",
        "read and tried again",
        "woken by rev 7",
        "changed meanwhile",
        "  replicas: 3",
        "actual\n  2",
    ):
        assert words in text
    assert "..." not in text
    model = ControllersModel(inside={"last": [last]})
    assert model.reconciles()[0].cells == ("web", "◐ Conflict", "5 ms", "0.2 ms", "rev 7")
    assert model.reconcile("s") == last
