"""Ranges and histories of the SQLite store: from the index where memory holds them, else from the log.

What is compacted while it is read is refused in the end: the log's rows go in small steps.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.store import log
from engine.store.evaluation import check_range, check_revision
from engine.store.index import Index, Revision, arrange, bounds, more
from engine.store.inspection import LogEntry, entries
from engine.store.journal import Journal
from engine.store.quieting import QuietHistory
from engine.store.types import CompactedError, KeyValue, Range, RangeResponse

_NEWEST = Range(b"")[1:]
_READ_AHEAD = 1000  # revisions that an unsynced watcher reads at once


class Reader:
    """`compacted` tells the compacted revision as it is now."""

    def __init__(
        self, index: Index, journal: Journal | None, quiet: QuietHistory, *, compacted: Callable[[], int]
    ) -> None:
        self._index = index
        self._journal = journal
        self._quiet = quiet
        self._compacted = compacted

    async def range(self, request: Range) -> RangeResponse:
        """Raises StoreError, CompactedError, FutureRevisionError."""
        index, revision = self._index, request.revision
        if request.key and request[1:] == _NEWEST:  # one object as it is now, as each write asks for several
            kv = index.current.get(request.key)
            return RangeResponse(index.revision, [] if kv is None else [kv], False, 0 if kv is None else 1)
        check_range(request)
        if revision > 0:
            check_revision(revision, newest=index.revision, compacted=self._compacted())
            self._quiet.check_state(bounds(request.key, request.range_end), revision)
        if revision <= 0 or revision >= index.floor or self._journal is None:
            kvs, count = index.range(request)
        else:
            kvs, count = arrange(await self._from_log(self._journal, request), request)
        return RangeResponse(index.revision, kvs, more(request, count), count)

    async def _from_log(self, journal: Journal, request: Range) -> list[KeyValue]:
        interval = bounds(request.key, request.range_end)
        kvs = await journal.read(
            lambda connection: log.range_at(connection, journal.path, interval=interval, revision=request.revision)
        )
        self._check_kept(request.revision)
        self._quiet.check_state(interval, request.revision)
        return kvs

    def _check_kept(self, revision: int) -> None:
        if revision < (compacted := self._compacted()):
            raise CompactedError(compacted)

    async def cause(self, revision: int) -> str:
        record = self._index.revision_record(revision)
        if record is not None:
            return record.cause
        if self._journal is None or not 1 < revision <= self._index.revision:
            return ""
        return await self._journal.read(lambda connection: log.cause(connection, revision))

    async def revisions(self, first: int, interval: tuple[bytes, bytes | None]) -> tuple[int, list[Revision]]:
        """What a watcher that is behind reads: up to `_READ_AHEAD` revisions, from memory or from the log."""
        self._quiet.check_changes(interval, first)
        found = await self._kept(first, interval)
        self._quiet.check_changes(interval, first)  # not let go of while it was read
        return found

    async def _kept(self, first: int, interval: tuple[bytes, bytes | None]) -> tuple[int, list[Revision]]:
        """As `revisions`, of quiet keys what there still is."""
        index, journal = self._index, self._journal
        last = min(first + _READ_AHEAD - 1, index.revision)
        if first >= index.oldest or journal is None:
            return last, index.revisions(first, _READ_AHEAD)
        last = min(last, index.oldest - 1)
        found = await journal.read(
            lambda connection: log.revisions(connection, journal.path, first=first, last=last, interval=interval)
        )
        self._check_kept(first)
        return last, found

    async def log(self, after: int, limit: int) -> list[LogEntry]:
        """The log's rows of up to `limit` revisions after one, oldest first; from the compacted revision on.

        Of quiet keys those that there still are.
        """
        first = max(after + 1, self._compacted(), 2)
        if first > self._index.revision:
            return []
        found: list[Revision] = []
        while first <= self._index.revision and len(found) < limit:
            last, revisions = await self._kept(first, (b"", None))
            found += revisions
            first = last + 1
        return entries(found[:limit])
