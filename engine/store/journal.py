"""Where decided transactions are made durable: nowhere (memory), in the loop's thread, or in aiosqlite's.

In a virtual clock's loop a commit must belong to the step that made it, so plain sqlite3 runs inline there; under any
other clock aiosqlite keeps the fsync off the loop.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import aiosqlite

from engine.clock import wall
from engine.store import log, precheck
from engine.store.lock import StoreLock
from engine.store.types import StoreError, StoreUnavailableError

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

_MEASURE_EVERY = 1 << 20  # bytes written between two looks at the size of the file
_INDEX_AT = 4000  # rows that the index by key may lag behind
_CHECKPOINT_AT = 500  # pages in the WAL that are not yet in the database
_FEW_PAGES = 100  # as many of them as are synced within a few milliseconds
# Pages in the WAL: less than log.prepare's journal_size_limit, so that no commit has to cut the file shorter.
_WAL_AT_MOST = 7_500
_WAL_INDEX = 32 * 1024  # bytes that SQLite's index of the WAL takes at least
_NO_TEXT = "Could not decode to UTF-8"  # what the sqlite3 module says of a damaged text, without a code


class Database(Protocol):
    """One connection and the thread it runs in."""

    async def run(self, work: Work[T]) -> T: ...

    async def close(self) -> None: ...


class InlineDatabase:
    """Runs in the caller's thread."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._connection = log.connect(path, patience=0, read_only=read_only)

    def run_now(self, work: Work[T]) -> T:
        return work(self._connection)

    async def run(self, work: Work[T]) -> T:
        return work(self._connection)

    async def close(self) -> None:
        self._connection.close()


class ThreadDatabase(aiosqlite.Connection):
    """aiosqlite's thread, given one whole piece of work at a time: a batch costs one hop there and back."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        super().__init__(lambda: log.connect(path, read_only=read_only), 64)
        # A process that ends without closing its store must not wait for this thread: what matters is committed.
        thread = getattr(self, "_thread", self)
        if isinstance(thread, Thread):
            thread.daemon = True
        self._stopped: asyncio.Future[object] | None = None

    def stop(self) -> asyncio.Future[object] | None:
        self._stopped = super().stop()
        return self._stopped

    async def ended(self) -> None:
        """Where it could not connect, aiosqlite stops its thread without waiting: it would tell a loop that is gone."""
        if self._stopped is not None:
            await self._stopped

    if TYPE_CHECKING:  # aiosqlite has no types for it

        async def _execute(self, fn: Callable[[], Any]) -> Any: ...

    async def run(self, work: Work[T]) -> T:
        result: T = await self._execute(lambda: work(self._conn))
        return result


def unavailable(path: Path, error: sqlite3.Error) -> StoreUnavailableError:
    """What a failed write means for whoever waits for it."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StoreUnavailableError(f"cannot write {path}: the disk is full; writes go on once there is space")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreUnavailableError(f"cannot write {path}: another process has locked it ({error})")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StoreUnavailableError(f"cannot write {path}: it is read-only ({error})")
    return StoreUnavailableError(f"cannot write {path}: {error}")


