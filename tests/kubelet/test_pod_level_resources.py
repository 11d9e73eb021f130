"""Resources of a Pod as a whole: what is told of them, and how they change (KEP-2837, KEP-5419; what a kubelet of 1.36
tells, and kubernetes.io's task on resizing them)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.api.types import PODS, Object
from engine.world import World
from tests.kubelet.node import Node, running


def container(name: str = "app", **resources: Any) -> Object:
    return {"name": name, "image": "nginx:1.27", "resources": resources}


def amounts(cpu: str = "", memory: str = "", **more: str) -> Object:
    return {name: amount for name, amount in (("cpu", cpu), ("memory", memory), *more.items()) if amount}


SMALL, LARGE = amounts("10m", "16Mi"), amounts("100m", "64Mi")
SIDECAR = {**container("proxy", requests=SMALL, limits=LARGE), "restartPolicy": "Always"}
DISK = {"ephemeral-storage": "8Mi"}

TOLD: dict[str, tuple[Object, Object | None, Object]] = {
    "nothing": ({"containers": [container()]}, None, {}),
    "a sidecar counts": (
        {"initContainers": [SIDECAR], "containers": [container(requests=SMALL, limits=LARGE)]},
        amounts("20m", "32Mi"),
        {"limits": amounts("200m", "128Mi"), "requests": amounts("20m", "32Mi")},
    ),
    "no limit where a container has none": (
        {"containers": [container(requests=SMALL, limits=LARGE), container("other", limits={"memory": "64Mi"})]},
        amounts("10m", "80Mi"),
        {"limits": {"memory": "128Mi"}, "requests": amounts("10m", "80Mi")},
    ),
    "storage is in no cgroup": (
        {"containers": [container(requests={**SMALL, **DISK}, limits={**LARGE, **DISK})]},
        {**SMALL, **DISK},
        {"limits": LARGE, "requests": SMALL},
    ),
    "its own": (
        {"containers": [container(requests={"cpu": "10m"}, limits={"cpu": "100m"})],
         "resources": {"requests": amounts("10m", "128Mi"), "limits": {"memory": "128Mi"}}},
        amounts("10m", "128Mi"),
        {"limits": amounts("100m", "128Mi"), "requests": amounts("10m", "128Mi")},
    ),
}  # fmt: skip


async def test_what_a_pod_has_is_told(world: World) -> None:
    async with running(world) as node:
        for number, (name, (spec, allocated, resources)) in enumerate(TOLD.items()):
            await node.run(f"p{number}", **spec)
            status = await node.ready(f"p{number}")
            assert (status.get("allocatedResources"), status["resources"]) == (allocated, resources), name


async def test_before_1_36_it_is_not_told(world: World) -> None:
    async with running(world, kubernetes_version="1.35") as node:
        await node.run(containers=[container(requests=SMALL)])
        assert {"allocatedResources", "resources"}.isdisjoint(await node.ready())


async def test_a_container_without_a_limit_has_its_pods(world: World) -> None:
    async with running(world) as node:
        of_pod = {"requests": amounts("10m", "128Mi"), "limits": {"memory": "128Mi"}}
        await node.run(containers=[container(requests={"cpu": "10m"}, limits={"cpu": "100m"})], resources=of_pod)
        await node.ready()

        told = await node.container()
        assert told["allocatedResources"] == {"cpu": "10m"}
        assert told["resources"] == {"limits": amounts("100m", "128Mi"), "requests": {"cpu": "10m"}}


async def resize(node: Node, spec: Object) -> Object:
    return await node.admin.patch(PODS, "web", {"spec": spec}, namespace="default", subresource="resize")


async def settled(node: Node, cpu: str) -> Object:
    async def reached() -> Object | None:
        status = await node.status()
        resizing = [item for item in status["conditions"] if item["type"].startswith("PodResize")]
        return status if status["resources"]["limits"]["cpu"] == cpu and not resizing else None

    status: Object = await node.eventually(f"the Pod has {cpu}", reached)
    return status


@pytest.mark.parametrize(("policy", "restarts"), [("NotRequired", 0), ("RestartContainer", 1)])
async def test_a_pod_is_resized_and_with_it_who_has_its_limit(world: World, policy: str, restarts: int) -> None:
    own: Object = {"name": "own", "image": "nginx:1.27", "resources": {"requests": LARGE, "limits": LARGE}}
    inherits: Object = {"name": "inherits", "image": "nginx:1.27"}
    for each in (own, inherits):
        each["resizePolicy"] = [{"resourceName": "cpu", "restartPolicy": policy}]
    async with running(world) as node:
        before = amounts("200m", "200Mi")
        await node.run(containers=[own, inherits], resources={"requests": before, "limits": before})
        assert (await node.ready())["resources"]["limits"]["cpu"] == "200m"
        after = {"cpu": "300m"}
        generation = (await resize(node, {"resources": {"requests": after, "limits": after}}))["metadata"]["generation"]
        status = await settled(node, "300m")

        assert status["allocatedResources"] == amounts("300m", "200Mi")
        told = {item["name"]: item for item in status["containerStatuses"]}
        assert {name: item["restartCount"] for name, item in told.items()} == {"own": 0, "inherits": restarts}
        assert told["inherits"]["resources"] == {"limits": amounts("300m", "200Mi")}
        assert told["own"]["resources"]["limits"] == LARGE
        for word in ("started", "completed"):
            text = (await node.said(f"Pod resize {word}")).partition(f"Pod resize {word}: ")[2]
            assert json.loads(text) == {
                "resources": {"limits": amounts("300m", "200Mi"), "requests": amounts("300m", "200Mi")},
                "containers": [
                    {"name": "own", "resources": {"limits": LARGE, "requests": LARGE}},
                    {"name": "inherits", "resources": {}},
                ],
                "generation": generation,
            }
