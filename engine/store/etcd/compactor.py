"""Compacts etcd now and then, as each API server does (apiserver pkg/storage/etcd3/compact.go).

Where upstream keeps five minutes, this keeps the history that people look at. Several processes on one etcd compact by
the same rule; whoever comes second finds it done.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Protocol

from engine.clock import Clock
from engine.store.retention import Retention
from engine.store.types import CompactedError, StoreError

_log = logging.getLogger(__name__)

INTERVAL = 300.0  # --etcd-compaction-interval


class Compactable(Protocol):
    @property
    def revision(self) -> int: ...

    async def compact(self, revision: int) -> None: ...


class Compactor:
    def __init__(self, store: Compactable, clock: Clock, retention: Retention) -> None:
        self._store = store
        self._clock = clock
        self._retention = retention
        self._marks: deque[tuple[float, int]] = deque([(clock.monotonic(), store.revision)])

    async def run(self) -> None:
        while True:
            await self._clock.sleep(INTERVAL)
            self._marks.append((self._clock.monotonic(), self._store.revision))
            target = self._target()
            if target:
                await self._compact(target)

    def _target(self) -> int:
        """The newest revision that is old enough and followed by enough others, 0 for none."""
        now, target = self._clock.monotonic(), 0
        while self._marks:
            at, revision = self._marks[0]
            enough = self._store.revision - revision >= self._retention.revisions
            if now - at < self._retention.period or not enough:
                break
            target = revision
            self._marks.popleft()
        return target

    async def _compact(self, revision: int) -> None:
        try:
            await self._store.compact(revision)
        except CompactedError:
            pass
        except StoreError as error:
            _log.warning("cannot compact etcd at revision %d: %s", revision, error)
