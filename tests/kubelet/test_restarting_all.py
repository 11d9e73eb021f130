"""Pods that begin again as one of their containers ends in a certain way (KEP-5532; upstream's e2e
container_restart_policy.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.world import World
from tests.kubelet.node import Node, condition, running

RULES = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [88]}}]
MESSAGE = "The container is removed because RestartAllContainers in place"
REMOVED = {"reason": "RestartingAllContainers", "message": MESSAGE, "startedAt": None, "finishedAt": None}


def container(name: str, script: str, **fields: Any) -> Object:
    return {"name": name, "image": "busybox:1.36", "command": ["sh", "-c", script], **fields}


def once(code: int, restart: str) -> Object:
    """What ends with this code after 30 s, the first time."""
    script = f"test -e /data/done && sleep 1h; touch /data/done; sleep 30; exit {code}"
    mounts = [{"name": "data", "mountPath": "/data"}]
    return container("source", script, restartPolicy=restart, restartPolicyRules=RULES, volumeMounts=mounts)


def told(status: Object) -> dict[str, Object]:
    return {
        item["name"]: item
        for field in ("initContainerStatuses", "containerStatuses")
        for item in status.get(field) or ()
    }


async def begun_again(node: Node) -> Object:
    async def reached() -> Object | None:
        status = await node.status()
        everything = all(item["restartCount"] == 1 for item in told(status).values())
        return status if everything and condition(status, "Ready") == "True" else None

    status: Object = await node.eventually("all have begun again", reached)
    return status


@pytest.mark.parametrize(
    ("init", "regular"),
    [
        pytest.param(
            [container("setup", "true"), once(88, "Always")], [container("main", "sleep 1h")], id="by a sidecar"
        ),
        pytest.param(
            [container("setup", "true"), container("side", "sleep 1h", restartPolicy="Always")],
            [once(88, "Never"), container("main", "sleep 1h"), container("done", "true")],
            id="by a regular container",
        ),
    ],
)
async def test_all_begin_again_in_their_sandbox(world: World, init: list[Object], regular: list[Object]) -> None:
    async with running(world) as node:
        data = [{"name": "data", "emptyDir": {}}]
        await node.run(initContainers=init, containers=regular, volumes=data, restartPolicy="Never")
        before = await node.in_phase("Running")
        assert condition(before, "AllContainersRestarting") == "False"
        assert before["conditions"][-1]["type"] == "AllContainersRestarting"

        async def all_are_back() -> Object | None:
            status = await node.status()
            found = told(status).values()
            back = all(item["restartCount"] == 1 and "waiting" not in item["state"] for item in found)
            return status if back else None

        status: Object = await node.eventually("all have begun again", all_are_back)
        assert status["podIP"] == before["podIP"]
        assert len(node.view("cri")["sandboxes"]) == 1
        for item in told(status).values():
            assert item["lastState"] == {"terminated": {"exitCode": 137, **REMOVED}}, item["name"]
        assert (status["phase"], condition(status, "Initialized")) == ("Running", "True")
        assert condition(status, "AllContainersRestarting") == "False"
        await node.sleep(600)
        assert {name: item["restartCount"] for name, item in told(await node.status()).items()} == dict.fromkeys(
            told(status), 1
        )


async def test_on_the_way_the_pod_is_pending_and_its_condition_true(world: World) -> None:
    async with running(world) as node:
        waits = container("wait", "test -e /data/again && sleep 30; touch /data/again")
        waits["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
        main = container("main", "sleep 1h", lifecycle={"preStop": {"exec": {"command": ["sleep", "20"]}}})
        await node.run(
            initContainers=[waits],
            containers=[once(88, "Never"), main],
            volumes=[{"name": "data", "emptyDir": {}}],
            restartPolicy="Never",
        )
        await node.in_phase("Running")
        seen: list[Object] = []

        async def pending() -> Object | None:
            seen.append(await node.status())
            return seen[-1] if seen[-1]["phase"] == "Pending" else None

        began = node.now
        status: Object = await node.eventually("it begins again", pending, every=0.02)
        assert node.now - began < 40, "no hook is run, and no grace is given"
        assert "waiting" in told(status)["main"]["state"]
        assert told(status)["main"]["lastState"] == {"terminated": {"exitCode": 137, **REMOVED}}
        assert condition(status, "Initialized") == "True"
        assert "Killing: killing" in await node.events()
        await begun_again(node)


async def test_another_code_starts_nothing_again(world: World) -> None:
    async with running(world) as node:
        data = [{"name": "data", "emptyDir": {}}]
        await node.run(
            containers=[once(3, "Never"), container("main", "sleep 60")], volumes=data, restartPolicy="Never"
        )
        status = await node.in_phase("Failed")

        assert [item["restartCount"] for item in told(status).values()] == [0, 0]
        restarting = next(item for item in status["conditions"] if item["type"] == "AllContainersRestarting")
        assert (restarting["status"], restarting["reason"]) == ("False", "PodFailed")


async def test_a_pod_without_such_a_rule_has_no_such_condition(world: World) -> None:
    async with running(world) as node:
        await node.run()
        assert condition(await node.ready(), "AllContainersRestarting") == ""
