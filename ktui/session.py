"""What the screen is attached to: a client of one engine, and how that engine is started, found again and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.api.wire import Request, Response
from engine.client import Client
from engine.client.transport import Connects, Socket, Transport
from engine.world import World
from ktui.address import Address


class LateTransport:
    """A transport to an engine that is still starting, or that may come back elsewhere: requests wait for the first."""

    def __init__(self) -> None:
        self._attached = asyncio.Event()
        self._transport: Transport | None = None
        self._problem = ""

    async def attach(self, transport: Transport) -> None:
        old, self._transport, self._problem = self._transport, transport, ""
        self._attached.set()
        if old is not None:
            await old.close()

    def fail(self, problem: str) -> None:
        """Let what waits, and all that comes, fail with these words."""
        self._problem = problem
        self._attached.set()

    async def attached(self) -> Transport:
        """Once there is one. Raises ConnectionError."""
        await self._attached.wait()
        if self._transport is None or self._problem:
            raise ConnectionError(self._problem or "there is no engine")
        return self._transport

    async def send(self, request: Request) -> Response:
        return await (await self.attached()).send(request)

    async def connect(self, request: Request, protocols: Sequence[str]) -> Socket:
        """Raises ConnectionError where the engine is reached without sockets."""
        transport: object = await self.attached()
        if not isinstance(transport, Connects):
            raise ConnectionError("streams need a connection over HTTPS")
        return await transport.connect(request, protocols)

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.close()


@dataclass(slots=True)
class Session:
    """An engine as the screen holds it. What is None cannot be done: an engine that a test runs is the test's to end.

    `begin` starts the engine or finds it (once, before anything is shown, or again after its end); it raises
    ConnectionError with what went wrong. `is_alive` says whether there is an engine that could answer. `address` is
    where another process reaches it, once it does; it raises ConnectionError.
    """

    name: str
    client: Client
    world: World  # the screen's own: its clock is this machine's
    kubeconfig: Path | None = None
    address: Callable[[], Awaitable[Address]] | None = None
    begin: Callable[[], Awaitable[None]] | None = None
    is_alive: Callable[[], bool] | None = None
    stop_engine: Callable[[], None] | None = None
    started_here: bool = False  # then leaving may well end it
    is_beginning: bool = False
