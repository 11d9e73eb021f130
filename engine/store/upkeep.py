"""Upkeep of the log, in small steps: compaction, checkpoints of the WAL, the history that memory holds, the quota.

What is compacted is refused to readers at once; the rows go step by step between the batches, each step within a
time budget, so that no writer waits for more than a few milliseconds. Under a virtual clock the steps are of one size,
so that a run can be repeated. Nothing runs while nobody writes and nothing is left to do.
"""

from __future__ import annotations

import asyncio
import logging

from engine.clock import Clock, wall
from engine.store import log_compaction
from engine.store.committer import Committer, Proposal
from engine.store.index import Index, Revision
from engine.store.journal import Journal
from engine.store.quieting import QuietHistory, quiet_step
from engine.store.retention import Retention, RetentionKeeper
from engine.store.types import StoreError
from engine.store.watch import WatchHub
from engine.tasks import Supervisor

_log = logging.getLogger(__name__)

NOSPACE = "NOSPACE"
_BUDGET = 0.001  # seconds of this machine for one step of a compaction, whose pages the next commit must sync too
_STEP = 100  # rows of the log, or revisions in memory
_INDEX_STEP = 400  # rows; about 1 ms
_MIN_STEP, _MAX_STEP = 25, 1000
_PRESSURE = 0.8  # of the quota, from which history is given up before its time
_RELIEF_STEP = 0.01  # of the room that there is, that must be written from one early compaction to the next
_RELIEF = 0.95  # of the quota, below which the alarm is over
MEMORY_REVISIONS = 10_000  # as many as memory holds where the log has them too


