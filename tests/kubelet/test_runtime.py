"""The simulated runtime through CRI's calls."""

from __future__ import annotations

import pytest

from engine.kubelet.cri import (
    ContainerConfig,
    ContainerEvent,
    ContainerState,
    CriError,
    PodSandboxConfig,
    PodSandboxState,
)
from engine.kubelet.runtime import SimulatedRuntime
from engine.world import World


async def runtime_of(world: World, *, cidr: str = "10.244.0.0/24") -> SimulatedRuntime:
    runtime = SimulatedRuntime(world, node_name="node-1", node_ip="172.18.0.2")
    runtime.cni.configure(cidr)
    return runtime


async def started(runtime: SimulatedRuntime, *command: str, image: str = "busybox:1.36") -> str:
    """The id of a container that was started in a sandbox of its own."""
    await runtime.pull_image(image)
    sandbox = await runtime.run_pod_sandbox(PodSandboxConfig("pod", "uid-1", "default", hostname="pod"))
    container = await runtime.create_container(sandbox, ContainerConfig("c", 0, image, image, command))
    await runtime.start_container(container)
    return container


async def test_a_sandbox_has_an_address_of_the_nodes_range_until_it_is_stopped(world: World) -> None:
    runtime = await runtime_of(world)

    first = await runtime.run_pod_sandbox(PodSandboxConfig("a", "1", "default"))
    host = await runtime.run_pod_sandbox(PodSandboxConfig("b", "2", "default", host_network=True))
    assert (await runtime.pod_sandbox_status(first)).ips == ("10.244.0.2",)
    assert (await runtime.pod_sandbox_status(host)).ips == ("172.18.0.2",)

    await runtime.stop_pod_sandbox(first)
    assert (await runtime.pod_sandbox_status(first)).state == PodSandboxState.NOTREADY
    assert runtime.cni.used() == {}
    await runtime.remove_pod_sandbox(first)
    with pytest.raises(CriError, match="not found"):
        await runtime.pod_sandbox_status(first)


async def test_a_range_can_be_used_up(world: World) -> None:
    runtime = await runtime_of(world, cidr="10.244.0.0/29")
    for number in range(5):
        await runtime.run_pod_sandbox(PodSandboxConfig("a", str(number), "default"))

    with pytest.raises(CriError, match=r"no IP addresses available in range set: 10\.244\.0\.1-10\.244\.0\.6"):
        await runtime.run_pod_sandbox(PodSandboxConfig("a", "6", "default"))


async def test_a_container_runs_and_exits_on_the_model_clock(world: World) -> None:
    runtime = await runtime_of(world)
    events: list[ContainerEvent] = []
    runtime.get_container_events(events.append)

    container = await started(runtime, "sh", "-c", "echo hi; sleep 5; echo bye; exit 3")
    assert (await runtime.container_status(container)).state == ContainerState.RUNNING
    await world.clock.sleep(10)

    status = await runtime.container_status(container)
    assert (status.state, status.exit_code, status.reason) == (ContainerState.EXITED, 3, "Error")
    assert status.started_at is not None
    assert status.finished_at is not None
    assert (status.finished_at - status.started_at).total_seconds() == 5
    log = runtime.log(container)
    assert log is not None
    assert [(line.timestamp[:19], line.stream, line.text) for line in log.read()] == [
        ("2026-01-01T00:00:00", "stdout", "hi"),
        ("2026-01-01T00:00:05", "stdout", "bye"),
    ]
    assert [event.type.value for event in events if not event.sandbox] == [
        "CONTAINER_CREATED_EVENT",
        "CONTAINER_STARTED_EVENT",
        "CONTAINER_STOPPED_EVENT",
    ]


@pytest.mark.parametrize(
    ("image", "command", "code", "seconds"),
    [
        pytest.param("nginx:1.27", (), 0, 0, id="a server ends at once"),
        pytest.param("example.com/app:1", (), 0, 0, id="an unknown image is taken for a server"),
        pytest.param("busybox:1.36", ("sleep", "3600"), 137, 30, id="process 1 without a handler is killed"),
        pytest.param("node:22", ("node", "app.js"), 137, 30, id="node has none either"),
    ],
)
async def test_stopping_sends_sigterm_and_then_sigkill(
    world: World, image: str, command: tuple[str, ...], code: int, seconds: float
) -> None:
    runtime = await runtime_of(world)
    container = await started(runtime, *command, image=image)

    await runtime.stop_container(container, 30)

    assert (await runtime.container_status(container)).exit_code == code
    assert world.clock.monotonic() == seconds


