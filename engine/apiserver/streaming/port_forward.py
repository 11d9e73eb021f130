"""Port-forward: SPDY streams, on a connection of their own or tunnelled through a WebSocket, as kubectl does it, or a
pair of channels for each port, as other clients do it.

Source: KEP-4006, apiserver pkg/util/proxy streamtunnel.go; kubelet pkg/kubelet/portforward httpstream.go (a pair of
streams, `error` and `data`, for each connection) and websocket.go.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from dataclasses import dataclass

from engine.api.wire import Socket
from engine.apiserver.streaming import spdy
from engine.apiserver.streaming.channels import Channels
from engine.streaming import Output, Session, StreamError
from engine.tasks import Supervisor

TUNNEL = "SPDY/3.1+portforward.k8s.io"
SPDY = "portforward.k8s.io"
CHANNELS = ("v4.channel.k8s.io", "v4.base64.channel.k8s.io", "portforward.k8s.io", "")

# Opens a connection to a port of the Pod.
Open = Callable[[int, Output], Session]

_PROTOCOL_ERROR = 1


@dataclass(slots=True)
class _Pair:
    """The two streams of one forwarded connection."""

    port: int
    error: int = 0
    data: int = 0
    session: Session | None = None


class SpdyPortForward:
    """A `wire.Upgrade`."""

    def __init__(self, protocol: str, open_port: Open) -> None:
        self.protocol = protocol
        self._open = open_port
        self._framer = spdy.Framer()
        self._out: asyncio.Queue[bytes] = asyncio.Queue()
        self._pairs: dict[str, _Pair] = {}
        self._by_stream: dict[int, _Pair] = {}
        self._tasks = Supervisor("port-forward")

    async def run(self, socket: Socket) -> None:
        self._tasks.spawn(self._send(socket), "send")
        try:
            while (message := await socket.receive()) is not None:
                for frame in self._framer.read(message):
                    if frame.kind == spdy.GOAWAY:
                        return
                    self._take(frame)
        except (ValueError, ConnectionError):
            return
        finally:
            for pair in list(self._pairs.values()):
                if pair.session is not None:
                    pair.session.close()
            await self._tasks.close()

    async def _send(self, socket: Socket) -> None:
        try:
            while True:
                await socket.send(await self._out.get())
        except ConnectionError:
            return

    def _take(self, frame: spdy.Frame) -> None:
        if frame.kind == spdy.SYN_STREAM:
            self._opened(frame)
        elif frame.kind == spdy.PING:
            self._out.put_nowait(spdy.ping(frame.value))
        elif frame.kind == spdy.RST_STREAM:
            self._ended(frame.stream)
        elif frame.kind == 0:
            pair = self._by_stream.get(frame.stream)
            if pair is None or frame.stream != pair.data or pair.session is None:
                return
            if frame.data:
                pair.session.write(frame.data)
            if frame.flags & spdy.FIN:
                pair.session.close_input()

    def _opened(self, frame: spdy.Frame) -> None:
        headers = frame.headers or {}
        kind, port, request = headers.get("streamtype", ""), headers.get("port", ""), headers.get("requestid", "")
        if kind not in ("error", "data") or not port.isdigit() or not 0 < int(port) < 65_536:
            self._out.put_nowait(spdy.reset(frame.stream, _PROTOCOL_ERROR))
            return
        self._out.put_nowait(self._framer.syn_reply(frame.stream))
        pair = self._pairs.setdefault(request, _Pair(int(port)))
        self._by_stream[frame.stream] = pair
        setattr(pair, kind, frame.stream)
        if pair.error and pair.data:
            self._tasks.spawn(self._forward(request, pair), f"connection {request}")

    async def _forward(self, request: str, pair: _Pair) -> None:
        """One connection from its beginning to its end."""

        def output(stream: int, data: bytes) -> None:
            self._out.put_nowait(spdy.data_frame(pair.data, data))

        try:
            pair.session = self._open(pair.port, output)
            await pair.session.wait()
        except StreamError as error:
            self._out.put_nowait(spdy.data_frame(pair.error, str(error).encode()))
        self._out.put_nowait(spdy.data_frame(pair.error, b"", fin=True))
        self._out.put_nowait(spdy.data_frame(pair.data, b"", fin=True))
        self._pairs.pop(request, None)
        self._by_stream.pop(pair.error, None)
        self._by_stream.pop(pair.data, None)

    def _ended(self, stream: int) -> None:
        pair = self._by_stream.get(stream)
        if pair is not None and pair.session is not None:
            pair.session.close()


class ChannelPortForward:
    """A `wire.Upgrade`: channels 2n and 2n + 1 are data and errors of the n-th port. Each begins with the port.

    A port is one connection. Once all have ended, so has the WebSocket: here a stream has no end of its own.
    """

    def __init__(self, protocol: str, ports: list[int], open_port: Open) -> None:
        self.protocol = protocol
        self._ports = ports
        self._open = open_port
        self._channels = Channels(protocol)
        self._out: asyncio.Queue[bytes | str | None] = asyncio.Queue()
        self._sessions: dict[int, Session] = {}

    async def run(self, socket: Socket) -> None:
        tasks = Supervisor("port-forward")
        try:
            for number, port in enumerate(self._ports):
                for channel in (2 * number, 2 * number + 1):
                    self._put(channel, struct.pack("<H", port))
            connections = [
                tasks.spawn(self._forward(number, port), f"port {port}") for number, port in enumerate(self._ports)
            ]
            tasks.spawn(self._receive(socket), "receive")
            tasks.spawn(self._end_after(connections), "end")
            await self._send(socket)
        finally:
            for session in self._sessions.values():
                session.close()
            await tasks.close()

    def _put(self, channel: int, data: bytes) -> None:
        self._out.put_nowait(self._channels.join(channel, data))

    async def _forward(self, number: int, port: int) -> None:
        """One connection from its beginning to its end."""
        try:
            session = self._open(port, lambda _, data: self._put(2 * number, data))
            self._sessions[number] = session
            await session.wait()
        except StreamError as error:
            self._put(2 * number + 1, str(error).encode())

    async def _end_after(self, connections: list[asyncio.Task[None]]) -> None:
        await asyncio.gather(*connections)
        self._out.put_nowait(None)

    async def _receive(self, socket: Socket) -> None:
        while (message := await socket.receive()) is not None:
            channel, data = self._channels.split(message)
            session = self._sessions.get(channel // 2) if channel % 2 == 0 else None
            if session is not None:
                session.write(data)
        self._out.put_nowait(None)

    async def _send(self, socket: Socket) -> None:
        try:
            while (message := await self._out.get()) is not None:
                await socket.send(message)
        except ConnectionError:
            return
