"""Which Pods an event moves out of the unschedulable pool, with the API server and every default plugin (the rows of
upstream's test/integration/scheduler/queueing): those that it may help are tried again, the others are not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.api.types import GVR, NODES, PODS, Object
from engine.api.wire import JSON_PATCH
from engine.world import World
from tests.scheduler.objects import affinity, container, near, node, pod, spread, taint
from tests.scheduler.stage import Stage, open_stage

Act = Callable[[Stage], Awaitable[Any]]


def add_node(name: str, **fields: Any) -> Act:
    return lambda stage: stage.add_node(name, **fields)


def add_pod(name: str, **fields: Any) -> Act:
    return lambda stage: stage.add_pod(name, **fields)


def change(resource: GVR, name: str, path: str, value: Any, subresource: str | None = None) -> Act:
    """Set a field, or with None take it away."""
    patch = [{"op": "remove", "path": path} if value is None else {"op": "add", "path": path, "value": value}]
    namespace = "default" if resource is PODS else None
    return lambda stage: stage.admin.patch(
        resource, name, patch, namespace=namespace, content_type=JSON_PATCH, subresource=subresource
    )


def delete_pod(name: str) -> Act:
    return lambda stage: stage.admin.delete(PODS, name, namespace="default", grace_period_seconds=0)


def delete_node(name: str) -> Act:
    return lambda stage: stage.admin.delete(NODES, name)


def resized(name: str, **requests: str) -> Act:
    return change(PODS, name, "/spec/containers/0/resources/requests", requests, "resize")


def allocatable(name: str, **amounts: str) -> Act:
    full = {"cpu": "4", "memory": "8Gi", "pods": "110", **amounts}
    return change(NODES, name, "/status/allocatable", full, "status")


def port(host_port: int) -> list[Object]:
    return [container(ports=[{"containerPort": 8080, "hostPort": host_port}])]


def selects(**labels: str) -> Object:
    return {"nodeSelector": labels}


def far_from(label: str, key: str) -> Object:
    return {"affinity": affinity(far=[near(key, {label: "x"})])}


def close_to(label: str, key: str) -> Object:
    return {"affinity": affinity(near=[near(key, {label: "x"})])}


def spreads(label: str, key: str, domains: int = 3, **fields: Any) -> Object:
    constraint = spread(key, {label: "x"}, minDomains=domains, **fields)
    return {"labels": {label: "x"}, "topologySpreadConstraints": [constraint]}


A, B = {"a": "x"}, {"b": "x"}
TOLERATES: Object = {"tolerations": [{"key": "k", "operator": "Exists"}]}

# Nodes, Pods on them, Pods that find no node, what happens then, and which of the last are tried again.
ROWS = [
    pytest.param(
        [node("n", labels={"g": "a"})], [], [pod("p", **selects(g="b")), pod("q", **selects(g="c"))],
        change(NODES, "n", "/metadata/labels/g", "b"), {"p"}, id="a node's label",
    ),
    pytest.param(
        [node("n", labels={"g": "a"})], [], [pod("p", **selects(g="b")), pod("q", **selects(g="c"))],
        add_node("m", labels={"g": "b"}), {"p"}, id="a node with the label",
    ),
    pytest.param(
        [node("n", cpu="2", labels={"g": "a"}), node("m", labels={"g": "b"})], [],
        [pod("p", cpu="4", **selects(g="a"))],
        change(NODES, "n", "/metadata/labels/other", "x"), set(), id="a label nobody asks for",
    ),
    pytest.param(
        [node("n", taints=[taint("k")])], [], [pod("p"), pod("q")],
        change(PODS, "p", "/spec/tolerations/-", TOLERATES["tolerations"][0]), {"p"}, id="its own toleration",
    ),
    pytest.param(
        [node("n", taints=[taint("k")])], [], [pod("p")],
        change(PODS, "p", "/metadata/labels", {"a": "b"}), set(), id="its own label, at a taint",
    ),
    pytest.param(
        [node("n", taints=[taint("l")])], [], [pod("p", **TOLERATES), pod("q")],
        change(NODES, "n", "/spec/taints", [taint("k")]), {"p"}, id="a node's taint",
    ),
    pytest.param(
        [node("n", taints=[taint("l")])], [], [pod("p"), pod("q", **selects(g="a"))],
        change(NODES, "n", "/spec/taints", None), {"p", "q"}, id="a taint goes, the first that was in the way",
    ),
    pytest.param(
        [node("n", cpu="2")], [], [pod("p", cpu="4"), pod("q", cpu="5")],
        resized("p", cpu="2"), {"p"}, id="it asks for less",
    ),
    pytest.param(
        [node("n", cpu="2")], [pod("x", cpu="2", node_name="n")], [pod("p", cpu="2")],
        delete_pod("x"), {"p"}, id="a Pod goes",
    ),
    pytest.param(
        [node("n", cpu="2")], [], [pod("p", cpu="4"), pod("q", cpu="5")],
        allocatable("n", cpu="4"), {"p"}, id="a node grows",
    ),
    pytest.param(
        [node("n"), node("m", cpu="2", labels={"g": "b"})], [], [pod("p", cpu="4", **selects(g="b"))],
        allocatable("n", memory="16Gi"), set(), id="a node grows by what nobody asks for",
    ),
    pytest.param(
        [node("n", cpu="2")], [], [pod("p", cpu="3")],
        add_node("l", cpu="2"), set(), id="a node as small as the others",
    ),
    pytest.param(
        [node("n")], [pod("x", labels={**A, **B}, node_name="n")],
        [pod("p", **far_from("a", "kubernetes.io/hostname")), pod("q", **far_from("b", "kubernetes.io/hostname"))],
        change(PODS, "x", "/metadata/labels/a", None), {"p"}, id="a Pod's label in the way",
    ),
    pytest.param(
        [node("n")],
        [pod("x", node_name="n", **far_from("a", "kubernetes.io/hostname")),
         pod("y", node_name="n", **far_from("b", "kubernetes.io/hostname"))],
        [pod("p", labels=A), pod("q", labels=B)],
        delete_pod("x"), {"p"}, id="a Pod goes that kept others off",
    ),
    pytest.param(
        [node("n")], [pod("x", node_name="n")],
        [pod("p", **close_to("a", "kubernetes.io/hostname")), pod("q", **close_to("b", "kubernetes.io/hostname"))],
        change(PODS, "x", "/metadata/labels", A), {"p"}, id="a Pod's label that is wanted",
    ),
    pytest.param(
        [node("n")], [], [pod("p", **close_to("a", "zone")), pod("q", **close_to("a", "region"))],
        add_node("m", labels={"zone": "z"}), {"p"}, id="a node of a domain",
    ),
    pytest.param(
        [node("n", labels={"zone": "z", "service": "s", "other": "o"})], [pod("x", labels=A, node_name="n")],
        [pod("p", **far_from("a", "zone")), pod("q", **far_from("a", "service")), pod("r", **far_from("a", "other"))],
        change(NODES, "n", "/metadata/labels", {"service": "t", "other": "o"}), {"p", "q"}, id="a node leaves domains",
    ),
    pytest.param(
        [node("n")],
        [pod("x", containers=port(8080), node_name="n"), pod("y", containers=port(8081), node_name="n")],
        [pod("p", containers=port(8080)), pod("q", containers=port(8081))],
        delete_pod("x"), {"p"}, id="a port is free",
    ),
    pytest.param(
        [node("n", unschedulable=True)], [], [pod("p")],
        change(NODES, "n", "/spec/unschedulable", None), {"p"}, id="a node is uncordoned",
    ),
    pytest.param(
        [node("n", unschedulable=True)], [], [pod("p")],
        add_node("m", unschedulable=True), set(), id="another cordoned node",
    ),
    pytest.param(
        [node("n")], [pod("x", labels=A, node_name="n"), pod("y", labels=B, node_name="n")],
        [pod("p", **spreads("a", "kubernetes.io/hostname")), pod("q", **spreads("b", "kubernetes.io/hostname"))],
        add_pod("z", labels=A, node_name="n"), {"p"}, id="spread: a match comes",
    ),
    pytest.param(
        [node("n")], [pod("x", labels=A, node_name="n"), pod("y", labels=B, node_name="n")],
        [pod("p", **spreads("a", "kubernetes.io/hostname")), pod("q", **spreads("b", "kubernetes.io/hostname"))],
        change(PODS, "x", "/metadata/labels", {"c": "x"}), {"p"}, id="spread: a match no more",
    ),
    pytest.param(
        [node("n", labels={"rack": "r", "region": "g", "service": "s"}),
         node("m", labels={"rack": "r", "region": "g", "service": "s"})],
        [pod("x", labels=A, node_name="n"), pod("y", labels=A, node_name="m")],
        [pod(key, **spreads("a", key)) for key in ("rack", "zone", "region", "other", "service")],
        change(NODES, "m", "/metadata/labels", {"zone": "z", "region": "g", "service": "t"}),
        {"rack", "zone", "service"}, id="spread: a node's domains",
    ),
    pytest.param(
        [node("n", labels={"rack": "r"}), node("m", labels={"zone": "z"})],
        [pod("x", labels=A, node_name="n"), pod("y", labels=A, node_name="m")],
        [pod("p", **spreads("a", "rack")), pod("q", **spreads("a", "zone"))],
        delete_node("m"), {"q"}, id="spread: a domain goes",
    ),
    pytest.param(
        [node("n", labels={"rack": "r"}), node("m", labels={"zone": "z"}),
         node("l", labels={"zone": "z"}, taints=[taint("l")])],
        [pod("x", labels=A, node_name="n"), pod("y", labels=A, node_name="m")],
        [pod("p", **spreads("a", "rack")), pod("q", **spreads("a", "zone"), **TOLERATES)],
        change(NODES, "l", "/spec/taints", [taint("k")]), {"q"}, id="spread: a taint",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "there", "waiting", "act", "again"), ROWS)
async def test_who_is_tried_again(
    world: World, nodes: list[Object], there: list[Object], waiting: list[Object], act: Act, again: set[str]
) -> None:
    async with open_stage(world) as stage:
        for made in nodes:
            await stage.admin.create(NODES, made)
            patch = [{"op": "add", "path": "/spec/taints", "value": made["spec"].get("taints") or []}]
            await stage.admin.patch(NODES, made["metadata"]["name"], patch, content_type=JSON_PATCH)
        for made in [*there, *waiting]:
            await stage.admin.create(PODS, made, namespace="default")
        names = [made["metadata"]["name"] for made in waiting]
        for name in names:
            assert (await stage.condition(name))["reason"] == "Unschedulable"
        await world.clock.sleep(20)
        before = {name: attempts(stage, name) for name in names}
        await act(stage)
        await world.clock.sleep(30)
        assert {name for name in names if attempts(stage, name) > before[name]} == again


def attempts(stage: Stage, name: str) -> int:
    decisions = stage.world.views.look("scheduler/decision", {"pod": f"default/{name}"})["decisions"]
    return int(decisions[0]["attempt"]) if decisions else 0
