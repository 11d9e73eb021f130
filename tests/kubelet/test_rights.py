"""Whom a container runs as, and what it may read and write: volumes' modes, groups, read-only file systems, sysctls."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from engine.api.types import CONFIGMAPS, SECRETS, Object
from engine.kubelet.cri import Identity
from engine.kubelet.runtime.files import Files
from engine.world import World
from tests.kubelet.node import Node, running
from tests.kubelet.shells import sh

SOMEBODY = Identity(1001, 2002, (3003,))
DIRECTORIES = ("/", "/etc", "/tmp")


def script(text: str, **fields: Any) -> list[Object]:
    return [{"name": "web", "image": "busybox:1.36", "command": ["sh", "-c", text], **fields}]


async def printed(node: Node, text: str, *, container: dict[str, Any] | None = None, **spec: Any) -> list[str]:
    await node.run(containers=script(text, **(container or {})), restartPolicy="Never", **spec)
    await node.in_phase("Succeeded")
    return node.logs("web")


async def keys(node: Node) -> None:
    metadata = {"name": "keys"}
    await node.admin.create(
        CONFIGMAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1"}},
        namespace="default",
    )  # fmt: skip
    data = {"key": base64.b64encode(b"secret").decode()}
    await node.admin.create(
        SECRETS, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}, namespace="default"
    )


def volume(name: str, **source: Any) -> Object:
    return {"name": name, **source}


@pytest.mark.parametrize(
    ("command", "busybox", "err", "code"),
    [
        pytest.param("touch /f", True, "touch: /f: Read-only file system\n", 1, id="touch"),
        pytest.param("touch /f", False, "touch: cannot touch '/f': Read-only file system\n", 1, id="touch, GNU"),
        pytest.param("mkdir /d", True, "mkdir: can't create directory '/d': Read-only file system\n", 1, id="mkdir"),
        pytest.param("echo x > /f", True, "sh: can't create /f: Read-only file system\n", 1, id="redirection, ash"),
        pytest.param("echo x > /f", False, "sh: 1: cannot create /f: Read-only file system\n", 1, id="dash"),
        pytest.param("echo x | tee /f >/dev/null", True, "tee: /f: Read-only file system\n", 1, id="tee"),
        pytest.param("cp /etc/hostname /f", True, "cp: can't create '/f': Read-only file system\n", 1, id="cp"),
    ],
)
def test_nothing_is_written_to_a_read_only_root(command: str, busybox: bool, err: str, code: int) -> None:
    ran = sh(command, busybox=busybox, files=Files(directories=DIRECTORIES, read_only=True))
    assert (ran.err, ran.code) == (err, code)


@pytest.mark.parametrize(
    ("command", "out", "err"),
    [
        pytest.param("touch /etc/f", "", "touch: /etc/f: Permission denied\n", id="a directory of root's"),
        pytest.param("echo x > /tmp/f && cat /tmp/f", "x\n", "", id="everybody's directory"),
        pytest.param("touch /tmp/f && stat -c '%u:%g %a' /tmp/f", "1001:2002 644\n", "", id="what is new is theirs"),
        pytest.param("mkdir /tmp/d && touch /tmp/d/f && ls /tmp/d", "f\n", "", id="their own directory"),
        pytest.param("touch /tmp/f && chown 0 /tmp/f", "", "chown: /tmp/f: Operation not permitted\n", id="chown"),
        pytest.param("chmod 777 /etc", "", "chmod: /etc: Operation not permitted\n", id="chmod of root's"),
        pytest.param("id", "uid=1001 gid=2002 groups=2002,3003\n", "", id="id"),
        pytest.param("id -u; id -g; id -G", "1001\n2002\n2002 3003\n", "", id="id by parts"),
        pytest.param("whoami", "", "whoami: unknown uid 1001\n", id="nobody that the image knows"),
    ],
)
def test_who_is_not_root_may_do_less(command: str, out: str, err: str) -> None:
    ran = sh(command, files=Files(directories=DIRECTORIES, identity=SOMEBODY))
    assert (ran.out, ran.err) == (out, err)


async def test_files_of_volumes_have_their_modes(world: World) -> None:
    async with running(world) as node:
        await keys(node)
        items = [{"key": "a", "path": "deep/b"}, {"key": "a", "path": "c", "mode": 0o755}]
        sources = [
            {"secret": {"name": "keys", "items": [{"key": "key", "path": "k", "mode": 0o600}]}},
            {"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        ]
        volumes = [
            volume("plain", configMap={"name": "keys"}),
            volume("items", configMap={"name": "keys", "defaultMode": 0o400, "items": items}),
            volume("secret", secret={"secretName": "keys", "defaultMode": 0o440}),
            volume("both", projected={"defaultMode": 0o400, "sources": sources}),
            volume("own", emptyDir={}),
        ]
        mounts = [{"name": each["name"], "mountPath": f"/v/{each['name']}"} for each in volumes]
        paths = "plain/a items/deep/b items/c secret/key both/k both/n own"
        command = f"cd /v; stat -Lc '%n %a' {paths}; touch plain/x; mount | grep /v/"
        await node.run(
            containers=script(command, volumeMounts=mounts), volumes=volumes, restartPolicy="Never"
        )  # fmt: skip
        await node.in_phase("Succeeded")

        assert node.logs("web") == [
            "plain/a 644", "items/deep/b 400", "items/c 755", "secret/key 440", "both/k 600", "both/n 400", "own 777",
            "touch: plain/x: Read-only file system",
            "tmpfs on /v/both type tmpfs (ro,relatime)",
            "/dev/vda1 on /v/items type ext4 (ro,relatime)",
            "/dev/vda1 on /v/own type ext4 (rw,relatime)",
            "/dev/vda1 on /v/plain type ext4 (ro,relatime)",
            "tmpfs on /v/secret type tmpfs (ro,relatime)",
        ]  # fmt: skip


async def test_a_pods_group_gets_its_volumes(world: World) -> None:
    async with running(world) as node:
        await keys(node)
        volumes = [volume("own", emptyDir={}), volume("secret", secret={"secretName": "keys", "defaultMode": 0o400})]
        mounts = [{"name": "own", "mountPath": "/own"}, {"name": "secret", "mountPath": "/secret"}]
        security = {"runAsUser": 1001, "runAsGroup": 2002, "fsGroup": 3003, "supplementalGroups": [4004]}
        command = "id; touch /own/f; stat -c '%A %u:%g' /own /own/f; stat -Lc '%a %g' /secret/key; cat /secret/key"
        said = await printed(
            node, command, container={"volumeMounts": mounts}, volumes=volumes, securityContext=security
        )

        assert said == [
            "uid=1001 gid=2002 groups=2002,3003,4004",
            "drwxrwsrwx 0:3003",
            "-rw-r--r-- 1001:3003",
            "440 3003",
            "secret",
        ]
        linux = (await node.container())["user"]["linux"]
        assert linux == {"uid": 1001, "gid": 2002, "supplementalGroups": [2002, 3003, 4004]}


@pytest.mark.parametrize(
    ("security", "shown"),
    [
        pytest.param({}, "-rw-r--r-- 0:0", id="nobody in particular"),
        pytest.param({"runAsUser": 1000}, "-rw------- 1000:0", id="a user"),
        pytest.param({"fsGroup": 10000}, "-rw-r----- 0:10000", id="a group"),
        pytest.param({"runAsUser": 1000, "fsGroup": 10000}, "-rw-r----- 1000:10000", id="both"),
    ],
)
async def test_a_token_is_for_whom_the_pod_runs_as(security: Object, shown: str, world: World) -> None:
    async with running(world) as node:
        source = {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}}
        command = "stat -Lc '%A %u:%g' /v/token; test -n \"$(cat /v/token)\" && echo read"
        said = await printed(
            node, command, container={"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
            volumes=[volume("v", projected={"sources": [source]})], securityContext=security,
        )  # fmt: skip
        assert said == [shown, "read"]


async def test_pods_of_a_node_share_what_is_at_a_path_of_it(world: World) -> None:
    async with running(world) as node:
        for name, path, said in (("web", "/srv/shared/", "first"), ("again", "/srv/shared", "mine")):
            command = "stat -c '%u:%g %a' /v; cat /v/f 2>/dev/null || { echo mine > /v/f; echo first; }"
            await node.run(
                name, containers=script(command, volumeMounts=[{"name": "v", "mountPath": "/v"}]),
                volumes=[volume("v", hostPath={"path": path})],
                securityContext={"fsGroup": 3003}, restartPolicy="Never",
            )  # fmt: skip
            await node.in_phase("Succeeded", name)
            assert node.logs(name) == ["0:0 755", said]


async def test_who_may_not_read_a_secret_is_told(world: World) -> None:
    async with running(world) as node:
        await keys(node)
        volumes = [volume("secret", secret={"secretName": "keys", "defaultMode": 0o400})]
        mounts = [{"name": "secret", "mountPath": "/secret"}]
        said = await printed(
            node, "cat /secret/key; true", container={"volumeMounts": mounts}, volumes=volumes,
            securityContext={"runAsUser": 1001},
        )  # fmt: skip
        assert said == ["cat: can't open '/secret/key': Permission denied"]


async def test_a_path_inside_a_volume_may_be_made_of_variables(world: World) -> None:
    async with running(world) as node:
        volumes = [volume("logs", emptyDir={})]
        mounts = [
            {"name": "logs", "mountPath": "/mine", "subPathExpr": "of/$(NAME)"},
            {"name": "logs", "mountPath": "/all"},
        ]
        container = {"volumeMounts": mounts, "env": [{"name": "NAME", "value": "one"}]}
        said = await printed(
            node, "test -d /all/of/one && touch /mine/f; ls /all/of/one", container=container, volumes=volumes
        )
        assert said == ["f"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param("/tmp", "error SubPath `/tmp` must not be an absolute path", id="absolute"),
        pytest.param("../up", "unable to provision SubPath `../up`: must not contain '..'", id="upwards"),
        pytest.param("", "missing value for NAME", id="empty"),
    ],
)
async def test_a_path_that_leads_out_of_the_volume_is_refused(value: str, message: str, world: World) -> None:
    async with running(world) as node:
        mounts = [{"name": "logs", "mountPath": "/mine", "subPathExpr": "$(NAME)"}]
        env = [{"name": "NAME", "value": value}]
        await node.run(containers=script("true", volumeMounts=mounts, env=env), volumes=[volume("logs", emptyDir={})])
        assert (await node.waiting("CreateContainerConfigError"))["message"] == message
        assert await node.said(message) == f"Failed: Error: {message}"


@pytest.mark.parametrize(
    ("command", "fields", "message"),
    [
        pytest.param("echo -n OK > /dev/termination-log; exit 1", {}, "OK", id="the file"),
        pytest.param("echo -n OK > /dev/termination-log", {}, "OK", id="the file, after success"),
        pytest.param("echo -n out; exit 1", {}, None, id="no word"),
        pytest.param("echo -n out; exit 1", {"terminationMessagePolicy": "FallbackToLogsOnError"}, "out", id="the log"),
        pytest.param("echo out", {"terminationMessagePolicy": "FallbackToLogsOnError"}, None, id="no log of success"),
        pytest.param(
            "echo out; echo -n why > /dev/termination-log; exit 1",
            {"terminationMessagePolicy": "FallbackToLogsOnError"}, "why", id="the file before the log",
        ),
        pytest.param(
            "for i in $(seq 100); do echo $i; done; exit 1",
            {"terminationMessagePolicy": "FallbackToLogsOnError"},
            "".join(f"{number}\n" for number in range(21, 101)), id="the last eighty lines",
        ),
        pytest.param(
            "echo -n mine > /tmp/why", {"terminationMessagePath": "/tmp/why", "securityContext": {"runAsUser": 1000}},
            "mine", id="another file",
        ),
        pytest.param(
            "for i in $(seq 1000); do echo 123456789; done > /dev/termination-log", {},
            "123456789\n" * 409 + "", id="the end of 4096 bytes",
        ),
    ],
)  # fmt: skip
async def test_a_container_says_why_it_ended(
    command: str, fields: dict[str, Any], message: str | None, world: World
) -> None:
    async with running(world) as node:
        await node.run(containers=script(command, **fields), restartPolicy="Never")
        await node.eventually("it has ended", lambda: _ended(node))
        told = (await node.container())["state"]["terminated"].get("message")
        assert told is None if message is None else told.endswith(message)
        assert len(told or "") <= 4096


async def _ended(node: Node) -> bool:
    return (await node.status()).get("phase") in ("Succeeded", "Failed")


async def test_a_pod_has_the_sysctls_that_it_asks_for(world: World) -> None:
    async with running(world) as node:
        sysctls = [{"name": "kernel.shm_rmid_forced", "value": "1"}]
        command = (
            "cat /proc/sys/kernel/shm_rmid_forced; sysctl net.core.somaxconn; sysctl -w net.core.somaxconn=1; true"
        )
        assert await printed(node, command, securityContext={"sysctls": sysctls}) == [
            "1",
            "net.core.somaxconn = 4096",
            "sysctl: error setting key 'net.core.somaxconn': Read-only file system",
        ]


async def test_a_privileged_container_sets_sysctls(world: World) -> None:
    async with running(world) as node:
        command = "sysctl -w vm.max_map_count=262144; cat /proc/sys/vm/max_map_count"
        privileged = {"securityContext": {"privileged": True}}
        assert await printed(node, command, container=privileged) == ["vm.max_map_count = 262144", "262144"]
