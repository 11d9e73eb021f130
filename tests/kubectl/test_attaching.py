"""What waits for a container to talk to, while there is none: what it says, and how it is ended from outside."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.api.types import PODS
from engine.kubectl.errors import InterruptedWaiting
from engine.kubectl.main import run
from tests.kubectl.oracle import ours
from tests.kubectl.served import Served, served

SETTING = """
apiVersion: v1
kind: ServiceAccount
metadata: {name: default}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: nginx}]}
"""
WHY = "Back-off pulling image"


class Heard(io.StringIO):
    """A stream that tells once it was written to."""

    def __init__(self) -> None:
        super().__init__()
        self.written = asyncio.Event()

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as made:
        assert (await ours("create -f -", client=made.client, stdin=SETTING)).code == 0
        yield made


async def test_debug_says_why_its_container_does_not_start_until_it_is_interrupted(server: Served) -> None:
    pod = await server.client.get(PODS, "p", namespace="default")
    waits = {"name": "d", "state": {"waiting": {"reason": "ImagePullBackOff", "message": WHY}}}
    await server.client.update_status(PODS, {**pod, "status": {"ephemeralContainerStatuses": [waits]}})
    out, err = io.StringIO(), Heard()
    words = "debug p --image=nope -c d -i"
    task = asyncio.ensure_future(run(words, client=server.client, stdout=out, stderr=err, environment={}))
    async with asyncio.timeout(60):
        await err.written.wait()
    task.cancel()
    with pytest.raises(InterruptedWaiting):
        await task
    assert err.getvalue() == f"Warning: container d: {WHY}\n"
