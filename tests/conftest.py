"""Fixtures that all tests share.

A test that asks for `virtual_clock` (or a fixture that does) runs in an event loop of that clock: model time stands
still while anything can run and jumps to the next timer when nothing can.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from engine.clock import VirtualClock, VirtualEventLoop
from engine.world import World
from tests.real_etcd import ETCD, RealEtcd

pytest_plugins = ("tests.garbage", "tests.longest_first")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "etcd: needs a real etcd; so does what asks for the fixture of that name")


def pytest_report_header() -> str | None:
    return None if ETCD else "tests of a real etcd are left out: there is none (Debian: etcd-server, etcd-client)"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without an etcd, leave out what needs one, as the header says. CI has one (.ci/run): there all of it runs."""
    if ETCD is not None:
        return
    needing = [item for item in items if item.get_closest_marker("etcd") or "etcd" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=needing)
    items[:] = [item for item in items if item not in needing]


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    if "virtual_clock" in getattr(item, "fixturenames", ()):
        return {"virtual": lambda: VirtualClock().new_event_loop()}
    return {"real": asyncio.new_event_loop}


@pytest.fixture
async def virtual_clock() -> AsyncIterator[VirtualClock]:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualEventLoop)
    yield loop.clock
    # A leaked task fails the test that leaked it.
    leaked = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert not leaked, f"tasks left running: {sorted(task.get_name() for task in leaked)}"


@pytest.fixture
def world(virtual_clock: VirtualClock) -> World:
    """A seeded world on the virtual clock, with no simulated latency."""
    return World.create(clock=virtual_clock, seed=1)


@pytest.fixture
def etcd() -> Iterator[RealEtcd]:
    """A real etcd of the test's own."""
    etcd = RealEtcd()
    yield etcd
    etcd.stop()
