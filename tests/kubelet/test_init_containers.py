"""Init containers and sidecars."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.world import World
from tests.kubelet.node import condition, running


def shell(name: str, script: str, **fields: Any) -> Object:
    return {"name": name, "image": "busybox:1.36", "command": ["sh", "-c", script], **fields}


WEB: Object = {"name": "web", "image": "nginx:1.27"}
SIDECAR: Object = {"name": "proxy", "image": "nginx:1.27", "restartPolicy": "Always"}


async def test_init_containers_run_one_after_another_before_the_others(world: World) -> None:
    async with running(world) as node:
        began = node.now
        init = [shell("one", "echo one; sleep 3"), shell("two", "echo two; sleep 4")]
        await node.run(initContainers=init, containers=[WEB])
        await node.sleep(1)
        status = await node.status()
        assert status["phase"] == "Pending"
        assert status["initContainerStatuses"][0]["state"]["running"]
        assert status["initContainerStatuses"][1]["state"] == {"waiting": {"reason": "PodInitializing"}}
        assert status["containerStatuses"][0]["state"] == {"waiting": {"reason": "PodInitializing"}}
        initialized = next(item for item in status["conditions"] if item["type"] == "Initialized")
        assert initialized["message"] == "containers with incomplete status: [one two]"
        status = await node.ready()

        assert node.now - began == pytest.approx(7, abs=0.11)
        assert [item["ready"] for item in status["initContainerStatuses"]] == [True, True]
        assert status["initContainerStatuses"][0]["state"]["terminated"]["reason"] == "Completed"
        assert node.logs("web", container="two") == ["two"]


async def test_containers_share_the_files_of_a_volume(world: World) -> None:
    async with running(world) as node:
        work = {"name": "work", "mountPath": "/made"}
        init = shell("init", "echo made > /made/page; mkdir /made/sub; echo deep > /made/sub/page", volumeMounts=[work])
        site = {"name": "work", "mountPath": "/site", "subPath": "sub"}
        reader = shell("app", "cat /site/page /made/page; ls /made; sleep 99", volumeMounts=[work, site])
        await node.run(initContainers=[init], containers=[reader], volumes=[{"name": "work", "emptyDir": {}}])
        await node.ready()

        assert node.logs("web", container="app") == ["deep", "made", "page", "sub"]


async def test_a_failing_init_container_is_tried_again_with_back_off(world: World) -> None:
    async with running(world) as node:
        await node.run(initContainers=[shell("init", "exit 1")], containers=[WEB])
        state = await node.waiting("CrashLoopBackOff", field="initContainerStatuses")

        assert state["message"].startswith("back-off 10s restarting failed container=init pod=web_default(")
        assert (await node.status())["phase"] == "Pending"


async def test_with_restart_policy_never_it_fails_the_pod(world: World) -> None:
    async with running(world) as node:
        await node.run(initContainers=[shell("init", "exit 1")], containers=[WEB], restartPolicy="Never")
        await node.in_phase("Failed")

        assert (await node.container())["state"] == {"waiting": {"reason": "PodInitializing"}}
        assert node.view("workers")[0]["state"] == "finished"


async def test_a_sidecar_runs_beside_the_containers_and_ends_after_them(world: World) -> None:
    async with running(world) as node:
        await node.run(initContainers=[SIDECAR], containers=[shell("job", "sleep 5")], restartPolicy="Never")
        await node.sleep(2)
        status = await node.status()
        assert status["phase"] == "Running"
        assert status["initContainerStatuses"][0]["started"] is True
        assert condition(status, "Initialized") == "True"
        status = await node.in_phase("Succeeded")
        await node.sleep(1)

        assert "terminated" in (await node.container(field="initContainerStatuses"))["state"]


async def test_what_follows_a_sidecar_waits_for_its_startup_probe(world: World) -> None:
    async with running(world) as node:
        probe = {"exec": {"command": ["cat", "/tmp/up"]}, "periodSeconds": 1, "failureThreshold": 30}
        slow = shell("slow", "sleep 5; touch /tmp/up; sleep 999", restartPolicy="Always", startupProbe=probe)
        began = node.now
        await node.run(initContainers=[slow], containers=[WEB])
        await node.ready()

        assert node.now - began == pytest.approx(5, abs=1.11)


async def test_a_sidecar_that_ends_is_restarted_alone(world: World) -> None:
    async with running(world) as node:
        await node.run(initContainers=[shell("side", "sleep 4; exit 1", restartPolicy="Always")], containers=[WEB])
        await node.sleep(6)

        status = await node.status()
        assert status["initContainerStatuses"][0]["restartCount"] == 1
        assert status["containerStatuses"][0]["restartCount"] == 0
        assert status["phase"] == "Running"


async def test_sidecars_are_stopped_last(world: World) -> None:
    async with running(world) as node:
        trap = "trap 'sleep 3; exit 0' TERM; while true; do sleep 1; done"
        await node.run(initContainers=[SIDECAR], containers=[shell("app", trap)])
        await node.ready()
        await node.delete()
        await node.gone()

        killing = [event for event in await node.events() if event.startswith("Killing")]
        assert killing == ["Killing: Stopping container app", "Killing: Stopping container proxy"]
