"""What others write into the statuses that are the kubelet's to say is taken back."""

from __future__ import annotations

from typing import Any

from engine.api.types import EVENTS, LEASES, NODES, PODS, Object
from engine.world import World
from tests.kubelet.node import NODE, Node, running


def conditions(status: Object) -> dict[str, str]:
    return {each["type"]: each["status"] for each in status["conditions"]}


async def of_node(node: Node) -> list[str]:
    listed = (await node.admin.list(EVENTS, namespace="default")).items
    return [event["reason"] for event in listed if event["involvedObject"]["kind"] == "Node"]


async def patched(node: Node, conditions: list[dict[str, Any]], **status: Any) -> None:
    body = {"status": {"conditions": conditions, **status}}
    await node.admin.patch(PODS, "web", body, namespace="default", subresource="status")


async def test_a_pod_that_runs_is_ready_again_whoever_said_that_it_was_not(world: World) -> None:
    async with running(world) as node:
        await node.run()
        await node.ready()
        await patched(node, [{"type": "Ready", "status": "False"}, {"type": "example.com/gate", "status": "True"}])
        await node.ready(ready=False)
        await node.sleep(11)

        status = await node.status()
        assert conditions(status)["Ready"] == "True"
        assert conditions(status)["example.com/gate"] == "True"  # somebody else's, and left alone


async def test_a_phase_that_nobody_but_the_kubelet_knows_is_put_right(world: World) -> None:
    async with running(world) as node:
        await node.run()
        await node.ready()
        await patched(node, [], phase="Pending", podIP="10.9.9.9")
        await node.sleep(11)
        status = await node.status()
        assert (status["phase"], status["podIP"] != "10.9.9.9") == ("Running", True)


async def test_what_nobody_has_touched_is_not_written_again(world: World) -> None:
    async with running(world) as node:
        await node.run()
        await node.ready()
        await node.sleep(60)
        patches = node.kubelet.statuses.patches
        await node.admin.patch(PODS, "web", {"metadata": {"labels": {"a": "b"}}}, namespace="default")
        await patched(node, [{"type": "example.com/gate", "status": "True"}])
        await node.sleep(60)
        assert node.kubelet.statuses.patches == patches


async def test_a_node_that_was_said_to_be_silent_says_that_it_is_not(world: World) -> None:
    async with running(world) as node:
        await node.sleep(1)
        unknown = [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]
        await node.admin.patch(NODES, NODE, {"status": {"conditions": unknown}}, subresource="status")
        assert conditions((await node.admin.get(NODES, NODE))["status"])["Ready"] == "Unknown"
        await node.sleep(12)
        assert conditions((await node.admin.get(NODES, NODE))["status"])["Ready"] == "True"


async def test_a_cordon_is_told_by_the_kubelet(world: World) -> None:
    async with running(world) as node:
        await node.sleep(1)
        for unschedulable in (True, False):
            await node.admin.patch(NODES, NODE, {"spec": {"unschedulable": unschedulable}})
            await node.sleep(12)
        told = [reason for reason in await of_node(node) if reason.endswith("Schedulable")]
        assert told == ["NodeNotSchedulable", "NodeSchedulable"]


async def test_the_namespace_of_the_leases_comes_back(world: World) -> None:
    async with running(world) as node:
        await node.sleep(1)
        await node.admin.request("DELETE", "/api/v1/namespaces/kube-node-lease")
        found = await node.admin.request("GET", "/api/v1/namespaces/kube-node-lease")
        found["spec"]["finalizers"] = []
        await node.admin.request("PUT", "/api/v1/namespaces/kube-node-lease/finalize", body=found)
        await node.sleep(75)
        assert (await node.admin.get(LEASES, NODE, namespace="kube-node-lease"))["spec"]["holderIdentity"] == NODE
