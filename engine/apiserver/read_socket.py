"""Bytes that a WebSocket reads: logs, for browsers (apimachinery pkg/util/httpstream/wsstream stream.go)."""

from __future__ import annotations

import base64

from engine.api.wire import ByteStream, Socket
from engine.tasks import Supervisor

_BASE64 = "base64.binary.k8s.io"
PROTOCOLS = ("", "binary.k8s.io", _BASE64)
_MESSAGE = 2048  # bytes of a message, before they are encoded


class ReadSocket:
    """A `wire.Upgrade`."""

    def __init__(self, protocol: str, stream: ByteStream) -> None:
        self.protocol = protocol
        self._stream = stream

    async def run(self, socket: Socket) -> None:
        tasks = Supervisor("stream to read")
        try:
            await socket.send(self._message(b""))  # tells the client that the connection stands
            tasks.spawn(self._until_closed(socket), "end of stream")
            async for data in self._stream:
                for start in range(0, len(data), _MESSAGE):
                    await socket.send(self._message(data[start : start + _MESSAGE]))
        except ConnectionError:
            pass  # the client has gone
        finally:
            await self._stream.aclose()
            await tasks.close()

    def _message(self, data: bytes) -> bytes | str:
        return base64.b64encode(data).decode() if self.protocol == _BASE64 else data

    async def _until_closed(self, socket: Socket) -> None:
        """A client should send nothing; what it sends is read and forgotten."""
        while await socket.receive() is not None:
            pass
        await self._stream.aclose()
