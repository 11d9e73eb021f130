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

    def told(self, events: list[Event]) -> list[Event]:
        """etcd before 3.5.18 may lose a deletion at the compacted revision itself (etcd #19179)."""
        compacted = self.model.compacted
        return [event for event in events if event.type != "DELETE" or event.kv.mod_revision != compacted]

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
