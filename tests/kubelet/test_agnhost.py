"""agnhost, the image of Kubernetes' own tests and tutorials."""

from __future__ import annotations

import re
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


async def test_a_file_is_read_until_it_is_there(world: World) -> None:
    """How the end-to-end tests see that a volume follows its ConfigMap."""
    async with running(world) as node:
        words = ["mounttest", "--break_on_expected_content=false", "--retry_time=5", "--file_content_in_loop=/v/f"]
        mounts = [{"name": "v", "mountPath": "/v"}]
        writer = {"name": "b", "image": "busybox:1.36", "command": ["sh", "-c", "sleep 3; echo there > /v/f"]}
        await node.run(
            containers=[{"name": "web", "image": IMAGE, "args": words, "volumeMounts": mounts},
                        {**writer, "volumeMounts": mounts}],
            volumes=[{"name": "v", "emptyDir": {}}], restartPolicy="Never",
        )  # fmt: skip
        await node.in_phase("Succeeded")
        missing = "Error reading file /v/f: open /v/f: no such file or directory, retrying"
        assert node.logs("web") == [missing, missing, 'content of file "/v/f": there', ""]


async def test_lines_of_a_log_over_a_time(world: World) -> None:
    async with running(world) as node:
        begun = world.clock.monotonic()
        said = await ended(node, args=["logs-generator", "--log-lines-total", "10", "--run-duration", "5s"])
        assert world.clock.monotonic() - begun >= 5
        assert len(said) == 10
        line = (
            r"I\d{4} [\d:]{8}\.\d{6} +1 logs_generator.go:76\] \d (GET|POST|PUT) /api/v1/namespaces/\S+/pods/\w+ \d{3}"
        )
        assert [each for each in said if not re.fullmatch(line, each)] == []


def test_other_images_do_not_have_it() -> None:
    ran = run(["sh", "-c", "/agnhost pause"])
    assert (ran.code, ran.err) == (127, "sh: /agnhost: not found\n")


async def test_a_server_that_is_alive_for_ten_seconds(world: World) -> None:
    async with running(world) as node:
        probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 3, "failureThreshold": 1}
        await node.run(containers=[{"name": "web", "image": IMAGE, "args": ["liveness"], "livenessProbe": probe}])
        await node.restarted(1)
        assert await node.said("Liveness") == "Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500"


@pytest.mark.parametrize(
    ("flags", "ports"),
    [
        pytest.param(["--http-port=8080"], ["HTTP server on port 8080", "UDP server on port  8081"], id="tutorial"),
        pytest.param(["--http-port", "80", "--udp-port=-1"], ["HTTP server on port 80"], id="no UDP"),
    ],
)  # fmt: skip
def test_netexec_says_what_it_listens_to(flags: list[str], ports: list[str]) -> None:
    """The tutorial Hello Minikube reads it with kubectl logs."""
    ran = run(["/agnhost", "netexec", *flags], programs=PROGRAMS)

    head = "I0101 00:00:00.000000       1 log.go:195] Started"
    assert ran.err.splitlines() == [f"{head} {port}" for port in ports]
