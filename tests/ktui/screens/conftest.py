"""The app on a real cluster in this process, driven by a pilot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

import pytest

from engine.clock import Clock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from engine.world import World
from ktui.app import KtuiApp
from ktui.session import Session
from tests.ktui.screens.driver import Driver


class Show(Protocol):
    def __call__(self, *, size: tuple[int, int] = ...) -> AbstractAsyncContextManager[Driver]: ...


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with Cluster(ClusterConfig(seed=1), clock=Clock(speed=4)) as cluster:
        yield cluster


@pytest.fixture
def session(cluster: Cluster) -> Session:
    return Session(name="default", client=cluster.client(user_agent="ktui"), world=World.create())


@pytest.fixture
def show(session: Session) -> Show:
    """`async with show(size=(120, 40)) as driver: ...`"""

    @asynccontextmanager
    async def show(*, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Driver]:
        app = KtuiApp(session)
        async with app.run_test(size=size, notifications=True) as pilot:
            driver = Driver(app, pilot)
            await driver.until(lambda: app.summary.nodes_ready == 3)
            yield driver

    return show
