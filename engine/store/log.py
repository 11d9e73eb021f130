"""The revision log in SQLite: its schema, and the statements that write, load and compact it.

One row is one change; `id` is main revision * 2**20 + sub-revision, as etcd keys its backend by revision. A row of
version 0 is a deletion. Every row carries a CRC-32 of all its columns, which is checked whenever the row is read.
A row is only ever appended within a commit: the index by key (`log_key`) follows in the background, many rows at a
time, because a page of it for every row would cost a commit more than all the rows do.
All functions run in the thread that owns the connection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from engine.store.index import Change, Revision
from engine.store.leases import LeaseChange
from engine.store.types import KeyValue, StoreError

SUB_BITS = 20
_SUB_MASK = (1 << SUB_BITS) - 1
FORMAT = 1
APPLICATION_ID = 0x6B747569  # "ktui"
PAGE_SIZE = 8192
_ROWS_PER_INSERT = 512
_ROWS_PER_INDEXING = 10_000  # at the start, when nobody waits for a write
_ROW_OVERHEAD = 110  # bytes of a row besides its value and its key, its place in the index included
QUIET_REVISION = "quiet_revision/"  # names in the meta table that begin so, a quiet prefix in hexadecimal behind
_CHECKED_TAIL = 10_000  # rows at the end of the log that are checked at every start, live or not

Row = tuple[int, int, int, int, int, bytes, str, bytes]
_COLUMNS = "id, version, create_revision, lease, checksum, key, cause, value"

_SCHEMA = f"""
CREATE TABLE log (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    create_revision INTEGER NOT NULL,
    lease INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    key BLOB NOT NULL,
    cause TEXT NOT NULL,
    value BLOB NOT NULL,
    revision INTEGER GENERATED ALWAYS AS (id >> {SUB_BITS}) VIRTUAL,
    sub INTEGER GENERATED ALWAYS AS (id & {_SUB_MASK}) VIRTUAL
);
CREATE TABLE log_key (key BLOB NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (key, id)) WITHOUT ROWID;
CREATE TABLE lease (id INTEGER PRIMARY KEY, ttl INTEGER NOT NULL);
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""


class Batch(NamedTuple):
    """What one commit makes durable."""

    revisions: list[Revision]
    leases: list[LeaseChange]
    compact_revision: int = 0


class Loaded(NamedTuple):
    """What a log holds when it is opened."""

    store_id: int
    revision: int
    compact_revision: int
    kvs: list[KeyValue]
    leases: list[LeaseChange]
    meta: dict[str, int]


# -- opening