def unreadable(path: Path, error: sqlite3.Error) -> StoreError:
    """Why a store cannot be opened or read, and what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(f"{path} is locked by another process ({error}); close what has it open, and start again")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return StoreError(f"cannot write {path} ({error}); give ktui a folder that it may write")
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _no_room(path)):
        return StoreError(f"cannot open {path}: the disk is full; make room, and start again")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreError(f"{path} is damaged ({error}). {log.way_out(path)}")
    if str(error).startswith(_NO_TEXT):
        return StoreError(f"{path} is damaged: a text in it is no UTF-8. {log.way_out(path)}")
    return StoreError(f"cannot open {path}: {error}")


def _no_room(path: Path) -> bool:
    """Whether there is no room beside a file, so that it was that which failed: of its index SQLite does not say so."""
    return shutil.disk_usage(path.parent).free < _WAL_INDEX


class Sizes(NamedTuple):
    """Bytes of the file, without and with the pages that are free for reuse."""

    in_use: int
    file: int


class _Wal(NamedTuple):
    """Pages in the WAL, and those of them that no checkpoint has moved into the database yet."""

    frames: int
    pending: int


class Journal:
    """The log file of an open store: one connection that writes, one for old history that is opened when needed."""

    def __init__(self, path: Path, *, inline: bool) -> None:
        self.path = path
        self.inline = inline
        self.sizes = Sizes(0, 0)
        self._unmeasured = 0
        self._pending_frames = 0
        self._wal_index = -1
        self._unindexed = 0
        self.indexed_revision = 0  # up to here the log can be asked by key
        self._lock = StoreLock(path)
        self._writer: Database | None = None
        self._reader: Database | None = None
        self._connecting = asyncio.Lock()

    @classmethod
    async def open(cls, path: Path, *, inline: bool, store_id: int) -> tuple[Journal, log.Loaded]:
        """Open the log or make a new one with this id. Raises StoreError and then has let go of everything."""
        path = precheck.real_file(path)
        journal = cls(path, inline=inline)
        try:
            return journal, await journal._load(store_id)
        except sqlite3.Error as error:
            await journal.close()
            raise unreadable(path, error) from error
        except BaseException:
            await journal.close()
            raise

    async def _load(self, new_id: int) -> log.Loaded:
        await self._check_acknowledged()
        self._writer = await self._connect()
        await self._writer.run(lambda connection: log.prepare(connection, self.path, store_id=new_id))
        loaded = await self._writer.run(lambda connection: log.load(connection, self.path))
        self.indexed_revision = loaded.revision
        self._lock.claim(loaded.store_id, loaded.revision)
        self.sizes = await self._writer.run(_measure)
        return loaded

    async def _check_acknowledged(self) -> None:
        """Before anything may change. Raises StoreError for a file that has not all of what was acknowledged."""
        if precheck.is_absent(self.path):
            return
        looking = await self._connect(read_only=True)
        try:
            kept = await looking.run(precheck.kept)
        finally:
            await looking.close()
        precheck.check_acknowledged(self.path, self._lock, kept)

    async def _connect(self, *, read_only: bool = False) -> Database:
        if self.inline:
            return InlineDatabase(self.path, read_only=read_only)
        database = ThreadDatabase(self.path, read_only=read_only)
        try:
            await database
        except sqlite3.Error:
            await database.ended()
            raise
        return database

    # -- writing

    def write_now(self, batch: log.Batch) -> float:
        """Commit in this thread; the seconds it took. Raises StoreUnavailableError."""
        assert isinstance(self._writer, InlineDatabase)
        try:
            return self._writer.run_now(lambda connection: self._commit(connection, batch))
        except sqlite3.Error as error:
            raise unavailable(self.path, error) from error

    async def write(self, batch: log.Batch) -> float:
        """Commit in the writer's thread; the seconds it took. Raises StoreUnavailableError."""
        return await self.run(lambda connection: self._commit(connection, batch))

    def _commit(self, connection: sqlite3.Connection, batch: log.Batch) -> float:
        began = wall()
        size = log.append(connection, batch)
        self._unmeasured += size
        self._pending_frames = self._wal().pending
        self._unindexed += sum(len(revision.changes) for revision in batch.revisions)
        took = wall() - began
        if batch.revisions:
            self._lock.acknowledge(batch.revisions[-1].revision)
        if self._unmeasured > _MEASURE_EVERY:
            self.sizes, self._unmeasured = _measure(connection), 0
        return took

    def checkpoint_due(self, *, gently: bool) -> bool:
        """Whether to move the WAL; `gently` in parts so small that a commit beside it hardly waits for the disk."""
        return self._pending_frames > (_FEW_PAGES if gently else _CHECKPOINT_AT)

    async def checkpoint(self) -> None:
        """Move the WAL into the database, beside the writer.

        SQLite starts the WAL over when a commit finds all of it moved. Under a load without a pause that never comes:
        then, once it has grown long, the last part is moved between two batches.
        """
        if self.inline:
            await self.run(_checkpoint)
        else:
            await self.read(_checkpoint)
            await self.read(_checkpoint)  # what was written during the first
            if self._wal().frames > _WAL_AT_MOST:
                await self.run(_checkpoint)
        self._pending_frames = self._wal().pending

    @property
    def index_due(self) -> bool:
        return self._unindexed >= _INDEX_AT

    def index_step(self, connection: sqlite3.Connection, size: int) -> None:
        """Bring the index by key forward."""
        last, rows = log.index_step(connection, size)
        self._unindexed = max(0, self._unindexed - rows)
        self.indexed_revision = max(self.indexed_revision, (last >> log.SUB_BITS) - 1)  # the last may be cut in two

    @property
    def on_disk(self) -> int:
        """Bytes that the file and its WAL take; a moment ago they may have been fewer than are in use."""
        wal = self.path.with_name(self.path.name + "-wal")
        return max(_size_of(self.path) + _size_of(wal), self.in_use)

    @property
    def in_use(self) -> int:
        """Bytes in use, those that came since the last measurement included."""
        return self.sizes.in_use + self._unmeasured

    async def run(self, work: Work[T]) -> T:
        """Do some work on the writing connection, after what is before it. Raises StoreUnavailableError."""
        assert self._writer is not None
        try:
            return await self._writer.run(work)
        except sqlite3.Error as error:
            raise unavailable(self.path, error) from error

    async def timed(self, work: Work[bool]) -> tuple[bool, float]:
        """As `run`, with the seconds that the work itself took."""

        def measured(connection: sqlite3.Connection) -> tuple[bool, float]:
            began = wall()
            return work(connection), wall() - began

        return await self.run(measured)

    async def measure(self) -> None:
        self.sizes, self._unmeasured = await self.run(_measure), 0

    # -- reading

    async def read(self, work: Work[T]) -> T:
        """Do some reading beside the writer. Raises StoreError."""
        try:
            return await (self._reader or await self._open_reader()).run(work)
        except sqlite3.Error as error:
            raise unreadable(self.path, error) from error

    def _wal(self) -> _Wal:
        """How long the WAL is: mxFrame and nBackfill of SQLite's WAL-index format."""
        if self._wal_index < 0:
            path = self.path.with_name(self.path.name + "-shm")
            self._wal_index = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        header = os.pread(self._wal_index, 100, 0)
        if len(header) < 100:
            return _Wal(0, 0)
        newest: int = struct.unpack_from("=I", header, 16)[0]
        moved: int = struct.unpack_from("=I", header, 96)[0]
        return _Wal(newest, max(0, newest - moved))

    async def _open_reader(self) -> Database:
        async with self._connecting:
            if self._reader is None:
                self._reader = await self._connect()
        return self._reader

    async def close(self) -> None:
        for database in (self._reader, self._writer):
            if database is not None:
                await database.close()
        self._reader = self._writer = None
        if self._wal_index >= 0:  # only now: closing a file drops all POSIX locks that the process has on it
            os.close(self._wal_index)
            self._wal_index = -1
        self._lock.release()


def _size_of(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _checkpoint(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def _measure(connection: sqlite3.Connection) -> Sizes:
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return Sizes((pages - free) * size, pages * size)
