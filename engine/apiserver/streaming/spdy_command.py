"""exec and attach over SPDY: a stream for each of what is typed, printed, told of the end, and for the terminal's size.

Client-go speaks it where a WebSocket is refused, and kubectl before 1.31 always. The client opens the streams; what the
command prints meanwhile waits for them. Source: apimachinery pkg/util/remotecommand constants.go (the protocols and the
names of streams), cri-streaming pkg/streaming/remotecommand httpstream.go, exec.go and attach.go.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import orjson

from engine.api.errors import internal
from engine.api.types import Object
from engine.api.wire import Socket
from engine.apiserver.streaming import spdy
from engine.apiserver.streaming.remote_command import STDERR, STDIN, STDOUT, exited
from engine.streaming import Output, Session, StreamError
from engine.tasks import Supervisor

V4, V3 = "v4.channel.k8s.io", "v3.channel.k8s.io"
SPDY_PROTOCOLS = (V4, V3, "v2.channel.k8s.io", "channel.k8s.io")
_NAMES = {STDIN: "stdin", STDOUT: "stdout", STDERR: "stderr"}
_ERROR, _RESIZE = "error", "resize"
_PIECE = 1 << 20  # what a frame may hold is more, but one should not keep the others waiting


class SpdyCommand:
    """A `wire.Upgrade`. `begin` starts the session on the node. Raises StreamError where the node refuses it."""

    def __init__(
        self, protocol: str, begin: Callable[[Output], Session], *, streams: tuple[int, ...], tty: bool
    ) -> None:
        self.protocol = protocol
        self._expected = {_ERROR, *(_NAMES[stream] for stream in streams)}
        if tty and protocol in (V4, V3):
            self._expected.add(_RESIZE)
        self._framer = spdy.Framer()
        self._ids: dict[str, int] = {}
        self._complete = asyncio.Event()
        self._early: list[tuple[str, bytes]] = []  # what was printed before there was a stream for it
        self._out: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._sizes = ""
        self._gone = False
        self._session: Session | None = None
        self._failure: StreamError | None = None
        try:
            self._session = begin(self._output)
        except StreamError as error:
            if error.refused:
                raise
            self._failure = error  # the runtime's, which is asked once there are streams to tell of it

    async def run(self, socket: Socket) -> None:
        tasks = Supervisor("remote command")
        try:
            sender = tasks.spawn(self._send(socket), "send")
            tasks.spawn(self._receive(socket), "receive")
            end = await self._ended()
            await self._complete.wait()
            if not self._gone:
                self._end(end)
                await sender
        except ConnectionError:
            pass  # the client has gone
        finally:
            self._close()
            await tasks.close()

    async def _ended(self) -> Object:
        try:
            if self._session is not None:
                return exited(await self._session.wait())
        except StreamError as error:
            self._failure = error
        return internal(str(self._failure)).status

    def _close(self) -> None:
        if self._session is not None:
            self._session.close()

    # -- out

    def _output(self, stream: int, data: bytes) -> None:
        name = _NAMES[stream]
        if name in self._expected and not self._gone:
            self._print(name, data)

    def _print(self, name: str, data: bytes) -> None:
        if not self._complete.is_set():
            self._early.append((name, data))
            return
        for start in range(0, len(data), _PIECE):
            self._out.put_nowait(spdy.data_frame(self._ids[name], data[start : start + _PIECE]))

    def _end(self, status: Object) -> None:
        if self.protocol == V4:
            self._print(_ERROR, orjson.dumps(status))
        elif status["status"] != "Success":
            self._print(_ERROR, str(status["message"]).encode())
        for name, stream in self._ids.items():
            if name not in (_NAMES[STDIN], _RESIZE):
                self._out.put_nowait(spdy.data_frame(stream, b"", fin=True))
        self._out.put_nowait(spdy.go_away(max(self._ids.values())))
        self._out.put_nowait(None)

    async def _send(self, socket: Socket) -> None:
        try:
            while (frame := await self._out.get()) is not None:
                await socket.send(frame)
        except ConnectionError:
            return

    # -- in

    async def _receive(self, socket: Socket) -> None:
        try:
            while (data := await socket.receive()) is not None:
                for frame in self._framer.read(data):
                    if frame.kind == spdy.GOAWAY:
                        return
                    self._take(frame)
        except ValueError:
            return  # it speaks no SPDY
        finally:
            self._gone = True
            self._close()
            self._complete.set()  # nobody waits for streams any more

    def _take(self, frame: spdy.Frame) -> None:
        if frame.kind == spdy.SYN_STREAM:
            self._opened(frame.stream, (frame.headers or {}).get("streamtype", ""))
        elif frame.kind == spdy.PING:
            self._out.put_nowait(spdy.ping(frame.value))
        elif frame.kind == 0 and self._session is not None:
            self._typed(self._session, frame)

    def _typed(self, session: Session, frame: spdy.Frame) -> None:
        if frame.stream == self._ids.get(_NAMES[STDIN]):
            if frame.data:
                session.write(frame.data)
            if frame.flags & spdy.FIN:
                session.close_input()
        elif frame.stream == self._ids.get(_RESIZE):
            self._resize(session, frame.data)

    def _opened(self, stream: int, name: str) -> None:
        self._out.put_nowait(self._framer.syn_reply(stream))
        if name not in self._expected:
            return
        self._ids[name] = stream
        if self._expected <= self._ids.keys() and not self._complete.is_set():
            self._complete.set()
            early, self._early = self._early, []
            for kind, data in early:
                self._print(kind, data)

    def _resize(self, session: Session, data: bytes) -> None:
        """Sizes come as JSON, one after the other, in whatever pieces."""
        self._sizes += data.decode(errors="replace")
        while self._sizes:
            try:
                size, end = json.JSONDecoder().raw_decode(self._sizes)
            except json.JSONDecodeError:
                return
            self._sizes = self._sizes[end:].lstrip()
            if isinstance(size, dict):
                session.resize(int(size.get("Width", 0)), int(size.get("Height", 0)))
