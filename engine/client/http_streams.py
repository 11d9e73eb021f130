"""What comes over HTTP as it happens: WebSockets, bodies that are followed, and watches."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import orjson

from engine.api.wire import WatchEvent


class HttpSocket:
    """A WebSocket's client side, in whole messages of bytes."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket

    async def receive(self) -> bytes | None:
        """The next message; None when the other side has closed."""
        message = await self._socket.receive()
        if message.type is aiohttp.WSMsgType.BINARY:
            return bytes(message.data)
        if message.type is aiohttp.WSMsgType.TEXT:
            return str(message.data).encode()
        return None

    async def send(self, message: bytes) -> None:
        if not self._socket.closed:
            await self._socket.send_bytes(message)

    async def close(self) -> None:
        await self._socket.close()


class HttpBytes:
    """A body read as it comes. Iterating ends with it; `aclose` drops the connection."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._answer.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, OSError) as error:
            raise ConnectionError(f"the stream was cut: {_how_cut(error)}") from error
        finally:
            self._answer.close()

    async def aclose(self) -> None:
        self._answer.close()


class HttpEvents:
    """A watch over HTTP: one event a line, of any length. A stream that is cut ends the iteration as a time-out does,
    for a watcher must be ready to go on from its last resourceVersion anyway."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[WatchEvent]:
        rest = b""
        try:
            async for chunk in self._answer.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    if line:
                        yield _event(line)
            if rest.strip():
                yield _event(rest)
        except (aiohttp.ClientError, OSError):
            return
        finally:
            self._answer.close()

    async def aclose(self) -> None:
        self._answer.close()


def _how_cut(error: Exception) -> str:
    """In Go's words (io.ErrUnexpectedEOF) for a body that ends before its end."""
    if isinstance(error, aiohttp.ClientPayloadError):
        return "unexpected EOF"
    return str(error) or type(error).__name__


def _event(line: bytes) -> WatchEvent:
    try:
        value = orjson.loads(line)
        kind, obj = value["type"], value["object"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise ConnectionError(f"unable to decode an event from the watch stream: {error}") from error
    version = (obj.get("metadata") or {}).get("resourceVersion", "")
    return WatchEvent(kind, obj, int(version) if str(version).isdigit() else 0, value.get("cause", ""))
