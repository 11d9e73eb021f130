"""What of the store's endpoints comes as a stream: a watch, line by line, and a snapshot."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any, Protocol

import orjson

from engine.apiserver.debug.etcd_json import event_json
from engine.clock import Clock, Timer
from engine.store.types import CompactedError, EmptyRangeError, Store, Watcher, WatchResponse

CHUNK = 256 * 1024
PROGRESS_PERIOD = 600.0  # etcdserver/api/v3rpc watch.go, progressReportInterval


class Origin(Protocol):
    """Where the answers come from."""

    @property
    def clock(self) -> Clock: ...

    def header(self, revision: int) -> dict[str, int]: ...


class WatchStream:
    """The responses of a store watch; where the watcher is overtaken by a compaction, the last says so. One of no range
    is over before it has begun, so that nobody answers for it (clientv3 has that response itself)."""

    def __init__(
        self, origin: Origin, watcher: Watcher | None, error: CompactedError | EmptyRangeError | None = None
    ) -> None:
        self._origin = origin
        self._watcher = watcher
        self._error = error
        self._timer: Timer | None = None
        self._told = False  # whether events went out since the timer was set: they say how far the watcher is

    def notify_progress(self) -> None:
        """Now and then say how far the watcher is, where no event does."""
        if self._watcher is not None:
            self._timer = self._origin.clock.call_later(PROGRESS_PERIOD, self._ask)

    def ask_progress(self) -> None:
        """Say how far the watcher is, once it has caught up."""
        if self._watcher is not None:
            self._watcher.request_progress()

    def _ask(self) -> None:
        if not self._told:
            self.ask_progress()
        self._told = False
        self.notify_progress()

    def __aiter__(self) -> WatchStream:
        return self

    async def __anext__(self) -> bytes:
        if self._watcher is None:
            if self._error is None:
                raise StopAsyncIteration
            error, self._error = self._error, None
            if isinstance(error, EmptyRangeError):
                return _line({}, None, canceled=True)
            return self._line(WatchResponse(0, []), compacted=error.compact_revision)
        try:
            response = await anext(self._watcher)
            self._told = self._told or bool(response.events)
            return self._line(response)
        except CompactedError as error:
            await self.aclose()
            return self._line(WatchResponse(0, []), compacted=error.compact_revision)

    def _line(self, response: WatchResponse, *, compacted: int = 0) -> bytes:
        header, events = self._origin.header(response.revision), [event_json(event) for event in response.events]
        return _line(header, events, compacted=compacted, canceled=bool(compacted))

    async def aclose(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            await watcher.aclose()


def _line(header: dict[str, int], events: list[dict[str, Any]] | None, *, compacted: int = 0, canceled: bool) -> bytes:
    document = {
        "Header": header,
        "Events": events,
        "CompactRevision": compacted,
        "Canceled": canceled,
        "Created": False,
    }
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


class SnapshotStream:
    """A snapshot that was taken whole into a file of its own, which goes once it is read or the reader has gone."""

    def __init__(self, folder: Path, file: Path) -> None:
        self._folder = folder
        self._file = file.open("rb")

    @classmethod
    async def take(cls, store: Store) -> SnapshotStream:
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="ktui-snapshot-"))
        try:
            await store.snapshot(folder / "snapshot.db")
            return cls(folder, folder / "snapshot.db")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def __aiter__(self) -> SnapshotStream:
        return self

    async def __anext__(self) -> bytes:
        chunk = b"" if self._file.closed else await asyncio.to_thread(self._file.read, CHUNK)
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def aclose(self) -> None:
        self._file.close()
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