@pytest.mark.parametrize(
    ("image", "code"),
    [
        pytest.param("busybox", 0, id="a shell with no input ends"),
        pytest.param("python:3.13", 0, id="so does an interpreter"),
        pytest.param("hello-world", 0, id="hello-world has said it"),
    ],
)
async def test_images_without_a_server_complete(world: World, image: str, code: int) -> None:
    runtime = await runtime_of(world)

    status = await runtime.container_status(await started(runtime, image=image))

    assert (status.state, status.exit_code, status.reason) == (ContainerState.EXITED, code, "Completed")


async def test_a_program_that_the_image_has_not_fails_the_start(world: World) -> None:
    runtime = await runtime_of(world)

    with pytest.raises(CriError, match=r'exec: "nginxx": executable file not found in \$PATH: unknown'):
        await started(runtime, "nginxx", image="nginx:1.27")

    status = (await runtime.list_containers())[0]
    assert (status.state, status.exit_code, status.reason) == (ContainerState.EXITED, 128, "StartError")


async def test_exec_runs_beside_the_container_and_sees_its_files(world: World) -> None:
    runtime = await runtime_of(world)
    container = await started(runtime, "sh", "-c", "touch /tmp/healthy; sleep 10; rm /tmp/healthy; sleep 600")

    assert (await runtime.exec_sync(container, ["cat", "/tmp/healthy"])).exit_code == 0
    await world.clock.sleep(11)
    gone = await runtime.exec_sync(container, ["cat", "/tmp/healthy"])
    assert (gone.exit_code, gone.stderr) == (1, "cat: can't open '/tmp/healthy': No such file or directory\n")
    with pytest.raises(CriError, match="timeout 1s exceeded"):
        await runtime.exec_sync(container, ["sleep", "5"], 1.0)
    assert world.clock.monotonic() == 12


async def test_ports_answer_while_a_server_listens(world: World) -> None:
    runtime = await runtime_of(world)
    container = await started(runtime, image="nginx:1.27")

    assert runtime.network_probe(container, 80, "/") == ("status", "200")
    assert runtime.network_probe(container, 80, "/healthz") == ("status", "404")
    assert runtime.network_probe(container, 8080)[0] == "refused"
    await runtime.stop_container(container, 30)
    assert runtime.network_probe(container, 80)[0] == "refused"


async def test_removing_a_sandbox_takes_its_containers_along(world: World) -> None:
    runtime = await runtime_of(world)
    container = await started(runtime, "sleep", "3600")
    sandbox = (await runtime.list_pod_sandbox(pod_uid="uid-1"))[0]

    await runtime.remove_pod_sandbox(sandbox.id)

    assert await runtime.list_containers() == []
    assert await runtime.list_pod_sandbox() == []
    assert runtime.log(container) is None


async def test_a_log_keeps_its_newest_lines_and_can_be_read_on(world: World) -> None:
    runtime = await runtime_of(world)
    container = await started(runtime, "sh", "-c", "seq 6000; sleep 1; echo last; sleep 99")
    log = runtime.log(container)
    assert log is not None
    read = log.written
    assert (read, log.read()[0].text, len(log.read())) == (6000, "1001", 5000)
    told: list[str] = []
    stop = log.follow(lambda line: told.append(line.text if line is not None else "end"))
    await world.clock.sleep(2)

    assert [line.text for line in log.read(read)] == ["last"]
    assert told == ["last"]
    await runtime.stop_container(container, 0)
    assert told == ["last", "end"]
    stop()


async def test_nothing_runs_on_a_machine_that_is_off(world: World) -> None:
    runtime = await runtime_of(world)
    container = await started(runtime, "sh", "-c", "while true; do echo tick; sleep 1; done")
    await world.clock.sleep(2.5)
    runtime.power_off()
    log = runtime.log(container)
    assert log is not None
    lines = log.written
    await world.clock.sleep(10)

    assert log.written == lines
