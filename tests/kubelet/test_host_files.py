"""The node's own file system: what a Pod sees of it that mounts it, and who makes it its root."""

from __future__ import annotations

import pytest

from engine.api.types import Object
from engine.world import World
from tests.kubelet.node import NODE, running
from tests.kubelet.shells import sh
from tests.kubelet.test_streams import start

ROOT = {"name": "host", "hostPath": {"path": "/"}}
SRV = {"name": "srv", "hostPath": {"path": "/srv/"}}
FILE = {"name": "file", "hostPath": {"path": "/etc/hostname", "type": "File"}}


async def test_a_debugger_looks_at_its_node(world: World) -> None:
    places = {"host": "/host", "srv": "/data", "file": "/name"}
    mounts = [{"name": name, "mountPath": path} for name, path in places.items()]
    container = {"name": "debugger", "image": "busybox:1.36", "command": ["sleep", "3600"], "volumeMounts": mounts}
    async with running(world) as node:
        await node.run(containers=[container], volumes=[ROOT, SRV, FILE], hostNetwork=True)
        await node.ready()
        info = (await node.status())["hostIP"]
        id = (await node.container())["containerID"].rpartition("/")[2]

        async def said(script: str) -> tuple[int, str]:
            ran = await node.kubelet.runtime.exec_sync(id, ["sh", "-c", script])
            return ran.exit_code, ran.stdout + ran.stderr

        assert await said("grep PRETTY /host/etc/os-release; cat /host/etc/hostname; ls -d /host/var/log/pods") == (
            0, f'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n{NODE}\n/host/var/log/pods\n'
        )  # fmt: skip
        assert await said("cat /name; ls -d /host/srv*") == (0, f"{NODE}\n/host/srv\n")
        assert await said(f"grep -c '{info}.*{NODE}' /host/etc/hosts") == (0, "1\n")
        assert await said("echo kept > /data/x; cat /host/srv/x; chroot /host cat /srv/x") == (0, "kept\nkept\n")
        assert await said("cd /host; chroot . sh -c 'pwd; ls /var; grep ^ID= /etc/os-release; echo a > /tmp/x'") == (
            0, "/\ncache\nlib\nlog\ntmp\nID=debian\n"
        )  # fmt: skip
        assert await said("cat /host/tmp/x; ls /tmp") == (0, "a\n")
        assert await said("chroot /host/etc ls") == (127, "chroot: can't execute 'ls': No such file or directory\n")


async def test_who_types_chroot_goes_on_in_the_node(world: World) -> None:
    mounts = [{"name": "host", "mountPath": "/host"}]
    container = {"name": "web", "image": "busybox:1.36", "command": ["sleep", "3600"], "volumeMounts": mounts}
    async with running(world) as node:
        await node.run(containers=[container], volumes=[ROOT], hostNetwork=True)
        await node.ready()
        session, screen = await start(node, "sh", stdin=True, tty=True)
        for typed in ("chroot /host", "cat /etc/hostname", "crictl ps", "exit", "ls /host/etc/os-release"):
            session.write(f"{typed}\r".encode())
        session.write(b"\x04")
        await session.wait()
        assert screen.out == (
            "/ # chroot /host\r\n"
            f"# cat /etc/hostname\r\n{NODE}\r\n"
            "# crictl ps\r\ncrictl: not found (ktui does not simulate what this program does)\r\n"
            "# exit\r\n"
            "/ # ls /host/etc/os-release\r\n/host/etc/os-release\r\n/ # "
        )


