"""The same random operations as on the SQLite store, on a real etcd: both agree with the model, so with one another."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import rule, run_state_machine_as_test

from engine.clock import Clock
from engine.store import Event, Retention
from engine.store.etcd import EtcdStore
from tests.real_etcd import RealEtcd
from tests.store.test_model import ShownStore, StoreMachine


class EtcdMachine(StoreMachine):
    on_disk = False
    first_told = 1  # a compaction at 1 takes nothing away that anyone could see
    in_order = False

    def set_up(self) -> None:
        self.clock = Clock()
        self.runner = asyncio.Runner()
        self.etcd = RealEtcd()

    async def open(self) -> ShownStore:
        return await EtcdStore.open([self.etcd.endpoint], clock=self.clock, retention=Retention(automatic=False))

    def may_lose(self, event: Event) -> bool:
        """An etcd without PR #18274 loses a deletion at the compacted revision itself (etcd issue #18089)."""
        return event.type == "DELETE" and event.kv.mod_revision == self.model.compacted

    @rule()
    def reconnect(self) -> None:
        self.do(self.store.close())
        self.watchers.clear()
        self.store = self.do(self.open())

    def teardown(self) -> None:
        self.do(self.store.close())
        self.etcd.stop()
        super().teardown()


@pytest.mark.etcd
def test_a_real_etcd_does_as_the_model() -> None:
    run_state_machine_as_test(
        EtcdMachine,
        settings=settings(
            max_examples=20,
            stateful_step_count=40,
            deadline=None,
            phases=(Phase.explicit, Phase.reuse, Phase.generate),  # shrinking on real servers takes too long
            suppress_health_check=list(HealthCheck),
        ),
    )
