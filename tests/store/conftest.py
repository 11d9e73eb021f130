"""The store in both its forms: every test that asks for `store` runs on memory and on a file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.clock import VirtualClock
from engine.rng import Rng
from engine.store import SqliteStore


@pytest.fixture(params=["memory", "file"])
def store_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "store.db" if request.param == "file" else None


@pytest.fixture
async def store(virtual_clock: VirtualClock, store_path: Path | None) -> AsyncIterator[SqliteStore]:
    store = await SqliteStore.open(store_path, clock=virtual_clock, rng=Rng(1))
    yield store
    await store.close()
