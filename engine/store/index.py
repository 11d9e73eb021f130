"""The committed MVCC state in memory: the newest version of every live key, and what changed lately.

Data flow: the store applies each revision here once it is durable; ranges and watches read it. After etcd's
server/storage/mvcc `index.go` and `key_index.go`, with one difference: the newest versions stand apart from the
history, so a list of the newest state never meets an old version or a deleted key.

Invariant: every revision from `floor` on can be answered. What is older is on disk, or compacted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from sortedcontainers import SortedList

from engine.store.types import KeyValue, Range

_mod_revision = attrgetter("mod_revision")
_SORT_KEYS = {
    "key": attrgetter("key"),
    "version": attrgetter("version"),
    "create": attrgetter("create_revision"),
    "mod": attrgetter("mod_revision"),
    "value": attrgetter("value"),
}
# What one kept version costs besides its key and value: the tuples, list slots and integers of CPython.
_VERSION_OVERHEAD = 350


class Change(NamedTuple):
    """One key's step in a revision. `kv` of a deletion has version 0 and no value; `prev` is None for a new key."""

    kv: KeyValue
    prev: KeyValue | None


class Revision(NamedTuple):
    """One main revision; the position of a change is its sub-revision."""

    revision: int
    cause: str
    changes: list[Change]


def bounds(key: bytes, range_end: bytes) -> tuple[bytes, bytes | None]:
    """The half-open interval that a key and a range end mean; None is the end of all keys."""
    if not range_end:
        return key, key + b"\0"
    return key, None if range_end == b"\0" else range_end


def arrange(kvs: list[KeyValue], request: Range) -> tuple[list[KeyValue], int]:
    """What a request gets of all its key-values in key order, and how many those are (mvcc `executeRange`)."""
    count = len(kvs)
    if request.count_only:
        return [], count
    if request.sort_target != "key" or request.sort_order == "descend":
        if request.limit > 0 and request.sort_order == "none":
            kvs = kvs[: request.limit + 1]  # etcd looks one further by key, and sorts what it then has
        kvs = sorted(kvs, key=_SORT_KEYS[request.sort_target], reverse=request.sort_order == "descend")
    if request.limit > 0:
        kvs = kvs[: request.limit]
    return without_values(kvs) if request.keys_only else kvs, count


def more(request: Range, count: int) -> bool:
    """Whether a request's limit has left out some of the `count` in its interval."""
    return 0 < request.limit < count and not request.count_only


def without_values(kvs: list[KeyValue]) -> list[KeyValue]:
    return [kv._replace(value=b"") for kv in kvs]


