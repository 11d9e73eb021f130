"""The scheduler against the real API server, in one process on a virtual clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from engine.api.types import EVENTS, NODES, PODS, Object
from engine.api.wire import JSON_PATCH
from engine.client import Client
from engine.clock import VirtualClock
from engine.scheduler.plugins.resource_claims import RESOURCE_CLAIMS
from engine.scheduler.pod_info import PodInfo
from engine.trace import Hop
from engine.world import World
from tests.scheduler.objects import affinity, near, pod, taint
from tests.scheduler.stage import Stage, open_stage


@pytest.fixture
async def stage(world: World) -> AsyncIterator[Stage]:
    async with open_stage(world) as made:
        yield made


async def test_a_pod_is_bound_and_says_so(stage: Stage) -> None:
    await stage.add_node("n1")
    await stage.add_pod("p", cpu="1")
    assert await stage.bound("p") == "n1"
    assert (await stage.condition("p"))["status"] == "True"
    assert await stage.events("p") == [("Normal", "Scheduled", "Successfully assigned default/p to n1")]
    assert not stage.scheduler.cache.assumed_pods


async def test_events_are_those_of_the_new_api(stage: Stage) -> None:
    """As `kubectl get events -o yaml` shows them of a real scheduler."""
    await stage.add_pod("p", cpu="1")
    assert (await stage.condition("p"))["reason"] == "Unschedulable"
    await stage.add_node("n1")
    await stage.bound("p")
    await stage.events("p")
    found = {e["reason"]: e for e in (await stage.admin.list(EVENTS)).items}
    assert {reason: event["action"] for reason, event in found.items()} == {
        "FailedScheduling": "Scheduling",
        "Scheduled": "Binding",
    }
    for event in found.values():
        assert (event["reportingComponent"], event["source"]) == ("default-scheduler", {})
        assert event["reportingInstance"].startswith("default-scheduler-")
        assert event["eventTime"]
        assert (event["firstTimestamp"], event["lastTimestamp"]) == (None, None)
        assert "count" not in event


async def test_without_nodes_a_pod_waits_for_one(stage: Stage) -> None:
    await stage.add_pod("p")
    condition = await stage.condition("p")
    assert (condition["status"], condition["reason"], condition["message"]) == (
        "False",
        "Unschedulable",
        "no nodes available to schedule pods",
    )
    # Tried again after a second: then the Pod is another version of itself, and so the event another one.
    assert set(await stage.events("p")) == {("Warning", "FailedScheduling", "no nodes available to schedule pods")}
    await stage.add_node("n1")
    assert await stage.bound("p") == "n1"


async def test_why_a_pod_fits_nowhere(stage: Stage) -> None:
    await stage.add_node("n1", cpu="1")
    await stage.add_node("n2", taints=[taint("dedicated")])
    await stage.add_pod("p", cpu="2")
    message = (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )
    assert (await stage.condition("p"))["message"] == message
    assert await stage.events("p") == [("Warning", "FailedScheduling", message)]


async def test_a_pod_is_tried_again_when_what_stood_in_its_way_changes_and_not_before(stage: Stage) -> None:
    await stage.add_node("n1", cpu="2")
    await stage.add_pod("first", cpu="2")
    await stage.bound("first")
    await stage.add_pod("second", cpu="2")
    await stage.condition("second")
    labels = {"metadata": {"labels": {"a": "b"}}}
    await stage.admin.patch(NODES, "n1", labels)
    await stage.world.clock.sleep(30)
    attempts = stage.world.views.look("scheduler/decision", {"pod": "default/second"})["decisions"]
    assert len(attempts) == 1
    await stage.admin.delete(PODS, "first", namespace="default", grace_period_seconds=0)
    assert await stage.bound("second") == "n1"
    spans = [s for s in stage.world.tracer.recent if (s.verb, s.object) == ("schedule", "pod/default/second")]
    assert spans[1].parent == spans[0].parent
    assert spans[1].woken_by[0] == spans[0].revision < spans[1].woken_by[-1]
    newest = stage.world.views.look("scheduler/decision", {"pod": "default/second"})["decisions"][0]
    assert newest["result"] == "scheduled"
    assert [move["event"] for move in newest["moves"]][:3] == [
        "UnscheduledPodAdd",
        "ScheduleAttemptFailure",
        "AssignedPodDelete",
    ]


async def test_pods_of_other_schedulers_are_left_alone(stage: Stage) -> None:
    await stage.add_node("n1")
    await stage.add_pod("p", schedulerName="another")
    await stage.add_pod("q")
    await stage.bound("q")
    await stage.world.clock.sleep(60)
    assert await stage.node_of("p") == ""


async def test_gated_pods_wait_for_their_gates(stage: Stage) -> None:
    await stage.add_node("n1")
    await stage.add_pod("p", schedulingGates=[{"name": "example.com/hold"}])
    await stage.world.clock.sleep(10)
    assert await stage.node_of("p") == ""
    patch = [{"op": "remove", "path": "/spec/schedulingGates"}]
    await stage.admin.patch(PODS, "p", patch, namespace="default", content_type=JSON_PATCH)
    assert await stage.bound("p") == "n1"


async def test_cordoned_nodes_get_no_pods_until_uncordoned(stage: Stage) -> None:
    await stage.add_node("n1", unschedulable=True)
    await stage.add_pod("p")
    assert "node(s) were unschedulable" in (await stage.condition("p"))["message"]
    patch = [{"op": "remove", "path": "/spec/unschedulable"}]
    await stage.admin.patch(NODES, "n1", patch, content_type=JSON_PATCH)
    assert await stage.bound("p") == "n1"


async def test_anti_affinity_spreads_pods_one_a_node(stage: Stage) -> None:
    for i in range(3):
        await stage.add_node(f"n{i}")
    apart = affinity(far=[near("kubernetes.io/hostname", {"app": "web"})])
    for i in range(4):
        await stage.add_pod(f"p{i}", labels={"app": "web"}, affinity=apart)
    assert sorted([await stage.bound(f"p{i}") for i in range(3)]) == ["n0", "n1", "n2"]
    assert "3 node(s) didn't match pod anti-affinity rules" in (await stage.condition("p3"))["message"]


async def test_a_higher_priority_takes_the_place_of_a_lower(stage: Stage) -> None:
    await stage.add_node("n1", cpu="1")
    await stage.add_pod("low", cpu="1")
    await stage.bound("low")
    await stage.add_pod("high", cpu="1", priorityClassName="system-node-critical")
    # The victim ends gracefully: its kubelet, here the test, takes it away.
    victim = await stage.until(lambda p: p["metadata"].get("deletionTimestamp"), "low")
    assert (await stage.condition("high"))["message"] == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n1, "
        "preempting 1 victims"
    )
    condition = next(c for c in victim["status"]["conditions"] if c["type"] == "DisruptionTarget")
    assert condition["reason"] == "PreemptionByScheduler"
    assert condition["message"] == "default-scheduler: preempting to accommodate a higher priority pod"
    assert (await stage.until(lambda p: p["status"].get("nominatedNodeName"), "high"))["status"][
        "nominatedNodeName"
    ] == "n1"
    await stage.admin.delete(PODS, "low", namespace="default", grace_period_seconds=0)
    assert await stage.bound("high") == "n1"
    uid = (await stage.get("high"))["metadata"]["uid"]
    assert ("Normal", "Preempted", f"Preempted by pod {uid} on node n1") in await stage.events("low")


async def test_a_nomination_that_cannot_be_taken_back_keeps_no_victim(stage: Stage) -> None:
    """The pod that had it is gone already."""
    await stage.add_node("n1", cpu="1")
    await stage.add_pod("low", cpu="1")
    await stage.bound("low")
    ghost = PodInfo(pod("ghost", priority=1, status={"nominatedNodeName": "n1"}))
    stage.scheduler.nominator.add(ghost, "n1")
    await stage.add_pod("high", cpu="1", priorityClassName="system-cluster-critical")
    going = await stage.until(lambda found: found["metadata"].get("deletionTimestamp"), "low")
    assert any(c["type"] == "DisruptionTarget" for c in going["status"]["conditions"])


async def test_a_victim_that_goes_before_it_is_evicted_locks_nobody_out(stage: Stage) -> None:
    """It was on its way to the node: that it is gone is known before its eviction finds that out."""
    await stage.add_node("n1", cpu="1")
    await stage.add_pod("low", cpu="1")
    await stage.add_pod("high", cpu="1", priorityClassName="system-node-critical")
    await stage.admin.delete(PODS, "low", namespace="default", grace_period_seconds=0)
    before = stage.world.clock.monotonic()
    assert await stage.bound("high") == "n1"
    assert stage.world.clock.monotonic() - before < 20


async def test_the_spans_lead_from_the_pods_write_to_the_binding(stage: Stage) -> None:
    await stage.add_node("n1")
    made = await stage.add_pod("p")
    await stage.bound("p")
    spans = [s for s in stage.world.tracer.recent if s.hop is Hop.SCHEDULER and s.object == "pod/default/p"]
    schedule, bind = (next(s for s in spans if s.verb == verb) for verb in ("schedule", "bind"))
    parent = next(s for s in stage.world.tracer.recent if s.id == schedule.parent)
    assert parent.hop is Hop.STORE
    assert schedule.revision == int(made["metadata"]["resourceVersion"])
    assert (schedule.component, schedule.detail["node"], schedule.outcome) == ("default-scheduler", "n1", "ok")
    assert bind.parent == schedule.id
    written = [s for s in stage.world.tracer.recent if s.parent == bind.id]
    assert written, "the binding's request is a child of the bind span"


async def test_no_node_is_filled_beyond_what_it_has(stage: Stage) -> None:
    for i in range(3):
        await stage.add_node(f"n{i}", cpu="4", pods=10)
    for i in range(20):
        await stage.add_pod(f"p{i:02}", cpu="700m")
    await stage.world.clock.sleep(30)
    pods = (await stage.admin.list(PODS)).items
    per_node: dict[str, int] = {}
    for found in pods:
        if where := found["spec"].get("nodeName"):
            per_node[where] = per_node.get(where, 0) + 1
    assert per_node == {"n0": 5, "n1": 5, "n2": 5}
    waiting = [p["metadata"]["name"] for p in pods if not p["spec"].get("nodeName")]
    assert len(waiting) == 5
    assert all(["3 Insufficient cpu" in (await stage.condition(name))["message"] for name in waiting])


async def test_a_pod_that_somebody_else_bound_counts_where_it_is(stage: Stage) -> None:
    await stage.add_node("n1")
    await stage.add_node("n2")
    await stage.add_pod("p", schedulerName="another", cpu="1")
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "p", "namespace": "default"},
        "target": {"kind": "Node", "name": "n2"},
    }
    await stage.admin.create(PODS, binding, namespace="default", name="p", subresource="binding")
    await stage.world.clock.sleep(1)
    shown = {n["node"]: n["pods"] for n in stage.world.views.look("scheduler/nodes", {})}
    assert shown == {"n1": 0, "n2": 1}


async def test_a_pod_that_has_run_to_its_end_gives_its_place_back(stage: Stage) -> None:
    await stage.add_node("n1", cpu="1")
    await stage.add_pod("job", cpu="1")
    await stage.bound("job")
    await stage.add_pod("next", cpu="1")
    await stage.condition("next")
    done = {"status": {"phase": "Succeeded"}}
    await stage.admin.patch(PODS, "job", done, namespace="default", subresource="status")
    assert await stage.bound("next") == "n1"


async def test_a_pod_deleted_while_it_waits_is_forgotten(stage: Stage) -> None:
    await stage.add_pod("p")
    await stage.condition("p")
    await stage.admin.delete(PODS, "p", namespace="default", grace_period_seconds=0)
    await stage.world.clock.sleep(1)
    queue = stage.world.views.look("scheduler/queue", {})
    assert (queue["active"], queue["backoff"], queue["unschedulable"]) == ([], [], [])


async def test_the_views_are_plain_json(stage: Stage) -> None:
    await stage.add_node("n1", cpu="1")
    await stage.add_node("n2", cpu="1")
    await stage.add_pod("p", cpu="1")
    await stage.add_pod("q", cpu="2")
    await stage.bound("p")
    await stage.condition("q")
    served = Client(stage.admin_transport, user_agent="curl")
    looks = ("queue", "decisions?limit=5", "decision?pod=default/p", "decision?pod=default/q", "nodes", "configuration")
    for view in looks:
        path, _, query = f"/debug/ktui/views/scheduler/{view}".partition("?")
        name, _, value = query.partition("=")
        body = await served.request("GET", path, query={name: [value]} if name else {})
        assert orjson.loads(orjson.dumps(body)) == body
        assert body


async def test_views_of_much_tell_a_part_and_count_the_rest(stage: Stage) -> None:
    for name, cpu in (("n1", "4"), ("n2", "4"), ("n3", "4"), ("n4", "1")):
        await stage.add_node(name, cpu=cpu)
    await stage.add_pod("fits", cpu="2")
    await stage.bound("fits")
    for name in ("p", "q", "r"):
        await stage.add_pod(name, cpu="8")
        await stage.condition(name)
    views = stage.world.views
    queue = views.look("scheduler/queue", {"limit": "2"})
    assert [waiting["pod"] for waiting in queue["unschedulable"]] == ["default/p", "default/q"]
    assert queue["counts"] == {"active": 0, "backoff": 0, "unschedulable": 3, "gated": 0}
    fits = views.look("scheduler/decision", {"pod": "default/fits", "nodes": "2"})["decisions"][0]
    capacity = views.look("scheduler/capacity", {"limit": "1"})
    assert (capacity["nodes"], capacity["pods"]) == (4, 1)
    assert (capacity["requested"]["cpu"], capacity["allocatable"]["cpu"]) == ("2000m", "13000m")
    assert [node["node"] for node in capacity["fullest"]] == [fits["node"]]
    assert "NodeResourcesFit" in fits["filters"]
    assert "NodePorts" not in fits["filters"]  # it has no host port: nothing to look at
    assert len(fits["scores"]) == 2
    assert fits["rejectedBy"] == [{"plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu"], "nodes": 1}]
    rejected = views.look("scheduler/decision", {"pod": "default/p", "nodes": "2"})["decisions"][0]
    assert [row["node"] for row in rejected["rejected"]] == ["n1", "n2"]
    assert rejected["rejectedBy"] == [{"plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu"], "nodes": 4}]


async def run_realistic(clock: VirtualClock) -> tuple[list[tuple[str, str]], list[Any], float]:
    """A few pods under the realistic profile: where they went, what was written, and how long it took in the model."""
    world = World.create(clock=clock, seed=7, profile="realistic")
    began = clock.monotonic()
    async with open_stage(world) as stage:
        for i in range(3):
            await stage.add_node(f"n{i}")
        for i in range(8):
            await stage.add_pod(f"p{i}", cpu="1")
        placed = [(f"p{i}", await stage.bound(f"p{i}")) for i in range(8)]
        await stage.world.clock.sleep(5)
        log = await stage.store.log(limit=10_000)
    return placed, [repr(entry) for entry in log], clock.monotonic() - began


def test_one_seed_gives_one_history() -> None:
    runs = [_run_apart(VirtualClock()) for _ in range(2)]
    assert runs[0] == runs[1]
    assert {node for _, node in runs[0][0]} == {"n0", "n1", "n2"}


def _run_apart(clock: VirtualClock) -> tuple[list[tuple[str, str]], list[Any], float]:
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        return runner.run(run_realistic(clock))


async def test_a_pod_is_nominated_while_something_is_done_before_it_is_bound(stage: Stage) -> None:
    """A claim is reserved first, and so others are told which node the Pod will get (KEP 5278); no longer once it is
    bound. A Pod that has nothing to wait for is bound straight away."""
    claim: Object = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
    }
    made = await stage.admin.create(RESOURCE_CLAIMS, claim, namespace="default")
    device = {"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "a"}
    allocated = {**made, "status": {"allocation": {"devices": {"results": [device]}}}}
    await stage.admin.update_status(RESOURCE_CLAIMS, allocated)
    await stage.add_node("n1")
    seen: list[tuple[str, str, str]] = []
    async with await stage.admin.watch(PODS, resource_version="0") as watch:
        await stage.add_pod("plain")
        await stage.bound("plain")
        await stage.add_pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])
        async for event in watch:
            found = event.object
            nominated = found["status"].get("nominatedNodeName", "")
            seen.append((found["metadata"]["name"], nominated, found["spec"].get("nodeName", "")))
            if seen[-1][0] == "p" and seen[-1][2]:
                break
    assert [(nominated, node) for name, nominated, node in seen if name == "plain"] == [("", ""), ("", "n1")]
    assert [(nominated, node) for name, nominated, node in seen if name == "p"] == [("", ""), ("n1", ""), ("", "n1")]
    scheduled = (await stage.condition("p"))["observedGeneration"]
    assert scheduled == (await stage.get("p"))["metadata"]["generation"]
