"""The SQLite store as seen through a simulated quorum: writes take the quorum's time, and fail without one.

Reads of the newest state ask the leader, as etcd's linearizable reads do; without one the API server answers from its
watch caches.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from engine.latency import Latency
from engine.store.inspection import LogEntry, RecentTxn, WatcherInfo
from engine.store.members import Alarm, HashedMember, Identity, Member, Registered, registered, troubles
from engine.store.quorum.raft import NO_LEADER, Quorum
from engine.store.sqlite import SqliteStore
from engine.store.types import (
    Compare,
    Operation,
    Range,
    RangeResponse,
    StoreStatus,
    TxnResponse,
    Watcher,
    WatchFilter,
)


class QuorumStore:
    """See the module. `latency` books the quorum's time to the span of the write."""

    def __init__(self, inner: SqliteStore, quorum: Quorum, latency: Latency) -> None:
        self.quorum = quorum
        inner.leasing.may_expire = lambda: quorum.leader is not None
        self._inner = inner
        self._latency = latency

    # -- what a quorum decides

    async def _commit(self) -> None:
        """Return once a majority would have the entry on disk. Raises StoreUnavailableError."""
        deadline = self.quorum.deadline()
        while True:
            proposal = await self.quorum.propose(deadline)
            if proposal.seconds > 0:
                await self._latency.wait(proposal.seconds)
            if self.quorum.committed(proposal):
                return
            # Its leader was lost on the way, and the entry with it: the next leader is asked, within the same time.

    async def txn(
        self,
        compare: Sequence[Compare],
        success: Sequence[Operation],
        failure: Sequence[Operation] = (),
        *,
        cause: str = "",
    ) -> TxnResponse:
        await self._commit()
        return await self._inner.txn(compare, success, failure, cause=cause)

    async def compact(self, revision: int, *, physical: bool = False) -> None:
        await self._commit()
        await self._inner.compact(revision, physical=physical)

    async def lease_grant(self, ttl: int, lease_id: int = 0) -> int:
        await self._commit()
        return await self._inner.lease_grant(ttl, lease_id)

    async def lease_keep_alive(self, lease_id: int) -> int:
        self.quorum.check_leader()
        return await self._inner.lease_keep_alive(lease_id)

    async def lease_revoke(self, lease_id: int) -> None:
        await self._commit()
        await self._inner.lease_revoke(lease_id)

    async def range(self, request: Range) -> RangeResponse:
        self.quorum.check_leader()
        return await self._inner.range(request)

    # -- what one member answers alone

    @property
    def revision(self) -> int:
        return self._inner.revision

    @property
    def compact_revision(self) -> int:
        return self._inner.compact_revision

    async def watch(
        self,
        key: bytes,
        range_end: bytes = b"",
        *,
        start_revision: int = 0,
        prev_kv: bool = False,
        filters: Collection[WatchFilter] = (),
    ) -> Watcher:
        return await self._inner.watch(key, range_end, start_revision=start_revision, prev_kv=prev_kv, filters=filters)

    async def cause(self, revision: int) -> str:
        return await self._inner.cause(revision)

    async def lease_time_to_live(self, lease_id: int) -> tuple[int, int, list[bytes]]:
        return await self._inner.lease_time_to_live(lease_id)

    async def leases(self) -> list[int]:
        return await self._inner.leases()

    async def snapshot(self, file: Path) -> None:
        await self._inner.snapshot(file)

    async def defrag(self) -> None:
        await self._inner.defrag()

    async def close(self) -> None:
        self.quorum.close()
        await self._inner.close()

    # -- what is shown

    def identity(self) -> Identity:
        answering = self.quorum.leader or self.quorum.members[0]
        return Identity(self._inner.identity().cluster_id, answering.id, self.quorum.term)

    async def status(self) -> StoreStatus:
        status = await self._inner.status()
        status.details["quorum"] = self.quorum.describe()
        return status

    async def members(self) -> list[Member]:
        status, quorum = await self._inner.status(), self.quorum
        described = quorum.describe()
        shown: list[dict[str, Any]] = described["members"]
        leader = quorum.leader
        return [
            Member(
                name=member.name,
                endpoint=f"simulated://{member.name}",
                id=member.id,
                version=status.version,
                leader_id=leader.id if leader is not None and member in quorum.voters() else 0,
                raft_term=quorum.term,
                raft_index=member.match_index,
                applied_index=min(member.match_index, described["commitIndex"]),
                db_size=status.db_size,
                db_size_in_use=status.db_size_in_use,
                errors=(*troubles(self.identity().member_id, status), *_troubles(details, led=leader is not None)),
                simulated=True,
                details=details,
            )
            for member, details in zip(quorum.members, shown, strict=True)
        ]

    async def member_list(self) -> list[Registered]:
        """As the leader has it: without one, etcd has no answer either."""
        self.quorum.check_leader()
        return [registered(member) for member in await self.members()]

    async def move_leader(self, member_id: int) -> None:
        self.quorum.move_leader(member_id)

    async def hash_kv(self, revision: int) -> list[HashedMember]:
        """Members keep nothing of their own: those that run agree."""
        (found,) = await self._inner.hash_kv(revision)
        return [
            found._replace(endpoint=f"simulated://{member.name}", member_id=member.id)
            if member.running
            else HashedMember(f"simulated://{member.name}", member.id, 0, 0, "stopped")
            for member in self.quorum.members
        ]

    async def disarm(self) -> list[Alarm]:
        await self._commit()
        return await self._inner.disarm()

    def watchers(self) -> list[WatcherInfo]:
        return self._inner.watchers()

    async def log(self, after: int = 0, limit: int = 500) -> list[LogEntry]:
        return await self._inner.log(after, limit)

    def recent_txns(self) -> list[RecentTxn]:
        return self._inner.recent_txns()


def _troubles(details: dict[str, Any], *, led: bool) -> tuple[str, ...]:
    if not details["running"]:
        return ("stopped",)
    return (NO_LEADER,) if details["state"] == "candidate" or not led else ()
