"""Snapshots: a store file with the state and the kept history, which opens in place of the original (etcdutl snapshot).

A snapshot is written under another name, checked, and only then given its own.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from engine.store import log
from engine.store.index import Change, Index, Revision
from engine.store.journal import Journal, unreadable
from engine.store.leases import LeaseChange
from engine.store.lock import StoreLock
from engine.store.quieting import QuietHistory, set_quiet_revision
from engine.store.types import KeyValue, StoreError, prefix_end

LAST_REVISION = (1 << 63 - log.SUB_BITS) - 2  # there is room for one more, and rows are numbered in 63 bits


def check_new(file: Path) -> None:
    if file.exists():
        raise StoreError(f"{file} is there already; name a new file for the snapshot")


async def of_journal(journal: Journal, file: Path) -> None:
    """Copy a log file as it stands now, beside the writer. Raises StoreError."""
    check_new(file)
    partial = _partial(file)
    try:
        await journal.read(lambda connection: connection.execute("VACUUM INTO ?", (str(partial),)))
        os.replace(partial, file)
    finally:
        partial.unlink(missing_ok=True)


def of_memory(
    index: Index, file: Path, *, compact_revision: int, quiet: QuietHistory, leases: list[LeaseChange]
) -> None:
    """Write a log file of a store that has none: the state at its floor, then every revision since."""
    check_new(file)
    partial = _partial(file)
    try:
        connection = log.connect(partial)
        try:
            log.prepare(connection, partial, store_id=0)
            revisions = _revisions(index, quiet)
            for start in range(0, len(revisions), 500):
                log.append(connection, log.Batch(revisions[start : start + 500], []))
            log.append(connection, log.Batch([], leases, compact_revision))
            for prefix, revision in quiet.revisions.items():
                set_quiet_revision(connection, prefix, revision)
            connection.execute("PRAGMA journal_mode = DELETE")
        finally:
            connection.close()
        os.replace(partial, file)
    except sqlite3.Error as error:
        raise unreadable(file, error) from error
    finally:
        partial.unlink(missing_ok=True)


def _revisions(index: Index, quiet: QuietHistory) -> list[Revision]:
    """The state at the floor, each key-value under the revision that made it, and every revision since.

    Quiet keys have their state at the quiet revision, of which the revisions themselves no longer know.
    """
    kvs: dict[int, list[KeyValue]] = {}
    for kv in _base(index, quiet):
        kvs.setdefault(kv.mod_revision, []).append(kv)
    made = {revision: Revision(revision, "", [Change(kv, None) for kv in kvs[revision]]) for revision in kvs}
    for later in index.revisions(index.floor + 1, index.revision):
        earlier = made.get(later.revision)
        changes = [*earlier.changes, *later.changes] if earlier is not None else later.changes
        if changes:
            made[later.revision] = later._replace(changes=changes)
    return [made[revision] for revision in sorted(made)]


def _base(index: Index, quiet: QuietHistory) -> Iterator[KeyValue]:
    yield from (kv for kv in index.state(b"", b"\0", index.floor) if kv.mod_revision <= index.floor)
    for prefix, revision in quiet.revisions.items():
        if revision > index.floor:
            state = index.state(prefix, prefix_end(prefix), revision)
            yield from (kv for kv in state if kv.mod_revision > index.floor)


class Description(NamedTuple):
    """What `etcdutl snapshot status` tells of a file."""

    hash: int  # CRC-32 of all keys and values, in order
    revision: int
    keys: int
    size: int


def describe(snapshot: Path) -> Description:
    """Check a copy of a snapshot and say what is in it. Raises StoreError."""
    with tempfile.TemporaryDirectory(prefix="ktui-snapshot-") as folder:
        copy = Path(folder) / "copy.db"
        try:
            shutil.copyfile(snapshot, copy)
            connection = log.connect(copy)
            try:
                log.prepare(connection, copy, store_id=0)
                loaded = log.load(connection, copy)
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise unreadable(snapshot, error) from error
        except OSError as error:
            raise StoreError(f"cannot copy {snapshot}: {error.strerror}") from error
    digest = 0
    for kv in loaded.kvs:
        digest = crc32(kv.value, crc32(kv.key, digest))
    return Description(digest, loaded.revision, len(loaded.kvs), snapshot.stat().st_size)


def restore(snapshot: Path, store: Path, *, bump: int = 0) -> int:
    """Put a snapshot in the place of a store that is not running; its revision. Raises StoreError.

    The snapshot is read and checked first; a store that stands there is kept beside it as `NAME.before-restore`.
    `bump` is how much later it goes on, all before compacted: who has seen revisions that the snapshot does not know
    must list anew, and never sees one of them twice (etcdutl's --bump-revision and --mark-compacted).
    """
    lock = StoreLock(store)
    partial = _partial(store)
    try:
        if not snapshot.is_file():
            raise StoreError(f"there is no snapshot {snapshot}")
        shutil.copyfile(snapshot, partial)
        connection = log.connect(partial)
        try:
            log.prepare(connection, partial, store_id=0)
            loaded = log.load(connection, partial)
            revision = loaded.revision + bump
            if bump:
                _go_on_at(connection, revision)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE")
        finally:
            connection.close()
        if store.exists():
            _set_aside(store)
        os.replace(partial, store)
        lock.claim(loaded.store_id, revision)
        return revision
    except sqlite3.Error as error:
        raise unreadable(snapshot, error) from error
    finally:
        partial.unlink(missing_ok=True)
        lock.release()


def _go_on_at(connection: sqlite3.Connection, revision: int) -> None:
    """The next revision is the one after this, and what was before is compacted: it deletes a key that never was."""
    if revision > LAST_REVISION:
        raise StoreError(f"revision {revision} is later than {LAST_REVISION}, the last that a store can have")
    nothing = Change(KeyValue(b"\0", b"", 0, revision, 0), None)
    log.append(connection, log.Batch([Revision(revision, "", [nothing])], [], revision))


def _set_aside(store: Path) -> None:
    """Rename a store with its WAL."""
    aside = store.with_name(store.name + ".before-restore")
    for suffix in ("", "-wal", "-shm"):
        old = store.with_name(store.name + suffix)
        if old.exists():
            os.replace(old, aside.with_name(aside.name + suffix))


def _partial(file: Path) -> Path:
    return file.with_name(file.name + ".partial")