class Index:
    """See the module."""

    def __init__(self, revision: int = 1) -> None:
        self.revision = revision
        self.floor = revision
        self.current: dict[bytes, KeyValue] = {}
        self.written_bytes = 0
        self.live_bytes = 0
        self.history_bytes = 0
        self._quieted: dict[bytes, int] = {}  # by prefix: what `quiet` has looked at
        self._live = SortedList()
        self._gone = SortedList()  # deleted keys that still have history
        # Keys changed since the floor: their versions, oldest first, from the one that stood at the floor on.
        self._history: dict[bytes, list[KeyValue]] = {}
        self._log: list[Revision] = []

    def load(self, kvs: list[KeyValue]) -> None:
        """Take the newest state as it was read from disk."""
        self.current = {kv.key: kv for kv in kvs}
        self.live_bytes = sum(len(kv.value) + len(kv.key) for kv in kvs)
        self._live = SortedList(self.current)

    def __len__(self) -> int:
        return len(self.current)

    # -- writing

    def apply(self, revision: Revision) -> None:
        for kv, prev in revision.changes:
            self._apply(kv, prev)
        self._log.append(revision)
        self.revision = revision.revision

    def _apply(self, kv: KeyValue, prev: KeyValue | None) -> None:
        key = kv.key
        size = len(kv.value)
        self.written_bytes += size
        versions = self._history.get(key)
        if versions is None:
            self._history[key] = [kv] if prev is None else [prev, kv]
        else:
            versions.append(kv)
        self.history_bytes += size + _VERSION_OVERHEAD
        if prev is not None:
            self.live_bytes -= len(prev.value) + len(key)
        if not kv.version:
            del self.current[key]
            self._live.remove(key)
            self._gone.add(key)
            return
        self.current[key] = kv
        self.live_bytes += size + len(key)
        if prev is None:
            self._live.add(key)
            if versions is not None:
                self._gone.discard(key)

    def raise_floor(self, target: int, limit: int) -> bool:
        """Forget what was before revision `target`, at most `limit` revisions at once. Says whether it is done."""
        passed = 0
        for revision in self._log:
            if revision.revision > target or passed == limit:
                break
            passed += 1
            if revision.revision > self.floor:
                for change in revision.changes:
                    self._forget_before(change.kv)
                self.floor = revision.revision
        # The revision at the floor stays: a watch may start at a compacted revision itself.
        keep = max(passed - 1, 0)
        del self._log[:keep]
        return not self._log or self.floor >= min(target, self.revision)

    def quiet(self, target: int, limit: int, *, prefix: bytes) -> bool:
        """Forget what keys of a prefix were before revision `target`, at most `limit` revisions at once.

        Revisions that changed nothing else stay, empty. Says whether it is done.
        """
        if not self._log:
            return True
        oldest = self._log[0].revision
        first = max(self._quieted.get(prefix, 0) + 1, self.floor + 1, oldest)
        last = min(target, self.revision, first + limit - 1)
        for position in range(first - oldest, last - oldest + 1):
            revision = self._log[position]
            quiet = [change for change in revision.changes if change.kv.key.startswith(prefix)]
            for change in quiet:
                self._forget_before(change.kv)
            if quiet:
                loud = [change for change in revision.changes if not change.kv.key.startswith(prefix)]
                self._log[position] = revision._replace(changes=loud)
        self._quieted[prefix] = max(last, self._quieted.get(prefix, 0))
        return last >= min(target, self.revision)

    def _forget_before(self, kv: KeyValue) -> None:
        versions = self._history[kv.key]
        if versions[0] is not kv:
            versions.pop(0)
        self.history_bytes -= len(kv.value) + _VERSION_OVERHEAD
        if len(versions) == 1:
            del self._history[kv.key]
            if not kv.version:
                self._gone.discard(kv.key)
        elif not kv.version:
            versions.pop(0)

    # -- reading

    def at(self, key: bytes, revision: int) -> KeyValue | None:
        """The version of a key that was the newest at a revision not below the floor."""
        versions = self._history.get(key)
        if versions is None:
            return self.current.get(key)
        position = bisect_right(versions, revision, key=_mod_revision)
        if not position or not versions[position - 1].version:
            return None
        return versions[position - 1]

    def keys(self, key: bytes, range_end: bytes) -> Iterator[bytes]:
        """The live keys of an interval in order."""
        start, end = bounds(key, range_end)
        keys: Iterator[bytes] = self._live.irange(start, end, inclusive=(True, False))
        return keys

    def count(self, key: bytes, range_end: bytes) -> int:
        start, end = bounds(key, range_end)
        upper = len(self._live) if end is None else self._live.bisect_left(end)
        return max(0, upper - int(self._live.bisect_left(start)))

    def range(self, request: Range) -> tuple[list[KeyValue], int]:
        """The key-values that answer a request and the count of all in its interval."""
        newest = request.revision <= 0 or request.revision == self.revision
        if not request.range_end:
            kv = self.current.get(request.key) if newest else self.at(request.key, request.revision)
            return arrange([] if kv is None else [kv], request)
        if not newest:
            return arrange(self.state(request.key, request.range_end, request.revision), request)
        if request.count_only:
            return [], self.count(request.key, request.range_end)
        current = self.current
        if request.limit > 0 and request.sort_target == "key" and request.sort_order != "descend":
            first = islice(self.keys(request.key, request.range_end), request.limit)
            kvs = [current[key] for key in first]
            count = self.count(request.key, request.range_end)
            return without_values(kvs) if request.keys_only else kvs, count
        return arrange([current[key] for key in self.keys(request.key, request.range_end)], request)

    def state(self, key: bytes, range_end: bytes, revision: int) -> list[KeyValue]:
        """The key-values of an interval that stood at a revision not below the floor, in key order."""
        start, end = bounds(key, range_end)
        gone = self._gone.irange(start, end, inclusive=(True, False))
        keys = sorted([*self.keys(key, range_end), *gone])
        return [kv for key in keys if (kv := self.at(key, revision)) is not None]

    def revisions(self, start: int, limit: int) -> list[Revision]:
        """What is in memory of the `limit` revisions from `start` on."""
        if not self._log:
            return []
        oldest = self._log[0].revision
        return self._log[max(0, start - oldest) : max(0, start + limit - oldest)]

    @property
    def oldest(self) -> int:
        """The oldest revision whose changes are in memory."""
        return self._log[0].revision if self._log else self.revision + 1

    def revision_record(self, revision: int) -> Revision | None:
        if not self.oldest <= revision <= self.revision:
            return None
        return self._log[revision - self.oldest]
