"""The store on a real etcd, for the tests of this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from engine.clock import Clock
from engine.store import Retention
from engine.store.etcd import EtcdStore
from tests.real_etcd import RealEtcd


@pytest.fixture
async def store(etcd: RealEtcd) -> AsyncIterator[EtcdStore]:
    store = await EtcdStore.open([etcd.endpoint], clock=Clock(), retention=Retention(automatic=False))
    yield store
    await store.close()