class Upkeep:
    def __init__(
        self,
        index: Index,
        journal: Journal | None,
        *,
        hub: WatchHub,
        quiet: QuietHistory,
        committer: Committer,
        tasks: Supervisor,
        clock: Clock,
        retention: Retention,
        quota: int,
    ) -> None:
        self.quota = quota
        self.alarms: list[str] = []
        self.compactions = 0
        self.longest_step = 0.0
        self._index = index
        self._journal = journal
        self._hub = hub
        self._quiet = quiet
        self._quieting: dict[bytes, None] = {}  # prefixes whose history is on its way out
        self._committer = committer
        self._tasks = tasks
        self._clock = clock
        self._retention = retention
        self._keeper = RetentionKeeper(retention, clock, revision=index.revision)
        self._step = _STEP
        self._relieved = 0  # bytes that had been written at the last automatic compaction
        self._working = False
        self._compacting = hub.compact_revision > 0  # a compaction that the last process did not finish
        self._asked = hub.compact_revision
        self._awaited: list[asyncio.Future[None]] = []

    @property
    def in_use(self) -> int:
        """Bytes of data: of the file without its free pages, or of memory."""
        if self._journal is not None:
            return self._journal.in_use
        return self._index.live_bytes + self._index.history_bytes

    def after_commit(self, revisions: list[Revision]) -> None:
        """Called with every batch, once it is visible."""
        if revisions:
            self._keeper.note(revisions)
            self._trim_memory(len(revisions))
            self._watch_space()
        journal = self._journal
        due = journal is not None and (journal.index_due or journal.checkpoint_due(gently=False))
        if due or self._compacting or self._quieting:
            self.work()

    def compacted(self) -> None:
        """The compacted revision has been raised: its rows are to go."""
        self.compactions += 1
        self._compacting = True

    async def compaction_done(self) -> None:
        """Wait until what was compacted is gone. Raises StoreError if that cannot go on now."""
        while self._compacting:
            self.work()  # it may have stopped before we came to wait for it
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._awaited.append(done)
            await done

    async def disarm(self) -> list[str]:
        """Forget the alarms, and look whether there is still a reason for one; those that there were."""
        alarms = list(self.alarms)
        self.alarms.clear()
        if self._journal is not None:
            await self._journal.measure()
        self._watch_space()
        return alarms

    def _trim_memory(self, count: int) -> None:
        if self._journal is None:
            return
        target = self._index.revision - MEMORY_REVISIONS
        if self._index.history_bytes > self._retention.memory:
            target = self._index.revision
        target = min(target, self._journal.indexed_revision)
        if target > self._index.floor:
            self._index.raise_floor(target, 2 * count + 16)

    def _watch_space(self) -> None:
        in_use, revision, compacted = self.in_use, self._index.revision, max(self._asked, self._hub.compact_revision)
        if in_use > self.quota and not self.alarms:
            _log.warning("the store holds %d bytes, more than its quota of %d: writes are refused", in_use, self.quota)
            self.alarms.append(NOSPACE)
        pressed = self._pressed(in_use)
        target = self._keeper.target(revision, compacted, pressed=pressed, alarmed=bool(self.alarms))
        for prefix, edge in self._keeper.quiet_targets.items():
            if edge > self._quiet.revisions.get(prefix, 0):
                self._quiet.revisions[prefix] = edge  # refused to readers at once
                self._quieting[prefix] = None
        self._keeper.quiet_targets.clear()
        if target > compacted:
            self._asked, self._relieved = target, self._index.written_bytes
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            done.add_done_callback(_retrieve)
            self._committer.submit(Proposal(done, compact_revision=target))

    def _pressed(self, in_use: int) -> bool:
        """Whether history must go before its time; not again before the last compaction has shown its effect."""
        retention = self._retention
        room = retention.disk if self._journal is not None else retention.memory
        written = self._index.written_bytes - self._relieved
        if self._compacting or written < min(self.quota, room) * _RELIEF_STEP:
            return False
        return in_use - self._index.live_bytes > room or in_use > self.quota * _PRESSURE

    # -- the work

    def work(self) -> None:
        """Go on with what is left to do."""
        if not self._working:
            self._working = True
            self._tasks.spawn(self._run(), "upkeep")

    async def _run(self) -> None:
        try:
            while await self._work_step():
                await self._clock.sleep(0)
        except StoreError as error:
            _log.warning("upkeep of the store stopped until the next write: %s", error)
            self._give_up(error)
        finally:
            self._working = False

    async def _work_step(self) -> bool:
        """One step; says whether there may be another."""
        journal = self._journal
        if journal is not None and journal.checkpoint_due(gently=self._compacting or bool(self._quieting)):
            await journal.checkpoint()
            return True
        if journal is not None and journal.index_due:
            await journal.run(lambda connection: journal.index_step(connection, _INDEX_STEP))
            return True
        if self._quieting:
            prefix = next(iter(self._quieting))
            if await self._quiet_step(prefix):
                self._quieting.pop(prefix, None)
            return True
        if self._compacting:
            self._compacting = not await self._compact_step()
            if not self._compacting:
                await self._compaction_done()
            return True
        return False

    async def _compact_step(self) -> bool:
        size = self._step
        if self._journal is None:
            began = wall()
            return self._note((self._index.raise_floor(self._hub.compact_revision, size), wall() - began))
        return self._note(await self._journal.timed(lambda connection: log_compaction.compact_step(connection, size)))

    async def _quiet_step(self, prefix: bytes) -> bool:
        size, target = self._step, self._quiet.revisions[prefix]
        if self._journal is None:
            began = wall()
            return self._note((self._index.quiet(target, size, prefix=prefix), wall() - began))
        return self._note(await self._journal.timed(lambda connection: quiet_step(connection, prefix, target, size)))

    def _note(self, step: tuple[bool, float]) -> bool:
        """Adapt the size of the next step to what this one took; says whether it was the last."""
        done, took = step
        self.longest_step = max(self.longest_step, took)
        if self._clock.mode != "virtual":
            if took > _BUDGET:
                self._step = max(_MIN_STEP, self._step // 2)
            elif took < _BUDGET / 2:
                self._step = min(_MAX_STEP, self._step * 2)
        return done

    async def _compaction_done(self) -> None:
        if self._journal is not None:
            await self._journal.measure()
        if self.alarms and self.in_use < self.quota * _RELIEF:
            _log.warning("the store is below its quota again: writes go on")
            self.alarms.clear()
        for waiting in self._take_awaited():
            waiting.set_result(None)

    def _give_up(self, error: StoreError) -> None:
        """What waits for the end of a compaction must not wait for the next write."""
        for waiting in self._take_awaited():
            waiting.set_exception(error)

    def _take_awaited(self) -> list[asyncio.Future[None]]:
        awaited, self._awaited = self._awaited, []
        return [waiting for waiting in awaited if not waiting.done()]


def _retrieve(done: asyncio.Future[None]) -> None:
    """Nobody waits for an automatic compaction; one that failed is asked for again by a later batch."""
    if not done.cancelled() and isinstance(error := done.exception(), StoreError):
        _log.debug("automatic compaction: %s", error)
