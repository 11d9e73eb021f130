"""Pods that were bound to a node that cannot take them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import NODES
from engine.config import NodeConfig
from engine.world import World
from tests.kubelet.node import NODE, running

SMALL = NodeConfig(name=NODE, cpu="2", memory="1Gi", pods=2)


def asking(cpu: str = "100m", memory: str = "10Mi", **fields: Any) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu, "memory": memory}}
    return {"containers": [{"name": "web", "image": "nginx:1.27", "resources": resources, **fields}]}


def terms(operator: str, *values: str) -> dict[str, Any]:
    expression = {"key": "kubernetes.io/hostname", "operator": operator, "values": list(values)}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


@pytest.mark.parametrize(
    ("spec", "reason", "message"),
    [
        pytest.param(
            asking(cpu="1500m"),
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
            id="cpu",
        ),
        pytest.param(
            {**asking(), "resources": {"requests": {"cpu": "1500m"}}},
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
            id="cpu of the Pod as a whole",
        ),
        pytest.param(
            {**asking(), "securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "10000"}]}},
            "SysctlForbidden",
            'forbidden sysctl: "kernel.msgmax" not allowlisted',
            id="a sysctl that concerns others",
        ),
        pytest.param(
            asking(memory="2Gi"),
            "OutOfmemory",
            "Node didn't have enough resource: memory, requested: 2147483648, used: 10485760, capacity: 1073741824",
            id="memory",
        ),
        pytest.param(
            {**asking(), "nodeSelector": {"disk": "ssd"}},
            "NodeAffinity",
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
            id="node selector",
        ),
        pytest.param(
            {**asking(), **terms("NotIn", NODE)},
            "NodeAffinity",
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
            id="node affinity",
        ),
        pytest.param(
            asking(ports=[{"containerPort": 80, "hostPort": 8080}]),
            "NodePorts",
            "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
            id="host port",
        ),
        pytest.param(
            {**asking(cpu="1500m"), "nodeSelector": {"disk": "ssd"}},
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
            id="resources before labels",
        ),
        pytest.param(
            {**asking(), "nodeSelector": {"kubernetes.io/os": "windows"}},
            "PodOSSelectorNodeLabelDoesNotMatch",
            "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
            id="another system by label",
        ),
        pytest.param(
            {**asking(), "os": {"name": "windows"}},
            "PodOSNotSupported",
            "Failed to admit pod as the OS field doesn't match node OS",
            id="another system",
        ),
    ],
)
async def test_it_is_rejected_with_the_reason(world: World, spec: dict[str, Any], reason: str, message: str) -> None:
    async with running(world, config=SMALL) as node:
        await node.run("first", **asking(cpu="1", ports=[{"containerPort": 80, "hostPort": 8080}]))
        await node.ready("first")
        await node.run("second", **spec)
        status = await node.in_phase("Failed", "second")

        assert (status["reason"], status["message"]) == (reason, f"Pod was rejected: {message}")
        assert await node.said(reason, "second") == f"{reason}: {message}"
        await node.delete("second")
        await node.gone("second")


async def test_a_taint_that_would_drive_it_off_keeps_it_out(world: World) -> None:
    async with running(world, config=SMALL) as node:
        taint = {"key": "broken", "value": "disk", "effect": "NoExecute"}
        await node.admin.patch(NODES, NODE, {"spec": {"taints": [taint, {"key": "x", "effect": "NoSchedule"}]}})
        await node.sleep(1)
        tolerated = {"key": "broken", "operator": "Equal", "value": "disk", "effect": "NoExecute"}
        await node.run("brave", **asking(), tolerations=[tolerated])
        await node.run("other", **asking())
        status = await node.in_phase("Failed", "other")

        message = "Pod was rejected: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
        assert (status["reason"], status["message"]) == ("TaintToleration", message)
        await node.ready("brave")


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(
            asking(ports=[{"containerPort": 80, "hostPort": 8080, "hostIP": "172.18.0.9"}]), id="another address"
        ),
        pytest.param(
            asking(ports=[{"containerPort": 80, "hostPort": 8080, "protocol": "UDP", "hostIP": "172.18.0.2"}]),
            id="another protocol",
        ),
        pytest.param(
            {"containers": [{"name": "web", "image": "nginx:1.27", "resources": {
                "requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}}]},
            id="a resource that the node knows nothing of",
        ),
    ],
)  # fmt: skip
async def test_it_is_admitted(world: World, spec: dict[str, Any]) -> None:
    async with running(world, config=SMALL) as node:
        port = {"containerPort": 80, "hostPort": 8080, "hostIP": "172.18.0.2"}
        await node.run("first", **asking(ports=[port]))
        await node.ready("first")
        await node.run("second", **spec)
        await node.ready("second")


async def test_a_node_takes_no_more_pods_than_it_says(world: World) -> None:
    async with running(world, config=SMALL) as node:
        for name in ("a", "b", "c"):
            await node.run(name, **asking())
        status = await node.in_phase("Failed", "c")

        assert status["reason"] == "OutOfpods"
        assert (await node.ready("b"))["phase"] == "Running"


async def test_what_has_ended_no_longer_counts(world: World) -> None:
    async with running(world, config=SMALL) as node:
        job = [{"name": "c", "image": "busybox:1.36", "command": ["true"], **asking(cpu="2")["containers"][0]}]
        job[0].update(name="c", image="busybox:1.36")
        await node.run("job", containers=job, restartPolicy="Never")
        await node.in_phase("Succeeded", "job")
        await node.run("next", **asking(cpu="2"))

        assert (await node.ready("next"))["phase"] == "Running"


async def test_an_affinity_that_fits_is_admitted(world: World) -> None:
    async with running(world, config=SMALL) as node:
        await node.run(**asking(), **terms("In", NODE, "node-2"))

        assert (await node.ready())["phase"] == "Running"
