"""redis-cli in a container of Redis, as the tutorial on configuring Redis with a ConfigMap uses it."""

from __future__ import annotations

import pytest

from engine.disks import Volume
from engine.kubelet.cri import Mount
from engine.kubelet.runtime import SimulatedRuntime
from engine.kubelet.runtime.shell import Call, Io, start
from engine.kubelet.runtime.shell.process import Input, Machine
from engine.world import World
from tests.kubelet.containers import started
from tests.kubelet.shells import EPOCH

CONFIG = "# as the tutorial has it\nmaxmemory 2mb\nmaxmemory-policy allkeys-lru\n"
FILE = "/redis-master/redis.conf"


async def serving(world: World, *words: str, config: str = CONFIG) -> tuple[SimulatedRuntime, str, Volume]:
    volume = Volume({"redis.conf": config})
    mount = Mount("/redis-master", "/volumes/config", volume=volume)
    runtime, container = await started(world, "redis:8.0.2", "redis-server", *words, mounts=(mount,))
    return runtime, container, volume


@pytest.mark.parametrize(
    ("started_with", "command", "said", "code"),
    [
        pytest.param((FILE,), "CONFIG GET maxmemory", "maxmemory\n2097152\n", 0, id="a size"),
        pytest.param((FILE,), "config get MAXMEMORY-*", "maxmemory-policy\nallkeys-lru\n", 0, id="a pattern"),
        pytest.param((FILE, "--maxmemory", "1gb", "--save", "60", "1"), "CONFIG GET maxmemory save",
                     "maxmemory\n1073741824\nsave\n60 1\n", 0, id="the command line counts more"),
        pytest.param((), "CONFIG GET maxmemory", "maxmemory\n0\n", 0, id="the usual"),
        pytest.param((), "CONFIG GET nothing", "\n", 0, id="no such parameter"),
        pytest.param((), "GET key", "ERR ktui simulates no data of this server: 'GET'\n\n", 1, id="data"),
    ],
)  # fmt: skip
async def test_a_server_tells_its_configuration(
    world: World, started_with: tuple[str, ...], command: str, said: str, code: int
) -> None:
    runtime, container, _ = await serving(world, *started_with)

    ran = await runtime.exec_sync(container, ["redis-cli", *command.split()])

    assert (ran.stdout, ran.stderr, ran.exit_code) == (said, "", code)


async def test_a_file_that_changes_means_nothing_to_a_server_that_runs(world: World) -> None:
    """As the tutorial goes on to show: the Pod must be started anew."""
    runtime, container, volume = await serving(world, FILE, config="")
    volume["redis.conf"] = CONFIG

    ran = await runtime.exec_sync(container, ["redis-cli", "CONFIG", "GET", "maxmemory"])

    assert ran.stdout == "maxmemory\n0\n"


def test_commands_are_typed_at_a_prompt() -> None:
    out: list[str] = []
    machine = Machine("pod", lambda: EPOCH, lambda: 0.0, listening={6379}, programs=frozenset({"redis-cli"}))
    typed = Input()
    process = start(Call(machine, ["redis-cli"], Io(out.append, out.append, None, typed, tty=True), {}))
    assert not isinstance(process, int)
    next(process)
    typed.feed("CONFIG GET maxmemory\nping\n\n")
    process.send(None)
    typed.feed("get x\nexit\n")
    with pytest.raises(StopIteration) as ended:
        process.send(None)

    assert ended.value.value == 0
    prompt = "127.0.0.1:6379> "
    assert "".join(out) == (
        f'{prompt}1) "maxmemory"\n2) "0"\n{prompt}PONG\n{prompt}{prompt}'
        f"(error) ERR ktui simulates no data of this server: 'get'\n{prompt}"
    )
