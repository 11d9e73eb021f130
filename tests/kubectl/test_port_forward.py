"""`port-forward` as it ends, in process: the rest is in `tests/conformance/test_streams.py`, by the real kubectl."""

from __future__ import annotations

import asyncio
import io
import re
from pathlib import Path

import pytest

from engine.api.types import PODS, SERVICE_ACCOUNTS
from engine.kubectl.main import run
from tests.apiserver.conftest import account, pod
from tests.kubectl.oracle import ours, real
from tests.kubectl.served import served


class Stopping(io.StringIO):
    """What is printed to; stops the command when it has taken a connection."""

    def __init__(self) -> None:
        super().__init__()
        self.command: asyncio.Task[int] | None = None
        self.port: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def write(self, text: str) -> int:
        if (found := re.search(r"127\.0\.0\.1:(\d+) -> 80", text)) and not self.port.done():
            self.port.set_result(int(found[1]))
        if text.startswith("Handling connection") and self.command is not None:
            self.command.cancel()
        return super().write(text)


async def test_a_connection_that_was_taken_as_it_ended_is_closed(tmp_path: Path) -> None:
    async with served(tmp_path) as server, asyncio.timeout(60):
        await server.client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
        made = await server.client.create(PODS, pod(), namespace="default")
        await server.client.update_status(PODS, {**made, "status": {**made["status"], "phase": "Running"}})
        out = Stopping()
        forwarding = run("port-forward pod/web :80", client=server.client, stdin=io.StringIO(), stdout=out, stderr=out)
        out.command = asyncio.create_task(forwarding)
        reader, writer = await asyncio.open_connection("127.0.0.1", await out.port)
        with pytest.raises(asyncio.CancelledError):
            await out.command
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()


REFUSED = (
    "70000",
    "70000:80",
    ":70000",
    "80:0",
    "x:80",
    "-- -1:80",
    ":http",
    "80:",
    "1:80 --address=nope",
    "1:80 --address=localhost,",
)


async def test_ports_and_addresses_that_cannot_be(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        await server.client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
        made = await server.client.create(PODS, pod(), namespace="default")
        await server.client.update_status(PODS, {**made, "status": {**made["status"], "phase": "Running"}})
        different = {}
        for words in REFUSED:
            told = [await by(f"port-forward web {words}", kubeconfig=server.kubeconfig) for by in (real, ours)]
            if told[0] != told[1] or told[0].code != 1:
                different[words] = told
        assert not different
        nowhere = await ours("port-forward web 1:80 2:81 --address=9.9.9.9", kubeconfig=server.kubeconfig)
    why = "bind: cannot assign requested address]"
    assert nowhere.stderr.splitlines() == [
        f"Unable to listen on port {port}: Listeners failed to create with the following errors: [unable to create "
        f"listener: Error listen tcp4 9.9.9.9:{port}: {why}"
        for port in (1, 2)
    ] + ["error: unable to listen on any of the requested ports: [{1 80} {2 81}]"]
