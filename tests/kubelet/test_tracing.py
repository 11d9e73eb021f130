"""What a Pod's start looks like in a trace, and what an idle node costs."""

from __future__ import annotations

import asyncio

from engine.api.types import EVENTS, NODES, PODS, Object
from engine.clock import VirtualClock
from engine.trace import Hop, Span
from engine.world import World
from tests.kubelet.node import running


def hop_11(world: World) -> list[Span]:
    return [span for span in world.tracer.recent if span.hop == Hop.KUBELET]


async def test_every_step_on_the_node_leads_back_to_the_request_that_created_the_pod(world: World) -> None:
    slow = World.create(clock=world.clock, seed=1, profile="realistic")
    async with running(slow) as node:
        with slow.tracer.span(Hop.CLIENT, component="kubectl", verb="create") as began:
            probe = {"httpGet": {"path": "/", "port": 80}}
            await node.run(containers=[{"name": "web", "image": "nginx:1.27", "readinessProbe": probe}])
        await node.ready()
        await node.sleep(1)

        mine = [span for span in hop_11(slow) if span.trace_id == began.trace_id]
        verbs = [span.verb for span in mine if span.verb not in ("event", "status")]
        assert verbs == [
            "CNI ADD",
            "RunPodSandbox",
            "PullImage",
            "CreateContainer",
            "StartContainer",
            "sync",
            "sync",
            "probe",
            "sync",
        ]
        assert {span.component for span in mine} == {"kubelet node-1"}
        assert {span.object for span in mine if span.verb == "sync"} == {"pod/default/web"}
        by_id = {span.id: span for span in slow.tracer.recent}
        sandbox = next(span for span in mine if span.verb == "RunPodSandbox")
        assert by_id[sandbox.parent].verb == "sync"
        assert sandbox.model_ms > 150
        assert by_id[by_id[sandbox.parent].parent].hop in (Hop.STORE, Hop.WATCH)


async def test_a_failed_call_has_its_code_as_outcome(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=[{"name": "c", "image": "nginx:missing"}])
        await node.waiting("ImagePullBackOff")

        assert {span.outcome for span in hop_11(world) if span.verb == "PullImage"} == {"NotFound"}


async def test_an_idle_node_does_nothing_but_its_heartbeats(world: World) -> None:
    async with running(world) as node:
        for number in range(5):
            await node.run(f"web-{number}")
            await node.ready(f"web-{number}")
        await node.sleep(20)
        before, spans = node.view("syncloop"), len(hop_11(world))
        calls = {name: count for name, count in node.view("cri")["calls"].items() if name in ("ListContainers",)}
        await node.sleep(600)

        assert node.view("syncloop")["iterations"] == before["iterations"]
        assert len(hop_11(world)) == spans
        assert node.view("cri")["calls"]["ListContainers"] == calls["ListContainers"]


async def test_each_input_of_the_syncloop_is_counted(world: World) -> None:
    async with running(world) as node:
        probe = {"exec": {"command": ["true"]}, "initialDelaySeconds": 1}
        await node.run(containers=[{"name": "web", "image": "nginx:1.27", "readinessProbe": probe}])
        await node.ready()
        await node.run("bad", containers=[{"name": "c", "image": "nginx:missing"}])
        await node.waiting("ImagePullBackOff", "bad")
        await node.delete()
        await node.gone()
        await node.sleep(3)

        counts = node.view("syncloop")["inputs"]
        assert list(counts) == ["config", "pleg", "sync", "housekeeping", "probes"]
        assert all(counts.values())


async def test_one_view_tells_all_as_of_one_moment(world: World) -> None:
    async with running(world) as node:
        await node.run()
        await node.ready()
        overview = node.view("overview", recent="2")
        assert overview["syncLoop"] == node.view("syncloop")
        assert overview["workers"] == node.view("workers")
        assert overview["cri"]["containers"] == node.view("cri")["containers"]
        assert overview["cri"]["recent"] == node.view("cri")["recent"][-2:]
        assert set(overview) == {"syncLoop", "workers", "images", "probes", "cri"}


def test_two_runs_with_one_seed_are_the_same() -> None:
    async def main(clock: VirtualClock) -> list[Object]:
        async with running(World.create(clock=clock, seed=7, profile="realistic")) as node:
            await node.run()
            await node.run("crash", containers=[{"name": "c", "image": "busybox:1.36", "command": ["false"]}])
            await node.restarted(2, "crash")
            await node.delete()
            await node.gone()
            listed = [await node.admin.list(resource) for resource in (PODS, NODES, EVENTS)]
            return [{"now": node.now}, *(item for items in listed for item in items.items)]

    def run_once() -> list[Object]:
        clock = VirtualClock()
        with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
            return runner.run(main(clock))

    assert run_once() == run_once()
