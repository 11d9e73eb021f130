"""WebSockets of the HTTPS front: an `Upgrade` and the bytes on the wire (RFC 6455, by aiohttp)."""

from __future__ import annotations

from aiohttp import WSMsgType, web

from engine.api.wire import Upgrade


class _Socket:
    """A `wire.Socket`."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self._socket = socket

    async def receive(self) -> bytes | None:
        message = await self._socket.receive()
        if message.type is WSMsgType.BINARY:
            return bytes(message.data)
        if message.type is WSMsgType.TEXT:
            return str(message.data).encode()
        return None

    async def send(self, message: bytes | str) -> None:
        if self._socket.closed:
            raise ConnectionResetError("the WebSocket is closed")
        if isinstance(message, str):
            await self._socket.send_str(message)
        else:
            await self._socket.send_bytes(message)


async def serve_socket(incoming: web.BaseRequest, upgrade: Upgrade) -> web.StreamResponse:
    """Shake hands and serve; whichever side ends it, it is closed in the end."""
    outgoing = web.WebSocketResponse(protocols=[upgrade.protocol] if upgrade.protocol else (), max_msg_size=0)
    if not outgoing.can_prepare(incoming).ok:
        return web.Response(status=400, text="Bad Request: not a WebSocket handshake\n")
    await outgoing.prepare(incoming)
    try:
        await upgrade.run(_Socket(outgoing))
    finally:
        await outgoing.close()
    return outgoing
