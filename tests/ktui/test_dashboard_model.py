"""The Dashboard's figures: what is a rate, what is a gauge, and how they are drawn."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.models.dashboard import DashboardModel, digest, plot, spark
from ktui.models.prometheus import quantile, read

WATCHERS = 'apiserver_registered_watchers{kind="pod"} 3\napiserver_registered_watchers{kind="node"} 4\n'


def requests(fast: int, slow: int) -> str:
    """Requests of up to 10 ms, and others of up to 100; and a watch, which lasts for an hour."""
    name = "apiserver_request_duration_seconds_bucket"
    counts = {"0.01": fast, "0.1": fast + slow, "+Inf": fast + slow}
    lines = [f'{name}{{verb="GET",le="{bound}"}} {count}' for bound, count in counts.items()]
    return "\n".join([*lines, f'{name}{{verb="WATCH",le="+Inf"}} 1', ""])


def sample(
    at: float, revision: int, *, model: float | None = None, ready: int = 0, metrics: str = WATCHERS
) -> dict[str, Any]:
    return {
        "at": at,
        "roundTripMs": 2.0,
        "status": {
            "revision": revision,
            "clock": {"monotonic": at if model is None else model},
            "pods": {"ready": ready, "waiting": 1, "failed": 0},
            "nodes": {"ready": 3},
        },
        "metrics": digest(metrics),
        "controllers": {},
        "queue": None,
        "attempts": None,
    }


def test_metrics_are_summed_over_their_labels() -> None:
    text = '# TYPE a gauge\na{x="1"} 1\na{x="2"} 2.5\nb 7\nc 1\n\nd_bucket{profile="x",le="+Inf"} 4\n'
    page = read(text, totals=("a", "b"), histograms=("d",))
    assert (page.totals, page.buckets) == ({"a": 3.5, "b": 7.0}, {"d": {float("inf"): 4.0}})


@pytest.mark.parametrize(
    ("share", "buckets", "seconds"),
    [
        pytest.param(0.5, {}, 0.0, id="no histogram"),
        pytest.param(0.5, {0.1: 0, float("inf"): 0}, 0.0, id="nothing counted"),
        pytest.param(0.5, {0.1: 4, 0.2: 4, float("inf"): 4}, 0.05, id="in the middle of the first"),
        pytest.param(0.75, {0.1: 2, 0.2: 4, float("inf"): 4}, 0.15, id="in the middle of the second"),
        pytest.param(0.99, {0.1: 1, 0.2: 1, float("inf"): 4}, 0.2, id="beyond the last bound"),
    ],
)
def test_a_quantile_of_a_histogram(share: float, buckets: dict[float, float], seconds: float) -> None:
    assert quantile(share, buckets) == pytest.approx(seconds)


def test_latencies_are_those_of_the_last_seconds_without_watches() -> None:
    model = DashboardModel()
    model.take(sample(0, 1, metrics=requests(0, 1000)))
    assert list(model.series["request p50"]) == [pytest.approx(55.0)]
    model.take(sample(1, 1, metrics=requests(100, 1000)))  # a hundred more, all of them fast
    assert model.series["request p50"][-1] == pytest.approx(5.0)
    assert model.series["request p99"][-1] == pytest.approx(9.9)
    assert list(model.series["requests"]) == [100.0]
    for at in range(2, 14):
        model.take(sample(at, 1, metrics=requests(100, 1000)))
    assert model.series["request p99"][-1] == 0.0
    assert "store p99" not in model.series


def test_latencies_of_samples_that_are_far_apart_are_those_of_the_last_seconds_too() -> None:
    model = DashboardModel()
    model.take(sample(0, 1, metrics=requests(0, 1000)))
    model.take(sample(5, 1, metrics=requests(100, 1000)))
    model.take(sample(10, 1, metrics=requests(100, 1000)))
    assert model.series["request p99"][-1] == pytest.approx(9.9)
    model.take(sample(15, 1, metrics=requests(100, 1000)))
    assert model.series["request p99"][-1] == 0.0


def test_time_goes_on_in_a_plot_while_nobody_looks() -> None:
    model = DashboardModel()
    model.take(sample(0, 100, ready=1))
    model.take(sample(3, 130, ready=2))  # the machine was busy
    assert list(model.series["pods ready"]) == [1, 2, 2, 2]
    model.take(sample(33, 160, ready=4))  # the engine was away
    assert list(model.series["pods ready"]) == [1, 2, 2, 2, *[None] * 29, 4]
    assert list(model.series["revisions"]) == [10.0] + [1.0] * 30  # a counter tells of that time too
    assert [row.cells[1:3] for row in model.rows() if row.key == "pods ready"] == [("4", "4")]
    assert plot(model.series["pods ready"], width=32, height=1) == ["▄▄" + " " * 29 + "█"]


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
