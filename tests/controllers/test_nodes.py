"""Nodes: their Pod ranges, and what becomes of Pods when one falls silent."""

from __future__ import annotations

from typing import Any

from engine.api.types import DEPLOYMENTS, NODES, PODS, Object
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running, web


def node(name: str, *, zone: str = "zone-a") -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}},
    }


async def report_ready(cluster: TestCluster, name: str) -> None:
    """A heartbeat as a kubelet sends it."""
    now = cluster.world.clock.timestamp()
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "kubelet is posting ready status",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
    await cluster.admin.patch(NODES, name, {"status": {"conditions": [condition]}}, subresource="status")


async def test_every_node_has_a_pod_range_of_its_own(world: World) -> None:
    async with running(world) as cluster:
        for name in ("node-1", "node-2", "node-3"):
            await cluster.admin.create(NODES, node(name))

        async def ranges() -> list[str] | None:
            found = [each["spec"].get("podCIDR", "") for each in await cluster.objects(NODES)]
            return found if all(found) else None

        found = await cluster.eventually("all have a range", ranges)
        assert sorted(found) == ["10.244.0.0/24", "10.244.1.0/24", "10.244.2.0/24"]
        await cluster.admin.delete(NODES, "node-2")
        await cluster.admin.create(NODES, node("node-4"))
        await cluster.eventually("the new one has a range", ranges)
        assert len(set(await ranges() or [])) == 3


async def taints(cluster: TestCluster, name: str) -> dict[str, str]:
    found = await cluster.find(NODES, name, None)
    assert found is not None
    return {f"{each['key']}:{each['effect']}": each.get("value", "") for each in found["spec"].get("taints") or ()}


async def test_a_cordoned_node_is_tainted_and_an_uncordoned_one_is_not(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(NODES, node("node-1"))
        await report_ready(cluster, "node-1")
        for unschedulable in (True, False):
            await cluster.admin.patch(NODES, "node-1", {"spec": {"unschedulable": unschedulable}})

            async def follows(wanted: bool = unschedulable) -> bool:
                return ("node.kubernetes.io/unschedulable:NoSchedule" in await taints(cluster, "node-1")) is wanted

            await cluster.eventually(f"the taint follows {unschedulable}", follows)


async def test_pods_of_a_silent_node_are_moved_after_their_patience(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(NODES, node("node-2", zone="zone-b"))
        for name in ("node-1", "node-2"):
            await report_ready(cluster, name)
        tolerations = [
            {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 100}
            for key in ("not-ready", "unreachable")
        ]
        deployment = web(1)
        deployment["spec"]["template"]["spec"]["tolerations"] = tolerations
        await cluster.admin.create(DEPLOYMENTS, deployment, namespace="default")
        await cluster.available("web", 1)
        first = (await cluster.objects(PODS, namespace="default"))[0]
        began = cluster.now
        silent_at = 0.0

        async def silent() -> bool:
            # node-2 goes on reporting; node-1 does not.
            if int(cluster.now) % 10 == 0:
                await report_ready(cluster, "node-2")
            return "node.kubernetes.io/unreachable:NoExecute" in await taints(cluster, "node-1")

        await cluster.eventually("node-1 is held to be gone", silent)
        silent_at = cluster.now
        assert 50 <= silent_at - began <= 65
        assert "node.kubernetes.io/unreachable:NoSchedule" in await taints(cluster, "node-1")
        found = await cluster.find(NODES, "node-1", None)
        assert found is not None
        ready = next(each for each in found["status"]["conditions"] if each["type"] == "Ready")
        assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusUnknown")
        assert await cluster.events("NodeNotReady") == [
            "Node node-1 status is now: NodeNotReady",
            "Node is not ready",
        ]

        async def moved() -> bool:
            if int(cluster.now) % 10 == 0:
                await report_ready(cluster, "node-2")
            names = [pod["metadata"]["name"] for pod in await cluster.objects(PODS, namespace="default")]
            return first["metadata"]["name"] not in names

        await cluster.eventually("the Pod is deleted", moved)
        assert 99 <= cluster.now - silent_at <= 110
        marked = f"Marking for deletion Pod default/{first['metadata']['name']}"
        assert marked in await cluster.events("TaintManagerEviction")
        await world.clock.sleep(50)
        assert len(await cluster.events("TaintManagerEviction")) == 1, "the next one's patience begins with itself"


async def test_when_no_node_answers_nobody_is_driven_off(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(NODES, node("node-1"))
        await report_ready(cluster, "node-1")
        await world.clock.sleep(120)
        found = await taints(cluster, "node-1")
        assert "node.kubernetes.io/unreachable:NoSchedule" in found
        assert "node.kubernetes.io/unreachable:NoExecute" not in found


async def test_pods_of_a_node_that_is_gone_are_collected(world: World) -> None:
    async with running(world) as cluster:
        spec: Any = {"nodeName": "gone", "containers": [{"name": "c", "image": "nginx"}]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "lost", "namespace": "default"}, "spec": spec}
        await cluster.eventually_service_account("default")
        await cluster.admin.create(PODS, pod, namespace="default")
        began = cluster.now
        await cluster.gone(PODS, "lost")
        assert 40 <= cluster.now - began <= 65
