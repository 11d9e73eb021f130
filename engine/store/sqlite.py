"""The store: etcd's semantics over an in-memory index and, where it has a file, a SQLite revision log.

Data flow of a write: decided against the draft (`evaluation`), committed in a group (`committer`, `journal`), applied
to the index, published to the watchers, acknowledged. Reads answer from the index; what is older than memory holds
comes from the log.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from engine.clock import Clock
from engine.rng import Rng
from engine.store import log, log_compaction, snapshot
from engine.store.committer import Committer, Proposal
from engine.store.draft import Draft
from engine.store.evaluation import Decision, decide
from engine.store.hashing import hash_of
from engine.store.index import Index, Revision
from engine.store.inspection import (
    LogEntry,
    RecentTxn,
    Recorder,
    WatcherInfo,
    commit_figures,
    shown,
    watcher_info,
)
from engine.store.journal import Journal
from engine.store.leases import Lease, LeaseChange, Lessor
from engine.store.leasing import Leasing
from engine.store.members import (
    BAD_TRANSFEREE,
    Alarm,
    HashedMember,
    Identity,
    Member,
    Registered,
    hashed_id,
    registered,
    sole_member,
)
from engine.store.quieting import QuietHistory, quiet_revisions
from engine.store.reading import Reader
from engine.store.retention import Retention
from engine.store.types import (
    CompactedError,
    Compare,
    FutureRevisionError,
    NoSpaceError,
    Operation,
    Put,
    Range,
    RangeResponse,
    StoreError,
    StoreStatus,
    TxnResponse,
    WatchFilter,
)
from engine.store.upkeep import Upkeep
from engine.store.watch import StoreWatcher, WatchHub
from engine.tasks import Supervisor

QUOTA = 2 << 30  # etcd --quota-backend-bytes


class SqliteStore:
    """See the module; made by `open`, ended by `close`."""

    def __init__(
        self, journal: Journal | None, loaded: log.Loaded, *, clock: Clock, rng: Rng, quota: int, retention: Retention
    ) -> None:
        self._clock = clock
        self._closed = False
        self._journal = journal
        self._store_id = loaded.store_id or hashed_id(rng.seed, rng.name)
        self._tasks = Supervisor("store")
        self._index = Index(loaded.revision)
        self._index.load(loaded.kvs)
        self._draft = Draft(self._index)
        self._quiet = QuietHistory(quiet_revisions(loaded.meta))
        self._reader = Reader(self._index, journal, self._quiet, compacted=lambda: self.compact_revision)
        self._hub = WatchHub(loaded.revision, loaded.compact_revision, self._reader.revisions)
        self._lessor = Lessor(clock, self._expire)
        self._recorder = Recorder()
        self._committer = Committer(journal, self._tasks, apply=self._apply, refuse=self._refuse)
        self.leasing = Leasing(
            self._lessor, self._draft, rng, lambda revision, lease: self._submit(revision, lease=lease)
        )
        self._upkeep = Upkeep(
            self._index,
            journal,
            hub=self._hub,
            quiet=self._quiet,
            committer=self._committer,
            tasks=self._tasks,
            clock=clock,
            retention=retention,
            quota=quota,
        )
        for lease in loaded.leases:
            self._lessor.apply(lease)
        for kv in loaded.kvs:
            if kv.lease:
                self._lessor.attach_key(kv.lease, kv.key)

    @classmethod
    async def open(
        cls,
        path: Path | None,
        *,
        clock: Clock,
        rng: Rng | None = None,
        quota: int = QUOTA,
        retention: Retention | None = None,
    ) -> SqliteStore:
        """Open the log file, made if it is not there; None keeps everything in memory only.

        Raises StoreError, which says what is wrong with the file and what to do about it.
        """
        rng = rng or Rng()
        journal = None
        loaded = log.Loaded(0, 1, 0, [], [], {})
        if path is not None:
            inline = clock.mode == "virtual"
            journal, loaded = await Journal.open(path, inline=inline, store_id=rng.bits(62))
        return cls(journal, loaded, clock=clock, rng=rng, quota=quota, retention=retention or Retention())

    @property
    def revision(self) -> int:
        return self._index.revision

    @property
    def compact_revision(self) -> int:
        return self._hub.compact_revision

    # -- reading

    async def range(self, request: Range) -> RangeResponse:
        return await self._reader.range(request)

    def mod_revision(self, key: bytes) -> int:
        kv = self._index.current.get(key)
        return kv.mod_revision if kv is not None else 0

    async def cause(self, revision: int) -> str:
        return await self._reader.cause(revision)

    async def watch(
        self,
        key: bytes,
        range_end: bytes = b"",
        *,
        start_revision: int = 0,
        prev_kv: bool = False,
        filters: Collection[WatchFilter] = (),
    ) -> StoreWatcher:
        return self._hub.add(key, range_end, start_revision=start_revision, prev_kv=prev_kv, filters=filters)

    # -- writing

    async def txn(
        self,
        compare: Sequence[Compare],
        success: Sequence[Operation],
        failure: Sequence[Operation] = (),
        *,
        cause: str = "",
    ) -> TxnResponse:
        self._check_open()
        if self._upkeep.alarms and any(type(operation) is Put for operation in (*success, *failure)):
            raise NoSpaceError
        decision = decide(
            self._draft,
            self._lessor,
            compare,
            success=success,
            failure=failure,
            cause=cause,
            compacted=self._hub.compact_revision,
        )
        revision = self._draft.revision
        self._recorder.record(revision, decision.revision, succeeded=decision.succeeded, compare=compare, cause=cause)
        if decision.revision is not None or self._committer.busy:
            await self._submit(decision.revision)
        if decision.historic:
            await self._answer_historic(decision)
        return TxnResponse(decision.succeeded, revision, decision.responses)

    async def _answer_historic(self, decision: Decision) -> None:
        for position, request in decision.historic:
            found = await self.range(request)
            decision.responses[position] = replace(found, revision=decision.responses[position].revision)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("etcdserver: server stopped")

    def _submit(
        self, revision: Revision | None = None, *, lease: LeaseChange | None = None, compact_revision: int = 0
    ) -> asyncio.Future[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._committer.submit(Proposal(done, revision=revision, lease=lease, compact_revision=compact_revision))
        return done

    def _apply(self, proposals: list[Proposal]) -> None:
        """These are durable: make them visible."""
        revisions: list[Revision] = []
        for proposal in proposals:
            revision = proposal.revision
            if revision is not None:
                self._index.apply(revision)
                self._draft.settle(revision)
                self._lessor.attach(revision.changes)
                revisions.append(revision)
            if proposal.lease is not None:
                self._lessor.apply(proposal.lease)
            if proposal.compact_revision:
                self._hub.compact_revision = max(self._hub.compact_revision, proposal.compact_revision)
                self._upkeep.compacted()
        if revisions:
            self._hub.publish(revisions)
        self._upkeep.after_commit(revisions)

    def _refuse(self, proposals: list[Proposal]) -> None:
        """These are not durable: forget that they were decided."""
        self._draft.reset()
        for proposal in proposals:
            if proposal.lease is not None and not proposal.lease.ttl:
                self._lessor.revocation_failed(proposal.lease.id)

    # -- leases

    async def lease_grant(self, ttl: int, lease_id: int = 0) -> int:
        self._check_open()
        if self._upkeep.alarms:
            raise NoSpaceError
        return await self.leasing.grant(ttl, lease_id)

    async def lease_keep_alive(self, lease_id: int) -> int:
        return self.leasing.keep_alive(lease_id)

    async def lease_revoke(self, lease_id: int) -> None:
        self._check_open()
        await self.leasing.revoke(lease_id)

    def _expire(self, lease: Lease) -> None:
        if not self._closed:
            self.leasing.expire(lease)

    async def lease_time_to_live(self, lease_id: int) -> tuple[int, int, list[bytes]]:
        return self.leasing.time_to_live(lease_id)

    async def leases(self) -> list[int]:
        """The ids of all leases, in the order in which they end."""
        return self._lessor.ids()

    # -- upkeep

    async def compact(self, revision: int, *, physical: bool = False) -> None:
        """Let go of the history before a revision; returns once that is decided for good, with `physical` only once
        its rows are gone.

        Raises CompactedError, FutureRevisionError.
        """
        self._check_open()
        if revision <= self.compact_revision:
            raise CompactedError(self.compact_revision)
        if revision > self._index.revision:
            raise FutureRevisionError
        await self._submit(compact_revision=revision)
        if physical:
            await self._upkeep.compaction_done()

    async def status(self) -> StoreStatus:
        journal, index, committer = self._journal, self._index, self._committer
        commits = list(committer.recent)
        return StoreStatus(
            backend="sqlite" if journal is not None else "memory",
            version=sqlite3.sqlite_version,
            revision=index.revision,
            compact_revision=self.compact_revision,
            db_size=journal.on_disk if journal is not None else self._upkeep.in_use,
            db_size_in_use=self._upkeep.in_use,
            keys=len(index),
            alarms=list(self._upkeep.alarms),
            details={
                "file": str(journal.path) if journal is not None else "",
                "quota": self._upkeep.quota,
                "batches": committer.batches,
                "failed_batches": committer.failures,
                "last_error": committer.last_error,
                "refusing": committer.refusing,
                "txns": self._recorder.decided,
                "failed_compares": self._recorder.failed_compares,
                "compactions": self._upkeep.compactions,
                "longest_compaction_step_ms": round(self._upkeep.longest_step * 1000, 3),
                "memory_floor": index.floor,
                "quiet_revisions": {shown(prefix): revision for prefix, revision in self._quiet.revisions.items()},
                "leases": len(self._lessor),
                "watchers": len(self._hub),
                **commit_figures(commits),
            },
        )

    def identity(self) -> Identity:
        return Identity(hashed_id("cluster", self._store_id), hashed_id("member", self._store_id), 1)

    async def members(self) -> list[Member]:
        """The one there is: this store."""
        return [sole_member(self.identity(), await self.status())]

    async def member_list(self) -> list[Registered]:
        return [registered(member) for member in await self.members()]

    async def disarm(self) -> list[Alarm]:
        self._check_open()
        return [Alarm(self.identity().member_id, name) for name in await self._upkeep.disarm()]

    async def move_leader(self, member_id: int) -> None:
        if member_id != self.identity().member_id:
            raise StoreError(BAD_TRANSFEREE)

    async def hash_kv(self, revision: int) -> list[HashedMember]:
        """Of the key-values as they stood: what a compaction lets go of does not change it."""
        (member,) = await self.members()
        try:
            found = await self.range(Range(b"\0", b"\0", revision=revision))
        except StoreError as error:
            return [HashedMember(member.endpoint, member.id, 0, 0, str(error))]
        hashed = await hash_of(found.kvs, self._clock)
        return [HashedMember(member.endpoint, member.id, hashed, self.compact_revision or -1)]

    def watchers(self) -> list[WatcherInfo]:
        """The open watches."""
        return [watcher_info(watcher) for watcher in self._hub.watchers()]

    async def log(self, after: int = 0, limit: int = 500) -> list[LogEntry]:
        """The log's rows of up to `limit` revisions after one, oldest first."""
        return await self._reader.log(after, limit)

    def recent_txns(self) -> list[RecentTxn]:
        """The last transactions that were decided, oldest first, those that changed nothing included."""
        return self._recorder.recent()

    async def snapshot(self, file: Path) -> None:
        """Write a store file that can be opened in place of this one. Raises StoreError if `file` is there."""
        if self._journal is not None:
            await snapshot.of_journal(self._journal, file)
        else:
            compacted, leases = self.compact_revision, self._lessor.changes()
            snapshot.of_memory(self._index, file, compact_revision=compacted, quiet=self._quiet, leases=leases)

    async def defrag(self) -> None:
        """Give the space of what was compacted back to the file system; writes wait meanwhile, as etcd's do."""
        self._check_open()
        if self._journal is not None:
            await self._journal.run(log_compaction.defrag)
            await self._journal.measure()

    async def close(self) -> None:
        """Commit what was decided, end the watches, let go of the file."""
        if self._closed:
            return
        self._closed = True
        self._lessor.close()
        await self._committer.settled()
        self._hub.close()
        await self._tasks.close()
        if self._journal is not None:
            await self._journal.close()
