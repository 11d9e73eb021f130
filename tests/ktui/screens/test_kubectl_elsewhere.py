"""kubectl's words after `:`, done by a process beside the screen as they are where the engine is one."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import yaml

from engine.client.kubeconfig import document_for, write
from engine.clock import Clock
from engine.cluster import Cluster
from engine.pki import ADMIN
from engine.world import World
from ktui.address import Address
from ktui.connect import connect
from ktui.kubectl_process import KubectlProcess
from ktui.screens.output import Output
from ktui.session import Session
from tests.client.certificates import Authority
from tests.ktui.screens.conftest import Show
from tests.kubectl.served import server_context


@pytest.fixture
async def address(cluster: Cluster, tmp_path: Path) -> Address:
    authority = Authority()
    await cluster.serve(server_context(authority, tmp_path), port=0)
    admin = authority.issue(ADMIN.common_name, ADMIN.organizations[0])
    file = tmp_path / "kubeconfig"
    write(
        file,
        document_for(
            name="test", server=cluster.address, ca=authority.certificate, certificate=admin.certificate, key=admin.key
        ),
    )
    return Address(str(file))


@pytest.fixture
async def session(address: Address) -> AsyncIterator[Session]:
    async def where() -> Address:
        return address

    client = connect(Path(address.kubeconfig))
    yield Session(name="default", client=client, world=World.create(), address=where)
    await client.close()


@pytest.fixture
async def kubectl() -> AsyncIterator[KubectlProcess]:
    process = KubectlProcess(Clock())
    yield process
    await process.close()


class Said(io.StringIO):
    """Both streams of a command, as they come."""

    async def has(self, words: str) -> None:
        while words not in self.getvalue():
            await Clock().sleep(0.01)


def children(module: str) -> list[int]:
    """The processes of this one that run a module."""
    found = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "pid=,args="], capture_output=True, text=True, check=True
    )
    return [int(line.split()[0]) for line in found.stdout.splitlines() if module in line]


async def test_words_streams_and_exit_codes_are_those_of_kubectl(address: Address, kubectl: KubectlProcess) -> None:
    async def do(words: str, namespace: str = "default") -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        code = await kubectl.run(words.split(), address, namespace=namespace, stdout=out, stderr=err)
        return code, out.getvalue(), err.getvalue()

    assert await do("create cm words --from-literal=a=ä€😀") == (0, "configmap/words created\n", "")
    assert await do("get cm words -o jsonpath={.data.a}") == (0, "ä€😀", "")
    assert await do("get cm words", "kube-system") == (
        1, "", 'Error from server (NotFound): configmaps "words" not found\n',
    )  # fmt: skip
    code, out, err = await do("get nonsense")
    assert (code, out, err) == (1, "", 'error: the server doesn\'t have a resource type "nonsense"\n')
    code, out, err = await do("wait --for=delete cm/words --timeout=1s")
    assert (code, out) == (1, "")
    assert err.startswith("error: timed out waiting")
    code, out, err = await do("get cm words --as bob")
    assert err.startswith('Error from server (Forbidden): configmaps "words" is forbidden: User "bob" cannot get')
    assert await do("config current-context") == (0, "kubernetes-admin@test\n", "")
    code, out, err = await do("cluster-info")
    assert out.startswith(f"Kubernetes control plane is running at {address.connection().server}\n")
    assert len(children("ktui.kubectl_worker")) == 1


async def test_both_streams_come_in_the_order_in_which_they_were_written(
    address: Address, kubectl: KubectlProcess
) -> None:
    both = Said()
    data = "".join(f"--from-literal=k{number}={'x' * 60} " for number in range(2_000))
    await kubectl.run(f"create cm long {data}".split(), address, namespace="default", stdout=both, stderr=both)
    code = await kubectl.run(
        ["get", "cm/long", "cm/none", "-o", "yaml"], address, namespace="default", stdout=both, stderr=both
    )
    assert code == 1
    lines = both.getvalue().splitlines()
    assert lines[0] == "configmap/long created"
    assert lines[-1] == 'Error from server (NotFound): configmaps "none" not found'
    assert sum(line.strip().startswith("k") and line.endswith("x" * 60) for line in lines) == 2_000


async def test_several_are_done_beside_one_another_and_one_that_is_left_ends(
    address: Address, kubectl: KubectlProcess
) -> None:
    watched, other = Said(), Said()

    def begin(words: str, said: Said) -> asyncio.Task[int]:
        return asyncio.create_task(
            kubectl.run(words.split(), address, namespace="default", stdout=said, stderr=said), name=words
        )

    watch = begin("get ns -w", watched)
    await watched.has("kube-system")
    assert await begin("create ns seen", other) == 0
    await watched.has("seen")
    watch.cancel()
    await asyncio.gather(watch, return_exceptions=True)
    before = watched.getvalue()
    assert await begin("create ns unseen", other) == 0
    assert watched.getvalue() == before


async def test_a_process_that_is_still_at_what_nobody_waits_for_is_replaced(
    address: Address, kubectl: KubectlProcess
) -> None:
    said = Said()

    async def do(words: str) -> int:
        return await kubectl.run(words.split(), address, namespace="default", stdout=said, stderr=said)

    watch = asyncio.create_task(do("get ns -w"))
    await said.has("kube-system")
    (busy,) = children("ktui.kubectl_worker")
    os.kill(busy, signal.SIGSTOP)  # as one that prints for seconds
    watch.cancel()
    await asyncio.gather(watch, return_exceptions=True)
    assert await do("create ns quick") == 0
    assert len(children("ktui.kubectl_worker")) == 2
    await until(lambda: busy not in children("ktui.kubectl_worker"))
    assert len(children("ktui.kubectl_worker")) == 1


async def test_leaving_ends_all_processes(address: Address) -> None:
    kubectl, said = KubectlProcess(Clock()), Said()
    for _ in range(2):
        watch = asyncio.create_task(
            kubectl.run(["get", "ns", "-w"], address, namespace="default", stdout=said, stderr=said)
        )
        await said.has("kube-system")
        for pid in children("ktui.kubectl_worker"):
            os.kill(pid, signal.SIGSTOP)
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
        said = Said()
    assert len(children("ktui.kubectl_worker")) == 2
    await kubectl.close()
    assert children("ktui.kubectl_worker") == []


async def test_a_process_that_is_killed_says_so_and_the_next_command_has_another(
    address: Address, kubectl: KubectlProcess
) -> None:
    said = Said()

    async def do(words: str) -> int:
        return await kubectl.run(words.split(), address, namespace="default", stdout=said, stderr=said)

    watch = asyncio.create_task(do("get ns -w"))
    await said.has("kube-system")
    os.kill(children("ktui.kubectl_worker")[0], signal.SIGKILL)
    assert await watch == 1
    assert said.getvalue().endswith("error: the process that did this was killed by signal 9\n")
    assert await do("get nodes") == 0


async def test_another_url_than_the_kubeconfigs_stays_where_flags_name_none(
    address: Address, kubectl: KubectlProcess
) -> None:
    """`--attach URL` goes there as whom the kubeconfig says, whatever its server is."""
    server = address.connection().server
    config = yaml.safe_load(await asyncio.to_thread(Path(address.kubeconfig).read_text))
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    write(Path(address.kubeconfig), config)
    attached = Address(address.kubeconfig, server)

    async def do(words: str) -> tuple[int, str]:
        said = Said()
        code = await kubectl.run(words.split(), attached, namespace="default", stdout=said, stderr=said)
        return code, said.getvalue()

    assert await do("get ns default -o name") == (0, "namespace/default\n")
    assert await do("get ns default -o name --as kubernetes-admin --as-group system:masters") == (
        0, "namespace/default\n",
    )  # fmt: skip
    code, said = await do("get ns --context kubernetes-admin@test")
    assert code == 1
    assert said.splitlines()[-1].startswith("The connection to the server 127.0.0.1:1 was refused")


def test_it_ends_with_the_screen() -> None:
    process = subprocess.Popen([sys.executable, "-m", "ktui.kubectl_worker"], stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait() == 0


async def test_a_pane_shows_what_it_prints_and_leaving_it_ends_the_command(show: Show) -> None:
    async with show(size=(120, 40)) as driver:
        await driver.command("get nodes -o name")
        await driver.until(lambda: isinstance(driver.app.screen, Output))
        await driver.sees("node/node-1", "✓ done")
        await driver.press("escape")
        await driver.command("get events -A -w")
        await driver.sees("◐ running")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.app.window)
        await driver.command("delete cm nothing")
        await driver.sees('configmaps "nothing" not found', "✖ exit code 1")
        worker = children("ktui.kubectl_worker")
        assert len(worker) == 1
    assert children("ktui.kubectl_worker") == []


async def test_an_engine_that_did_not_start_is_what_a_pane_says(show: Show, session: Session) -> None:
    async def nowhere() -> Address:
        raise ConnectionError("the port is in use")

    async with show(size=(120, 40)) as driver:
        session.address = nowhere
        await driver.command("get nodes")
        await driver.sees("error: the port is in use", "✖ exit code 1")


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await Clock().sleep(0.01)
