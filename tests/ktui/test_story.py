"""How far a write has come."""

from __future__ import annotations

import pytest

from ktui.models.exchange import Span, ended, started
from ktui.models.story import (
    AHEAD,
    DONE,
    FAILED,
    QUIET_SECONDS,
    SKIPPED,
    UNHEEDED,
    UNPROXIED,
    UNSERVED,
    WAITING,
    Story,
    Tally,
    tell,
)  # fmt: skip
from ktui.widgets.story_line import StoryLine
from tests.ktui import recorded
from tests.ktui.spans import request, span


def story_of(*spans: Span) -> Story:
    story = tell(spans)
    assert story is not None
    return story


def signs(story: Story) -> str:
    return "".join(lamp.sign for lamp in story.lamps)


def test_there_is_no_story_before_the_client_has_its_answer() -> None:
    assert tell(request("a", parent="root")) is None


def test_what_is_done_what_is_awaited_and_what_lies_ahead() -> None:
    story = story_of(*request("a", parent="root"), span("root", 1, verb="apply", object="deployment/default/web"))
    assert signs(story) == DONE * 7 + WAITING + AHEAD * 4
    assert story.title == "kubectl apply deployment/web · by kubernetes-admin"


def test_a_story_says_which_part_of_an_object_was_written() -> None:
    links = request("a", parent="root")
    links[0]["detail"]["subresource"] = "scale"
    story = story_of(*links, span("root", 1, verb="patch", object="deployment/default/web"))
    assert story.title == "kubectl patch deployment/web/scale · by kubernetes-admin"


def test_hops_that_were_not_needed_are_told_from_those_ahead() -> None:
    story = story_of(*request("a", parent="root"), span("root", 1), span("p", 12, parent="a7", start=1))
    assert signs(story) == DONE * 7 + SKIPPED * 4 + DONE


def test_a_write_that_was_answered_without_one_waits_for_nothing() -> None:
    links = [*request("a", parent="root", hops=(2, 3, 4, 5, 6)), span("root", 1, verb="patch")]
    assert signs(story_of(*links)) == DONE * 6 + SKIPPED * 6
    replayed = tell([*links[:-1], {**links[-1], "outcome": ""}])  # shown before it has ended
    assert replayed is not None
    assert signs(replayed) == DONE * 6 + WAITING + AHEAD * 5


def test_a_refusal_ends_the_story() -> None:
    links = request("a", parent="root", hops=(2, 3))
    links[1]["outcome"] = "Forbidden"
    assert signs(story_of(*links, span("root", 1, outcome="Forbidden"))) == DONE * 2 + FAILED + AHEAD * 9


def test_what_is_there_already_is_refused_at_the_store() -> None:
    links = request("a", parent="root")
    links[-1]["outcome"] = "AlreadyExists"
    assert signs(story_of(*links, span("root", 1, outcome="AlreadyExists"))) == DONE * 6 + FAILED + AHEAD * 5


def test_a_conflict_that_the_server_tries_again_is_no_failure() -> None:
    first, again = request("a", parent="root"), request("b", parent="root", hops=(7,))
    first[-1]["outcome"] = "Conflict"
    assert signs(story_of(*first, *again, span("root", 1)))[:7] == DONE * 7


def test_a_conflict_that_a_controller_tries_again_is_no_failure() -> None:
    spans = [*request("a", parent="root"), span("root", 1), span("r", 9, parent="a7", outcome="Conflict")]
    assert story_of(*spans).lamps[8].sign == DONE


def test_what_went_wrong_first_and_well_then_is_no_failure() -> None:
    """A Pod that fits nowhere until others have made room for it."""
    first = span("s1", 10, verb="schedule", outcome="Unschedulable")
    other = span("s2", 10, verb="schedule", object="pod/default/other", start=1)
    then = span("s3", 10, verb="schedule", start=2)
    made = [*request("a", parent="root"), span("root", 1)]
    assert story_of(*made, first, other).lamps[9].sign == FAILED
    assert story_of(*made, first, other, then).lamps[9].sign == DONE


