"""What has changed in etcd, as it comes: the stream of all revisions, the newest of them kept in memory.

One watch of the whole key space feeds every watcher of this process. So revisions come without a gap, each with its
cause; how far the stream is says how far every watcher is, and needs no progress requests (which etcd 3.4 answers ahead
of the events before them). What is older than memory holds is read again from etcd.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from aetcd import rpc
from grpc import StatusCode
from grpc.aio import AioRpcError

from engine.store.etcd.connection import DEADLINE, Connection
from engine.store.etcd.errors import translated
from engine.store.etcd.translation import CAUSE_KEY, key_value
from engine.store.index import Change, Revision
from engine.store.types import CompactedError

KEPT_REVISIONS = 10_000
KEPT_BYTES = 32 << 20
READ_AHEAD = 1000  # revisions that a watcher that is behind reads at once


class Recent:
    """The newest revisions, without a gap; `first` is the oldest of them."""

    def __init__(self, revision: int) -> None:
        self.first = revision + 1
        self._revisions: deque[Revision] = deque()
        self._bytes = 0

    def keep(self, revisions: Iterable[Revision]) -> None:
        for revision in revisions:
            self._revisions.append(revision)
            self._bytes += _size(revision)
        while self._revisions and (len(self._revisions) > KEPT_REVISIONS or self._bytes > KEPT_BYTES):
            self._bytes -= _size(self._revisions.popleft())
            self.first += 1

    def get(self, revision: int) -> Revision | None:
        found = list(self.since(revision, 1))
        return found[0] if found else None

    def since(self, first: int, count: int) -> Iterator[Revision]:
        """Up to `count` revisions from one that is kept on."""
        at = first - self.first
        return islice(self._revisions, at, at + count) if at >= 0 else iter(())


def _size(revision: Revision) -> int:
    return sum(len(change.kv.key) + len(change.kv.value) for change in revision.changes) * 2 + 500


def revisions_of(events: Iterable[Any]) -> list[Revision]:
    """The events of whole revisions, in order, each revision with its cause."""
    changes: dict[int, list[Change]] = {}
    causes: dict[int, str] = {}
    for event in events:
        kv = event.kv
        found = changes.setdefault(kv.mod_revision, [])
        if kv.key == CAUSE_KEY:
            causes[kv.mod_revision] = kv.value.decode(errors="replace")
        else:
            found.append(Change(key_value(kv), key_value(event.prev_kv) if event.HasField("prev_kv") else None))
    return [Revision(revision, causes.get(revision, ""), found) for revision, found in changes.items()]


def everything(start: int) -> Any:
    return rpc.WatchCreateRequest(key=b"\0", range_end=b"\0", start_revision=start, prev_kv=True)


async def read(connection: Connection, first: int, last: int) -> list[Revision]:
    """Revisions from `first` to `last`, which are committed. Raises CompactedError, StoreUnavailableError."""
    found: list[Revision] = []
    first = max(first, 2)  # an empty etcd is at revision 1: nothing made it
    if last < first:
        return found
    try:
        async with connection.watch(everything(first), deadline=DEADLINE) as responses:
            async for response in responses:
                check_compacted(response)
                found += revisions_of(response.events)
                if found and found[-1].revision >= last:
                    break
    except AioRpcError as error:
        raise translated(error, connection.endpoints) from error
    return [revision for revision in found if revision.revision <= last]


async def compact_revision(connection: Connection) -> int:
    """The compacted revision, 0 if there is none. Raises StoreUnavailableError.

    Ranges say only that a revision is compacted, a watch from there also which one was.
    """
    try:
        await connection.call("kv", "Range", rpc.RangeRequest(key=CAUSE_KEY, revision=1, count_only=True), reading=True)
    except CompactedError:
        pass
    else:
        return 0
    try:
        async with connection.watch(everything(1), deadline=DEADLINE) as responses:
            async for response in responses:
                check_compacted(response)
    except CompactedError as compacted:
        return compacted.compact_revision
    except AioRpcError as error:
        raise translated(error, connection.endpoints) from error
    return 0


def check_compacted(response: Any) -> None:
    """Raises CompactedError, or AioRpcError for a watch that etcd ended for another reason."""
    if response.compact_revision:
        raise CompactedError(response.compact_revision)
    if response.canceled:
        raise AioRpcError(StatusCode.UNAVAILABLE, (), (), details=response.cancel_reason)