@pytest.mark.parametrize(
    ("script", "busybox", "code", "said"),
    [
        pytest.param("chroot / echo a", True, 0, "a\n", id="the root itself"),
        pytest.param("chroot /nope", True, 125,
                     "chroot: can't change root directory to '/nope': No such file or directory\n", id="no directory"),
        pytest.param("chroot /nope", False, 125,
                     "chroot: cannot change root directory to '/nope': No such file or directory\n", id="GNU"),
        pytest.param("mkdir /a; chroot /a ls", False, 127,
                     "chroot: failed to run command 'ls': No such file or directory\n", id="no program"),
        pytest.param("chroot", False, 125,
                     "chroot: missing operand\nTry 'chroot --help' for more information.\n", id="no operand"),
    ],
)  # fmt: skip
def test_what_chroot_says(script: str, busybox: bool, code: int, said: str) -> None:
    ran = sh(script, busybox=busybox)

    assert (ran.code, ran.out + ran.err) == (code, said)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"path": "/var/log/", "type": "Directory"}, id="a directory"),
        pytest.param({"path": "/etc/machine-id", "type": "File"}, id="a file"),
        pytest.param({"path": "/etc/machine-id", "type": "FileOrCreate"}, id="a file that is there"),
        pytest.param({"path": "/srv/made", "type": "FileOrCreate"}, id="a file that is made"),
        pytest.param({"path": "/srv/a/b", "type": "DirectoryOrCreate"}, id="directories that are made"),
        pytest.param({"path": "/var/run/containerd/containerd.sock", "type": "Socket"}, id="a socket"),
        pytest.param({"path": "/dev/null", "type": "CharDevice"}, id="a character device"),
        pytest.param({"path": "/dev/vda", "type": "BlockDevice"}, id="a block device"),
        pytest.param({"path": "/nope", "type": ""}, id="no type"),
    ],
)
async def test_a_host_path_of_the_kind_is_mounted(world: World, source: Object) -> None:
    async with running(world) as node:
        await node.run(volumes=[{"name": "v", "hostPath": source}])
        await node.ready()


@pytest.mark.parametrize(
    ("path", "kind", "why"),
    [
        ("/nope/", "Directory", "hostPath /nope/ doesn't exist"),
        ("/nope", "File", "hostPath /nope doesn't exist"),
        ("/run/docker.sock", "Socket", "hostPath /run/docker.sock doesn't exist"),
        ("/dev/kvm", "CharDevice", "hostPath /dev/kvm doesn't exist"),
        ("/etc/hostname/x", "Directory", "hostPath /etc/hostname/x doesn't exist"),
        ("/etc/hostname", "Directory", "hostPath type check failed: /etc/hostname is not a directory, it's a File"),
        ("/etc/hosts", "DirectoryOrCreate", "hostPath type check failed: /etc/hosts is not a directory, it's a File"),
        ("/etc", "File", "hostPath type check failed: /etc is not a file, it's a Directory"),
        ("/", "FileOrCreate", "hostPath type check failed: / is not a file, it's a Directory"),
        ("/dev/zero", "File", "hostPath type check failed: /dev/zero is not a file, it's a CharDevice"),
        ("/etc", "Socket", "hostPath type check failed: /etc is not a socket file, it's a Directory"),
        ("/dev/vda", "CharDevice",
         "hostPath type check failed: /dev/vda is not a character device, it's a BlockDevice"),
        ("/dev/null", "BlockDevice", "hostPath type check failed: /dev/null is not a block device, it's a CharDevice"),
        ("/nope/x", "FileOrCreate", "open /nope/x: no such file or directory"),
        ("/etc/hostname/x", "FileOrCreate", "open /etc/hostname/x: not a directory"),
        ("/etc/hostname/x/y", "DirectoryOrCreate", "mkdir /etc/hostname: not a directory"),
    ],
)  # fmt: skip
async def test_a_host_path_of_another_kind_is_not_mounted(world: World, path: str, kind: str, why: str) -> None:
    async with running(world) as node:
        await node.run(volumes=[{"name": "v", "hostPath": {"path": path, "type": kind}}])
        assert await node.said("FailedMount") == f'FailedMount: MountVolume.SetUp failed for volume "v" : {why}'
        assert (await node.container())["state"] == {"waiting": {"reason": "ContainerCreating"}}


async def test_a_host_path_is_looked_for_until_somebody_makes_it(world: World) -> None:
    async with running(world) as node:
        await node.run(volumes=[{"name": "v", "hostPath": {"path": "/srv/late", "type": "Directory"}}])
        await node.said("FailedMount")
        await node.run("maker", volumes=[{"name": "v", "hostPath": {"path": "/srv/late", "type": "DirectoryOrCreate"}}])
        await node.ready()
