"""What the debug endpoints can see of the store: its status, the rows of its log, the transactions it decided."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from engine.store.committer import Commit
from engine.store.index import Revision
from engine.store.types import Compare, KeyValue
from engine.store.watch import StoreWatcher

_RECENT_TXNS = 1000


class LogEntry(NamedTuple):
    """One row of the log: what one sub-revision did."""

    revision: int
    sub: int
    type: Literal["PUT", "DELETE"]
    key: str
    create_revision: int
    version: int
    lease: int
    size: int
    cause: str


class RecentTxn(NamedTuple):
    """A transaction as it was decided. `revision` is the store's then; `wrote` says whether it made that one."""

    revision: int
    wrote: bool
    succeeded: bool
    compare: Sequence[Compare]
    keys: tuple[bytes, ...]
    cause: str


class WatcherInfo(NamedTuple):
    """An open watch. `next_revision` is what an unsynced one reads next."""

    key: str
    range_end: str | None
    synced: bool
    buffered: int
    next_revision: int


class Recorder:
    """The last transactions, for those who want to see the compare-and-swap at work."""

    def __init__(self) -> None:
        self.decided = 0
        self.failed_compares = 0
        self._txns: deque[tuple[int, Revision | None, bool, Sequence[Compare], str]] = deque(maxlen=_RECENT_TXNS)

    def record(
        self, revision: int, made: Revision | None, *, succeeded: bool, compare: Sequence[Compare], cause: str
    ) -> None:
        self.decided += 1
        if not succeeded:
            self.failed_compares += 1
        self._txns.append((revision, made, succeeded, compare, cause))

    def recent(self) -> list[RecentTxn]:
        """The last of them, oldest first."""
        return [
            RecentTxn(revision, made is not None, succeeded, compare, _keys(made), cause)
            for revision, made, succeeded, compare, cause in self._txns
        ]


def _keys(made: Revision | None) -> tuple[bytes, ...]:
    return tuple(change.kv.key for change in made.changes) if made is not None else ()


def entries(revisions: Iterable[Revision]) -> list[LogEntry]:
    return [_entry(revision, sub, change.kv) for revision in revisions for sub, change in enumerate(revision.changes)]


def _entry(revision: Revision, sub: int, kv: KeyValue) -> LogEntry:
    return LogEntry(
        revision=revision.revision,
        sub=sub,
        type="PUT" if kv.version else "DELETE",
        key=shown(kv.key),
        create_revision=kv.create_revision,
        version=kv.version,
        lease=kv.lease,
        size=len(kv.value),
        cause=revision.cause,
    )


def watcher_info(watcher: StoreWatcher) -> WatcherInfo:
    end = None if watcher.end is None else shown(watcher.end)
    return WatcherInfo(shown(watcher.start), end, watcher.synced, watcher.buffered, watcher.next_revision)


def shown(key: bytes) -> str:
    return key.decode(errors="backslashreplace")


def commit_figures(commits: Sequence[Commit]) -> dict[str, object]:
    """The last commits in numbers: how many transactions each carried, how long its fsync took."""
    seconds = sorted(commit.seconds for commit in commits)
    sizes = sorted(commit.revisions for commit in commits)
    return {
        "commit_ms_p50": round(_quantile(seconds, 0.5) * 1000, 3),
        "commit_ms_p99": round(_quantile(seconds, 0.99) * 1000, 3),
        "batch_p50": _quantile(sizes, 0.5),
        "batch_max": sizes[-1] if sizes else 0,
        "recent_commits": [
            {
                "revision": c.first_revision,
                "revisions": c.revisions,
                "changes": c.changes,
                "ms": round(c.seconds * 1000, 3),
            }
            for c in list(commits)[-50:]
        ],
    }


def _quantile(ordered: Sequence[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0
