"""What goes on after its answer has begun, and whose end is told of: watches, logs, and connections into containers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Generic, Protocol, TypeVar

from engine.api.wire import Metered, Response, Socket, Upgrade, WatchEvent

Ended = Callable[[], None]
Item = TypeVar("Item", covariant=True)


def tell_end(response: Response, ended: Ended) -> None:
    """Let `ended` be called once when the answer is over: now, where nothing of it goes on."""
    if response.events is not None:
        response.events = _ToldEvents(response.events, ended)
    elif response.stream is not None:
        response.stream = _Told(response.stream, ended)
    elif response.upgrade is not None:
        response.upgrade = _ToldUpgrade(response.upgrade, ended)
    else:
        ended()


class _Stream(Protocol[Item]):
    def __aiter__(self) -> AsyncIterator[Item]: ...

    async def aclose(self) -> None: ...


class _Told(Generic[Item]):
    def __init__(self, source: _Stream[Item], ended: Ended) -> None:
        self._source = source
        self._iterator = source.__aiter__()
        self._ended: Ended | None = ended

    def __aiter__(self) -> AsyncIterator[Item]:
        return self

    async def __anext__(self) -> Item:
        return await self._iterator.__anext__()

    async def aclose(self) -> None:
        await self._source.aclose()
        ended, self._ended = self._ended, None
        if ended is not None:
            ended()


class _ToldEvents(_Told[WatchEvent]):
    def count_bytes(self, size: int) -> None:
        if isinstance(self._source, Metered):
            self._source.count_bytes(size)


class _ToldUpgrade:
    def __init__(self, upgrade: Upgrade, ended: Ended) -> None:
        self._upgrade = upgrade
        self._ended = ended

    @property
    def protocol(self) -> str:
        return self._upgrade.protocol

    async def run(self, socket: Socket) -> None:
        try:
            await self._upgrade.run(socket)
        finally:
            self._ended()
