"""A watcher of the hub whose progress is that of the stream from etcd, not that of what this process has written."""

from __future__ import annotations

from collections.abc import Callable

from engine.store.etcd.connection import RECONNECT, rest
from engine.store.types import StoreUnavailableError, WatchResponse
from engine.store.watch import StoreWatcher


class EtcdWatcher:
    def __init__(self, inner: StoreWatcher, request_progress: Callable[[], None]) -> None:
        self._inner = inner
        self._request_progress = request_progress

    def __aiter__(self) -> EtcdWatcher:
        return self

    async def __anext__(self) -> WatchResponse:
        """What is next; while etcd is away a watcher that must read older history from it waits."""
        while True:
            try:
                return await anext(self._inner)
            except StoreUnavailableError:
                await rest(RECONNECT)

    def request_progress(self) -> None:
        self._request_progress()

    async def aclose(self) -> None:
        await self._inner.aclose()
