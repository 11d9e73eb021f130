"""Memory that runs out: in a container, and on the node (upstream's eviction/helpers_test.go)."""

from __future__ import annotations

import pytest

from engine.api.types import NODES, PODS, Object
from engine.config import NodeConfig
from engine.kubelet.eviction import is_critical, ranked, uses
from engine.world import World
from tests.kubelet.node import NODE, Node, condition, running

USAGE = "ktui.io/memory-usage"


def using(name: str, usage: str, request: str = "", priority: int = 0, containers: int = 1) -> Object:
    resources = {"requests": {"memory": request}} if request else {}
    made = [{"name": f"c{number}", "resources": resources} for number in range(containers)]
    return {
        "metadata": {"name": name, "annotations": {USAGE: usage} if usage else {}},
        "spec": {"containers": made, "priority": priority},
    }


@pytest.mark.parametrize(
    ("active", "order"),
    [
        pytest.param(
            [using("less", "100Mi", "200Mi"), using("more", "300Mi", "200Mi")], ["more", "less"],
            id="who exceeds its request goes first",
        ),
        pytest.param(
            [using("high", "300Mi", "100Mi", 10), using("low", "200Mi", "100Mi")], ["low", "high"], id="by priority"
        ),
        pytest.param(
            [using("a", "300Mi", "100Mi"), using("b", "400Mi", "100Mi")], ["b", "a"], id="then by how much more"
        ),
        pytest.param(
            [using("idle", ""), using("guaranteed", "1Gi", "2Gi")], ["idle", "guaranteed"],
            id="whatever is used of nothing is too much",
        ),
    ],
)  # fmt: skip
def test_ranking(active: list[Object], order: list[str]) -> None:
    assert [pod["metadata"]["name"] for pod in ranked(active)] == order


def test_use_is_shared_as_requests_are() -> None:
    assert [str(use.used) for use in uses(using("p", "300Mi", containers=3))] == ["100Mi"] * 3
    assert [str(use.used) for use in uses(using("p", "nonsense", containers=2))] == ["16Mi"] * 2
    small = using("p", "")
    small["spec"]["containers"][0]["resources"] = {"limits": {"memory": "8Mi"}}
    assert [str(use.used) for use in uses(small)] == ["8Mi"], "nobody who only idles runs into its limit"
    assert is_critical(using("p", "", priority=2_000_001_000))


def memory(limit: str | None = None, request: str | None = None, image: str = "nginx:1.27") -> list[Object]:
    amounts = {"limits": limit, "requests": request}
    resources = {field: {"memory": amount} for field, amount in amounts.items() if amount}
    return [{"name": "c", "image": image, "resources": resources}]


async def annotate(node: Node, name: str, usage: str | None) -> None:
    patch = {"metadata": {"annotations": {USAGE: usage}}}
    await node.admin.patch(PODS, name, patch, namespace="default")


async def test_a_container_beyond_its_limit_is_killed(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=memory(limit="128Mi"))
        await node.ready()
        await annotate(node, "web", "256Mi")

        container = await node.restarted(2)
        ended = container["lastState"].get("terminated") or container["state"]["terminated"]
        assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)
        await node.waiting("CrashLoopBackOff")
        await annotate(node, "web", None)
        await node.ready()


async def under_pressure(node: Node) -> bool:
    return condition((await node.admin.get(NODES, NODE))["status"], "MemoryPressure") == "True"


async def test_a_node_short_of_memory_evicts_who_uses_too_much(world: World) -> None:
    async with running(world, config=NodeConfig(name=NODE, memory="1Gi")) as node:
        await node.run("good", containers=memory(request="200Mi"))
        await node.run("hog", containers=memory())
        await node.ready("good")
        await node.ready("hog")
        await annotate(node, "hog", "960Mi")
        status = await node.in_phase("Failed", "hog")

        message = (
            "The node was low on resource: memory. Threshold quantity: 100Mi, available: 49152Ki. Container c was "
            "using 983040Ki, request is 0, has larger consumption of memory. "
        )
        assert (status["reason"], status["message"]) == ("Evicted", message)
        target = next(item for item in status["conditions"] if item["type"] == "DisruptionTarget")
        assert (target["status"], target["reason"]) == ("True", "TerminationByKubelet")
        assert await node.said("Evicted", "hog") == f"Evicted: {message}"
        assert "EvictionThresholdMet: Attempting to reclaim memory" in await node.events(NODE)
        await node.eventually("the node is under pressure", lambda: under_pressure(node))
        assert await node.said("InsufficientMemory", NODE) == (
            f"NodeHasInsufficientMemory: Node {NODE} status is now: NodeHasInsufficientMemory"
        )

        await node.run("best-effort", containers=memory())
        rejected = await node.in_phase("Failed", "best-effort")
        assert rejected["message"] == "Pod was rejected: The node had condition: [MemoryPressure]. "
        await node.run("burstable", containers=memory(request="10Mi"))
        await node.ready("burstable")
        await node.sleep(320)
        assert not await under_pressure(node)
        assert (await node.status("good"))["phase"] == "Running"


async def test_a_critical_pod_is_not_evicted(world: World) -> None:
    async with running(world, config=NodeConfig(name=NODE, memory="1Gi")) as node:
        await node.run("small", containers=memory())
        await node.run("hog", containers=memory(), priorityClassName="system-node-critical")
        await node.ready("hog")
        await annotate(node, "hog", "2Gi")

        assert (await node.in_phase("Failed", "small"))["reason"] == "Evicted"
        await node.sleep(30)
        assert (await node.status("hog"))["phase"] == "Running"
