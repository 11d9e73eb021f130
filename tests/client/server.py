"""An API server in this process for tests of the client library, and a transport that can be made to fail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from engine.api.types import Object
from engine.api.wire import ClientCertificate, EventStream, Request, Response, WatchEvent
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport, Transport
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World

ADMIN = ClientCertificate("kubernetes-admin", ("system:masters",))


class CuttableStream:
    """A watch that ends, or fails, when it is cut."""

    def __init__(self, stream: EventStream, transport: FaultyTransport) -> None:
        self._stream = stream
        self._transport = transport
        self._cut: BaseException | None = None

    async def __aiter__(self) -> AsyncIterator[WatchEvent]:
        async for event in self._stream:
            yield event
        if self._cut is not None:
            raise self._cut

    async def cut(self, error: BaseException | None) -> None:
        self._cut = error
        await self._stream.aclose()

    async def aclose(self) -> None:
        self._transport.streams.remove(self)
        await self._stream.aclose()


class FaultyTransport:
    """Hands on every request unless it is told to fail; remembers paths and queries."""

    def __init__(self, inner: Transport) -> None:
        self.fail: Callable[[Request], BaseException | Response | None] = lambda request: None
        self.requests: list[Request] = []
        self.streams: list[CuttableStream] = []
        self._inner = inner

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        failure = self.fail(request)
        if isinstance(failure, BaseException):
            raise failure
        if failure is not None:
            return failure
        response = await self._inner.send(request)
        if response.events is not None:
            stream = CuttableStream(response.events, self)
            self.streams.append(stream)
            response.events = stream
        return response

    async def close(self) -> None:
        await self._inner.close()

    async def cut(self, error: BaseException | None = None) -> None:
        """End all open watches: as the server does, or with an error."""
        for stream in list(self.streams):
            await stream.cut(error)


class Server:
    def __init__(self, world: World, api: ApiServer, store: SqliteStore) -> None:
        self.world = world
        self.store = store
        self.admin = Client(InProcessTransport(api, ADMIN), user_agent="kubectl")
        self.transport = FaultyTransport(InProcessTransport(api, ADMIN))
        self.client = Client(self.transport, user_agent="informer")

    async def eventually(self, what: str, condition: Callable[[], bool | Awaitable[bool]]) -> None:
        end = self.world.clock.monotonic() + 120
        while self.world.clock.monotonic() < end:
            found = condition()
            if found if isinstance(found, bool) else await found:
                return
            await self.world.clock.sleep(0.1)
        raise AssertionError(f"not within two minutes of model time: {what}")


@asynccontextmanager
async def serving(world: World, **config: Any) -> AsyncIterator[Server]:
    store = await SqliteStore.open(None, clock=world.clock)
    api = ApiServer(world, store, config=ClusterConfig(**config))
    await api.start()
    try:
        yield Server(world, api, store)
    finally:
        await api.stop()
        await store.close()


def config_map(name: str, namespace: str = "default", **data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(data)},
        "data": data,
    }
