"""Connections of the HTTPS front that are no longer HTTP: an `Upgrade` to SPDY/3.1 and the bytes that go over it.

What the API server answers here it hands on from the node, so that it has none of its own headers. Source: apimachinery
pkg/util/proxy upgradeaware.go, k8s.io/streaming pkg/httpstream/spdy/upgrade.go.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from aiohttp import web
from aiohttp.helpers import rfc822_formatted_time

from engine.api.wire import Upgrade
from engine.apiserver.streaming.spdy_handshake import VERSION

_AT_ONCE = 64 * 1024


class _Incoming:
    """As much of aiohttp's parser of payloads as a connection asks for: it hands on what comes."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        self._reader.feed_data(data)
        return False, b""

    def feed_eof(self) -> None:
        self._reader.feed_eof()


class _Connection:
    """A `wire.Socket`."""

    def __init__(self, incoming: web.BaseRequest, reader: asyncio.StreamReader) -> None:
        self._incoming = incoming
        self._reader = reader

    async def receive(self) -> bytes | None:
        return await self._reader.read(_AT_ONCE) or None

    async def send(self, message: bytes | str) -> None:
        transport = self._incoming.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client has gone")
        transport.write(message.encode() if isinstance(message, str) else message)
        await self._incoming.writer.drain()


class _Served:
    """As much of aiohttp's `StreamResponse` as is asked of one that has been served already: its connection ends."""

    keep_alive = False

    async def prepare(self, request: web.BaseRequest) -> None:
        """All is written."""

    async def write_eof(self) -> None:
        """All is written."""


async def serve_spdy(incoming: web.BaseRequest, upgrade: Upgrade) -> web.StreamResponse:
    """Switch protocols and serve to the end, with which the connection ends as well."""
    reader = asyncio.StreamReader(limit=_AT_ONCE)
    transport: Any = incoming.transport
    if transport is None:
        raise ConnectionResetError("the client has gone")
    reader.set_transport(transport)
    incoming.protocol.set_parser(cast("Any", _Incoming(reader)))
    connection = _Connection(incoming, reader)
    await connection.send(
        "HTTP/1.1 101 Switching Protocols\r\n"
        "Connection: Upgrade\r\n"
        "Upgrade: SPDY/3.1\r\n"
        f"{VERSION}: {upgrade.protocol}\r\n"
        f"Date: {rfc822_formatted_time()}\r\n\r\n"
    )
    await upgrade.run(connection)
    return cast("web.StreamResponse", _Served())
