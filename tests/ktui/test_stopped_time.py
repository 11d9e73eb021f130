"""A command that waits for a paused cluster says so on stderr, and nowhere else."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from ktui import stopped_time
from ktui.connect import connect
from ktui.steering import pause, resume
from tests.engine_process import Home


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = Home(tmp_path_factory.mktemp("stopped") / "home")
    yield home.up("--components=apiserver", "--ephemeral").kubeconfig
    home.stop("default")


class Said(io.StringIO):
    """Tells when something was said."""

    def __init__(self) -> None:
        super().__init__()
        self.something = asyncio.Event()

    def write(self, text: str, /) -> int:
        self.something.set()
        return super().write(text)


async def until(event: asyncio.Event) -> int:
    await event.wait()
    return 7


async def at_once() -> int:
    return 7


async def test_what_waits_for_a_paused_cluster_is_told_how_to_go_on(
    kubeconfig: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopped_time, "PATIENCE_SECONDS", 0.01)
    said = Said()
    client = connect(Path(kubeconfig))
    await pause(client)
    assert await stopped_time.told_of(until(said.something), kubeconfig, said) == 7
    assert "the cluster's time is paused" in said.getvalue()
    assert "ktui replace --raw /debug/ktui/clock" in said.getvalue()
    await resume(client)
    await client.close()


async def test_what_waits_for_something_else_is_told_nothing(kubeconfig: str) -> None:
    said = io.StringIO()
    assert await stopped_time.told_of(at_once(), kubeconfig, said) == 7
    assert await stopped_time.told_of(at_once(), "/nowhere/kubeconfig", said) == 7
    assert said.getvalue() == ""