def connect(path: Path, *, patience: int = 2000, read_only: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode: a single INSERT is a transaction of its own.

    `patience` are the milliseconds that it waits for another process which has locked the file. One that may only
    read neither moves the WAL into the file nor takes it away.
    """
    uri = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, cached_statements=600)
    connection.execute(f"PRAGMA busy_timeout = {patience}")
    return connection


def prepare(connection: sqlite3.Connection, path: Path, *, store_id: int) -> None:
    """Make the schema in a new file, or check that the file is one of ours; then set it up for durable writes."""
    if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(
            f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}; {_SCHEMA}"
            f"INSERT INTO meta VALUES ('store_id', {store_id}); COMMIT;"
        )
    elif connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(f"{path} is a SQLite file, but not a ktui store; name another data folder")
    if (version := connection.execute("PRAGMA user_version").fetchone()[0]) != FORMAT:
        raise StoreError(f"{path} has store format {version}, this ktui reads {FORMAT}; use the ktui that wrote it")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA temp_store = MEMORY")
    # The store checkpoints by itself, beside its writer: SQLite would do it within some unlucky commit.
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("PRAGMA journal_size_limit = 67108864")


def load(connection: sqlite3.Connection, path: Path) -> Loaded:
    """Read the newest state, checking each row of it, the end of the log and that no revision is missing."""
    while index_step(connection, _ROWS_PER_INDEXING).rows:
        pass
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    compact_revision = meta.get("compact_revision", 0)
    kept = max(compact_revision, _quiet(meta))  # from here on every revision is there
    last = connection.execute("SELECT max(id) FROM log").fetchone()[0] or 0
    revision = max(1, last >> SUB_BITS)
    check_complete(connection, path, first=max(kept + 1, revision - _CHECKED_TAIL, 2), last=revision)
    _check_gaps(connection, path, first=max(kept, 1) + 1, last=revision)
    tail = f"SELECT {_COLUMNS} FROM log WHERE id IN (SELECT id FROM log ORDER BY id DESC LIMIT {_CHECKED_TAIL})"
    for _ in _checked(connection.execute(tail), path):
        pass
    newest = [row[0] for row in connection.execute("SELECT max(id) FROM log_key GROUP BY key")]
    kvs = [key_value(row) for row in fetch(connection, path, newest) if row[1]]
    leases = [LeaseChange(*row) for row in connection.execute("SELECT id, ttl FROM lease ORDER BY id")]
    return Loaded(meta.get("store_id", 0), revision, compact_revision, kvs, leases, meta)


def _quiet(meta: dict[str, int]) -> int:
    """Up to here revisions that were heartbeats alone may be gone (`quieting`)."""
    return max((value for name, value in meta.items() if name.startswith(QUIET_REVISION)), default=0)


def _check_gaps(connection: sqlite3.Connection, path: Path, *, first: int, last: int) -> None:
    """By the index, each revision has a row of sub-revision 0."""
    firsts = "SELECT count(*) FROM log_key WHERE id >= ? AND (id & ?) = 0"
    found = connection.execute(firsts, (first << SUB_BITS, _SUB_MASK)).fetchone()[0]
    if found != max(0, last - first + 1):
        raise StoreError(f"{path} is damaged: the index of the revision log does not match it. {way_out(path)}")


def check_complete(connection: sqlite3.Connection, path: Path, *, first: int, last: int) -> None:
    """In the log itself, each of these revisions, which are not compacted, has its row of sub-revision 0."""
    statement = "SELECT id >> ? FROM log WHERE id >= ? AND id < ? AND (id & ?) = 0 ORDER BY id"
    parameters = (SUB_BITS, first << SUB_BITS, (last + 1) << SUB_BITS, _SUB_MASK)
    expected = first
    for (found,) in connection.execute(statement, parameters):
        if found != expected:
            break
        expected += 1
    if expected <= last:
        raise _missing(path, expected)


def _missing(path: Path, revision: int) -> StoreError:
    return StoreError(f"{path} is damaged: revision {revision} is missing from the revision log. {way_out(path)}")


def way_out(path: Path) -> str:
    return (
        f"Nothing was changed. Set {path.name} and {path.name}-wal aside; "
        "then restore a snapshot (ktui store snapshot restore), or start empty"
    )


# -- rows


def checksum(row_id: int, kv: KeyValue, cause: str) -> int:
    head = f"{row_id} {kv.version} {kv.create_revision} {kv.lease} {cause} ".encode()
    return crc32(kv.value, crc32(kv.key, crc32(head)))


def rows(revision: Revision) -> Iterator[Row]:
    """A revision as the log keeps it."""
    row_id = revision.revision << SUB_BITS
    cause = revision.cause
    for change in revision.changes:
        kv = change.kv
        yield (
            row_id, kv.version, kv.create_revision, kv.lease, checksum(row_id, kv, cause), kv.key, cause, kv.value
        )  # fmt: skip
        row_id += 1


def key_value(row: Row) -> KeyValue:
    return KeyValue(row[5], row[7], row[2], row[0] >> SUB_BITS, row[1], row[3])


def _checked(cursor: Iterable[Row], path: Path) -> Iterator[Row]:
    for row in cursor:
        try:
            good = checksum(row[0], key_value(row), row[6]) == row[4]
        except (TypeError, AttributeError):  # a column is not even of its type
            good = False
        if not good:
            raise StoreError(
                f"{path} is damaged: row {row[0]} of the revision log (revision {row[0] >> SUB_BITS}, "
                f"sub-revision {row[0] & (_SUB_MASK)}, key {_shown(row[5])}) does not match its checksum. "
                f"{way_out(path)}"
            )
        yield row


def _shown(key: object) -> str:
    return key.decode(errors="backslashreplace") if isinstance(key, bytes) else repr(key)


# -- writing


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of the block or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@lru_cache(maxsize=_ROWS_PER_INSERT)
def _insert(count: int) -> str:
    """One statement for many rows: it releases and takes the interpreter lock once, not once a row."""
    return f"INSERT INTO log ({_COLUMNS}) VALUES {', '.join(['(?, ?, ?, ?, ?, ?, ?, ?)'] * count)}"


def append(connection: sqlite3.Connection, batch: Batch) -> int:
    """Make a batch durable; the bytes that takes, about. Raises sqlite3.Error and then has written nothing."""
    all_rows = [row for revision in batch.revisions for row in rows(revision)]
    size = sum(len(row[7]) + len(row[5]) + _ROW_OVERHEAD for row in all_rows)
    if len(all_rows) <= _ROWS_PER_INSERT and not batch.leases and not batch.compact_revision:
        if all_rows:
            _insert_rows(connection, all_rows)
        return size
    with transaction(connection):
        for start in range(0, len(all_rows), _ROWS_PER_INSERT):
            _insert_rows(connection, all_rows[start : start + _ROWS_PER_INSERT])
        for lease in batch.leases:
            if lease.ttl:
                connection.execute("INSERT INTO lease (id, ttl) VALUES (?, ?)", lease)
            else:
                connection.execute("DELETE FROM lease WHERE id = ?", (lease.id,))
        if batch.compact_revision:
            set_meta(connection, "compact_revision", batch.compact_revision)
    return size


@contextmanager
def lazily_synced(connection: sqlite3.Connection) -> Iterator[None]:
    """For upkeep, whose loss costs nothing: its commits are left to the next batch's fsync."""
    connection.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        connection.execute("PRAGMA synchronous = FULL")


def _insert_rows(connection: sqlite3.Connection, some: list[Row]) -> None:
    connection.execute(_insert(len(some)), [column for row in some for column in row])


def set_meta(connection: sqlite3.Connection, name: str, value: int) -> None:
    connection.execute("INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2", (name, value))


# -- reading what memory no longer holds


def fetch(connection: sqlite3.Connection, path: Path, ids: list[int]) -> Iterator[Row]:
    """The rows that the index knows by these ids; one that is not there is damage."""
    statement = f"SELECT {_COLUMNS} FROM log WHERE id = ?"
    for row_id in ids:
        rows = connection.execute(statement, (row_id,)).fetchall()
        if not rows:
            revision = row_id >> SUB_BITS
            raise StoreError(
                f"{path} is damaged: revision {revision} is missing from the revision log. {way_out(path)}"
            )
        yield from _checked(rows, path)


def range_at(
    connection: sqlite3.Connection, path: Path, *, interval: tuple[bytes, bytes | None], revision: int
) -> list[KeyValue]:
    """The state of an interval at a revision, in key order.

    Steps from key to key through the index, so that many versions of one key cost no more than one.
    """
    start, end = interval
    below = "key < :end" if end is not None else ":end IS NULL"
    statement = f"""
        WITH RECURSIVE found (key) AS (
            SELECT min(key) FROM log_key WHERE key >= :start AND {below}
            UNION ALL
            SELECT (SELECT min(key) FROM log_key WHERE key > found.key AND {below})
            FROM found WHERE found.key IS NOT NULL
        )
        SELECT (SELECT max(id) FROM log_key WHERE key = found.key AND id < :limit) AS id
        FROM found WHERE key IS NOT NULL AND id IS NOT NULL"""
    parameters = {"start": start, "end": end, "limit": (revision + 1) << SUB_BITS}
    ids = [row[0] for row in connection.execute(statement, parameters)]
    return [key_value(row) for row in fetch(connection, path, ids) if row[1]]


def revisions(
    connection: sqlite3.Connection, path: Path, *, first: int, last: int, interval: tuple[bytes, bytes | None]
) -> list[Revision]:
    """What the revisions from `first` to `last` changed in an interval, each with what was there before."""
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    compacted = meta.get("compact_revision", 0)
    check_complete(connection, path, first=max(first, compacted + 1, _quiet(meta) + 1, 2), last=last)
    start, end = interval
    below = "key < :end" if end is not None else ":end IS NULL"
    where = f"id >= :first AND id < :last AND key >= :start AND {below}"
    parameters = {"first": first << SUB_BITS, "last": (last + 1) << SUB_BITS, "start": start, "end": end}
    found: list[Revision] = []
    for row in _checked(connection.execute(f"SELECT {_COLUMNS} FROM log WHERE {where} ORDER BY id", parameters), path):
        kv = key_value(row)
        if not found or found[-1].revision != kv.mod_revision:
            found.append(Revision(kv.mod_revision, row[6], []))
        prev = _before(connection, path, kv.key, row[0]) if kv.mod_revision > compacted else None
        found[-1].changes.append(Change(kv, prev))
    return found


def _before(connection: sqlite3.Connection, path: Path, key: bytes, row_id: int) -> KeyValue | None:
    """What a key was before a row; None if it was not there."""
    statement = "SELECT max(id) FROM log_key WHERE key = ? AND id < ?"
    previous = connection.execute(statement, (key, row_id)).fetchone()[0]
    if previous is None:
        return None
    return next((key_value(row) for row in fetch(connection, path, [previous]) if row[1]), None)


def cause(connection: sqlite3.Connection, revision: int) -> str:
    statement = "SELECT cause FROM log WHERE id >= ? AND id < ? LIMIT 1"
    row = connection.execute(statement, (revision << SUB_BITS, (revision + 1) << SUB_BITS)).fetchone()
    return str(row[0]) if row else ""


# -- upkeep


class Indexed(NamedTuple):
    """How far the index by key is: the last row that it holds, and how many it took in."""

    last: int
    rows: int


def index_step(connection: sqlite3.Connection, size: int) -> Indexed:
    """Bring the index by key forward by up to `size` rows."""
    indexed = dict(connection.execute("SELECT name, value FROM meta")).get("indexed", 0)
    following = "SELECT max(id), count(*) FROM (SELECT id FROM log WHERE id > ? ORDER BY id LIMIT ?)"
    last, count = connection.execute(following, (indexed, size)).fetchone()
    if not count:
        return Indexed(indexed, 0)
    with lazily_synced(connection), transaction(connection):
        insert = "INSERT INTO log_key SELECT key, id FROM log WHERE id > ? AND id <= ? ORDER BY key, id"
        connection.execute(insert, (indexed, last))
        set_meta(connection, "indexed", last)
    return Indexed(last, count)
