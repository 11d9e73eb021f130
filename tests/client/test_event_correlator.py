"""Events that repeat: counted, combined and in the end dropped (after client-go's events_cache_test.go)."""

from __future__ import annotations

from engine.api.types import Object
from engine.client.event_correlator import Correlated, EventCorrelator
from engine.clock import VirtualClock


def event(message: str, *, name: str = "web.1", reason: str = "Failed", pod: str = "web") -> Object:
    return {
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": pod, "uid": "u"},
        "reason": reason,
        "message": message,
        "source": {"component": "kubelet", "host": "node-1"},
        "type": "Warning",
        "count": 1,
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:01:00Z",
        "reportingComponent": "kubelet",
        "reportingInstance": "node-1",
    }


def must(correlated: Correlated | None) -> Correlated:
    assert correlated is not None
    return correlated


async def test_the_same_event_again_is_a_patch_of_the_first(virtual_clock: VirtualClock) -> None:
    correlator = EventCorrelator(virtual_clock)
    first = must(correlator.correlate(event("no image", name="web.1")))
    assert first.patch is None
    correlator.update({**first.event, "metadata": {**first.event["metadata"], "resourceVersion": "7"}})
    again = must(correlator.correlate(event("no image", name="web.2")))
    assert again.patch == {"count": 2, "lastTimestamp": "2026-01-01T00:01:00Z", "message": "no image"}
    assert again.event["metadata"]["name"] == "web.1"
    assert again.event["metadata"]["resourceVersion"] == "7"


async def test_another_message_is_another_event_until_there_are_ten(virtual_clock: VirtualClock) -> None:
    correlator = EventCorrelator(virtual_clock)
    written = [must(correlator.correlate(event(f"try {number}", name=f"web.{number}"))) for number in range(11)]
    assert all(each.patch is None and each.event["message"] == f"try {n}" for n, each in enumerate(written[:9]))
    assert written[9].event["message"] == "(combined from similar events): try 9"
    assert written[9].patch is None
    assert written[10].patch is not None
    assert written[10].patch["message"] == "(combined from similar events): try 10"
    assert written[10].patch["count"] == 2


async def test_what_stands_for_many_names_no_reporter(virtual_clock: VirtualClock) -> None:
    correlator = EventCorrelator(virtual_clock)
    annotated = {"name": "web.1", "namespace": "default", "annotations": {"of": "one"}}
    found = [must(correlator.correlate({**event(f"try {n}"), "metadata": annotated})).event for n in range(10)]
    assert found[8]["metadata"] == annotated
    assert found[9]["metadata"] == {"name": "web.1", "namespace": "default"}
    assert (found[9]["reportingComponent"], found[9]["reportingInstance"]) == ("", "")
    assert found[9]["source"] == {"component": "kubelet", "host": "node-1"}


async def test_the_same_of_another_container_is_another_event(virtual_clock: VirtualClock) -> None:
    correlator = EventCorrelator(virtual_clock)
    for container in ("one", "two"):
        about = {**event("again")["involvedObject"], "fieldPath": f"spec.containers{{{container}}}"}
        assert must(correlator.correlate({**event("again"), "involvedObject": about})).patch is None


async def test_similar_events_are_forgotten_after_ten_calm_minutes(virtual_clock: VirtualClock) -> None:
    correlator = EventCorrelator(virtual_clock)
    for number in range(9):
        correlator.correlate(event(f"try {number}"))
    await virtual_clock.sleep(601)
    assert must(correlator.correlate(event("try 9"))).event["message"] == "try 9"


async def test_a_source_that_says_too_much_of_one_object_is_cut_off_and_let_in_again(
    virtual_clock: VirtualClock,
) -> None:
    correlator = EventCorrelator(virtual_clock)
    heard = [correlator.correlate(event("again")) is not None for _ in range(30)]
    assert heard == [True] * 25 + [False] * 5
    assert correlator.correlate(event("again", pod="other")) is not None, "another object has a budget of its own"
    await virtual_clock.sleep(300)
    assert correlator.correlate(event("again")) is not None
    assert correlator.correlate(event("again")) is None
