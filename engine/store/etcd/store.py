"""A real etcd behind the store's contract.

Data flow: reads, transactions and leases are calls to etcd; what changes comes back in one stream (`history`), which
feeds the watchers of this process through the same hub that the SQLite store has. Several processes on one etcd see the
same revisions, each with its cause. Leases run on etcd's clock, whatever the model's does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from aetcd import rpc
from grpc.aio import AioRpcError

from engine.clock import Clock
from engine.store.etcd import history, maintenance, translation
from engine.store.etcd.compactor import Compactor
from engine.store.etcd.connection import DEADLINE, RECONNECT, Connection, EtcdTls, rest
from engine.store.etcd.errors import translated
from engine.store.etcd.translation import CAUSE_KEY, Branch, range_requests, range_response
from engine.store.etcd.watcher import EtcdWatcher
from engine.store.evaluation import check_request
from engine.store.index import Change, Revision
from engine.store.inspection import LogEntry, RecentTxn, Recorder, WatcherInfo, entries, watcher_info
from engine.store.members import Alarm, HashedMember, Identity, Member, Registered
from engine.store.retention import Retention
from engine.store.types import (
    CompactedError,
    Compare,
    DeleteRange,
    DeleteRangeResponse,
    KeyValue,
    LeaseNotFoundError,
    Operation,
    Put,
    Range,
    RangeResponse,
    StoreError,
    StoreStatus,
    StoreUnavailableError,
    TxnResponse,
    WatchFilter,
)
from engine.store.watch import WatchHub
from engine.tasks import Supervisor

_log = logging.getLogger(__name__)

START_DEADLINE = 5.0


class EtcdStore:
    """See the module; made by `open`, ended by `close`."""

    def __init__(
        self, connection: Connection, *, header: Any, compacted: int, clock: Clock, retention: Retention
    ) -> None:
        self._connection = connection
        self._closed = False
        self._identity = Identity(header.cluster_id, header.member_id, header.raft_term)
        self._revision: int = header.revision
        self._tasks = Supervisor("store")
        self._recent = history.Recent(header.revision)
        self._hub = WatchHub(header.revision, compacted, self._read_revisions)
        self._recorder = Recorder()
        self._unseen: list[tuple[int, Callable[[], None]]] = []
        self._following = True
        self._tasks.spawn(self._follow(), "follow")
        if retention.automatic:
            self._tasks.spawn(Compactor(self, clock, retention).run(), "compact")

    @classmethod
    async def open(
        cls,
        endpoints: Sequence[str],
        *,
        clock: Clock,
        tls: EtcdTls | None = None,
        retention: Retention | None = None,
    ) -> EtcdStore:
        """Connect. Raises StoreError, which says what is wrong and what to do about it."""
        connection = Connection(endpoints, tls)
        try:
            look = rpc.RangeRequest(key=CAUSE_KEY, count_only=True)
            try:
                header = (await connection.call("kv", "Range", look, reading=True, deadline=START_DEADLINE)).header
                compacted = await history.compact_revision(connection)
            except StoreUnavailableError as error:
                raise StoreError(f"{error}. Start etcd, or name where it runs with --etcd-endpoints") from error
            return cls(connection, header=header, compacted=compacted, clock=clock, retention=retention or Retention())
        except BaseException:
            await connection.close()
            raise

    @property
    def revision(self) -> int:
        return self._revision

    @property
    def compact_revision(self) -> int:
        return self._hub.compact_revision

    def identity(self) -> Identity:
        return self._identity

    # -- calls

    async def _call(self, service: str, method: str, request: Any, *, reading: bool = False) -> Any:
        if self._closed:
            raise StoreError("etcdserver: server stopped")
        try:
            response = await self._connection.call(service, method, request, reading=reading)
        except CompactedError:
            raise await self._compacted() from None
        self._note(response.header)
        return response

    def _note(self, header: Any) -> None:
        self._identity = Identity(header.cluster_id, header.member_id, header.raft_term)
        self._revision = max(self._revision, header.revision)

    async def _compacted(self) -> CompactedError:
        """The error for a revision that etcd has compacted, with which one it was."""
        found = await history.compact_revision(self._connection)
        self._hub.compact_revision = max(self._hub.compact_revision, found)
        return CompactedError(self._hub.compact_revision)

    async def range(self, request: Range) -> RangeResponse:
        requests = range_requests(request)
        if len(requests) == 1:
            response = await self._call("kv", "Range", requests[0], reading=True)
            return range_response(request, [response], response.header.revision)
        both = rpc.TxnRequest(success=[rpc.RequestOp(request_range=part) for part in requests])
        response = await self._call("kv", "Txn", both, reading=True)
        parts = [part.response_range for part in response.responses]
        return range_response(request, parts, response.header.revision)

    async def txn(
        self,
        compare: Sequence[Compare],
        success: Sequence[Operation],
        failure: Sequence[Operation] = (),
        *,
        cause: str = "",
    ) -> TxnResponse:
        check_request(compare, success, failure)
        branches = (Branch(success, cause), Branch(failure, cause))
        request = rpc.TxnRequest(
            compare=[translation.compare(condition) for condition in compare],
            success=branches[0].requests,
            failure=branches[1].requests,
        )
        answer = await self._call("kv", "Txn", request)
        branch, operations = (branches[0], success) if answer.succeeded else (branches[1], failure)
        revision = answer.header.revision
        responses = branch.decode(answer.responses, revision)
        made = _made(operations, responses, revision, cause)
        self._recorder.record(revision, made, succeeded=answer.succeeded, compare=compare, cause=cause)
        return TxnResponse(answer.succeeded, revision, responses)

    async def compact(self, revision: int, *, physical: bool = False) -> None:
        await self._call("kv", "Compact", rpc.CompactionRequest(revision=revision, physical=physical))
        self._hub.compact_revision = max(self._hub.compact_revision, revision)

    async def cause(self, revision: int) -> str:
        kept = self._recent.get(revision)
        if kept is not None:
            return kept.cause
        if not 1 < revision <= self._revision:
            return ""
        try:
            response = await self._call("kv", "Range", rpc.RangeRequest(key=CAUSE_KEY, revision=revision), reading=True)
        except CompactedError:
            return ""
        return next((kv.value.decode() for kv in response.kvs if kv.mod_revision == revision), "")

    # -- leases

    async def lease_grant(self, ttl: int, lease_id: int = 0) -> int:
        return int((await self._call("lease", "LeaseGrant", rpc.LeaseGrantRequest(TTL=ttl, ID=lease_id))).ID)

    async def lease_keep_alive(self, lease_id: int) -> int:
        stubs = self._connection.stubs
        call = stubs.lease.LeaseKeepAlive(timeout=DEADLINE)
        try:
            await call.write(rpc.LeaseKeepAliveRequest(ID=lease_id))
            ttl = int((await call.read()).TTL)
        except AioRpcError as error:
            self._connection.failed(stubs, error)
            raise translated(error, stubs.endpoint) from error
        finally:
            call.cancel()
        if ttl <= 0:
            raise LeaseNotFoundError
        return ttl

    async def lease_revoke(self, lease_id: int) -> None:
        await self._call("lease", "LeaseRevoke", rpc.LeaseRevokeRequest(ID=lease_id))

    async def lease_time_to_live(self, lease_id: int) -> tuple[int, int, list[bytes]]:
        request = rpc.LeaseTimeToLiveRequest(ID=lease_id, keys=True)
        response = await self._call("lease", "LeaseTimeToLive", request, reading=True)
        return response.TTL, response.grantedTTL, sorted(response.keys)

    async def leases(self) -> list[int]:
        """The ids of all leases, in the order in which they end."""
        response = await self._call("lease", "LeaseLeases", rpc.LeaseLeasesRequest(), reading=True)
        return [lease.ID for lease in response.leases]

    # -- watching

    async def watch(
        self,
        key: bytes,
        range_end: bytes = b"",
        *,
        start_revision: int = 0,
        prev_kv: bool = False,
        filters: Collection[WatchFilter] = (),
    ) -> EtcdWatcher:
        start = start_revision or self._revision + 1
        watcher = self._hub.add(key, range_end, start_revision=start, prev_kv=prev_kv, filters=filters)
        return EtcdWatcher(watcher, lambda: self._when_seen(watcher.request_progress))

    def _when_seen(self, tell: Callable[[], None]) -> None:
        """Tell once the stream has brought all that this process knows to be committed."""
        if self._hub.revision >= self._revision:
            tell()
        else:
            self._unseen.append((self._revision, tell))

    async def _follow(self) -> None:
        while True:
            try:
                await self._follow_once()
            except CompactedError as error:
                await self._overtaken(error.compact_revision)
            except (AioRpcError, StoreError) as error:
                if self._following:
                    self._following = False
                    _log.warning("etcd at %s: lost the watch: %s", self._connection.endpoints, error_text(error))
            await rest(RECONNECT)

    async def _follow_once(self) -> None:
        async with self._connection.watch(history.everything(self._hub.revision + 1)) as responses:
            async for response in responses:
                history.check_compacted(response)
                if not self._following:
                    self._following = True
                    _log.warning("etcd at %s: watching again", self._connection.endpoints)
                if revisions := history.revisions_of(response.events):
                    self._publish(revisions)

    def _publish(self, revisions: list[Revision]) -> None:
        self._recent.keep(revisions)
        self._hub.publish(revisions)
        self._revision = max(self._revision, self._hub.revision)
        due = [tell for revision, tell in self._unseen if revision <= self._hub.revision]
        self._unseen = [(revision, tell) for revision, tell in self._unseen if revision > self._hub.revision]
        for tell in due:
            tell()

    async def _overtaken(self, compacted: int) -> None:
        """Etcd has let go of revisions that no watcher here has seen: all must begin anew."""
        _log.warning("etcd has compacted revision %d before it was seen here", compacted)
        try:
            await self._call("kv", "Range", rpc.RangeRequest(key=CAUSE_KEY, count_only=True), reading=True)
        except StoreError:
            return
        hub = self._hub
        hub.compact_revision = max(hub.compact_revision, compacted)
        for watcher in hub.watchers():
            if watcher.synced:
                watcher.synced = False
                watcher.next_revision = hub.revision + 1
            watcher.wake()
        hub.revision = self._revision
        self._recent = history.Recent(self._revision)

    async def _read_revisions(self, first: int, interval: tuple[bytes, bytes | None]) -> tuple[int, list[Revision]]:
        """What a watcher that is behind reads, from memory or again from etcd."""
        last = min(first + history.READ_AHEAD - 1, self._hub.revision)
        if first >= self._recent.first:
            return last, list(self._recent.since(first, history.READ_AHEAD))
        try:
            found = await history.read(self._connection, first, last)
        except CompactedError as error:
            self._hub.compact_revision = max(self._hub.compact_revision, error.compact_revision)
            raise
        return last, found

    # -- upkeep and what is shown

    async def status(self) -> StoreStatus:
        self._hub.compact_revision = max(self._hub.compact_revision, await history.compact_revision(self._connection))
        found = await self._call("maintenance", "Status", rpc.StatusRequest(), reading=True)
        counted = await self.range(Range(b"\0", b"\0", count_only=True))
        return StoreStatus(
            backend="etcd",
            version=found.version,
            revision=counted.revision,
            compact_revision=self.compact_revision,
            db_size=found.dbSize,
            db_size_in_use=found.dbSizeInUse,
            keys=counted.count,
            alarms=await maintenance.alarms(self._connection),
            details={
                "endpoints": [stubs.endpoint for stubs in self._connection.all],
                "following": self._following,
                "seen_revision": self._hub.revision,
                "memory_floor": self._recent.first,
                "txns": self._recorder.decided,
                "failed_compares": self._recorder.failed_compares,
                "watchers": len(self._hub),
                "raft_term": found.raftTerm,
                "raft_index": found.raftIndex,
            },
        )

    async def members(self) -> list[Member]:
        """The members behind the endpoints, as each tells of itself."""
        return [await maintenance.member(stubs) for stubs in self._connection.all]

    async def member_list(self) -> list[Registered]:
        return await maintenance.member_list(self._connection)

    async def move_leader(self, member_id: int) -> None:
        await maintenance.move_leader(self._connection, member_id)

    async def hash_kv(self, revision: int) -> list[HashedMember]:
        return [await maintenance.hash_kv(stubs, revision) for stubs in self._connection.all]

    async def disarm(self) -> list[Alarm]:
        return await maintenance.disarm(self._connection)

    def watchers(self) -> list[WatcherInfo]:
        """The open watches of this process."""
        return [watcher_info(watcher) for watcher in self._hub.watchers()]

    async def log(self, after: int = 0, limit: int = 500) -> list[LogEntry]:
        """What up to `limit` revisions after one did, oldest first; from the compacted revision on."""
        first = max(after + 1, self.compact_revision, 2)
        found: list[Revision] = []
        while first <= self._hub.revision and len(found) < limit:
            last, revisions = await self._read_revisions(first, (b"", None))
            found += revisions
            first = last + 1
        return entries(found[:limit])

    def recent_txns(self) -> list[RecentTxn]:
        """The last transactions of this process, oldest first, those that changed nothing included."""
        return self._recorder.recent()

    async def snapshot(self, file: Path) -> None:
        """Write etcd's own snapshot, for `etcdutl snapshot restore`. Raises StoreError if `file` is there."""
        await maintenance.snapshot(self._connection, file)

    async def defrag(self) -> None:
        """Defragment every member that is named, one after the other."""
        await maintenance.defrag(self._connection)

    async def close(self) -> None:
        """End the watches, let go of the connection."""
        if self._closed:
            return
        self._closed = True
        self._hub.close()
        await self._tasks.close()
        await self._connection.close()


def _made(operations: Sequence[Operation], responses: Sequence[Any], revision: int, cause: str) -> Revision | None:
    """The revision that a transaction made, as far as its operations tell: None if it changed nothing."""
    keys = [
        operation.key
        for operation, response in zip(operations, responses, strict=True)
        if isinstance(operation, Put)
        or (isinstance(operation, DeleteRange) and isinstance(response, DeleteRangeResponse) and response.deleted)
    ]
    changes = [Change(KeyValue(key, b"", 0, revision, 0), None) for key in keys]
    return Revision(revision, cause, changes) if changes else None


def error_text(error: AioRpcError | StoreError) -> str:
    return str(translated(error, "its endpoint")) if isinstance(error, AioRpcError) else str(error)
