"""The newest decided state: the committed index under the changes that are on their way to the disk.

A transaction is decided against this, so that writers need not wait for one another's fsync. When a commit fails, the
draft is thrown away and the committed state stands, as if nothing behind it had been decided.
"""

from __future__ import annotations

from engine.store.index import Index, Revision, arrange, bounds
from engine.store.types import KeyValue, Range


class Draft:
    def __init__(self, index: Index) -> None:
        self.revision = index.revision
        self._index = index
        self._uncommitted: dict[bytes, KeyValue] = {}  # newest version of each key not yet committed; 0 is deleted

    def get(self, key: bytes) -> KeyValue | None:
        kv = self._uncommitted.get(key)
        if kv is None:
            return self._index.current.get(key)
        return kv if kv.version else None

    def stage(self, kv: KeyValue) -> None:
        self._uncommitted[kv.key] = kv

    def keys(self, key: bytes, range_end: bytes) -> list[bytes]:
        """The live keys of an interval in order."""
        if not range_end:
            return [key] if self.get(key) is not None else []
        start, end = bounds(key, range_end)
        keys = list(self._index.keys(key, range_end))
        touched = [k for k in self._uncommitted if k >= start and (end is None or k < end)]
        if not touched:
            return keys
        live = dict.fromkeys(keys) | dict.fromkeys(touched)
        return sorted(key for key in live if self.get(key) is not None)

    def range(self, request: Range) -> tuple[list[KeyValue], int]:
        """The newest decided state of an interval."""
        if not self._uncommitted:
            return self._index.range(request._replace(revision=0))
        found = [kv for key in self.keys(request.key, request.range_end) if (kv := self.get(key)) is not None]
        return arrange(found, request)

    def staged_with_lease(self, lease: int) -> list[bytes]:
        return [kv.key for kv in self._uncommitted.values() if kv.lease == lease]

    def settle(self, revision: Revision) -> None:
        """These changes are committed now and stand in the index."""
        for change in revision.changes:
            if self._uncommitted.get(change.kv.key) is change.kv:
                del self._uncommitted[change.kv.key]

    def reset(self) -> None:
        self._uncommitted.clear()
        self.revision = self._index.revision
