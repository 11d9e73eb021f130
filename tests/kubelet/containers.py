"""A container of an image on a runtime of its own, without a kubelet."""

from __future__ import annotations

from collections.abc import Mapping

from engine.kubelet.cri import ContainerConfig, Mount, PodSandboxConfig
from engine.kubelet.runtime import SimulatedRuntime
from engine.world import World


async def started(
    world: World,
    image: str,
    *command: str,
    args: tuple[str, ...] = (),
    memory: str = "",
    envs: Mapping[str, str] | None = None,
    mounts: tuple[Mount, ...] = (),
) -> tuple[SimulatedRuntime, str]:
    runtime = SimulatedRuntime(world, node_name="node-1", node_ip="172.18.0.2")
    runtime.cni.configure("10.244.0.0/24")
    await runtime.pull_image(image)
    sandbox = await runtime.run_pod_sandbox(PodSandboxConfig("pod", "uid-1", "default", hostname="pod"))
    resources = {"limits": {"memory": memory}} if memory else {}
    config = ContainerConfig("c", 0, image, image, command, args, envs=envs or {}, resources=resources, mounts=mounts)
    container = await runtime.create_container(sandbox, config)
    await runtime.start_container(container)
    return runtime, container


def logged(runtime: SimulatedRuntime, container: str) -> list[str]:
    log = runtime.log(container)
    assert log is not None
    return [line.text for line in log.read()]
