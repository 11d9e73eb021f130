"""exec and attach over a WebSocket: one byte before each message says which stream it belongs to.

Source: apimachinery pkg/util/remotecommand constants.go (the subprotocols), apiserver pkg/util/proxy
streamtranslator.go (what becomes of the end and of errors), KEP-4006 (v5: a message that closes a stream).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import orjson

from engine.api.errors import internal
from engine.api.types import Object
from engine.api.wire import Socket
from engine.apiserver.streaming.channels import Channels
from engine.streaming import Output, Session, StreamError
from engine.tasks import Supervisor

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
V5, V4, V4_BASE64 = "v5.channel.k8s.io", "v4.channel.k8s.io", "v4.base64.channel.k8s.io"
V1, V1_BASE64 = "channel.k8s.io", "base64.channel.k8s.io"
PROTOCOLS = (V5, V4, V4_BASE64, V1, V1_BASE64, "v3.channel.k8s.io", "v2.channel.k8s.io", "")
_STATUS_SINCE = (V5, V4, V4_BASE64)


class RemoteCommand:
    """A `wire.Upgrade`. `begin` starts the session on the node."""

    def __init__(self, protocol: str, begin: Callable[[Output], Session], *, streams: tuple[int, ...]) -> None:
        self.protocol = protocol
        self._begin = begin
        self._streams = streams
        self._channels = Channels(protocol)
        self._out: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()

    async def run(self, socket: Socket) -> None:
        tasks = Supervisor("remote command")
        # An empty message tells the client that the connection stands.
        self._put(next((stream for stream in (STDOUT, STDERR, ERROR) if stream in (*self._streams, ERROR)), ERROR), b"")
        session: Session | None = None
        try:
            sender = tasks.spawn(self._send(socket), "send")
            try:
                session = self._begin(self._output)
                tasks.spawn(self._receive(socket, session), "receive")
                code = await session.wait()
            except StreamError as error:
                self._status(_failed(error))
            else:
                self._status(exited(code))
            self._put(-1, b"")
            await sender  # all is sent; the end of the connection ends the streams of the client
        except ConnectionError:
            pass  # the client has gone
        finally:
            if session is not None:
                session.close()
            await tasks.close()

    # -- out

    def _output(self, stream: int, data: bytes) -> None:
        if stream in self._streams:
            self._put(stream, data)

    def _put(self, stream: int, data: bytes) -> None:
        self._out.put_nowait((stream, data))

    def _status(self, status: Object) -> None:
        if self.protocol in _STATUS_SINCE:
            self._put(ERROR, orjson.dumps(status))
        elif status["status"] != "Success":
            self._put(ERROR, str(status["message"]).encode())

    async def _send(self, socket: Socket) -> None:
        while True:
            stream, data = await self._out.get()
            if stream < 0:
                return
            try:
                await socket.send(self._channels.join(stream, data))
            except ConnectionError:
                return  # the client has gone

    # -- in

    async def _receive(self, socket: Socket, session: Session) -> None:
        while (message := await socket.receive()) is not None:
            self._take(session, *self._channels.split(message))
        session.close()

    def _take(self, session: Session, stream: int, data: bytes) -> None:
        if stream == STDIN and STDIN in self._streams:
            session.write(data)
        elif stream == RESIZE:
            try:
                size = orjson.loads(data)
                session.resize(int(size["Width"]), int(size["Height"]))
            except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
                return
        elif stream == CLOSE and data == bytes((STDIN,)) and self.protocol == V5:
            session.close_input()


def exited(code: int) -> Object:
    """What the client is told at the end."""
    if not code:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: command terminated with exit code {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def _failed(error: StreamError) -> Object:
    """The API server wraps what the node says; what the node's runtime says, the node has wrapped before."""
    if error.refused:
        return internal(f"unable to upgrade connection: {error}").status
    return internal(f"Internal error occurred: {error}").status
