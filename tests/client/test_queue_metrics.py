"""The figures of a work queue (after client-go util/workqueue metrics_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.client import WorkQueue
from engine.clock import VirtualClock


def figures(queue: WorkQueue[str]) -> dict[str, float]:
    """The values by name, without the buckets."""
    found: dict[str, float] = {}
    for family in queue.metrics.families("q"):
        for sample in family["samples"]:
            if sample["suffix"] != "_bucket":
                assert sample["labels"] == {"name": "q"}
                found[family["name"].removeprefix("workqueue_") + sample["suffix"]] = sample["value"]
    return found


def bounds(queue: WorkQueue[str], name: str) -> list[str]:
    (family,) = [family for family in queue.metrics.families("q") if family["name"] == f"workqueue_{name}"]
    return [sample["labels"]["le"] for sample in family["samples"] if sample["suffix"] == "_bucket"]


async def test_a_key_is_measured_on_its_way(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    queue.add("foo")
    assert (figures(queue)["adds_total"], figures(queue)["depth"]) == (1, 1)
    await virtual_clock.sleep(5)
    await queue.get()
    found = figures(queue)
    assert (found["depth"], found["queue_duration_seconds_sum"], found["queue_duration_seconds_count"]) == (0, 5, 1)
    for _ in range(5):
        queue.add("foo")
    assert (figures(queue)["adds_total"], figures(queue)["depth"]) == (2, 1), "it waits for itself, and counts"
    await virtual_clock.sleep(2)
    assert (figures(queue)["unfinished_work_seconds"], figures(queue)["longest_running_processor_seconds"]) == (2, 2)
    queue.done("foo")
    found = figures(queue)
    assert (found["work_duration_seconds_sum"], found["work_duration_seconds_count"], found["depth"]) == (2, 1, 1)
    assert found["unfinished_work_seconds"] == found["longest_running_processor_seconds"] == 0
    await virtual_clock.sleep(1)
    await queue.get()
    found = figures(queue)
    assert (found["queue_duration_seconds_sum"], found["queue_duration_seconds_count"]) == (5 + 3, 2)
    queue.done("foo")
    assert figures(queue)["work_duration_seconds_count"] == 2


async def test_several_workers_are_added_up_and_the_longest_is_named(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    for key in ("a", "b"):
        queue.add(key)
        await queue.get()
        await virtual_clock.sleep(3)
    assert figures(queue)["unfinished_work_seconds"] == 6 + 3
    assert figures(queue)["longest_running_processor_seconds"] == 6


@pytest.mark.parametrize(
    ("act", "retries", "adds"),
    [
        pytest.param(lambda queue: queue.add("foo"), 0, 1, id="an add is no retry"),
        pytest.param(lambda queue: queue.add_after("foo", 5), 1, 0, id="one for later is"),
        pytest.param(lambda queue: queue.add_after("foo", 0), 1, 1, id="also for now"),
        pytest.param(lambda queue: queue.add_rate_limited("foo"), 1, 0, id="and what failed"),
        pytest.param(lambda queue: (queue.shut_down(), queue.add_after("foo", 5)), 0, 0, id="not when it is over"),
    ],
)
async def test_what_counts_as_a_retry(virtual_clock: VirtualClock, act: Any, retries: int, adds: int) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    act(queue)
    assert (figures(queue)["retries_total"], figures(queue)["adds_total"]) == (retries, adds)
    queue.shut_down()


async def test_durations_have_component_bases_buckets(virtual_clock: VirtualClock) -> None:
    queue: WorkQueue[str] = WorkQueue(virtual_clock)
    for name in ("queue_duration_seconds", "work_duration_seconds"):
        found = [float(bound) for bound in bounds(queue, name)]
        assert found == [pytest.approx(10**power) for power in range(-6, 4)] + [float("inf")]