def test_what_comes_long_after_the_pods_ran_is_not_of_the_story() -> None:
    """Another engine lists all objects: what it does about them carries the traces of their last writes."""
    apply = [*request("a", parent="root"), span("root", 1), span("sync", 11, start=2)]
    later = [span("again", 11, start=50), span("r", 9, start=51), *request("b", parent="r", start=51)]
    assert story_of(*apply, *later) == story_of(*apply)
    pending = apply[:-1]
    assert story_of(*pending, span("late", 10, start=50)).milliseconds > 50_000  # it was waited for


def test_a_hop_that_takes_longer_than_is_usual_is_the_slow_one() -> None:
    links = request("a", parent="root")
    for link in links:
        link["model_ms"] = 400.0 if link["hop"] == 7 else 1.0
    slow = [lamp.hop for lamp in story_of(*links, span("root", 1)).lamps if lamp.is_slow]
    assert slow == [7]


def status(name: str, *, ready: bool = False, phase: str = "Running", start: float = 2.0) -> Span:
    detail = {"phase": phase, "ready": ready, "version": 1}
    where = f"pod/default/web-{name}"
    return span(f"{name}{ready}", 11, verb="status", object=where, component="kubelet a", start=start, detail=detail)


def bind(name: str) -> Span:
    return span(f"bind {name}", 10, verb="bind", object=f"pod/default/web-{name}", component="scheduler", start=1)


APPLY = [
    *request("a", parent="root"),
    span("root", 1, object="deployment/default/web"),
    span("r", 9, component="replicaset-controller"),
]
SLICES = span("e", 9, verb="reconcile", object="service/default/web", component="endpointslice-controller", start=1)


@pytest.mark.parametrize(
    ("spans", "last", "note"),
    [
        pytest.param([bind("a"), status("a")], WAITING, "", id="a Pod that is not Ready yet"),
        pytest.param([bind("a"), status("a"), status("a", ready=True)], SKIPPED, UNSERVED, id="Ready, and no Service"),
        pytest.param([bind("a"), bind("b"), status("a", ready=True)], WAITING, "", id="one of two"),
        pytest.param([bind("a"), status("a", phase="Succeeded")], SKIPPED, UNSERVED, id="done"),
        pytest.param([SLICES, bind("a"), status("a", ready=True)], WAITING, "", id="a Service that will be told"),
        pytest.param(
            [SLICES, bind("a"), status("a", ready=True), span("n", 12, start=3)], DONE, "", id="a Service that was told"
        ),
        pytest.param([bind("a"), status("a", ready=True), status("a", start=9)], WAITING, "", id="no longer Ready"),
    ],
)
def test_the_last_lamp_waits_only_where_a_service_selects_the_pods(spans: list[Span], last: str, note: str) -> None:
    story = story_of(*APPLY, *spans)
    assert (story.lamps[-1].sign, story.note) == (last, note)


@pytest.mark.parametrize(
    ("later", "last", "note"),
    [
        pytest.param(QUIET_SECONDS - 5, WAITING, "", id="a proxy may be about to"),
        pytest.param(QUIET_SECONDS + 5, SKIPPED, UNPROXIED, id="none has, for long"),
    ],
)
def test_the_last_lamp_does_not_wait_for_ever_for_a_headless_service(later: float, last: str, note: str) -> None:
    tally = Tally()
    ready = status("a", ready=True)
    for one in (*APPLY, SLICES, bind("a"), ready):
        tally.add(one)
    story = tally.story(started(ready) + later)
    assert story is not None
    assert (story.lamps[-1].sign, story.note) == (last, note)


def test_a_deletion_that_no_proxy_minds_ends_with_the_kubelet() -> None:
    pod = "pod/default/crash"
    tally = Tally()
    root = span("root", 1, verb="delete", object=pod)
    ending = span("k", 11, verb="sync", object=pod, parent="w")
    for one in (*request("a", parent="root", object=pod), root, span("w", 8, parent="a7"), ending):
        tally.add(one)
    for later, last, note in ((5, WAITING, ""), (QUIET_SECONDS + 5, SKIPPED, UNPROXIED)):
        story = tally.story(started(ending) + later)
        assert story is not None
        assert (story.lamps[-1].sign, story.note) == (last, note)


def write(verb: str, object: str) -> list[Span]:
    """A write, and the event that tells of it."""
    told = span("w", 8, parent="a7", object=object)
    return [*request("a", parent="root", object=object), span("root", 1, verb=verb, object=object), told]


