"""Plugins of one's own at Permit, Reserve, PreBind and PostBind, through a scheduler that runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, ClassVar

import pytest

from engine.api.types import GVR, PODS, Object
from engine.scheduler import EnabledPlugin, Profile, SchedulerConfiguration
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import ASSIGNED_POD_DELETE, Action, ClusterEvent, EventResource, EventWithHint
from engine.scheduler.framework.plugin import (
    BindPlugin,
    PermitPlugin,
    PermitResult,
    PostBindPlugin,
    PreBindPlugin,
    ReservePlugin,
)
from engine.scheduler.framework.profile import DEFAULT_PLUGINS
from engine.scheduler.framework.status import SKIP, SUCCESS, Code, Status, error, unschedulable
from engine.scheduler.plugins.registry import REGISTRY
from engine.scheduler.pod_info import PodInfo
from engine.world import World
from tests.scheduler.stage import Stage, open_stage

PRIORITY_CLASSES = GVR("scheduling.k8s.io", "v1", "priorityclasses")
StageFor = Callable[[type], Awaitable[Stage]]


@pytest.fixture
async def stage_with(world: World) -> AsyncIterator[StageFor]:
    """A stage whose scheduler has one more plugin, and a profile without it."""
    stages: list[Any] = []

    async def make(plugin: Any) -> Stage:
        profile = Profile(plugins=(*DEFAULT_PLUGINS, EnabledPlugin(plugin.name)))
        profiles = (profile, Profile("plain"))
        opened = open_stage(
            world, configuration=SchedulerConfiguration(profiles=profiles), registry={**REGISTRY, plugin.name: plugin}
        )
        stages.append(opened)
        return await opened.__aenter__()

    yield make
    for opened in stages:
        await opened.__aexit__(None, None, None)


class Pairs(PermitPlugin):
    """Lets pods go two at a time."""

    name = "Pairs"

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        waiting = [other for other in self.handle.waiting if other.pod.uid != pod.uid]
        for other in waiting:
            other.allow(self.name)
        return PermitResult() if waiting else PermitResult(Status(Code.WAIT), 30.0)

    def events_to_register(self) -> list[EventWithHint]:
        return [EventWithHint(ClusterEvent(EventResource.NODE, Action.ADD))]


async def test_a_pod_waits_at_permit_until_another_lets_it_go(stage_with: StageFor) -> None:
    stage = await stage_with(Pairs)
    await stage.add_node("n1")
    await stage.add_pod("a", cpu="1")
    await stage.world.clock.sleep(10)
    assert await stage.node_of("a") == ""
    assert [pod.name for pod in stage.scheduler.cache.assumed_pods] == ["a"]
    await stage.add_pod("b", cpu="1")
    assert (await stage.bound("a"), await stage.bound("b")) == ("n1", "n1")


async def test_a_pod_that_waits_too_long_is_rejected_and_gives_its_place_back(stage_with: StageFor) -> None:
    stage = await stage_with(Pairs)
    await stage.add_node("n1")
    await stage.add_pod("a", cpu="1")
    await stage.world.clock.sleep(31)
    condition = await stage.condition("a")
    assert condition["reason"] == "Unschedulable"
    assert condition["message"] == (
        '0/1 nodes are available: 1 rejected due to timeout after waiting for plugin "Pairs".'
    )
    assert not stage.scheduler.cache.assumed_pods


class Refuses(ReservePlugin):
    """Refuses the first pod, whatever it is."""

    name = "Refuses"
    unreserved: ClassVar[list[str]] = []

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        return unschedulable("no reservation today") if pod.name == "a" else SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        self.unreserved.append(pod.name)

    def events_to_register(self) -> list[EventWithHint]:
        return [EventWithHint(ClusterEvent(EventResource.NODE, Action.ADD))]


async def test_a_refused_reservation_is_undone_and_told(stage_with: StageFor) -> None:
    Refuses.unreserved.clear()
    stage = await stage_with(Refuses)
    await stage.add_node("n1")
    await stage.add_pod("a", cpu="1")
    assert (await stage.condition("a"))["message"] == "0/1 nodes are available: 1 no reservation today."
    assert Refuses.unreserved == ["a"]
    assert not stage.scheduler.cache.assumed_pods
    await stage.add_pod("b", cpu="1")
    assert await stage.bound("b") == "n1"


class Fails(PreBindPlugin, PostBindPlugin):
    """Breaks twice, then works."""

    name = "Fails"
    tries: ClassVar[list[float]] = []
    bound: ClassVar[list[str]] = []

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        self.tries.append(self.handle.clock.monotonic())
        return SUCCESS if len(self.tries) > 2 else error("the disk is on fire")

    def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        self.bound.append(pod.name)


async def test_a_binding_that_breaks_is_tried_again_after_its_backoff(stage_with: StageFor) -> None:
    Fails.tries.clear()
    Fails.bound.clear()
    stage = await stage_with(Fails)
    await stage.add_node("n1")
    await stage.add_pod("a", cpu="1")
    condition = await stage.condition("a")
    assert (condition["reason"], condition["message"]) == (
        "SchedulerError",
        'running PreBind plugin "Fails": the disk is on fire',
    )
    assert await stage.bound("a") == "n1"
    assert Fails.tries == [0.0, 1.0, 3.0]
    assert Fails.bound == ["a"]


class Late(PreBindPlugin):
    """Rejects a pod where it is too late for that, once."""

    name = "Late"
    tries: ClassVar[list[float]] = []

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        self.tries.append(self.handle.clock.monotonic())
        return SUCCESS if len(self.tries) > 1 else unschedulable("not now")


async def test_a_pod_rejected_before_it_is_bound_is_tried_again_whatever_happens(stage_with: StageFor) -> None:
    Late.tries.clear()
    stage = await stage_with(Late)
    await stage.add_node("n1")
    await stage.add_pod("a", cpu="1")
    condition = await stage.condition("a")
    assert (condition["reason"], condition["message"]) == ("Unschedulable", "not now")
    assert await stage.bound("a") == "n1"
    assert Late.tries == [0.0, 1.0]


class Expires(PermitPlugin):
    """Lets nobody go; waits for room."""

    name = "Expires"

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        return PermitResult(Status(Code.WAIT), 5.0)

    def events_to_register(self) -> list[EventWithHint]:
        return [EventWithHint(ASSIGNED_POD_DELETE)]


async def test_the_room_that_a_rejected_pod_leaves_is_not_for_itself(stage_with: StageFor) -> None:
    stage = await stage_with(Expires)
    await stage.add_node("n1", cpu="1")
    await stage.add_pod("a", cpu="1")
    await stage.add_pod("b", cpu="1")
    await stage.world.clock.sleep(8)
    waits, _ = stage.scheduler.queue.find("default/a") or (None, "")
    assert waits is not None
    assert [move.to for move in waits.moves][:2] == ["active", "unschedulable"]
    # For the other it was: it waits at Permit now.
    assert [pod.name for pod in stage.scheduler.cache.assumed_pods] == ["b"]


class Slow(PreBindPlugin):
    """Fails the first pod that it is given, when the test says so."""

    name = "Slow"
    gate: ClassVar[asyncio.Event]
    seen: ClassVar[list[str]] = []

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        self.seen.append(pod.uid)
        if len(self.seen) > 1:
            return SUCCESS
        await self.gate.wait()
        return error("it took too long")


@pytest.fixture
async def slow(stage_with: StageFor) -> Stage:
    Slow.gate = asyncio.Event()
    Slow.seen.clear()
    return await stage_with(Slow)


async def test_the_nomination_for_a_binding_that_fails_is_taken_back(slow: Stage) -> None:
    await slow.add_node("n1")
    await slow.add_pod("a", cpu="1")
    await slow.until(lambda p: p.get("status", {}).get("nominatedNodeName") == "n1", "a")
    await slow.world.clock.sleep(1)
    Slow.gate.set()
    failed = await slow.until(lambda p: p["status"].get("conditions"), "a")
    assert failed["status"]["conditions"][0]["message"] == 'running PreBind plugin "Slow": it took too long'
    assert "nominatedNodeName" not in failed["status"]
    assert await slow.bound("a") == "n1"


async def test_a_pod_that_took_the_name_of_one_that_failed_is_not_told_of_it(slow: Stage) -> None:
    await slow.add_node("n1")
    await slow.add_pod("a", cpu="1")
    await slow.until(lambda p: p.get("status", {}).get("nominatedNodeName") == "n1", "a")
    await slow.admin.delete(PODS, "a", namespace="default", grace_period_seconds=0)
    fresh = await slow.add_pod("a", cpu="1")
    assert await slow.bound("a") == "n1"
    Slow.gate.set()
    assert [reason for _, reason, _ in await slow.events("a")] == ["Scheduled"]
    assert Slow.seen[1] == fresh["metadata"]["uid"]
    assert (await slow.condition("a"))["status"] == "True"
    assert not slow.scheduler.queue.in_flight


class Breaks(PermitPlugin):
    """A plugin with a bug."""

    name = "Breaks"

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        if pod.name == "a":
            raise KeyError("oops")
        return PermitResult()


async def test_a_plugins_bug_hits_the_pod_and_not_the_scheduler(stage_with: StageFor, caplog: Any) -> None:
    stage = await stage_with(Breaks)
    await stage.add_node("n1")
    await stage.add_pod("a")
    assert (await stage.condition("a"))["reason"] == "SchedulerError"
    await stage.add_pod("b")
    assert await stage.bound("b") == "n1"
    assert "scheduling pod default/a" in caplog.text


async def preempted(stage: Stage, profile: str) -> tuple[Object, str]:
    """The pod a on its way to a node, once b of a higher priority has got it, and what a was told."""
    await stage.admin.create(PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 1000})
    await stage.add_node("n1", cpu="1")
    there = await stage.add_pod("a", cpu="1")
    while not stage.scheduler.cache.assumed_pods:
        await stage.world.clock.sleep(0.05)
    urgent = await stage.add_pod("b", cpu="1", priorityClassName="high", schedulerName=profile)
    assert await stage.bound("b") == "n1"
    found = await stage.until(lambda p: "SchedulerError" in str(p.get("status")), "a")
    assert found["metadata"]["uid"] == there["metadata"]["uid"]
    note = f"Preempted by pod {urgent['metadata']['uid']} on node n1 (in kube-scheduler memory)."
    assert ("Normal", "Preempted", note) in await stage.events("a")
    # Nobody has to look for room again, once there is some.
    await stage.admin.delete(PODS, "b", namespace="default", grace_period_seconds=0)
    assert await stage.bound("a") == "n1"
    return found, next(c["message"] for c in found["status"]["conditions"] if c["type"] == "PodScheduled")


BY = pytest.mark.parametrize("profile", ["default-scheduler", "plain"])


@BY
async def test_a_pod_that_is_preempted_while_its_binding_is_prepared_is_not_deleted(slow: Stage, profile: str) -> None:
    found, told = await preempted(slow, profile)
    assert told == 'running PreBind plugin "Slow": context canceled'
    assert [c["type"] for c in found["status"]["conditions"]] == ["PodScheduled"]
    assert "nominatedNodeName" not in found["status"]


class Asks(PermitPlugin):
    """Lets the first pod wait."""

    name = "Asks"
    seen: ClassVar[list[str]] = []

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        self.seen.append(pod.name)
        return PermitResult(Status(Code.WAIT), 100.0) if len(self.seen) == 1 else PermitResult()


@BY
async def test_a_pod_that_is_preempted_while_it_waits_is_tried_again(stage_with: StageFor, profile: str) -> None:
    Asks.seen.clear()
    _, told = await preempted(await stage_with(Asks), profile)
    assert told == "waiting on permit for pod: preempted"


class Passes(BindPlugin):
    """Leaves the pod to others, where there are none."""

    name = "Passes"

    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        return SKIP


async def test_a_pod_that_no_bind_plugin_wants(world: World) -> None:
    plugins = (*(p for p in DEFAULT_PLUGINS if p.name != "DefaultBinder"), EnabledPlugin("Passes"))
    configuration = SchedulerConfiguration(profiles=(Profile(plugins=plugins),))
    async with open_stage(world, configuration=configuration, registry={**REGISTRY, "Passes": Passes}) as stage:
        await stage.add_node("n1")
        await stage.add_pod("a")
        condition = await stage.condition("a")
        assert (condition["reason"], condition.get("message", "")) == ("SchedulerError", "")
        assert not stage.scheduler.cache.assumed_pods
