"""Pods that write more than they may are evicted (rows of upstream's eviction_manager_test.go, TestLocalStorage...)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.kubelet.local_storage import Excess, Written, excess, is_limited
from engine.world import World
from tests.kubelet.node import Node, condition, running

Mi = 1 << 20
MEMORY: Object = {"emptyDir": {"medium": "Memory"}}


def container(name: str, limit: str = "", **fields: Any) -> Object:
    resources = {"limits": {"ephemeral-storage": limit}} if limit else {}
    return {"name": name, "image": "busybox:1.36", "resources": resources, **fields}


def pod(*containers: Object, **volumes: Object) -> Object:
    made = [{"name": name, **source} for name, source in volumes.items()]
    return {"metadata": {"name": "web"}, "spec": {"containers": list(containers), "volumes": made}}


def cache(limit: str) -> Object:
    return {"emptyDir": {"sizeLimit": limit}}


POD = "Pod ephemeral local storage usage exceeds the total limit of containers "


@pytest.mark.parametrize(
    ("limited", "containers", "volumes", "found"),
    [
        pytest.param(pod(container("a"), cache=cache("1Mi")), {}, {"cache": Mi + 1},
                     Excess("emptydirfs.limit", 'Usage of EmptyDir volume "cache" exceeds the limit "1Mi". '),
                     id="an emptyDir beyond its limit"),
        pytest.param(pod(container("a"), cache=cache("1Mi")), {"a": 9 * Mi}, {"cache": Mi}, None,
                     id="an emptyDir at its limit"),
        pytest.param(pod(container("a"), cache=cache("0")), {}, {"cache": Mi}, None, id="no limit is no limit"),
        pytest.param(pod(container("a", "2Mi"), cache=cache("1024Ki")), {"a": 3 * Mi}, {"cache": 2 * Mi},
                     Excess("emptydirfs.limit", 'Usage of EmptyDir volume "cache" exceeds the limit "1Mi". '),
                     id="the emptyDir is looked at first"),
        pytest.param(pod(container("a", "1Mi")), {"a": Mi + 1}, {}, Excess("ephemeralpodfs.limit", f"{POD}1Mi. "),
                     id="the only container is the Pod"),
        pytest.param(pod(container("a", "1Mi"), container("b", "2Mi")), {"a": Mi + 1, "b": 1}, {},
                     Excess("ephemeralcontainerfs.limit",
                            'Container a exceeded its local ephemeral storage limit "1Mi". '),
                     id="one container beyond its own"),
        pytest.param(pod(container("a", "1Mi"), container("b", "2Mi"), d={"emptyDir": {}}), {"a": Mi}, {"d": 3 * Mi},
                     Excess("ephemeralpodfs.limit", f"{POD}3Mi. "), id="what they share counts"),
        pytest.param(pod(container("a", "1Mi"), d=MEMORY), {"a": 1}, {"d": 3 * Mi}, None, id="memory is no disk"),
        pytest.param(pod(container("a"), container("b", "2Mi")), {"a": 3 * Mi}, {},
                     Excess("ephemeralpodfs.limit", f"{POD}2Mi. "), id="a limit of one is the Pod's"),
    ],
)  # fmt: skip
def test_what_is_too_much(
    limited: Object, containers: dict[str, int], volumes: dict[str, int], found: Excess | None
) -> None:
    assert is_limited(limited)
    assert excess(limited, Written(containers, volumes)) == found


def test_whom_no_look_concerns() -> None:
    assert not is_limited(pod(container("a"), d={"emptyDir": {}}, m=MEMORY, h={"hostPath": {"path": "/"}}))


async def write(node: Node, path: str, size: int, name: str) -> None:
    status = (await node.container(name))["containerID"].rpartition("/")[2]
    ran = await node.kubelet.runtime.exec_sync(status, ["sh", "-c", f"printf %{size}s '' > {path}"])
    assert (ran.exit_code, ran.stderr) == (0, "")


async def test_who_writes_too_much_is_evicted(world: World) -> None:
    mounts = [{"name": "cache", "mountPath": "/cache"}]
    command = ["sleep", "3600"]
    async with running(world) as node:
        volumes = [{"name": "cache", "emptyDir": {"sizeLimit": "1Mi"}}]
        for name in ("good", "web"):
            await node.run(name, containers=[container("a", command=command, volumeMounts=mounts)], volumes=volumes)
            await node.ready(name)
        await write(node, "/cache/x", Mi, "good")
        await write(node, "/cache/x", Mi + 1, "web")
        status = await node.in_phase("Failed", "web")
        message = 'Usage of EmptyDir volume "cache" exceeds the limit "1Mi". '
        assert (status["reason"], status["message"]) == ("Evicted", message)
        assert condition(status, "DisruptionTarget") == ""
        assert await node.said("Evicted", "web") == f"Evicted: {message}"

        await node.run("later", containers=[container("a", "1Mi", command=command)])
        await node.ready("later")
        await write(node, "/tmp/x", 2 * Mi, "later")
        assert (await node.in_phase("Failed", "later"))["message"] == f"{POD}1Mi. "
        assert (await node.status("good"))["phase"] == "Running"
        assert node.kubelet.eviction.evictions == {"emptydirfs.limit": 1, "ephemeralpodfs.limit": 1}
