"""Resources of running containers that change (KEP-1287; upstream's allocation_manager_test.go, pod_resize e2e)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.api.types import PODS, Object
from engine.config import NodeConfig
from engine.world import World
from tests.kubelet.node import NODE, Node, running


def asking(cpu: str, memory: str = "128Mi", **fields: Any) -> list[Object]:
    resources = {"requests": {"cpu": cpu, "memory": memory}, "limits": {"cpu": cpu, "memory": memory}}
    return [{"name": "c", "image": "nginx:1.27", "resources": resources, **fields}]


async def resize(node: Node, cpu: str, name: str = "web") -> Object:
    amounts = {"cpu": cpu}
    containers = [{"name": "c", "resources": {"requests": amounts, "limits": amounts}}]
    return await node.admin.patch(
        PODS, name, {"spec": {"containers": containers}}, namespace="default", subresource="resize"
    )


def conditions(status: Object) -> dict[str, Object]:
    return {item["type"]: item for item in status["conditions"] if item["type"].startswith("PodResize")}


async def cpu_is(node: Node, cpu: str, name: str = "web") -> Object:
    async def reached() -> Object | None:
        found = await node.status(name)
        actual = found["containerStatuses"][0]["resources"]["requests"]["cpu"]
        return found if actual == cpu and not conditions(found) else None

    status: Object = await node.eventually(f"{name} has {cpu}", reached)
    return status


async def pending(node: Node, reason: str, name: str = "web") -> Object:
    async def reached() -> Object | None:
        found = conditions(await node.status(name)).get("PodResizePending")
        return found if found is not None and found.get("reason") == reason else None

    condition: Object = await node.eventually(f"the resize of {name} is {reason}", reached)
    return condition


async def test_a_container_is_resized_as_it_runs(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=asking("500m"))
        before = await node.ready()
        generation = (await resize(node, "1"))["metadata"]["generation"]
        status = await cpu_is(node, "1")

        [container] = status["containerStatuses"]
        assert container["containerID"] == before["containerStatuses"][0]["containerID"]
        assert (container["restartCount"], container["allocatedResources"]["cpu"]) == (0, "1")
        assert status["observedGeneration"] == generation
        for word in ("started", "completed"):
            reason, _, text = (await node.said(f"Pod resize {word}")).partition(": Pod resize " + word + ": ")
            assert reason == f"Resize{word.capitalize()}"
            amounts = {"cpu": "1", "memory": "128Mi"}
            assert json.loads(text) == {
                "containers": [{"name": "c", "resources": {"limits": amounts, "requests": amounts}}],
                "generation": generation,
            }


async def test_until_the_runtime_has_done_it_a_resize_is_in_progress(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=asking("500m"))
        await node.ready()
        await resize(node, "1")
        await node.sleep(0.5)

        found = conditions(await node.status())
        assert found["PodResizeInProgress"]["status"] == "True"
        assert "PodResizePending" not in found


async def test_a_policy_restarts_the_container(world: World) -> None:
    async with running(world) as node:
        policy = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
        await node.run(containers=asking("500m", resizePolicy=policy))
        await node.ready()
        await resize(node, "1")

        container = await node.restarted(1)
        assert container["allocatedResources"]["cpu"] == "1"
        assert await node.said("requires restart") == "Killing: Container c resize requires restart"
        await cpu_is(node, "1")


async def test_a_resize_waits_for_room(world: World) -> None:
    async with running(world, config=NodeConfig(name=NODE, cpu="2")) as node:
        await node.run("other", containers=asking("1"))
        await node.run("web", containers=asking("500m"))
        await node.ready("other")
        await node.ready("web")
        await resize(node, "1500m")

        condition = await pending(node, "Deferred")
        text = "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000"
        assert condition["message"] == text
        assert "ResizeDeferred: Pod resize Deferred: " in await node.said("ResizeDeferred")
        container = await node.container()
        assert (container["allocatedResources"]["cpu"], container["resources"]["requests"]["cpu"]) == ("500m", "500m")

        await node.delete("other")
        await cpu_is(node, "1500m")


async def test_a_resize_that_is_taken_back_leaves_nothing(world: World) -> None:
    async with running(world, config=NodeConfig(name=NODE, cpu="2")) as node:
        await node.run("other", containers=asking("1500m"))
        await node.run("web", containers=asking("500m"))
        await node.ready("web")
        await resize(node, "1")
        await pending(node, "Deferred")
        await resize(node, "500m")
        await cpu_is(node, "500m")


@pytest.mark.parametrize("asked", [pytest.param("500m", id="less"), pytest.param("2", id="all that there is")])
async def test_what_is_set_aside_counts_for_others(world: World, asked: str) -> None:
    async with running(world, config=NodeConfig(name=NODE, cpu="2")) as node:
        await node.run("web", containers=asking("1"))
        await node.ready("web")
        await resize(node, asked)
        await cpu_is(node, asked)
        await node.run("next", containers=asking("1"))

        if asked == "2":
            await node.in_phase("Failed", "next")
            assert (await node.status("next"))["reason"] == "OutOfcpu"
        else:
            await node.ready("next")


async def test_missing_pull_secrets_are_told_of_when_a_pull_fails(world: World) -> None:
    async with running(world) as node:
        secrets = [{"name": "gone"}, {"name": "too"}]
        await node.run(containers=[{"name": "c", "image": "nginx:missing"}], imagePullSecrets=secrets)

        assert await node.said("FailedToRetrieve") == (
            "FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (gone, too); attempting to "
            "pull the image may not succeed."
        )
