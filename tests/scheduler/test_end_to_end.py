"""The scheduler against the real API server, in one process on a virtual clock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import EVENTS, NODES, PODS, SERVICE_ACCOUNTS, Object
from engine.api.wire import JSON_PATCH, ClientCertificate
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.scheduler import Scheduler
from engine.store.sqlite import SqliteStore
from engine.trace import Hop
from engine.world import World
from tests.scheduler.objects import affinity, near, node, pod, taint


class Stage:
    """An API server, the scheduler, and a client of each."""

    def __init__(self, world: World, api: ApiServer) -> None:
        def client(name: str, *groups: str) -> Client:
            return Client(InProcessTransport(api, ClientCertificate(name, groups)), user_agent=name)

        self.world = world
        self.admin = client("kubernetes-admin", "system:masters")
        self.scheduler = Scheduler(client("system:kube-scheduler"), world)

    async def add_node(self, name: str, **fields: Any) -> None:
        """A node that is ready: without the taint that admission gives a new one."""
        await self.admin.create(NODES, node(name, **fields))
        taints = fields.get("taints") or []
        patch = [{"op": "replace", "path": "/spec/taints", "value": taints}]
        await self.admin.patch(NODES, name, patch, content_type=JSON_PATCH)

    async def add_pod(self, name: str, **fields: Any) -> Object:
        return await self.admin.create(PODS, pod(name, **fields), namespace="default")

    async def get(self, name: str) -> Object:
        return await self.admin.get(PODS, name, namespace="default")

    async def node_of(self, name: str) -> str:
        return str((await self.get(name))["spec"].get("nodeName", ""))

    async def until(self, condition: Callable[[Object], Any], name: str, *, seconds: float = 60) -> Object:
        """The pod once the condition holds; fails after model seconds."""
        async with self.world.clock.timeout(seconds):
            while True:
                found = await self.get(name)
                if condition(found):
                    return found
                await self.world.clock.sleep(0.05)

    async def bound(self, name: str) -> str:
        found = await self.until(lambda p: p["spec"].get("nodeName"), name)
        return str(found["spec"]["nodeName"])

    async def condition(self, name: str) -> Object:
        found = await self.until(lambda p: p.get("status", {}).get("conditions"), name)
        return next(c for c in found["status"]["conditions"] if c["type"] == "PodScheduled")

    async def events(self, name: str) -> list[tuple[str, str, str]]:
        await self.world.clock.sleep(1)
        found = (await self.admin.list(EVENTS)).items
        return [(e["type"], e["reason"], e["message"]) for e in found if e["involvedObject"]["name"] == name]


@pytest.fixture
async def stage(world: World, virtual_clock: VirtualClock) -> AsyncIterator[Stage]:
    store = await SqliteStore.open(None, clock=virtual_clock, rng=world.rng.stream("store"))
    api = ApiServer(world, store)
    await api.start()
    made = Stage(world, api)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    await made.admin.create(SERVICE_ACCOUNTS, account, namespace="default")
    await made.scheduler.start()
    yield made
    await made.scheduler.stop()
    await api.stop()
    await store.close()


async def test_a_pod_is_bound_and_says_so(stage: Stage) -> None:
    await stage.add_node("n1")
    await stage.add_pod("p", cpu="1")
    assert await stage.bound("p") == "n1"
    assert (await stage.condition("p"))["status"] == "True"
    assert await stage.events("p") == [("Normal", "Scheduled", "Successfully assigned default/p to n1")]
    assert not stage.scheduler.cache.assumed_pods


async def test_without_nodes_a_pod_waits_for_one(stage: Stage) -> None:
    await stage.add_pod("p")
    condition = await stage.condition("p")
    assert (condition["status"], condition["reason"], condition["message"]) == (
        "False",
        "Unschedulable",
        "no nodes available to schedule pods",
    )
    assert await stage.events("p") == [("Warning", "FailedScheduling", "no nodes available to schedule pods")]
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


async def test_a_binding_that_fails_is_tried_again(stage: Stage) -> None:
    """Somebody else binds first: the scheduler's own binding is refused, and it takes the other for the truth."""
    await stage.add_node("n1")
    await stage.add_node("n2")
    await stage.add_pod("p", schedulerName="another")
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "p", "namespace": "default"},
        "target": {"kind": "Node", "name": "n2"},
    }
    await stage.admin.create(PODS, binding, namespace="default", name="p", subresource="binding")
    with pytest.raises(ApiError):
        await stage.admin.create(PODS, binding, namespace="default", name="p", subresource="binding")
    await stage.world.clock.sleep(1)
    shown = {n["node"]: n["pods"] for n in stage.world.views.look("scheduler/nodes", {})}
    assert shown == {"n1": 0, "n2": 1}
