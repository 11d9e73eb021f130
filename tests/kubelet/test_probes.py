"""Startup, readiness and liveness probes."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import PODS, Object
from engine.world import World
from tests.kubelet.node import Node, condition, running

HTTP = {"httpGet": {"path": "/", "port": 80}}


def nginx(**probes: Any) -> list[Object]:
    ports = [{"name": "web", "containerPort": 80}]
    return [{"name": "web", "image": "nginx:1.27", "ports": ports, **probes}]


def shell(script: str, **probes: Any) -> list[Object]:
    return [{"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", script], **probes}]


@pytest.mark.parametrize(
    ("probe", "seconds"),
    [
        pytest.param(HTTP, 0, id="at once"),
        pytest.param({**HTTP, "initialDelaySeconds": 7}, 7, id="after the initial delay"),
        pytest.param({**HTTP, "successThreshold": 3, "periodSeconds": 2}, 4, id="after three successes"),
        pytest.param({"tcpSocket": {"port": "web"}}, 0, id="tcp, by the port's name"),
        pytest.param({"grpc": {"port": 80}}, 0, id="grpc"),
        pytest.param({"exec": {"command": ["true"]}}, 0, id="exec"),
    ],
)
async def test_a_pod_becomes_ready_when_its_probe_has_succeeded(world: World, probe: Object, seconds: float) -> None:
    async with running(world) as node:
        began = node.now
        await node.run(containers=nginx(readinessProbe=probe))
        await node.ready()

        assert node.now - began == pytest.approx(seconds, abs=0.11)


async def test_a_web_server_has_more_pages_only_where_something_mounted_may_tell_it_so(world: World) -> None:
    mounted = {"/cache": "False", "/usr/share/nginx": "False", "/etc/nginx/conf.d": "True", "/etc/nginx": "True"}
    async with running(world) as node:
        for number, path in enumerate(mounted):
            probed = nginx(readinessProbe={"httpGet": {"path": "/healthz", "port": 80}})
            probed[0]["volumeMounts"] = [{"name": "volume", "mountPath": path}]
            await node.run(f"web-{number}", containers=probed, volumes=[{"name": "volume", "emptyDir": {}}])
        await node.sleep(30)

        ready = {path: condition(await node.status(f"web-{i}"), "Ready") for i, path in enumerate(mounted)}
        assert ready == mounted


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        pytest.param(
            {"httpGet": {"path": "/healthz", "port": 80}}, "HTTP probe failed with statuscode: 404", id="http 404"
        ),
        pytest.param(
            {"httpGet": {"path": "x", "port": 8080}},
            'Get "http://10.244.0.2:8080/x": dial tcp 10.244.0.2:8080: connect: connection refused',
            id="http refused",
        ),
        pytest.param(
            {"tcpSocket": {"port": 81}}, "dial tcp 10.244.0.2:81: connect: connection refused", id="tcp refused"
        ),
        pytest.param(
            {"grpc": {"port": 81}},
            'timeout: failed to connect service "10.244.0.2:81" within 1s: context deadline exceeded',
            id="grpc",
        ),
        pytest.param(
            {"exec": {"command": ["cat", "/tmp/ready"]}}, "cat: /tmp/ready: No such file or directory", id="exec"
        ),
        pytest.param(
            {"exec": {"command": ["sleep", "9"]}}, 'command timed out: "sleep 9" timed out after 1s', id="exec too slow"
        ),
    ],
)
async def test_a_failing_readiness_probe_keeps_the_pod_running_and_unready(
    world: World, probe: Object, message: str
) -> None:
    async with running(world) as node:
        await node.run(containers=nginx(readinessProbe=probe))
        await node.sleep(30)

        status = await node.status()
        assert (status["phase"], condition(status, "Ready")) == ("Running", "False")
        assert status["containerStatuses"][0]["restartCount"] == 0
        assert (await node.said("Unhealthy")).strip() == f"Unhealthy: Readiness probe failed: {message}"


async def test_readiness_follows_the_thresholds(world: World) -> None:
    async with running(world) as node:
        script = "touch /tmp/ok; sleep 22; rm /tmp/ok; sleep 40; touch /tmp/ok; sleep 999"
        probe = {"exec": {"command": ["cat", "/tmp/ok"]}, "periodSeconds": 5, "failureThreshold": 3}
        began = node.now
        await node.run(containers=shell(script, readinessProbe=probe))
        await node.ready()
        await node.ready(ready=False)
        assert node.now - began == pytest.approx(35, abs=0.11)  # failures at 25, 30 and 35
        await node.ready()
        assert node.now - began == pytest.approx(65, abs=0.11)
        assert (await node.container())["restartCount"] == 0


async def test_a_failing_liveness_probe_restarts_the_container(world: World) -> None:
    async with running(world) as node:
        script = "trap 'exit 0' TERM; touch /tmp/ok; sleep 12; rm /tmp/ok; sleep 999 & wait"
        probe = {"exec": {"command": ["cat", "/tmp/ok"]}, "periodSeconds": 5, "failureThreshold": 2}
        began = node.now
        await node.run(containers=shell(script, livenessProbe=probe))
        container = await node.restarted(1)

        assert node.now - began == pytest.approx(20, abs=0.11)  # failures at 15 and 20
        assert container["lastState"]["terminated"]["exitCode"] == 0
        events = await node.events()
        assert "Unhealthy: Liveness probe failed: cat: can't open '/tmp/ok': No such file or directory" in events[4]
        assert "Killing: Container c failed liveness probe, will be restarted" in events


async def test_the_other_probes_wait_for_the_startup_probe(world: World) -> None:
    async with running(world) as node:
        startup = {"exec": {"command": ["cat", "/tmp/up"]}, "periodSeconds": 2, "failureThreshold": 30}
        liveness = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1}
        script = "sleep 9; touch /tmp/up; sleep 999"
        began = node.now
        await node.run(containers=shell(script, startupProbe=startup, readinessProbe={"exec": {"command": ["true"]}}))
        await node.sleep(5)
        container = await node.container()
        assert (container["started"], container["ready"]) == (False, False)
        await node.ready()
        assert node.now - began == pytest.approx(10, abs=0.11)

        await node.run("other", containers=shell(script, startupProbe=startup, livenessProbe=liveness))
        await node.sleep(9)
        assert (await node.container("other"))["restartCount"] == 0


async def test_a_startup_probe_that_never_succeeds_restarts_the_container(world: World) -> None:
    async with running(world) as node:
        startup = {
            "exec": {"command": ["false"]},
            "periodSeconds": 1,
            "failureThreshold": 5,
            "terminationGracePeriodSeconds": 3,
        }
        began = node.now
        await node.run(containers=shell("sleep 999", startupProbe=startup))
        await node.restarted(1)

        assert node.now - began == pytest.approx(4 + 3, abs=0.11)
        assert await node.said("Killing") == "Killing: Container c failed startup probe, will be restarted"


@pytest.mark.parametrize(
    "wanted",
    [pytest.param("readiness", id="of every container"), pytest.param("web/readiness, db/liveness", id="of one")],
)
async def test_an_annotation_makes_a_probe_fail(world: World, wanted: str) -> None:
    async with running(world) as node:
        await node.run(containers=nginx(readinessProbe={**HTTP, "periodSeconds": 1}))
        await node.ready()
        await _annotate(node, wanted)
        await node.ready(ready=False)
        assert await node.said("Unhealthy") == (
            "Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 500"
        )
        await _annotate(node, None)
        await node.ready()


async def _annotate(node: Node, value: str | None) -> None:
    patch = {"metadata": {"annotations": {"ktui.io/fail-probes": value}}}
    await node.admin.patch(PODS, "web", patch, namespace="default")


async def test_probes_can_be_looked_at(world: World) -> None:
    async with running(world) as node:
        await node.run(containers=nginx(readinessProbe={**HTTP, "periodSeconds": 4}))
        await node.ready()
        await node.sleep(9)

        [probe] = node.view("probes")
        assert (probe["pod"], probe["container"], probe["probe"]) == ("default/web", "web", "readiness")
        assert (probe["result"], probe["probes"], probe["periodSeconds"]) == ("Success", 3, 4)
        assert 0 < probe["nextSeconds"] <= 4
        await node.delete()
        await node.gone()
        assert node.view("probes") == []
