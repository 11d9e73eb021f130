"""The engine's garbage is collected when it is at rest."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Iterator

import pytest

from ktui.engine_collector import AGAIN_SECONDS, LATEST_SECONDS, REST_SECONDS, RestingCollector


class Knot:
    """An object that only the collector can free."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture(autouse=True)
def by_hand() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def ticks(collector: RestingCollector, *, busy: bool, seconds: int, start: float) -> float:
    for second in range(seconds):
        collector.tick(start + second, (start + second) * 0.5 if busy else 0.0)
    return start + seconds


def test_garbage_goes_when_the_engine_rests_and_not_while_it_works() -> None:
    collector = RestingCollector()
    lost = weakref.ref(Knot())
    now = ticks(collector, busy=True, seconds=int(AGAIN_SECONDS) + 10, start=time.monotonic())
    assert lost() is not None
    now = ticks(collector, busy=False, seconds=int(REST_SECONDS) + 3, start=now)
    assert lost() is None
    again = weakref.ref(Knot())
    ticks(collector, busy=False, seconds=int(AGAIN_SECONDS) - 10, start=now)
    assert again() is not None


def test_an_engine_that_never_rests_collects_its_garbage_once_an_hour() -> None:
    collector = RestingCollector()
    lost = weakref.ref(Knot())
    now = ticks(collector, busy=True, seconds=int(LATEST_SECONDS) - 10, start=time.monotonic())
    assert lost() is not None
    ticks(collector, busy=True, seconds=20, start=now)
    assert lost() is None
