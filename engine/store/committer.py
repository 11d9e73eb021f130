"""Group commit: decided transactions go to the journal in order, many at a time, and are acknowledged after.

While one batch is on its way to the disk, the next gathers. If a commit fails, so does everything that was decided
on top of it. There is no task and no timer while nobody writes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from engine.store.index import Revision
from engine.store.journal import Journal
from engine.store.leases import LeaseChange
from engine.store.log import Batch
from engine.store.types import StoreUnavailableError
from engine.tasks import Supervisor

_log = logging.getLogger(__name__)

MAX_BATCH = 256  # proposals: what is applied in the loop at once stays far below 5 ms


class Proposal:
    """A decided write, or a read that has seen decided writes; `done` is set once those are durable."""

    __slots__ = ("compact_revision", "done", "lease", "revision")

    def __init__(
        self,
        done: asyncio.Future[None],
        *,
        revision: Revision | None = None,
        lease: LeaseChange | None = None,
        compact_revision: int = 0,
    ) -> None:
        self.done = done
        self.revision = revision
        self.lease = lease
        self.compact_revision = compact_revision


class Commit(NamedTuple):
    """One batch as it was committed, for the debug endpoints. `seconds` are this machine's."""

    first_revision: int
    revisions: int
    changes: int
    seconds: float


class Committer:
    """`apply` takes a durable batch, `refuse` is told of those that are not and that their decisions are void."""

    def __init__(
        self,
        journal: Journal | None,
        tasks: Supervisor,
        *,
        apply: Callable[[list[Proposal]], None],
        refuse: Callable[[list[Proposal]], None],
    ) -> None:
        self.recent: deque[Commit] = deque(maxlen=256)
        self.batches = 0
        self.failures = 0
        self.last_error = ""
        self.refusing = ""  # why the newest commit failed; "" once one has succeeded again
        self._journal = journal
        self._tasks = tasks
        self._apply = apply
        self._refuse = refuse
        self._pending: deque[Proposal] = deque()
        self._flushing = False
        self._idle = asyncio.Event()
        self._idle.set()

    def submit(self, proposal: Proposal) -> None:
        self._pending.append(proposal)
        if self._flushing:
            return
        self._flushing = True
        self._idle.clear()
        # Not now, but when all that can run in this turn of the loop has added its writes.
        if self._journal is None or self._journal.inline:
            asyncio.get_running_loop().call_soon(self._flush)
        else:
            self._tasks.spawn(self._drain(self._journal), "commit")

    @property
    def busy(self) -> bool:
        """Whether there are decided writes that are not yet durable."""
        return self._flushing

    async def settled(self) -> None:
        """Wait until all that was submitted is durable or refused."""
        await self._idle.wait()

    # -- the two ways to commit

    def _flush(self) -> None:
        proposals = self._take()
        batch = _batch(proposals)
        try:
            seconds = self._journal.write_now(batch) if self._journal is not None else 0.0
        except Exception as error:
            self._fail(proposals, error)
        else:
            self._succeed(proposals, batch, seconds)
        if self._pending:
            asyncio.get_running_loop().call_soon(self._flush)
        else:
            self._rest()

    async def _drain(self, journal: Journal) -> None:
        try:
            while self._pending:
                proposals = self._take()
                batch = _batch(proposals)
                try:
                    seconds = await journal.write(batch)
                except Exception as error:
                    self._fail(proposals, error)
                else:
                    self._succeed(proposals, batch, seconds)
        finally:
            self._rest()

    def _rest(self) -> None:
        self._flushing = False
        self._idle.set()

    def _take(self) -> list[Proposal]:
        if len(self._pending) <= MAX_BATCH:
            proposals = list(self._pending)
            self._pending.clear()
            return proposals
        return [self._pending.popleft() for _ in range(MAX_BATCH)]

    def _succeed(self, proposals: list[Proposal], batch: Batch, seconds: float) -> None:
        self.batches += 1
        if self.refusing:
            _log.warning("writes are durable again")
            self.refusing = ""
        if batch.revisions:
            changes = sum(len(revision.changes) for revision in batch.revisions)
            first = batch.revisions[0].revision
            self.recent.append(Commit(first, len(batch.revisions), changes, seconds))
        try:
            self._apply(proposals)
        except Exception:
            # A bug: what is durable could not be shown. Nobody may be left waiting, nor told that it went well.
            self._answer([*proposals, *self._pending], "etcdserver: internal error, see the log")
            self._pending.clear()
            raise
        for proposal in proposals:
            if not proposal.done.done():
                proposal.done.set_result(None)

    def _fail(self, proposals: list[Proposal], error: Exception) -> None:
        if not isinstance(error, StoreUnavailableError):
            _log.error("a commit failed", exc_info=error)
        elif not self.refusing:
            _log.warning("writes are refused: %s", error)
        self.failures += 1
        self.last_error = self.refusing = str(error)
        void = [*proposals, *self._pending]
        self._pending.clear()
        self._refuse(void)
        self._answer(void, str(error))

    @staticmethod
    def _answer(proposals: list[Proposal], refusal: str) -> None:
        for proposal in proposals:
            if not proposal.done.done():
                proposal.done.set_exception(StoreUnavailableError(refusal))


def _batch(proposals: list[Proposal]) -> Batch:
    return Batch(
        [proposal.revision for proposal in proposals if proposal.revision is not None],
        [proposal.lease for proposal in proposals if proposal.lease is not None],
        max(proposal.compact_revision for proposal in proposals),
    )
