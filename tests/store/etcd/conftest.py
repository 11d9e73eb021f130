"""A real etcd for the tests of this folder, and the store on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from engine.clock import Clock
from engine.store import Retention
from engine.store.etcd import EtcdStore
from tests.real_etcd import RealEtcd


@pytest.fixture
def etcd() -> Iterator[RealEtcd]:
    etcd = RealEtcd()
    yield etcd
    etcd.stop()


@pytest.fixture
async def store(etcd: RealEtcd) -> AsyncIterator[EtcdStore]:
    store = await EtcdStore.open([etcd.endpoint], clock=Clock(), retention=Retention(automatic=False))
    yield store
    await store.close()
