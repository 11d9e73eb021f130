"""agnhost, the image of Kubernetes' own tests and tutorials."""

from __future__ import annotations

from typing import Any

import pytest

from engine.kubelet.cri import Identity
from engine.kubelet.runtime.files import Files
from engine.world import World
from tests.kubelet.node import Node, running
from tests.kubelet.shells import run

IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.53"
PROGRAMS = frozenset({"agnhost", "agnhost-2"})


async def ended(node: Node, **container: Any) -> list[str]:
    await node.run(containers=[{"name": "web", "image": IMAGE, **container}], restartPolicy="Never")
    await node.in_phase("Succeeded")
    return node.logs("web")


@pytest.mark.parametrize(
    ("container", "said"),
    [
        pytest.param({"args": ["entrypoint-tester"]}, "[/agnhost entrypoint-tester]", id="the image's entrypoint"),
        pytest.param(
            {"args": ["entrypoint-tester", "a", "b"]}, "[/agnhost entrypoint-tester a b]", id="arguments of the Pod"
        ),
        pytest.param({"command": ["/agnhost-2", "entrypoint-tester"]}, "[/agnhost-2 entrypoint-tester]", id="another"),
    ],
)  # fmt: skip
async def test_command_and_arguments(container: dict[str, Any], said: str, world: World) -> None:
    async with running(world) as node:
        assert await ended(node, **container) == [said]


def test_new_files_have_the_mode_that_is_asked_for() -> None:
    files = Files(directories=("/", "/tmp"), identity=Identity(1001))
    words = ["--fs_type=/tmp", "--new_file_0666=/tmp/f", "--file_perm=/tmp/f", "--file_owner=/tmp/f"]
    ran = run(["/agnhost", "mounttest", *words], files=files, programs=PROGRAMS)
    assert (ran.code, ran.out.splitlines()) == (
        0,
        [
            'mount type of "/tmp": 61267', 'content of file "/tmp/f": mount-tester new file', "",
            'perms of file "/tmp/f": -rw-rw-rw-', 'owner UID of "/tmp/f": 1001', 'owner GID of "/tmp/f": 0',
        ],
    )  # fmt: skip
    assert run(["/agnhost", "mounttest", "--file_content=/nope"], programs=PROGRAMS).code == 1


def test_other_images_do_not_have_it() -> None:
    ran = run(["sh", "-c", "/agnhost pause"])
    assert (ran.code, ran.err) == (127, "sh: /agnhost: not found\n")


async def test_a_server_that_is_alive_for_ten_seconds(world: World) -> None:
    async with running(world) as node:
        probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 3, "failureThreshold": 1}
        await node.run(containers=[{"name": "web", "image": IMAGE, "args": ["liveness"], "livenessProbe": probe}])
        await node.restarted(1)
        assert await node.said("Liveness") == "Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500"
