"""The Dashboard's figures: what is a rate, what is a gauge, and how they are drawn."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.models.dashboard import DashboardModel, plot, spark, totals


def sample(at: float, revision: int, *, model: float | None = None, ready: int = 0) -> dict[str, Any]:
    return {
        "at": at,
        "roundTripMs": 2.0,
        "status": {
            "revision": revision,
            "clock": {"monotonic": at if model is None else model},
            "pods": {"ready": ready, "waiting": 1, "failed": 0},
            "nodes": {"ready": 3},
        },
        "metrics": 'apiserver_registered_watchers{kind="pod"} 3\napiserver_registered_watchers{kind="node"} 4\n',
        "controllers": {},
        "queue": None,
        "attempts": None,
    }


def test_metrics_are_summed_over_their_labels() -> None:
    assert totals('# TYPE a gauge\na{x="1"} 1\na{x="2"} 2.5\nb 7\n\n') == {"a": 3.5, "b": 7.0}


def test_counters_become_rates_of_the_model_s_second() -> None:
    model = DashboardModel()
    model.take(sample(0, 100))
    assert "revisions" not in model.series
    model.take(sample(1, 140, model=4.0))  # the model runs four times as fast
    assert list(model.series["revisions"]) == [10.0]
    model.take(sample(2, 150, model=4.0))  # it stands still
    assert list(model.series["revisions"]) == [10.0, 0.0]
    assert list(model.series["streams"]) == [7, 7, 7]


def test_samples_are_a_second_apart() -> None:
    model = DashboardModel()
    assert [model.take(sample(at, 1)) for at in (0.0, 0.25, 0.9, 1.0, 1.5, 2.0)] == [
        True,
        False,
        False,
        True,
        False,
        True,
    ]


def test_what_nobody_offers_has_no_row() -> None:
    model = DashboardModel()
    model.take(sample(0, 1))
    names = {row.key for row in model.rows()}
    assert "pods ready" in names
    assert "scheduling attempts" not in names


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        pytest.param([], "    ", id="nothing yet"),
        pytest.param([0, 0], "    ", id="nothing"),
        pytest.param([0, 4, 8], "  ▄█", id="to the highest"),
        pytest.param([0.01, 8], "  ▁█", id="a little shows"),
        pytest.param([9, 9, 1, 2, 4, 8], "▁▂▄█", id="the newest"),
    ],
)
def test_a_sparkline(values: list[float], drawn: str) -> None:
    assert spark(values, 4) == drawn


def test_a_plot_over_several_lines() -> None:
    assert plot([2, 4], width=3, height=2) == ["  █", " ██"]
