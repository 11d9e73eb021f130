"""Nodes: their Pod ranges, and what becomes of Pods when one falls silent."""

from __future__ import annotations

from typing import Any

from engine.api.types import DEPLOYMENTS, NODES, PODS, SERVICE_ACCOUNTS, Object
from engine.controllers.nodelifecycle import NodeLifecycleController
from engine.controllers.stale_disruption import StaleDisruptionController
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running, web

DRIVEN = "node.kubernetes.io/unreachable:NoExecute"


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


async def status_of(cluster: TestCluster, pod: Object) -> Object:
    status: Object = (await cluster.admin.get(PODS, pod["metadata"]["name"], namespace="default"))["status"]
    return status


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


async def test_a_zone_is_judged_by_the_nodes_of_its_region_that_are_reckoned_with(world: World) -> None:
    """Region one has few Nodes left in its zone, so that none of them is given up; region two has all of a zone of that
    name. A Node that is not to be reckoned with is given up at its turn."""
    async with running(world, controllers=(NodeLifecycleController,)) as cluster:
        regions = {"one": ("a1", "a2", "a3", "a4"), "two": ("b1", "b2", "b3", "b4"), "three": ("apart",)}
        for region, names in regions.items():
            for name in names:
                made = node(name)
                made["metadata"]["labels"]["topology.kubernetes.io/region"] = region
                if name == "apart":
                    made["metadata"]["labels"]["node.kubernetes.io/exclude-disruption"] = ""
                await cluster.admin.create(NODES, made)
                await report_ready(cluster, name)
        await cluster.admin.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
        spec = {"nodeName": "a1", "containers": [{"name": "c", "image": "nginx"}]}
        pod = await cluster.admin.create(PODS, {"metadata": {"name": "one"}, "spec": spec}, namespace="default")
        ready = {"type": "Ready", "status": "True", "reason": "Up", "lastTransitionTime": world.clock.timestamp()}
        patch = {"status": {"conditions": [ready]}}
        await cluster.admin.patch(PODS, "one", patch, namespace="default", subresource="status")
        for _ in range(20):
            await world.clock.sleep(10)
            for name in ("a4", "b1", "b2", "b3", "b4"):
                await report_ready(cluster, name)
        driven = [name for names in regions.values() for name in names if DRIVEN in await taints(cluster, name)]
        assert driven == ["apart"]
        [told] = (await status_of(cluster, pod))["conditions"]
        assert (told["status"], told["reason"], told["observedGeneration"]) == ("False", "Up", 1)


async def test_older_names_of_labels_follow_those_of_now(world: World) -> None:
    async with running(world, controllers=(NodeLifecycleController,)) as cluster:
        made = node("node-1")
        made["metadata"]["labels"] |= {"kubernetes.io/os": "linux", "beta.kubernetes.io/os": "plan9"}
        await cluster.admin.create(NODES, made)

        async def follow() -> bool:
            labels = (await cluster.admin.get(NODES, "node-1"))["metadata"]["labels"]
            return bool(labels["beta.kubernetes.io/os"] == "linux") and "beta.kubernetes.io/arch" not in labels

        await cluster.eventually("the older name follows", follow)


async def test_a_disruption_that_is_called_off_takes_its_reason_along(world: World) -> None:
    async with running(world, controllers=(StaleDisruptionController,)) as cluster:
        await cluster.admin.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
        spec = {"containers": [{"name": "c", "image": "nginx"}]}
        pod = await cluster.admin.create(PODS, {"metadata": {"name": "one"}, "spec": spec}, namespace="default")
        condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "why"}
        condition["lastTransitionTime"] = world.clock.timestamp()
        patch = {"status": {"conditions": [condition]}}
        await cluster.admin.patch(PODS, "one", patch, namespace="default", subresource="status")

        async def called_off() -> Object | None:
            [found] = (await status_of(cluster, pod))["conditions"]
            return found if found["status"] == "False" else None

        found = await cluster.eventually("it is called off", called_off)
        assert sorted(found) == ["lastProbeTime", "lastTransitionTime", "observedGeneration", "status", "type"]


async def test_pods_of_a_node_that_is_gone_are_collected(world: World) -> None:
    async with running(world) as cluster:
        spec: Any = {"nodeName": "gone", "containers": [{"name": "c", "image": "nginx"}]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "lost", "namespace": "default"}, "spec": spec}
        await cluster.eventually_service_account("default")
        await cluster.admin.create(PODS, pod, namespace="default")
        began = cluster.now
        await cluster.gone(PODS, "lost")
        assert 40 <= cluster.now - began <= 65
