"""The scheduling queue (upstream's backend/queue/scheduling_queue_test.go)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.api.types import Object
from engine.clock import VirtualClock
from engine.scheduler.framework.events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    Action,
    ClusterEvent,
    EventResource,
    QueueingHint,
)
from engine.scheduler.framework.plugin import PreEnqueuePlugin
from engine.scheduler.framework.status import SUCCESS, Status, unresolvable
from engine.scheduler.plugins.priority_sort import PrioritySort
from engine.scheduler.plugins.scheduling_gates import SchedulingGates
from engine.scheduler.pod_info import DEFAULT_SCHEDULER_NAME, PodInfo
from engine.scheduler.queue.backoff import backoff_seconds
from engine.scheduler.queue.hints import Hints
from engine.scheduler.queue.queued_pod import QueuedPod
from engine.scheduler.queue.scheduling_queue import SchedulingQueue
from tests.scheduler.harness import Bench
from tests.scheduler.objects import pod


def waiting(name: str, **fields: Any) -> PodInfo:
    made = pod(name, **fields)
    made["metadata"]["uid"] = f"uid-{name}"
    return PodInfo(made)


def hint(event: ClusterEvent, plugin: str, answer: QueueingHint = QueueingHint.QUEUE) -> tuple[Any, str, Any]:
    return event, plugin, lambda pod, old, new: answer


def broken(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    raise ValueError("a bug")


HINTS: Hints = [
    (NODE_ADD, "Broken", broken),
    hint(NODE_ADD, "Fit"),
    hint(ASSIGNED_POD_DELETE, "Fit"),
    hint(ASSIGNED_POD_ADD, "Affinity"),
    hint(NODE_ADD, "Affinity", QueueingHint.SKIP),
    hint(ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_TOLERATION), "Taint"),
    hint(ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED), "SchedulingGates"),
]


@pytest.fixture
def queue(virtual_clock: VirtualClock) -> SchedulingQueue:
    bench = Bench()
    made = SchedulingQueue(
        virtual_clock,
        bench.plugin(PrioritySort).less,
        hints={DEFAULT_SCHEDULER_NAME: HINTS},
        pre_enqueue={DEFAULT_SCHEDULER_NAME: [bench.plugin(SchedulingGates)]},
    )
    made.run()
    return made


async def fail(queue: SchedulingQueue, *plugins: str) -> QueuedPod:
    """Take the next pod out and bring it back, rejected by these plugins."""
    queued = await queue.pop()
    queued.unschedulable_plugins = dict.fromkeys(plugins)
    queue.add_unschedulable(queued)
    return queued


def place(queue: SchedulingQueue, name: str) -> str:
    found = queue.find(f"default/{name}")
    return found[1] if found is not None else ""


async def test_the_highest_priority_first_then_the_oldest(queue: SchedulingQueue, virtual_clock: VirtualClock) -> None:
    for name, priority in (("low", 1), ("old", 5), ("new", 5), ("high", 9)):
        queue.add(waiting(name, priority=priority))
        await virtual_clock.sleep(1)
    assert [(await queue.pop()).pod.name for _ in range(4)] == ["high", "old", "new", "low"]


async def test_pop_waits_for_a_pod(queue: SchedulingQueue, virtual_clock: VirtualClock) -> None:
    virtual_clock.call_later(7, lambda: queue.add(waiting("late")))
    assert (await queue.pop()).pod.name == "late"
    assert virtual_clock.monotonic() == 7


async def test_a_rejected_pod_rests_until_an_event_that_its_plugin_waits_for(queue: SchedulingQueue) -> None:
    queue.add(waiting("p"))
    await fail(queue, "Fit")
    assert place(queue, "p") == "unschedulable"
    queue.move_all(ASSIGNED_POD_ADD, None, None)
    assert place(queue, "p") == "unschedulable"
    queue.move_all(ASSIGNED_POD_DELETE, None, None)
    assert place(queue, "p") == "backoff"


async def test_a_hint_may_say_that_an_event_does_not_help(queue: SchedulingQueue) -> None:
    queue.add(waiting("p"))
    await fail(queue, "Affinity")
    queue.move_all(NODE_ADD, None, None)
    assert place(queue, "p") == "unschedulable"


async def test_a_hint_that_fails_does_not_keep_the_pod_waiting(queue: SchedulingQueue) -> None:
    queue.add(waiting("p"))
    await fail(queue, "Broken")
    queue.move_all(NODE_ADD, None, None)
    assert place(queue, "p") == "backoff"


async def test_a_hint_that_fails_does_not_lose_a_pod_in_flight(queue: SchedulingQueue) -> None:
    queue.add(waiting("p"))
    queued = await queue.pop()
    queue.move_all(NODE_ADD, None, None)
    queued.unschedulable_plugins = {"Broken": None}
    queue.add_unschedulable(queued)
    assert place(queue, "p") == "backoff"


async def test_any_of_the_plugins_may_bring_a_pod_back(queue: SchedulingQueue) -> None:
    queue.add(waiting("p"))
    queued = await fail(queue, "Affinity", "Fit")
    queue.move_all(NODE_ADD, None, None)
    assert place(queue, "p") == "backoff"
    assert (queued.moves[-1].event, queued.moves[-1].plugin) == ("NodeAdd", "Fit")


async def test_events_during_the_attempt_are_not_missed(queue: SchedulingQueue) -> None:
    queue.add(waiting("p"))
    queued = await queue.pop()
    queue.move_all(ASSIGNED_POD_DELETE, None, None)
    queued.unschedulable_plugins = {"Fit": None}
    queue.add_unschedulable(queued)
    assert place(queue, "p") == "backoff"
    assert len(queue.in_flight) == 0


async def test_events_before_the_attempt_do_not_count(queue: SchedulingQueue) -> None:
    queue.add(waiting("first"))
    first = await queue.pop()
    queue.move_all(ASSIGNED_POD_DELETE, None, None)
    queue.add(waiting("second"))
    await fail(queue, "Fit")
    assert place(queue, "second") == "unschedulable"
    queue.done(first.pod.uid)


BACKOFFS = {0: 0, 1: 1, 2: 2, 3: 4, 4: 8, 5: 10, 6: 10, 60: 10}


@pytest.mark.parametrize(("failures", "seconds"), BACKOFFS.items())
def test_backoff_doubles_up_to_ten_seconds(failures: int, seconds: int) -> None:
    assert backoff_seconds(failures) == seconds


async def test_an_error_is_retried_after_its_backoff_and_not_before(
    queue: SchedulingQueue, virtual_clock: VirtualClock
) -> None:
    queue.add(waiting("p"))
    times = []
    for _ in range(4):
        await fail(queue)
        queued = await queue.pop()
        times.append(virtual_clock.monotonic())
        queue.active.add(queued.pod.key, queued)
        queue.done(queued.pod.uid)
    assert times == [1, 3, 7, 15]


async def test_with_nothing_else_to_do_a_rejected_pod_need_not_wait_out_its_backoff(
    queue: SchedulingQueue, virtual_clock: VirtualClock
) -> None:
    queue.add(waiting("p"))
    await fail(queue, "Fit")
    queue.move_all(NODE_ADD, None, None)
    assert (await queue.pop()).pod.name == "p"
    assert virtual_clock.monotonic() == 0


async def test_others_go_before_a_pod_that_backs_off(queue: SchedulingQueue, virtual_clock: VirtualClock) -> None:
    queue.add(waiting("p", priority=9))
    await fail(queue, "Fit")
    queue.move_all(NODE_ADD, None, None)
    queue.add(waiting("q"))
    assert (await queue.pop()).pod.name == "q"
    await virtual_clock.sleep(1)
    assert place(queue, "p") == "active"


async def test_nothing_rests_for_more_than_five_minutes(queue: SchedulingQueue, virtual_clock: VirtualClock) -> None:
    queue.add(waiting("p"))
    queued = await fail(queue, "Fit")
    await queue.pop()
    assert 300 < virtual_clock.monotonic() <= 330
    assert queued.moves[-1].event == "UnschedulableTimeout"
    assert queued.flushed
    queue.add_unschedulable(queued)
    assert not queued.flushed


async def test_gated_pods_wait_for_their_gates_alone(queue: SchedulingQueue, virtual_clock: VirtualClock) -> None:
    gated = waiting("p", schedulingGates=[{"name": "a"}])
    queue.add(gated)
    assert place(queue, "p") == "unschedulable"
    queue.move_all(NODE_ADD, None, None)
    await virtual_clock.sleep(1000)
    assert place(queue, "p") == "unschedulable"
    queue.update(gated, waiting("p"))
    assert place(queue, "p") == "active"


async def test_an_update_moves_a_pod_only_if_it_may_help(queue: SchedulingQueue) -> None:
    old = waiting("p")
    queue.add(old)
    await fail(queue, "Taint")
    same = waiting("p", status={"phase": "Pending"})
    queue.update(old, same)
    assert place(queue, "p") == "unschedulable"
    queue.update(same, waiting("p", tolerations=[{"operator": "Exists"}]))
    assert place(queue, "p") == "backoff"


async def test_an_update_in_flight_counts_when_the_pod_comes_back(queue: SchedulingQueue) -> None:
    old = waiting("p")
    queue.add(old)
    queued = await queue.pop()
    queue.update(old, waiting("p", tolerations=[{"operator": "Exists"}]))
    assert place(queue, "p") == ""
    queued.unschedulable_plugins = {"Taint": None}
    queue.add_unschedulable(queued)
    assert place(queue, "p") == "backoff"


async def test_activate_reaches_pods_wherever_they_are(queue: SchedulingQueue) -> None:
    queue.add(waiting("resting"))
    await fail(queue, "Fit")
    queue.activate(waiting("resting"))
    assert place(queue, "resting") == "active"
    flying = await queue.pop()
    queue.activate(flying.pod)
    flying.unschedulable_plugins = {"Fit": None}
    queue.add_unschedulable(flying)
    assert place(queue, "resting") == "backoff"


@pytest.mark.parametrize(
    ("plugins", "words"),
    [((), "the backoff queue"), (("Fit",), "unschedulable queue"), (None, "the active queue")],
)
async def test_a_pod_that_waits_already_is_not_put_back(
    queue: SchedulingQueue, plugins: tuple[str, ...] | None, words: str
) -> None:
    queue.add(waiting("p"))
    queued = await queue.pop()
    queued.unschedulable_plugins = dict.fromkeys(plugins or ())
    if plugins is None:
        queue.active.add(queued.pod.key, queued)
    else:
        queue.add_unschedulable(queued)
    with pytest.raises(ValueError, match=f"^Pod default/p is already present in {words}$"):
        queue.add_unschedulable(queued)
    assert len(queue.in_flight) == 0


async def test_a_pod_in_flight_is_not_taken_out_a_second_time(queue: SchedulingQueue, caplog: Any) -> None:
    queue.add(waiting("p"))
    flying = await queue.pop()
    queue.active.add("default/p", flying)
    queue.add(waiting("q"))
    assert (await queue.pop()).pod.name == "q"
    assert place(queue, "p") == ""
    assert "default/p" in caplog.text


class Shut(PreEnqueuePlugin):
    """A gate that can be shut later."""

    name = "Shut"
    open = True
    asked = 0

    def pre_enqueue(self, pod: PodInfo) -> Status:
        self.asked += 1
        return SUCCESS if self.open else unresolvable("shut")


@pytest.fixture
def gated_queue(virtual_clock: VirtualClock) -> tuple[SchedulingQueue, Shut]:
    bench = Bench()
    gate = Shut({}, bench.framework.handle)
    made = SchedulingQueue(
        virtual_clock,
        bench.plugin(PrioritySort).less,
        hints={DEFAULT_SCHEDULER_NAME: HINTS},
        pre_enqueue={DEFAULT_SCHEDULER_NAME: [gate]},
    )
    made.run()
    return made, gate


async def test_gates_are_not_asked_again_on_the_way_out_of_backoff(gated_queue: tuple[SchedulingQueue, Shut]) -> None:
    queue, gate = gated_queue
    queue.add(waiting("p"))
    await fail(queue, "Fit")
    queue.move_all(NODE_ADD, None, None)
    gate.open = False
    queue.activate(waiting("p"))
    assert place(queue, "p") == "active"


async def test_gated_pods_are_asked_again_as_seldom_as_others_are_flushed(
    gated_queue: tuple[SchedulingQueue, Shut], virtual_clock: VirtualClock
) -> None:
    queue, gate = gated_queue
    gate.open = False
    queue.add(waiting("p"))
    queue.add(waiting("q"))
    queue.move_all(NODE_ADD, None, None)
    assert gate.asked == 2
    await virtual_clock.sleep(1000)
    assert gate.asked == 2 * 4
    gate.open = True
    queued = await queue.pop()
    assert 1290 <= virtual_clock.monotonic() <= 1320
    assert queued.flushed


async def test_a_pod_is_gated_wherever_an_event_would_bring_it(gated_queue: tuple[SchedulingQueue, Shut]) -> None:
    queue, gate = gated_queue
    queue.add(waiting("p"))
    queued = await fail(queue, "Fit")
    gate.open = False
    queue.move_all(NODE_ADD, None, None)
    assert (place(queue, "p"), queued.gating_plugin) == ("unschedulable", "Shut")
    # From now on it is the gate that events are for.
    queue.move_all(ASSIGNED_POD_DELETE, None, None)
    gate.open = True
    queue.move_all(ASSIGNED_POD_DELETE, None, None)
    assert place(queue, "p") == "unschedulable"
    queue.activate(waiting("p"))
    assert place(queue, "p") == "active"


async def test_what_is_left_over_is_an_event_for_pods_in_flight(
    queue: SchedulingQueue, virtual_clock: VirtualClock
) -> None:
    queue.add(waiting("old"))
    await fail(queue, "Fit")
    queue.add(waiting("flying"))
    flying = await queue.pop()
    await virtual_clock.sleep(400)
    assert place(queue, "old") == "active"
    flying.unschedulable_plugins = {"Fit": None}
    queue.add_unschedulable(flying)
    assert place(queue, "flying") == "backoff"


async def test_a_deleted_pod_is_gone_from_everywhere(queue: SchedulingQueue) -> None:
    queue.add(waiting("a"))
    queue.add(waiting("b"))
    await fail(queue, "Fit")
    queue.delete(waiting("a"))
    queue.delete(waiting("b"))
    assert (place(queue, "a"), place(queue, "b")) == ("", "")


async def test_adding_a_pod_wakes_one_that_waits_in_pop(queue: SchedulingQueue) -> None:
    taker = asyncio.ensure_future(queue.pop())
    await asyncio.sleep(0)
    assert not taker.done()
    queue.add(waiting("p"))
    assert (await taker).pod.name == "p"


async def test_nominations_follow_the_pod(queue: SchedulingQueue) -> None:
    def nominated(node: str) -> Object:
        return {"nominatedNodeName": node} if node else {}

    first = waiting("p", status=nominated("n1"))
    queue.add(first)
    assert [p.name for p in queue.nominator.nominated_on("n1")] == ["p"]
    queue.update(first, waiting("p", status=nominated("n2")))
    assert queue.nominator.nominated_on("n1") == []
    assert [p.name for p in queue.nominator.nominated_on("n2")] == ["p"]
    queue.delete(first)
    assert queue.nominator.nominated_on("n2") == []


async def test_a_pod_that_is_turned_away_keeps_its_nomination(queue: SchedulingQueue) -> None:
    """Others are to leave it its place until its gate opens."""
    gated = waiting("p", status={"nominatedNodeName": "n1"}, schedulingGates=[{"name": "wait"}])
    queue.add(gated)
    assert queue.counts()["gated"] == 1
    assert [p.name for p in queue.nominator.nominated_on("n1")] == ["p"]
    queue.delete(gated)
    assert queue.nominator.nominated_on("n1") == []


async def test_a_nomination_that_the_status_does_not_show_yet_is_kept(queue: SchedulingQueue) -> None:
    queue.add(waiting("p"))
    queue.nominator.add(waiting("p"), "n1")
    queue.update(waiting("p"), waiting("p", labels={"a": "b"}))
    assert queue.nominator.node_of("uid-p") == "n1"