@pytest.mark.parametrize(
    ("spans", "later", "lamps", "note"),
    [
        pytest.param(write("patch", "node/n"), 4, WAITING + AHEAD * 3, "", id="somebody may be about to"),
        pytest.param(write("patch", "node/n"), 6, SKIPPED * 4, UNHEEDED, id="nobody acts upon it"),
        pytest.param(write("create", "configmap/default/c"), 100, SKIPPED * 4, "", id="over at once"),
        pytest.param(write("delete", "namespace/t"), 6, WAITING + AHEAD * 3, "", id="a controller is at it"),
        pytest.param(
            [*write("patch", "node/n"), span("s", 10, parent="w", object="pod/default/x")], QUIET_SECONDS + 1,
            SKIPPED + DONE + SKIPPED * 2, UNHEEDED, id="a Pod that fits nowhere is looked at again",
        ),
        pytest.param(
            [*write("create", "resourcequota/default/q"), span("r", 9, parent="w")], QUIET_SECONDS + 1,
            DONE + SKIPPED * 3, UNHEEDED, id="a controller has acted upon it",
        ),
        pytest.param(
            [*write("create", "resourcequota/default/q"), span("r", 9, parent="w")], QUIET_SECONDS - 1,
            DONE + WAITING + AHEAD * 2, "", id="it may have set something off",
        ),
        pytest.param(
            write("create", "deployment/default/web"), 100, WAITING + AHEAD * 3, "", id="a workload without controllers"
        ),
        pytest.param(
            [*write("create", "deployment/default/web"), span("r", 9, parent="w", outcome="Forbidden")], 100,
            FAILED + WAITING + AHEAD * 2, "", id="refused by a quota",
        ),
        pytest.param(
            [*write("patch", "deployment/default/web"), span("r", 9, parent="w")], QUIET_SECONDS + 1,
            DONE + SKIPPED * 3, UNHEEDED, id="a workload that has a label more",
        ),
    ],
)  # fmt: skip
def test_the_lamps_do_not_wait_for_ever_for_who_does_not_care(
    spans: list[Span], later: float, lamps: str, note: str
) -> None:
    tally = Tally()
    for one in spans:
        tally.add(one)
    story = tally.story(max(map(ended, spans)) + later)
    assert story is not None
    assert (signs(story)[8:], story.note) == (lamps, note)


def test_a_pod_that_made_room_for_another_is_none_of_its_story() -> None:
    """What was preempted comes again from its ReplicaSet, and fits nowhere."""
    there = span("k", 11, verb="status", object="pod/default/web", detail={"ready": True, "phase": "Running"})
    evicted = span("s", 10, verb="schedule", object="pod/default/low-1", start=1)
    story = story_of(*write("create", "pod/default/web"), span("b", 10, object="pod/default/web"), there, evicted)
    assert story.note == UNSERVED


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (80, f"newest kubectl apply deployment/web · 2.00 s~ · {UNSERVED}"),
        (96, f"newest kubectl apply deployment/web · by kubernetes-admin · 2.00 s~ · {UNSERVED}"),
    ],
)
def test_why_it_ends_there_is_said_before_who_began_it(width: int, line: str) -> None:
    root = span("root", 1, verb="apply", object="deployment/default/web")
    links = request("a", parent="root")
    story = story_of(*links, root, *APPLY[-1:], bind("a"), status("a", ready=True))
    lines = StoryLine.lines(story, is_pinned=False, width=width, colours={})
    assert lines.plain.splitlines()[0] == line


def test_what_nobody_acts_upon_ends_with_those_who_watch_it() -> None:
    root = span("root", 1, verb="create", object="configmap/default/mine")
    links = request("a", parent="root", object="configmap/default/mine")
    assert signs(story_of(*links, root, span("w", 8, parent="a7"))) == DONE * 8 + SKIPPED * 4


def test_the_story_of_the_recorded_apply() -> None:
    spans = recorded.spans()
    trace = next(item["traceId"] for item in spans if item["hop"] == 1 and item["verb"] == "create")
    story = story_of(*(item for item in spans if item["traceId"] == trace))
    assert signs(story) == DONE * 12
    assert story.is_model_time
    assert 1_500 < story.milliseconds < 30_000
