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
