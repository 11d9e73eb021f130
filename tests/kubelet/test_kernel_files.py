"""What a container reads below /proc and /sys/fs/cgroup: the tasks on security contexts and shared processes do."""

from __future__ import annotations

from typing import Any

import pytest

from engine.kubelet.runtime.capabilities import bounding
from engine.world import World
from tests.kubelet.containers import started
from tests.kubelet.node import Node, running


async def printed(node: Node, text: str, **fields: Any) -> list[str]:
    """What the container `web` of a Pod prints."""
    spec = fields.pop("spec", {})
    container = {"name": "web", "image": "busybox:1.36", "command": ["sh", "-c", text], **fields}
    await node.run(containers=[container], restartPolicy="Never", **spec)
    await node.in_phase("Succeeded")
    return node.logs("web")


@pytest.mark.parametrize(
    ("asked", "privileged", "found"),
    [
        pytest.param({}, False, 0xA80425FB, id="what containerd gives"),
        pytest.param({"add": ["NET_ADMIN", "SYS_TIME"]}, False, 0xAA0435FB, id="as the task on security contexts adds"),
        pytest.param({"add": ["CAP_NET_BIND_SERVICE"], "drop": ["ALL"]}, False, 0x400, id="all but one dropped"),
        pytest.param({"drop": ["net_raw"]}, False, 0xA80405FB, id="one dropped"),
        pytest.param({"add": ["ALL"]}, False, 0x1FFFFFFFFFF, id="all added"),
        pytest.param({"drop": ["ALL"]}, True, 0x1FFFFFFFFFF, id="a privileged one has all"),
    ],
)
def test_capabilities_of_a_container(asked: Any, privileged: bool, found: int) -> None:
    assert bounding(asked, privileged=privileged) == found


async def test_a_process_tells_what_it_may_do(world: World) -> None:
    context = {"capabilities": {"add": ["NET_ADMIN", "SYS_TIME"]}, "allowPrivilegeEscalation": False}
    rows = "Name|^Pid|^Uid|CapPrm|CapBnd|NoNewPrivs|Seccomp:"
    async with running(world) as node:
        text = f"cd /proc/1; grep -E '{rows}' status; tr '\\0' ' ' < cmdline"
        lines = await printed(node, text, securityContext=context,
                              spec={"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}})  # fmt: skip
    assert lines[:7] == [
        "Name:\tsh", "Pid:\t1", "Uid:\t0\t0\t0\t0", "CapPrm:\t00000000aa0435fb", "CapBnd:\t00000000aa0435fb",
        "NoNewPrivs:\t1", "Seccomp:\t2",
    ]  # fmt: skip
    assert lines[7].startswith("sh -c cd /proc/1;")


async def test_users_of_a_pod_are_the_nodes_or_a_range_of_them(world: World) -> None:
    async with running(world) as node:
        [line] = await printed(node, "cat /proc/self/uid_map")
        assert line.split() == ["0", "0", "4294967295"]
        await node.delete()
        await node.gone()
        lines = await printed(node, "cat /proc/self/uid_map /proc/1/gid_map", spec={"hostUsers": False})
        inside, first, many = map(int, lines[0].split())
        assert (inside, first % 65536, many, lines[1]) == (0, 0, 65536, lines[0])
        assert first >= 65536


async def test_who_is_not_root_holds_nothing(world: World) -> None:
    async with running(world) as node:
        lines = await printed(node, "grep -E 'Uid|Groups|Cap[EB]' /proc/1/status",
                              securityContext={"runAsUser": 1000, "runAsGroup": 3000},
                              spec={"securityContext": {"fsGroup": 2000}})  # fmt: skip
    assert lines == ["Uid:\t1000\t1000\t1000\t1000", "Groups:\t3000 2000 ", "CapEff:\t0000000000000000",
                     "CapBnd:\t00000000a80425fb"]  # fmt: skip


@pytest.mark.parametrize(
    ("limits", "memory", "cpu"),
    [
        pytest.param({"memory": "64Mi", "cpu": "250m"}, "67108864", "25000 100000", id="limits"),
        pytest.param({}, "max", "max 100000", id="none"),
        pytest.param({"cpu": "1m"}, "max", "1000 100000", id="the least quota"),
    ],
)
async def test_limits_stand_in_the_control_group(world: World, limits: Any, memory: str, cpu: str) -> None:
    async with running(world) as node:
        lines = await printed(node, "cd /sys/fs/cgroup; cat memory.max cpu.max", resources={"limits": limits})
    assert lines == [memory, cpu]


async def test_files_of_another_container_are_seen_through_its_process(world: World) -> None:
    """The task on sharing the process namespace looks at nginx's configuration so."""
    async with running(world) as node:
        web = {"name": "web", "image": "nginx"}
        shell = {"name": "shell", "image": "busybox:1.28", "command": ["sleep", "3600"]}
        await node.run(containers=[web, shell], shareProcessNamespace=True)
        await node.ready()
        container = (await node.container(number=0))["containerID"].rpartition("/")[2]
        pid = await node.kubelet.runtime.exec_sync(container, ["sh", "-c", "ps | awk '/nginx/ {print $1; exit}'"])
        inside = f"/proc/{pid.stdout.strip()}/root/etc/nginx"
        listed = await node.kubelet.runtime.exec_sync(container, ["ls", inside])
        shown = await node.kubelet.runtime.exec_sync(container, ["head", "-n", "2", f"{inside}/nginx.conf"])
    assert listed.stdout == "conf.d\nmime.types\nnginx.conf\n"
    assert shown.stdout == "\nuser  nginx;\n"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        pytest.param("ls /proc", "1\n7\nloadavg\nmeminfo\nmounts\nself\nsys\nuptime\nversion\n", id="ls"),
        pytest.param("ls /proc/1", "cgroup\ncmdline\ncomm\nenviron\ngid_map\nmounts\nstatus\nuid_map\n",
                     id="ls, a process"),
        pytest.param("cat /proc/self/cgroup /proc/1/comm", "0::/\nsleep\n", id="of itself"),
        pytest.param("tr '\\0' '\\n' < /proc/1/environ | grep HOSTNAME", "HOSTNAME=pod\n", id="variables"),
        pytest.param("head -n 1 /proc/mounts", "overlay / overlay rw,relatime 0 0\n", id="mounts"),
        pytest.param("grep MemTotal /proc/meminfo", "MemTotal:        8388608 kB\n", id="meminfo"),
        pytest.param("cat /proc/99/status", "cat: can't open '/proc/99/status': No such file or directory\n",
                     id="no such process"),
        pytest.param("echo x > /sys/fs/cgroup/memory.max", "sh: can't create /sys/fs/cgroup/memory.max: Read-only file "
                     "system\n", id="limits are not written"),
        pytest.param("rm /proc/1/status", "rm: can't remove '/proc/1/status': Operation not permitted\n", id="rm"),
    ],
)  # fmt: skip
async def test_what_the_kernel_shows(world: World, script: str, said: str) -> None:
    runtime, container = await started(world, "busybox:1.36", "sleep", "3600")

    ran = await runtime.exec_sync(container, ["sh", "-c", script])

    assert ran.stdout + ran.stderr == said
