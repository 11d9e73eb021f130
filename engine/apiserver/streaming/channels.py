"""Messages of a WebSocket that carries several streams: the number of the stream, then its bytes, plain or in base64.

Source: apimachinery pkg/util/httpstream/wsstream conn.go (binaryWebSocketProtocol, base64BinaryWebSocketProtocol).
"""

from __future__ import annotations

import base64
import binascii

NO_STREAM = -1


class Channels:
    def __init__(self, protocol: str) -> None:
        self._base64 = "base64" in protocol

    def join(self, stream: int, data: bytes) -> bytes | str:
        if self._base64:
            return f"{stream}{base64.b64encode(data).decode()}"
        return bytes((stream,)) + data

    def split(self, message: bytes) -> tuple[int, bytes]:
        """Stream and bytes; NO_STREAM for a message that says neither."""
        if not message:
            return NO_STREAM, b""
        if not self._base64:
            return message[0], message[1:]
        try:
            return message[0] - ord("0"), base64.b64decode(message[1:])
        except binascii.Error:
            return NO_STREAM, b""
