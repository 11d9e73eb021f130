"""The processes of a container, of a Pod that shares them, and of one that is debugged; and signals among them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import PODS, Object
from engine.world import World
from tests.kubelet.node import NODE, Node, running
from tests.kubelet.shells import sh

IMAGE = "busybox:1.36"
TRAPS = "trap 'echo bye; exit 3' TERM; while true; do sleep 1; done"


def script(text: str, name: str = "web", **fields: Any) -> Object:
    return {"name": name, "image": IMAGE, "command": ["sh", "-c", text], **fields}


async def inside(node: Node, *command: str) -> tuple[int, str]:
    """The exit code of a command in the container web, and what it printed."""
    status = (await node.container())["containerID"].rpartition("/")[2]
    ran = await node.kubelet.runtime.exec_sync(status, list(command))
    return ran.exit_code, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("name", "exit_code"),
    [
        pytest.param("-TERM", 3, id="by name"),
        pytest.param("-15", 3, id="by number"),
        pytest.param("-s TERM", 3, id="with -s"),
        pytest.param("", 3, id="TERM of itself"),
    ],
)
async def test_process_1_may_be_ended_from_inside(name: str, exit_code: int, world: World) -> None:
    async with running(world) as node:
        await node.run(containers=[script(TRAPS)])
        await node.ready()
        assert await inside(node, "sh", "-c", f"kill {name} 1") == (0, "")
        ended = (await node.restarted(1))["lastState"]["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (exit_code, "Error")


async def test_process_1_is_not_killed_from_inside_and_ignores_what_it_does_not_handle(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=[script("sleep 1000")])
        await node.ready()
        assert await inside(node, "kill", "-9", "1") == (0, "")
        assert await inside(node, "kill", "1") == (0, "")
        assert await inside(node, "kill", "77") == (1, "kill: can't kill pid 77: No such process\n")
        await node.sleep(30)
        assert (await node.container())["restartCount"] == 0


async def test_nginx_is_stopped_by_its_own_command(world: World) -> None:
    async with running(world) as node:
        await node.run()
        await node.ready()
        code, said = await inside(node, "nginx", "-s", "stop")
        assert (code, said.endswith("signal process started\n")) == (0, True)
        assert (await node.restarted(1))["lastState"]["terminated"]["exitCode"] == 0


async def test_containers_of_a_pod_may_share_their_processes(world: World) -> None:
    async with running(world) as node:
        await node.run(shareProcessNamespace=True, containers=[script("sleep 1000"), script("sleep 2000", "other")])
        await node.ready()
        _, said = await inside(node, "ps")
        assert [line.split(None, 3)[3] for line in said.splitlines()] == [
            "COMMAND", "/pause", "sh -c sleep 1000", "sh -c sleep 2000", "ps",
        ]  # fmt: skip
        [other] = [line.split()[0] for line in said.splitlines() if "2000" in line]
        assert await inside(node, "kill", "-9", other) == (0, "")

        async def ended() -> Object | None:
            found = (await node.status())["containerStatuses"]
            return next((each for each in found if each["name"] == "other" and each["restartCount"]), None)

        status = await node.eventually("the other has restarted", ended)
        assert status["lastState"]["terminated"]["exitCode"] == 137


async def test_who_debugs_a_container_sees_its_processes(world: World) -> None:
    async with running(world) as node:
        await node.run()
        await node.ready()
        debugger = {**script("ps; sleep 1000", "debugger"), "targetContainerName": "web"}
        body = {"spec": {"ephemeralContainers": [debugger]}}
        await node.admin.patch(PODS, "web", body, namespace="default", subresource="ephemeralcontainers")

        async def printed() -> list[str]:
            found = (await node.status()).get("ephemeralContainerStatuses") or [{"state": {}}]
            return node.logs("web", container="debugger") if "running" in found[0]["state"] else []

        lines = await node.eventually("it has printed", printed)
        assert any(line.endswith("nginx -g daemon off;") for line in lines)
        assert (await node.pod())["spec"]["nodeName"] == NODE


def test_a_job_of_the_shell_is_ended_by_its_id() -> None:
    ran = sh("sleep 100 & kill $!; wait $!; echo $?; kill 12345")
    assert (ran.out, ran.err) == ("143\n", "sh: can't kill pid 12345: No such process\n")
