"""Pods that are deleted, overdue or gone."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import PODS, Object
from engine.world import World
from tests.kubelet.node import running


def shell(script: str, **fields: Any) -> list[Object]:
    return [{"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", script], **fields}]


@pytest.mark.parametrize(
    ("container", "options", "seconds"),
    [
        pytest.param({"image": "nginx:1.27"}, {}, 0, id="a server goes at once"),
        pytest.param({"image": "busybox:1.36", "command": ["sleep", "999"]}, {}, 30, id="process 1 is killed"),
        pytest.param(
            {"image": "busybox:1.36", "command": ["sleep", "999"]}, {"grace_period_seconds": 5}, 5, id="a shorter grace"
        ),
        pytest.param(
            {"image": "nginx:1.27", "lifecycle": {"preStop": {"exec": {"command": ["sleep", "8"]}}}}, {}, 8,
            id="preStop comes first",
        ),
        pytest.param(
            {"image": "nginx:1.27", "lifecycle": {"preStop": {"sleep": {"seconds": 6}}}}, {}, 6, id="preStop sleep"
        ),
        pytest.param(
            {"image": "nginx:1.27", "lifecycle": {"preStop": {"exec": {"command": ["sleep", "99"]}}}}, {}, 30,
            id="preStop has no more than the grace period",
        ),
    ],
)  # fmt: skip
async def test_a_deleted_pod_ends_within_its_grace_period(
    world: World, container: Object, options: Any, seconds: float
) -> None:
    async with running(world) as node:
        await node.run(containers=[{"name": "c", **container}])
        await node.ready()
        began = node.now
        await node.delete(**options)
        await node.gone()

        assert node.now - began == pytest.approx(seconds, abs=0.11)
        assert "Killing: Stopping container c" in await node.events()


async def test_while_it_terminates_it_runs_on_and_its_last_status_tells_how_it_ended(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=shell("trap 'sleep 4; exit 5' TERM; while true; do sleep 1; done"))
        await node.ready()
        seen: list[Object] = []
        stream = await node.admin.watch(PODS, namespace="default")
        await node.delete()
        await node.sleep(2)
        assert (await node.status())["phase"] == "Running"
        await node.gone()
        async with stream as events:
            async for event in events:
                seen.append(event.object)
                if event.type == "DELETED":
                    break

        last = seen[-1]["status"]
        assert last["phase"] == "Failed"
        assert last["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 5


async def test_a_second_delete_can_shorten_the_grace_period(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=shell("sleep 999"), terminationGracePeriodSeconds=300)
        await node.ready()
        began = node.now
        await node.delete()
        await node.sleep(3)
        await node.delete(grace_period_seconds=4)
        await node.gone()

        assert node.now - began == pytest.approx(7, abs=0.2)


async def test_a_pod_that_is_deleted_while_its_image_is_pulled_goes_at_once(world: World) -> None:
    slow = World.create(clock=world.clock, seed=1, latencies={"image-pull": (60_000, 60_000)})
    async with running(slow) as node:
        await node.run()
        await node.sleep(2)
        began = node.now
        await node.delete()
        await node.gone()

        assert node.now - began < 1
        assert node.view("images")["pulling"] == []


async def test_forced_deletion_leaves_nothing_on_the_node(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=shell("sleep 999"))
        await node.ready()
        await node.delete(grace_period_seconds=0)
        assert await node.find(PODS, "web") is None
        await node.sleep(60)

        left = node.view("cri")
        assert (left["sandboxes"], left["containers"], left["ips"]) == ([], [], {})
        assert node.view("workers") == []


async def test_housekeeping_removes_what_a_deleted_pod_left(world: World) -> None:
    async with running(world) as node:
        await node.run()
        await node.ready()
        await node.delete()
        await node.gone()
        await node.sleep(3)

        assert node.view("cri")["containers"] == []
        assert node.view("workers") == []
        assert node.view("syncloop")["inputs"]["housekeeping"] == 1


async def test_a_name_can_be_used_again_while_the_old_pod_still_ends(world: World) -> None:
    async with running(world) as node:
        first = await node.run(containers=shell("sleep 999"))
        await node.ready()
        await node.delete(grace_period_seconds=0)
        second = await node.run()
        status = await node.ready()

        assert first["metadata"]["uid"] != second["metadata"]["uid"]
        assert status["containerStatuses"][0]["name"] == "web"
        await node.sleep(60)
        assert (await node.status())["phase"] == "Running"


async def test_a_pod_has_no_more_than_its_active_deadline(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=shell("trap 'exit 0' TERM; while true; do sleep 1; done"), activeDeadlineSeconds=20)
        began = node.now
        status = await node.in_phase("Failed")

        assert node.now - began == pytest.approx(20, abs=0.11)
        assert status["reason"] == "DeadlineExceeded"
        assert status["message"] == "Pod was active on the node longer than the specified deadline"
        await node.sleep(5)
        assert "terminated" in (await node.container())["state"]
        assert (await node.status())["phase"] == "Failed"
        await node.delete()
        await node.gone()


async def test_a_completed_pod_can_be_deleted(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=shell("exit 0"), restartPolicy="Never")
        await node.in_phase("Succeeded")
        await node.sleep(10)
        began = node.now
        await node.delete()
        await node.gone()

        assert node.now - began < 0.2
