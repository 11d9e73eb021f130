"""What is looked at before a store is opened for writing: whether its file is one, and has all that was acknowledged.

A connection that may write takes of a damaged WAL what it can, and deletes the rest when it is closed; one that finds
the file without its WAL takes it for a new one. So the first look is through a connection that may only read, and
leaves the files to whoever wants to mend them.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import NamedTuple

from engine.store import log
from engine.store.lock import StoreLock
from engine.store.types import StoreError


class Kept(NamedTuple):
    """Which store a file is, and where its log ends. Zeros: a file that nothing was put into."""

    store_id: int
    revision: int


def real_file(path: Path) -> Path:
    """Where the store is behind symbolic links: there SQLite keeps its WAL, and there it is locked.

    Raises StoreError for what is there but is no file, or may not be written.
    """
    path = Path(os.path.realpath(path))
    for file in (path, _beside(path, "-wal"), _beside(path, "-shm")):
        if not os.path.exists(file):
            continue
        if not os.path.isfile(file):
            what = "a folder" if os.path.isdir(file) else "no regular file"
            raise StoreError(f"cannot open {file}: it is {what}; set it aside, or name another data folder")
        if not os.access(file, os.R_OK | os.W_OK):
            raise StoreError(f"cannot write {file}: Permission denied; let ktui write it, or name another data folder")
    return path


def is_absent(path: Path) -> bool:
    """Whether there is no store yet. Raises StoreError where the file alone is gone: its WAL is nothing without it."""
    if os.path.exists(path):  # which is False, and raises nothing, in a folder that may not be read
        return False
    wal = _beside(path, "-wal")
    if os.path.exists(wal) and os.path.getsize(wal):
        raise StoreError(
            f"{path} is not there, but {wal.name} is, which may hold what was acknowledged last: put the file back "
            f"beside it, or set {wal.name} aside too and start empty (ktui reset)"
        )
    return True


def kept(connection: sqlite3.Connection) -> Kept | None:
    """None for a file of another kind or format, of which `log.prepare` says what it is."""
    if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        return Kept(0, 0)
    pragmas = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if tuple(pragmas) != (log.APPLICATION_ID, log.FORMAT):
        return None
    store_id = connection.execute("SELECT value FROM meta WHERE name = 'store_id'").fetchone()
    last = connection.execute("SELECT max(id) FROM log").fetchone()[0] or 0
    return Kept(store_id[0] if store_id else 0, max(1, last >> log.SUB_BITS))


def check_acknowledged(path: Path, lock: StoreLock, kept: Kept | None) -> None:
    """Raises StoreError for a log that ends before what was acknowledged."""
    if kept is None:
        return
    acknowledged = lock.acknowledged(kept.store_id) if kept.revision else lock.last
    if acknowledged <= max(kept.revision, 1):
        return
    what = f"it ends at revision {kept.revision}" if kept.revision else "it is empty"
    raise StoreError(
        f"{path} is damaged: {what}, but revision {acknowledged} was acknowledged ({lock.path} says so). "
        f"{log.way_out(path)}; to go on with what is left, delete {lock.path.name}"
    )


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
