"""The spans of a cluster on disk, so that a trace can be told after a restart.

Spans are written in batches, behind the events that they tell of: a crash may lose the last second of them, never a
revision. Bounded: the oldest go when there are more than `KEPT`. Its file is apart from the revision log's; no
component reads it but through the debug endpoints.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import sqlite3
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any, Protocol

import aiosqlite
import orjson

from engine.api.kept_json import kept_json
from engine.clock import Clock
from engine.tasks import Supervisor
from engine.timestamps import in_microseconds, moment
from engine.trace.span import Hop, Span
from engine.trace.tracer import Tracer

KEPT = 500_000
BATCH_SECONDS = 0.5
UNWRITTEN_MOST = 50_000
SPANS_AT_ONCE = 2_000  # under load spans come as fast as they are written: they must not gather in memory
SPANS_IN_A_ROW = 200  # made ready before others may run

# A row holds what one batch has of a trace, not one span: a request has a dozen, and rows and indexes cost more than
# what is in them. `number` counts spans; a row has that of its last.
_SCHEMA = """
DROP TABLE IF EXISTS spans;
CREATE TABLE IF NOT EXISTS runs (number INTEGER PRIMARY KEY, trace TEXT NOT NULL, body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS runs_by_trace ON runs (trace);
CREATE TABLE IF NOT EXISTS starts (
    number INTEGER PRIMARY KEY,
    object TEXT NOT NULL,
    hop INTEGER NOT NULL,
    trace TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS starts_by_object ON starts (object, hop);
"""
_INSERT_RUN = "INSERT INTO runs (number, trace, body) VALUES (?, ?, ?)"
_INSERT_START = "INSERT INTO starts (number, object, hop, trace) VALUES (?, ?, ?, ?)"
_PRUNE = ("DELETE FROM runs WHERE number <= ?", "DELETE FROM starts WHERE number <= ?")
_NEWEST = "SELECT max(number) FROM runs"
_BY_TRACE = "SELECT body FROM runs WHERE trace = ? ORDER BY number"
_BY_OBJECT = "SELECT trace FROM starts WHERE object = ? AND hop = ? ORDER BY number DESC LIMIT 1"

_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
_UNUSABLE = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM")

_log = logging.getLogger(__name__)

WRITES = frozenset({"create", "update", "patch", "delete", "apply"})


class TraceSource(Protocol):
    """Where the debug endpoints read finished traces from. Spans are `Span.to_json()`, in the order they ended."""

    async def spans(self, trace_id: str) -> list[dict[str, Any]]: ...

    async def find(self, object: str) -> str:
        """The id of the trace that the newest client's write to an object started, or where no client has written it,
        of the one in which it was created; "" for none."""
        ...


def _is_keystroke(span: Span) -> bool:
    """A client's request about the object: what its story starts with. One that was only tried starts none."""
    is_write = span.hop is Hop.CLIENT and span.verb in WRITES and span.outcome == "ok"
    return is_write and not (span.detail.get("query") or {}).get("dryRun")


def _is_birth(span: Span) -> bool:
    """The write that made the object, for one that no client has written: a Pod, a ReplicaSet."""
    return span.hop is Hop.STORE and span.verb == "create" and span.outcome == "ok"


class RecentTraces:
    """The traces that the tracer's ring still holds: the source of a cluster that keeps nothing on disk."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    async def spans(self, trace_id: str) -> list[dict[str, Any]]:
        return [span.to_json() for span in self._tracer.recent if span.trace_id == trace_id]

    async def find(self, object: str) -> str:
        for starts in (_is_keystroke, _is_birth):
            for span in reversed(self._tracer.recent):
                if span.object == object and starts(span):
                    return span.trace_id
        return ""


_Row = tuple[Any, ...]
_FIELDS = ("id", "parent", "hop", "lane", "component", "verb", "object", "revision", "wokenBy", "start", "wall_ms",
           "model_ms", "outcome", "detail", "sequence")  # fmt: skip
# What is kept of a span: its values, without their names and that of its trace. Every request has a dozen, and few are
# ever read.
_row: Callable[[Span], _Row] = attrgetter(
    *("id", "parent", "hop", "lane", "component", "verb", "object", "revision", "woken_by", "started", "wall_ms"),
    *("model_ms", "outcome", "detail", "sequence"),
)


def _span(trace: str, row: Any) -> dict[str, Any]:
    """A span as `Span.to_json` has it. Archives of old keep it so, or its start as a text."""
    if isinstance(row, dict):
        return row
    found = dict(zip(_FIELDS, row, strict=True))
    start = found["start"]
    if not isinstance(start, str):
        found["start"] = in_microseconds(moment(start))
    elif "." not in start:
        found["start"] = f"{start.removesuffix('Z')}.000000Z"
    found |= {"wall_ms": round(found["wall_ms"], 3), "model_ms": round(found["model_ms"], 3)}
    return {"id": found.pop("id"), "traceId": trace, **found}


_STARTING = (Hop.CLIENT, Hop.STORE)


class _Batch:
    """Rows of some spans; `number` is that of the span before."""

    def __init__(self, number: int) -> None:
        self.first = self.number = number
        self.starts: list[tuple[int, str, int, str]] = []
        self._runs: defaultdict[str, list[_Row]] = defaultdict(list)

    def add(self, spans: Sequence[Span]) -> None:
        runs, first = self._runs, self.number + 1
        self.number += len(spans)
        for number, span in enumerate(spans, start=first):
            runs[span.trace_id].append(_row(span))
            if span.hop in _STARTING and (_is_keystroke(span) or _is_birth(span)):
                self.starts.append((number, span.object, int(span.hop), span.trace_id))

    def runs(self) -> Iterator[tuple[int, str, bytes]]:
        number = self.first
        for trace, spans in self._runs.items():
            number += len(spans)
            yield number, trace, kept_json(spans, option=orjson.OPT_UTC_Z, default=str)

    def __len__(self) -> int:
        return self.number - self.first


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
        self.dropped = 0  # spans that came too fast, or found no room
        self._file = file
        self._tracer = tracer
        self._clock = clock
        self._unwritten: deque[Span] = deque(maxlen=UNWRITTEN_MOST)
        self._seen, self._left = 0, 0  # how many had ended, and how many were left, when some were last taken
        self._wake = asyncio.Event()
        self._writing = asyncio.Lock()
        self._tasks = Supervisor("trace-archive")
        self._database: aiosqlite.Connection | None = None
        self._number = 0  # of the newest span in a batch

    async def start(self) -> None:
        with self._clock.hold():
            try:
                self._database = await _open(self._file)
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorname in _UNUSABLE:
                    raise OSError(errno.EACCES, str(error), str(self._file)) from error
                if error.sqlite_errorname not in _DAMAGED:
                    raise
                # Traces tell of the past, no component needs them: begin anew, and leave the file for who wants it.
                _log.warning("%s is damaged (%s): set aside as %s.damaged", self._file, error, self._file.name)
                await asyncio.to_thread(_set_aside, self._file)
                self._database = await _open(self._file)
            for (newest,) in await self._database.execute_fetchall(_NEWEST):
                self._number = newest or 0
        self._seen = self._tracer.ended
        self._tracer.add_sink(self._unwritten.append)
        self._tasks.spawn(self._write_batches(), "writer")

    async def stop(self) -> None:
        self._tracer.remove_sink(self._unwritten.append)
        self._tracer.remove_sink(self._awaken)
        await self._tasks.close()
        if self._database is not None:
            await self._write()
            with self._clock.hold():
                await self._database.close()
            self._database = None

    def _awaken(self, _: Span) -> None:
        self._tracer.remove_sink(self._awaken)
        self._wake.set()

    async def _write_batches(self) -> None:
        while True:
            if not self._unwritten:
                self._tracer.add_sink(self._awaken)
                await self._wake.wait()
                self._wake.clear()
            await self._write()
            await self._clock.sleep(BATCH_SECONDS)

    async def _write(self) -> None:
        async with self._writing:
            left = len(self._unwritten)  # not those that come meanwhile, or who asks would wait for ever
            while left > 0 and self._unwritten:
                batch = _Batch(self._number)
                while self._unwritten and len(batch) < SPANS_AT_ONCE:
                    batch.add(self._take())
                    await self._clock.sleep(0)  # lets others run
                left -= len(batch)
                self._number = batch.number  # also of one whose insert is cut off by the stop: the next commit has it
                with self._clock.hold():
                    await self._insert(batch)

    def _take(self) -> list[Span]:
        """The oldest; those that were there before, and for which there was no place, are counted."""
        came = self._tracer.ended - self._seen
        self._seen += came
        self.dropped += max(0, self._left + came - UNWRITTEN_MOST)
        some = [self._unwritten.popleft() for _ in range(min(SPANS_IN_A_ROW, len(self._unwritten)))]
        self._left = len(self._unwritten)
        return some

    async def _insert(self, batch: _Batch) -> None:
        """A batch that finds no room is lost: a full disk must stop neither the writer nor the cluster's stop."""
        assert self._database is not None
        try:
            await self._database.executemany(_INSERT_RUN, batch.runs())
            await self._database.executemany(_INSERT_START, batch.starts)
            for statement in _PRUNE:
                await self._database.execute(statement, (batch.number - KEPT,))
            await self._database.commit()
        except sqlite3.OperationalError as error:
            if not self.dropped:
                _log.warning("cannot write %s: %s", self._file, error)
            self.dropped += len(batch)
            with suppress(sqlite3.OperationalError):
                await self._database.rollback()

    async def spans(self, trace_id: str) -> list[dict[str, Any]]:
        assert self._database is not None
        await self._write()
        with self._clock.hold():
            rows = await self._database.execute_fetchall(_BY_TRACE, (trace_id,))
        return [_span(trace_id, row) for (body,) in rows for row in orjson.loads(body)]

    async def find(self, object: str) -> str:
        assert self._database is not None
        await self._write()
        for hop in (Hop.CLIENT, Hop.STORE):
            with self._clock.hold():
                rows = await self._database.execute_fetchall(_BY_OBJECT, (object, int(hop)))
            for (trace,) in rows:
                return str(trace)
        return ""
