"""The scheduler's figures on /metrics, under upstream's names."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import ClassVar

import pytest

from engine.api.types import PODS
from engine.scheduler import EnabledPlugin, Profile, SchedulerConfiguration
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import (
    NODE_ADD,
    Action,
    ClusterEvent,
    EventResource,
    EventWithHint,
    QueueingHint,
)
from engine.scheduler.framework.plugin import FilterPlugin
from engine.scheduler.framework.profile import DEFAULT_PLUGINS
from engine.scheduler.framework.status import SUCCESS, Status, unresolvable
from engine.scheduler.metrics import SchedulerMetrics
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.registry import REGISTRY
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.queue.hints import QueueingHints
from engine.scheduler.queue.queued_pod import QueuedPod
from engine.world import World
from tests.scheduler.objects import pod
from tests.scheduler.stage import Stage, open_stage

_SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$")
PROFILE = 'profile="default-scheduler"'


@pytest.fixture
async def stage(world: World) -> AsyncIterator[Stage]:
    async with open_stage(world) as made:
        yield made


async def page(stage: Stage) -> dict[str, float]:
    """All samples of the scheduler, by name and labels as they are written."""
    body = (await stage.admin.send("GET", "/metrics")).body.decode()
    found = {}
    for line in body.splitlines():
        if line.startswith("scheduler_"):
            match = _SAMPLE.match(line)
            assert match is not None, line
            found[line.rpartition(" ")[0]] = float(match.group(3))
    return found


async def test_pods_that_are_bound_and_pods_that_fit_nowhere(stage: Stage) -> None:
    await stage.add_node("n1")
    await stage.add_node("n2")
    await stage.add_pod("small", cpu="1")
    await stage.add_pod("big", cpu="64")
    await stage.bound("small")
    await stage.condition("big")
    await stage.add_pod("gated", schedulingGates=[{"name": "wait"}])
    await stage.world.clock.sleep(1)
    found = await page(stage)
    expected = {
        f'scheduler_schedule_attempts_total{{{PROFILE},result="scheduled"}}': 1,
        f'scheduler_schedule_attempts_total{{{PROFILE},result="unschedulable"}}': 1,
        f'scheduler_scheduling_attempt_duration_seconds_count{{{PROFILE},result="scheduled"}}': 1,
        "scheduler_scheduling_algorithm_duration_seconds_count": 2,
        'scheduler_pod_scheduling_sli_duration_seconds_count{attempts="1"}': 1,
        'scheduler_pod_scheduling_attempts_bucket{le="1"}': 1,
        "scheduler_pod_scheduling_attempts_sum": 1,
        'scheduler_pending_pods{queue="active"}': 0,
        'scheduler_pending_pods{queue="backoff"}': 0,
        'scheduler_pending_pods{queue="gated"}': 1,
        'scheduler_pending_pods{queue="unschedulable"}': 1,
        'scheduler_queued_entities{queue="gated",type="pod"}': 1,
        'scheduler_queued_entities{queue="unschedulable",type="pod"}': 1,
        'scheduler_queue_incoming_entities_total{event="UnscheduledPodAdd",queue="active",type="pod"}': 2,
        'scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="active"}': 2,
        'scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="unschedulable"}': 1,
        'scheduler_queue_incoming_pods_total{event="ScheduleAttemptFailure",queue="unschedulable"}': 1,
        f'scheduler_unschedulable_pods{{plugin="NodeResourcesFit",{PROFILE}}}': 1,
        f'scheduler_unschedulable_pods{{plugin="SchedulingGates",{PROFILE}}}': 1,
        'scheduler_cache_size{type="nodes"}': 2,
        'scheduler_cache_size{type="pods"}': 1,
        'scheduler_cache_size{type="assumed_pods"}': 0,
        'scheduler_goroutines{operation="binding"}': 0,
        f'scheduler_plugin_evaluation_total{{extension_point="Filter",plugin="NodeResourcesFit",{PROFILE}}}': 4,
        f'scheduler_plugin_evaluation_total{{extension_point="PreFilter",plugin="NodePorts",{PROFILE}}}': None,
        f'scheduler_plugin_evaluation_total{{extension_point="Score",plugin="ImageLocality",{PROFILE}}}': 2,
        f'scheduler_framework_extension_point_duration_seconds_count{{extension_point="PreEnqueue",{PROFILE},'
        'status="Success"}': 2,
        f'scheduler_framework_extension_point_duration_seconds_count{{extension_point="PreEnqueue",{PROFILE},'
        'status="UnschedulableAndUnresolvable"}': 1,
        'scheduler_plugin_execution_duration_seconds_count{extension_point="PreEnqueue",plugin="SchedulingGates",'
        'status="Success"}': 1,
        f'scheduler_framework_extension_point_duration_seconds_count{{extension_point="Filter",{PROFILE},'
        'status="Success"}': 2,
        f'scheduler_framework_extension_point_duration_seconds_count{{extension_point="PostFilter",{PROFILE},'
        'status="Unschedulable"}': 1,
        f'scheduler_framework_extension_point_duration_seconds_count{{extension_point="Bind",{PROFILE},'
        'status="Success"}': 1,
        'scheduler_plugin_execution_duration_seconds_count{extension_point="Bind",plugin="DefaultBinder",'
        'status="Success"}': 1,
        'scheduler_event_handling_duration_seconds_count{event="NodeAdd"}': 2,
        "scheduler_preemption_attempts_total": 1,
        "scheduler_preemption_victims_count": 0,
    }
    assert {name: found.get(name) for name in expected} == expected


async def test_waiting_and_rejected_pods_are_told_as_they_are_now(stage: Stage) -> None:
    rejected = f'scheduler_unschedulable_pods{{plugin="NodeResourcesFit",{PROFILE}}}'
    await stage.add_node("n1", cpu="1")
    await stage.add_pod("a", cpu="2")
    await stage.add_pod("b", cpu="4")
    await stage.condition("a")
    await stage.condition("b")
    assert (await page(stage))[rejected] == 2
    await stage.add_node("n2", cpu="2")
    await stage.bound("a")
    await stage.world.clock.sleep(30)
    found = await page(stage)
    assert found[rejected] == 1
    assert found["scheduler_pod_scheduling_attempts_count"] == 1
    assert found['scheduler_pod_scheduling_attempts_bucket{le="1"}'] == 0
    await stage.admin.delete(PODS, "b", namespace="default")
    await stage.world.clock.sleep(1)
    assert (await page(stage))[rejected] == 0


async def test_preemption_and_its_victims(stage: Stage) -> None:
    await stage.add_node("n1", cpu="1")
    await stage.add_pod("low", cpu="1")
    await stage.bound("low")
    await stage.add_pod("high", cpu="1", priorityClassName="system-cluster-critical")
    await stage.until(lambda pod: pod["status"].get("nominatedNodeName") == "n1", "high")
    found = await page(stage)
    assert found["scheduler_preemption_attempts_total"] == 1
    assert found["scheduler_preemption_victims_sum"] == 1
    await stage.world.clock.sleep(1)
    assert (await page(stage))['scheduler_preemption_goroutines_execution_total{result="success"}'] == 1


class Unheard(FilterPlugin):
    """Says no once, and hears of nothing that may change its mind."""

    name = "Unheard"
    asked: ClassVar[list[str]] = []

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        self.asked.append(pod.name)
        return SUCCESS if len(self.asked) > 1 else unresolvable("not now")

    def events_to_register(self) -> list[EventWithHint]:
        return [EventWithHint(ClusterEvent(EventResource.CSI_DRIVER, Action.ADD))]


async def test_pods_that_only_time_has_helped_are_counted(world: World) -> None:
    Unheard.asked.clear()
    profile = Profile(plugins=(*DEFAULT_PLUGINS, EnabledPlugin(Unheard.name)))
    configuration = SchedulerConfiguration(profiles=(profile,))
    registry = {**REGISTRY, Unheard.name: Unheard}
    async with open_stage(world, configuration=configuration, registry=registry) as stage:
        await stage.add_node("n1")
        await stage.add_pod("a")
        assert (await stage.condition("a"))["status"] == "False"
        await stage.world.clock.sleep(400)
        assert await stage.node_of("a") == "n1"
        assert (await page(stage))["scheduler_pod_scheduled_after_flush_total"] == 1


def test_one_attempt_in_ten_has_its_plugins_measured() -> None:
    metrics = SchedulerMetrics()
    assert [i for i in range(40) if metrics.samples_plugins()] == [0, 10, 20, 30]


@pytest.mark.parametrize(("attempts", "label"), [(1, "1"), (14, "14"), (15, "15+"), (99, "15+")])
def test_many_attempts_are_told_as_one(attempts: int, label: str) -> None:
    metrics = SchedulerMetrics()
    metrics.scheduled(attempts, 1.0)
    assert {sample.labels.get("attempts") for sample in metrics.sli_duration.samples()} == {label}


def test_buckets_are_upstreams() -> None:
    metrics = SchedulerMetrics()
    metrics.plugin_duration.observe(0.0, "NodeName", "Filter", "Success")
    bounds = [s.labels["le"] for s in metrics.plugin_duration.samples() if s.suffix == "_bucket"]
    assert bounds[:2] == ["1e-05", "1.5000000000000002e-05"]
    assert len(bounds) == 21
    metrics.attempted("scheduled", "default-scheduler", 0.0)
    bounds = [s.labels["le"] for s in metrics.attempt_duration.samples() if s.suffix == "_bucket"]
    assert (bounds[0], bounds[-2:]) == ("0.001", ["16.384", "+Inf"])


def a_hint(pod: PodInfo, old: object, new: object) -> QueueingHint:
    """Says what the event tells it to."""
    if not isinstance(new, QueueingHint):
        raise ValueError("a bug")
    return new


HINTS_SAY = {
    "it helps": (QueueingHint.QUEUE, "Queue"),
    "no": (QueueingHint.SKIP, "QueueSkip"),
    "a bug": (None, "Error"),
}


@pytest.mark.parametrize(("answer", "label"), HINTS_SAY.values(), ids=HINTS_SAY)
def test_every_tenth_queueing_hint_is_measured(answer: QueueingHint | None, label: str) -> None:
    metrics = SchedulerMetrics()
    hints = QueueingHints({"default-scheduler": [(NODE_ADD, "Fit", a_hint), (NODE_ADD, "Other", a_hint)]}, metrics)
    queued = QueuedPod(PodInfo(pod("p")), 0.0)
    queued.unschedulable_plugins = {"Fit": None}
    for _ in range(21):
        hints.worth(queued, NODE_ADD, None, answer)
    counted = [s for s in metrics.hint_duration.samples() if s.suffix == "_count"]
    assert [(s.labels, s.value) for s in counted] == [({"event": "NodeAdd", "hint": label, "plugin": "Fit"}, 3)]


async def test_the_page_tells_of_queueing_hints(stage: Stage) -> None:
    await stage.add_node("n1")
    await stage.add_pod("p", nodeSelector={"disk": "ssd"})
    await stage.condition("p")
    await stage.add_node("n2", labels={"disk": "ssd"})
    await stage.bound("p")
    name = "scheduler_queueing_hint_execution_duration_seconds_count"
    found = {key: value for key, value in (await page(stage)).items() if key.startswith(name)}
    assert sum(found.values()) >= 1, found
    assert all('event="' in key and 'hint="' in key and 'plugin="' in key for key in found)
