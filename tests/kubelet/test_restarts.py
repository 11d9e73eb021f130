"""Containers that end: restart policies, CrashLoopBackOff, ImagePullBackOff and the other reasons to wait."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from engine.api.types import CONFIGMAPS, Object
from engine.world import World
from tests.kubelet.node import running


def shell(script: str, **fields: Any) -> list[Object]:
    return [{"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", script], **fields}]


async def test_a_crashing_container_backs_off_from_ten_seconds_to_five_minutes(world: World) -> None:
    async with running(world) as node:
        pod = await node.run(containers=shell("exit 1"))
        starts = []
        for times in range(1, 8):
            await node.restarted(times)
            starts.append(round(node.now))

        assert [after - before for before, after in pairwise(starts)] == [
            10, 20, 40, 80, 160, 300
        ]  # fmt: skip
        state = await node.waiting("CrashLoopBackOff")
        uid = pod["metadata"]["uid"]
        assert state["message"] == f"back-off 5m0s restarting failed container=c pod=web_default({uid})"
        container = await node.container()
        assert container["lastState"]["terminated"]["exitCode"] == 1
        assert container["lastState"]["terminated"]["reason"] == "Error"
        assert (container["ready"], container["started"]) == (False, False)
        assert (await node.status())["phase"] == "Running"
        assert f"Back-off restarting failed container c in pod web_default({uid})" in await node.said("BackOff")


async def test_a_container_restarts_by_rules_of_its_own(world: World) -> None:
    async with running(world) as node:
        rules = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]
        script = "n=$(cat /data/n 2>/dev/null || echo 0); echo $((n + 1)) > /data/n; [ $n -ge 2 ] && exit 7; exit 42"
        of_its_own: Any = {"restartPolicy": "Never", "restartPolicyRules": rules}
        mounts = [{"name": "data", "mountPath": "/data"}]
        containers = shell(script, volumeMounts=mounts, **of_its_own)
        await node.run(containers=containers, volumes=[{"name": "data", "emptyDir": {}}], restartPolicy="Never")
        await node.restarted(1)
        assert (await node.status())["phase"] == "Running"
        await node.in_phase("Failed")

        container = await node.container()
        assert (container["restartCount"], container["state"]["terminated"]["exitCode"]) == (2, 7)


async def test_before_it_backs_off_it_shows_how_it_ended(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=shell("sleep 5; exit 3"))
        await node.restarted(1)
        await node.sleep(5.5)

        assert (await node.container())["state"]["terminated"]["exitCode"] == 3


@pytest.mark.parametrize(
    ("policy", "script", "phase", "restarts", "reason"),
    [
        pytest.param("Never", "exit 0", "Succeeded", 0, "Completed", id="Never, success"),
        pytest.param("Never", "exit 7", "Failed", 0, "Error", id="Never, failure"),
        pytest.param("OnFailure", "sleep 2", "Succeeded", 0, "Completed", id="OnFailure, success"),
    ],
)
async def test_pods_that_end(world: World, policy: str, script: str, phase: str, restarts: int, reason: str) -> None:
    async with running(world) as node:
        await node.run(containers=shell(script), restartPolicy=policy)
        status = await node.in_phase(phase)
        await node.sleep(60)

        container = await node.container()
        assert container["restartCount"] == restarts
        assert container["state"]["terminated"]["reason"] == reason
        assert status["podIP"] == "10.244.0.2"
        conditions = {item["type"]: (item["status"], item.get("reason", "")) for item in status["conditions"]}
        assert conditions["Ready"] == ("False", "PodCompleted" if phase == "Succeeded" else "PodFailed")
        assert node.view("workers")[0]["state"] == "finished"
        assert node.view("cri")["ips"] == {}


async def test_on_failure_tries_until_it_succeeds(world: World) -> None:
    async with running(world) as node:
        script = "test $(($(date +%s) % 60)) -gt 30"
        await node.run(containers=shell(script), restartPolicy="OnFailure")
        await node.in_phase("Succeeded")

        assert (await node.container())["restartCount"] == 3


@pytest.mark.parametrize(
    ("image", "pulled"),
    [
        pytest.param(
            "nginx:missing",
            'rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/nginx:missing": '
            "failed to resolve image: docker.io/library/nginx:missing: not found",
            id="tag",
        ),
        pytest.param(
            "missing",
            'failed to pull and unpack image "docker.io/library/missing:latest": failed to resolve image: pull access '
            "denied, repository does not exist or may require authorization: server message: insufficient_scope: "
            "authorization failed",
            id="repository",
        ),
    ],
)
async def test_an_image_that_is_not_there(world: World, image: str, pulled: str) -> None:
    async with running(world) as node:
        await node.run(containers=[{"name": "c", "image": image}])

        assert (await node.waiting("ErrImagePull"))["message"] == pulled
        assert (await node.waiting("ImagePullBackOff"))["message"] == (
            f'Back-off pulling image "{image}": ErrImagePull: {pulled}'
        )
        assert (await node.status())["phase"] == "Pending"
        await node.sleep(60)
        assert (await node.events())[:5] == [
            f'Pulling: Pulling image "{image}"',
            f'Failed: Failed to pull image "{image}": {pulled}',
            "Failed: Error: ErrImagePull",
            f'BackOff: Back-off pulling image "{image}"',
            "Failed: Error: ImagePullBackOff",
        ]
        assert node.view("cri")["calls"]["PullImage"] == 3  # after 10 and after 30 seconds


@pytest.mark.parametrize(
    ("container", "reason", "message"),
    [
        pytest.param(
            {"image": "Nginx"},
            "InvalidImageName",
            'Failed to apply default image tag "Nginx": couldn\'t parse image name "Nginx": '
            "invalid reference format: repository name (library/Nginx) must be lowercase",
            id="name",
        ),
        pytest.param(
            {"image": "redis:7", "imagePullPolicy": "Never"},
            "ErrImageNeverPull",
            'Container image "redis:7" is not present with pull policy of Never',
            id="never pulled",
        ),
        pytest.param(
            {"image": "redis:7", "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}]},
            "CreateContainerConfigError",
            'configmap "c" not found',
            id="no ConfigMap",
        ),
        pytest.param(
            {"image": "redis:7", "envFrom": [{"secretRef": {"name": "s"}}]},
            "CreateContainerConfigError",
            'secret "s" not found',
            id="no Secret",
        ),
        pytest.param(
            {"image": "redis:7", "command": ["nope"]},
            "RunContainerError",
            "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create "
            'failed: unable to start container process: error during container init: exec: "nope": executable file '
            "not found in $PATH: unknown",
            id="no such program",
        ),
        pytest.param(
            {"image": "redis:7", "lifecycle": {"postStart": {"exec": {"command": ["sh", "-c", "exit 4"]}}}},
            "PostStartHookError",
            'Exec lifecycle hook ([sh -c exit 4]) for Container "c" in Pod "web_default({uid})" failed - error: '
            "command 'sh -c exit 4' exited with 4: , message: \"\"",
            id="postStart",
        ),
    ],
)
async def test_containers_that_cannot_start_say_why(world: World, container: Object, reason: str, message: str) -> None:
    async with running(world) as node:
        pod = await node.run(containers=[{"name": "c", **container}])

        assert (await node.waiting(reason))["message"] == message.replace("{uid}", pod["metadata"]["uid"])


async def test_a_configmap_that_comes_later_lets_the_container_start(world: World) -> None:
    async with running(world) as node:
        reference = {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}
        await node.run(containers=shell("echo $A $(A) $HOSTNAME; sleep 99", env=[reference]))
        await node.waiting("CreateContainerConfigError")
        data = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"k": "value"}}
        await node.admin.create(CONFIGMAPS, data, namespace="default")
        await node.ready()

        assert node.logs("web") == ["value value web"]


async def test_volumes_show_configmaps_and_a_missing_one_fails_the_mount(world: World) -> None:
    async with running(world) as node:
        mount = {"name": "conf", "mountPath": "/etc/conf"}
        volume = {"name": "conf", "configMap": {"name": "c"}}
        await node.run(containers=shell("cat /etc/conf/k; sleep 99", volumeMounts=[mount]), volumes=[volume])

        assert await node.said("FailedMount") == (
            'FailedMount: MountVolume.SetUp failed for volume "conf" : configmap "c" not found'
        )
        assert (await node.container())["state"]["waiting"]["reason"] == "ContainerCreating"
        data = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"k": "value\n"}}
        await node.admin.create(CONFIGMAPS, data, namespace="default")
        await node.ready()
        assert node.logs("web") == ["value"]


async def test_a_termination_message_is_told(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=shell("echo out of luck > /dev/termination-log; exit 1"), restartPolicy="Never")
        await node.in_phase("Failed")

        assert (await node.container())["state"]["terminated"]["message"] == "out of luck\n"
