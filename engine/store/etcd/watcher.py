"""A watcher of the hub whose progress is that of the stream from etcd, not that of what this process has written."""

from __future__ import annotations

from collections.abc import Callable

from engine.store.types import WatchResponse
from engine.store.watch import StoreWatcher


class EtcdWatcher:
    def __init__(self, inner: StoreWatcher, request_progress: Callable[[], None]) -> None:
        self._inner = inner
        self._request_progress = request_progress

    def __aiter__(self) -> EtcdWatcher:
        return self

    async def __anext__(self) -> WatchResponse:
        return await anext(self._inner)

    def request_progress(self) -> None:
        self._request_progress()

    async def aclose(self) -> None:
        await self._inner.aclose()
