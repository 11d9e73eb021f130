"""The spans of a cluster on disk, so that a trace can be told after a restart.

Spans are written in batches, behind the events that they tell of: a crash may lose the last second of them, never a
revision. Bounded: the oldest go when there are more than `KEPT`. Its file is apart from the revision log's; no
component reads it but through the debug endpoints.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import aiosqlite
import orjson

from engine.api.kept_json import kept_json
from engine.clock import Clock
from engine.tasks import Supervisor
from engine.trace.span import Hop, Span
from engine.trace.tracer import Tracer

KEPT = 500_000
BATCH_SECONDS = 0.5
UNWRITTEN_MOST = 50_000
ROWS_AT_ONCE = 2_000  # under load spans come as fast as they are written: they must not gather in memory

_SCHEMA = """
CREATE TABLE IF NOT EXISTS spans (
    number INTEGER PRIMARY KEY,
    trace TEXT NOT NULL,
    parent TEXT NOT NULL,
    hop INTEGER NOT NULL,
    object TEXT NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS spans_by_trace ON spans (trace);
CREATE INDEX IF NOT EXISTS spans_by_object ON spans (object, hop);
"""
_INSERT = "INSERT INTO spans (trace, parent, hop, object, body) VALUES (?, ?, ?, ?, ?)"
_PRUNE = "DELETE FROM spans WHERE number <= (SELECT max(number) FROM spans) - ?"
_BY_TRACE = "SELECT body FROM spans WHERE trace = ? ORDER BY number"
# The newest write that made the object, for one that no client has written: a Pod, a ReplicaSet.
_NEWEST_BIRTH = "SELECT trace, body FROM spans WHERE object = ? AND hop = 7 ORDER BY number DESC LIMIT 200"
# The newest request of a client about the object: the keystroke that its story starts with.
_NEWEST_ROOT = "SELECT trace, body FROM spans WHERE object = ? AND hop = 1 ORDER BY number DESC LIMIT 200"

_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")

_log = logging.getLogger(__name__)

WRITES = frozenset({"create", "update", "patch", "delete", "apply"})


class TraceSource(Protocol):
    """Where the debug endpoints read finished traces from. Spans are `Span.to_json()`, in the order they ended."""

    async def spans(self, trace_id: str) -> list[dict[str, Any]]: ...

    async def find(self, object: str) -> str:
        """The id of the trace that the newest client's write to an object started, or where no client has written it,
        of the one in which it was created; "" for none."""
        ...


def _is_keystroke(span: dict[str, Any]) -> bool:
    return bool(span["hop"] == Hop.CLIENT and span["verb"] in WRITES and span["outcome"] == "ok")


def _is_birth(span: dict[str, Any]) -> bool:
    return bool(span["hop"] == Hop.STORE and span["verb"] == "create" and span["outcome"] == "ok")


class RecentTraces:
    """The traces that the tracer's ring still holds: the source of a cluster that keeps nothing on disk."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    async def spans(self, trace_id: str) -> list[dict[str, Any]]:
        return [span.to_json() for span in self._tracer.recent if span.trace_id == trace_id]

    async def find(self, object: str) -> str:
        for starts in (_is_keystroke, _is_birth):
            for span in reversed(self._tracer.recent):
                if span.object == object and starts(span.to_json()):
                    return span.trace_id
        return ""


async def _open(file: Path) -> aiosqlite.Connection:
    database = await aiosqlite.connect(file)
    try:
        await database.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; {_SCHEMA}")
    except BaseException:
        await database.close()
        raise
    return database


def _set_aside(file: Path) -> None:
    file.replace(file.with_name(f"{file.name}.damaged"))
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


class TraceArchive:
    """The spans of a cluster in a SQLite file."""

    def __init__(self, file: Path, tracer: Tracer, clock: Clock) -> None:
        self.dropped = 0
        self._file = file
        self._tracer = tracer
        self._clock = clock
        self._unwritten: deque[Span] = deque()
        self._wake = asyncio.Event()
        self._writing = asyncio.Lock()
        self._tasks = Supervisor("trace-archive")
        self._database: aiosqlite.Connection | None = None

    async def start(self) -> None:
        with self._clock.hold():
            try:
                self._database = await _open(self._file)
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorname not in _DAMAGED:
                    raise
                # Traces tell of the past, no component needs them: begin anew, and leave the file for who wants it.
                _log.warning("%s is damaged (%s): set aside as %s.damaged", self._file, error, self._file.name)
                await asyncio.to_thread(_set_aside, self._file)
                self._database = await _open(self._file)
        self._tracer.add_sink(self._keep)
        self._tasks.spawn(self._write_batches(), "writer")

    async def stop(self) -> None:
        self._tracer.remove_sink(self._keep)
        await self._tasks.close()
        if self._database is not None:
            await self._write()
            with self._clock.hold():
                await self._database.close()
            self._database = None

    def _keep(self, span: Span) -> None:
        if len(self._unwritten) >= UNWRITTEN_MOST:
            self._unwritten.popleft()
            self.dropped += 1
        self._unwritten.append(span)
        self._wake.set()

    async def _write_batches(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._write()
            await self._clock.sleep(BATCH_SECONDS)

    async def _write(self) -> None:
        assert self._database is not None
        async with self._writing:
            left = len(self._unwritten)  # not those that come meanwhile, or who asks would wait for ever
            while left > 0 and self._unwritten:
                rows: list[tuple[str, str, int, str, bytes]] = []
                while self._unwritten and len(rows) < ROWS_AT_ONCE:
                    span = self._unwritten.popleft()
                    body = kept_json(span.to_json(), default=str)
                    rows.append((span.trace_id, span.parent, int(span.hop), span.object, body))
                    if len(rows) % 200 == 0:
                        await self._clock.sleep(0)  # lets others run
                left -= len(rows)
                with self._clock.hold():
                    await self._insert(self._database, rows)

    async def _insert(self, database: aiosqlite.Connection, rows: list[tuple[str, str, int, str, bytes]]) -> None:
        """A batch that finds no room is lost: a full disk must stop neither the writer nor the cluster's stop."""
        try:
            await database.executemany(_INSERT, rows)
            await database.execute(_PRUNE, (KEPT,))
            await database.commit()
        except sqlite3.OperationalError as error:
            if not self.dropped:
                _log.warning("cannot write %s: %s", self._file, error)
            self.dropped += len(rows)
            with suppress(sqlite3.OperationalError):
                await database.rollback()

    async def spans(self, trace_id: str) -> list[dict[str, Any]]:
        assert self._database is not None
        await self._write()
        with self._clock.hold():
            rows = await self._database.execute_fetchall(_BY_TRACE, (trace_id,))
        return [orjson.loads(row[0]) for row in rows]

    async def find(self, object: str) -> str:
        assert self._database is not None
        await self._write()
        with self._clock.hold():
            keystrokes = await self._database.execute_fetchall(_NEWEST_ROOT, (object,))
            births = await self._database.execute_fetchall(_NEWEST_BIRTH, (object,))
        for rows, starts in ((keystrokes, _is_keystroke), (births, _is_birth)):
            for trace, body in rows:
                if starts(orjson.loads(body)):
                    return str(trace)
        return ""
