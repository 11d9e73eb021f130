"""A Pod from bound to Running and Ready, and all that its status and events say."""

from __future__ import annotations

import asyncio

from engine.api.types import PODS
from engine.world import World
from tests.kubelet.node import running

VOLUME = {"name": "data", "emptyDir": {}}


async def test_with_the_instant_profile_a_pod_runs_without_any_model_time(world: World) -> None:
    async with running(world) as node:
        began = node.now
        await node.run()
        for _ in range(200):
            await asyncio.sleep(0)  # lets the others go on; the clock stands
            if (await node.status()).get("phase") == "Running":
                break

        assert node.now == began
        status = await node.status()
        assert {item["type"]: item["status"] for item in status["conditions"]} == {
            "PodReadyToStartContainers": "True",
            "Initialized": "True",
            "Ready": "True",
            "ContainersReady": "True",
            "PodScheduled": "True",
        }


async def test_the_status_is_complete(world: World) -> None:
    async with running(world) as node:
        resources = {"requests": {"cpu": "100m"}, "limits": {"cpu": "200m"}}
        mount = {"name": "data", "mountPath": "/data"}
        await node.run(
            containers=[{"name": "web", "image": "nginx:1.27", "resources": resources, "volumeMounts": [mount]}],
            volumes=[VOLUME],
            automountServiceAccountToken=False,
        )
        status = await node.ready()

        assert status["phase"] == "Running"
        assert (status["hostIP"], status["hostIPs"]) == ("172.18.0.2", [{"ip": "172.18.0.2"}])
        assert (status["podIP"], status["podIPs"]) == ("10.244.0.2", [{"ip": "10.244.0.2"}])
        assert (status["startTime"], status["qosClass"]) == ("2026-01-01T00:00:01Z", "Burstable")
        assert status["observedGeneration"] == 1
        container = status["containerStatuses"][0]
        assert container["containerID"].startswith("containerd://")
        assert len(container["containerID"]) == len("containerd://") + 64
        assert container["image"] == "docker.io/library/nginx:1.27"
        assert container["imageID"].startswith("docker.io/library/nginx@sha256:")
        assert (container["ready"], container["started"], container["restartCount"]) == (True, True, 0)
        assert (container["state"], container["lastState"]) == (
            {"running": {"startedAt": "2026-01-01T00:00:01Z"}},
            {},
        )
        assert container["allocatedResources"] == {"cpu": "100m"}
        assert container["resources"] == resources
        assert container["volumeMounts"] == [mount]
        assert container["user"] == {"linux": {"gid": 0, "supplementalGroups": [0], "uid": 0}}


async def test_events_have_upstreams_words_and_say_which_container(world: World) -> None:
    async with running(world) as node:
        await node.run("first")
        await node.ready("first")
        await node.run("second")
        await node.ready("second")
        await node.sleep(1)

        assert await node.events("first") == [
            'Pulling: Pulling image "nginx:1.27"',
            'Pulled: Successfully pulled image "nginx:1.27" in 0s (0s including waiting). Image size: 72000000 bytes.',
            "Created: Container created",
            "Started: Container started",
        ]
        assert (await node.events("second"))[0] == (
            'Pulled: Container image "nginx:1.27" already present on machine and can be accessed by the pod'
        )


async def test_host_network_pods_have_the_nodes_address(world: World) -> None:
    async with running(world, pod_cidr="") as node:
        await node.run(hostNetwork=True)

        assert (await node.ready())["podIP"] == "172.18.0.2"


async def test_the_realistic_profile_takes_the_time_of_its_steps(world: World) -> None:
    slow = World.create(clock=world.clock, seed=1, profile="realistic")
    async with running(slow) as node:
        began = node.now
        await node.run()
        await node.ready()

        assert 0.8 < node.now - began < 10
        pulled = await node.said("Successfully pulled")
        assert "in 1." in pulled


async def test_one_node_pulls_one_image_at_a_time(world: World) -> None:
    slow = World.create(clock=world.clock, seed=1, latencies={"image-pull": (2000, 2000)})
    async with running(slow) as node:
        await node.run("a", containers=[{"name": "c", "image": "nginx:1.27"}])
        await node.run("b", containers=[{"name": "c", "image": "redis:7"}])
        await node.sleep(1)
        images = node.view("images")
        assert [(pull["image"], pull["progress"]) for pull in images["pulling"]] == [("nginx:1.27", 0.5)]
        assert [pull["image"] for pull in images["waiting"]] == ["redis:7"]
        await node.ready("b")

        assert "in 2s (4s including waiting)" in await node.said("Successfully pulled", "b")


async def test_a_status_that_is_written_comes_back_and_wakes_nobody(world: World) -> None:
    async with running(world) as node:
        await node.run()
        await node.ready()
        await node.sleep(1)
        syncs = node.view("workers")[0]["syncs"]

        await node.admin.patch(PODS, "web", {"metadata": {"labels": {"a": "b"}}}, namespace="default")
        await node.sleep(1)
        assert node.view("workers")[0]["syncs"] == syncs + 1
        await node.sleep(300)
        assert node.view("workers")[0]["syncs"] == syncs + 1


async def test_a_new_image_restarts_the_container(world: World) -> None:
    async with running(world) as node:
        await node.run()
        await node.ready()
        image = [{"op": "replace", "path": "/spec/containers/0/image", "value": "nginx:1.28"}]
        await node.admin.patch(PODS, "web", image, namespace="default", content_type="application/json-patch+json")

        assert (await node.restarted(1))["image"] == "docker.io/library/nginx:1.28"
        assert "Container web definition changed, will be restarted" in await node.said("Killing")


async def test_logs_are_kept_by_container_and_attempt(world: World) -> None:
    async with running(world) as node:
        script = "echo run; echo oops >&2; sleep 1; exit 1"
        await node.run(containers=[{"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", script]}])
        await node.restarted(1)
        await node.sleep(0.5)

        assert node.logs("web") == ["run", "oops"]
        assert node.logs("web", container="c", previous="true") == ["run", "oops"]
        since = node.view("logs", namespace="default", pod="web", after="1")
        assert ([line["text"] for line in since["lines"]], since["written"], since["closed"]) == (["oops"], 2, False)
        assert node.view("logs", namespace="default", pod="nope") == {
            "error": 'pod "nope" cannot be found - no logs available'
        }


async def test_a_readiness_gate_of_somebody_else_is_waited_for_and_left_alone(world: World) -> None:
    async with running(world) as node:
        await node.run(readinessGates=[{"conditionType": "example.com/gate"}])
        await node.in_phase("Running")
        await node.sleep(1)
        ready = next(item for item in (await node.status())["conditions"] if item["type"] == "Ready")
        assert (ready["status"], ready["reason"], ready["message"]) == (
            "False",
            "ReadinessGatesNotReady",
            'corresponding condition of pod readiness gate "example.com/gate" does not exist.',
        )
        gate = {"type": "example.com/gate", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}
        patch = {"status": {"conditions": [gate]}}
        await node.admin.patch(PODS, "web", patch, namespace="default", subresource="status")
        status = await node.ready()

        assert {**gate, "lastProbeTime": None} in status["conditions"]
