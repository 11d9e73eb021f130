"""Streams to and from containers: one WebSocket, a byte before each message saying which stream it belongs to (hop 01).

Source of the behaviour: client-go tools/remotecommand (websocket.go, v4.go, v5.go) and kubectl pkg/cmd/exec.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import stat
import sys
import termios
import tty
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TextIO

import orjson

from engine.api.wire import Request
from engine.client.transport import Connects, Socket
from engine.kubectl.errors import CommandError, Exit
from engine.kubectl.session import Session
from engine.kubectl.wire_dump import WireDump
from engine.tasks import Supervisor

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
CHUNK = 1 << 15
PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")


async def connect(
    session: Session, path: str, query: Mapping[str, list[str]], protocols: tuple[str, ...] = PROTOCOLS
) -> Socket:
    """Open a WebSocket. Raises ApiError, ConnectionError, CommandError."""
    transport = session.client.transport
    if isinstance(transport, WireDump):
        transport = transport.inner
    if not isinstance(transport, Connects):
        raise CommandError("streams need a connection over HTTPS: use the command line, or --kubeconfig")
    headers = {"user-agent": session.client.user_agent}
    return await transport.connect(Request("GET", path, dict(query), headers), protocols)


async def talk(session: Session, path: str, query: Mapping[str, list[str]], *, stdin: bool, terminal: bool) -> None:
    """Carry the streams until the other side ends. Raises Exit with the exit code of a command that failed."""
    socket = await connect(session, path, query)
    tasks = Supervisor("streams")
    try:
        with _raw(session.stdin) if terminal else _as_it_is():
            if terminal:
                await _tell_size(socket)
            if stdin:
                tasks.spawn(_send(socket, session.stdin), "stdin")
            status = await _receive(session, socket)
    finally:
        await tasks.close()
        await socket.close()
    _judge(session, status)


class Output(NamedTuple):
    """What a command in a container wrote, and the Status at its end."""

    stdout: bytes
    stderr: bytes
    status: Any

    @property
    def failed(self) -> bool:
        return isinstance(self.status, dict) and self.status.get("status") != "Success"


async def pipe(session: Session, path: str, query: Mapping[str, list[str]], *, stdin: bytes | None = None) -> Output:
    """Run a command in a container with bytes in and out. Raises ApiError, ConnectionError."""
    streams = {"stdout": ["true"], "stderr": ["true"], **({"stdin": ["true"]} if stdin is not None else {})}
    socket = await connect(session, path, {**query, **streams})
    tasks = Supervisor("streams")
    written = {STDOUT: bytearray(), STDERR: bytearray()}
    status: Any = None
    try:
        if stdin is not None:
            tasks.spawn(_send_bytes(socket, stdin), "stdin")
        while message := await socket.receive():
            channel, data = message[0], message[1:]
            if channel == ERROR and data:
                status = orjson.loads(data)
                break
            if channel in written:
                written[channel] += data
    finally:
        await tasks.close()
        await socket.close()
    return Output(bytes(written[STDOUT]), bytes(written[STDERR]), status)


async def _send_bytes(socket: Socket, data: bytes) -> None:
    for start in range(0, len(data), CHUNK):
        await socket.send(bytes([STDIN]) + data[start : start + CHUNK])
    await socket.send(bytes([CLOSE, STDIN]))


async def _send(socket: Socket, stdin: TextIO) -> None:
    async for chunk in chunks(stdin):
        await socket.send(bytes([STDIN]) + chunk)
    await socket.send(bytes([CLOSE, STDIN]))


async def _receive(session: Session, socket: Socket) -> Any:
    """Write what comes; returns the Status at the end, None without one."""
    decoders = {n: codecs.getincrementaldecoder("utf-8")("replace") for n in (STDOUT, STDERR)}
    outputs = {STDOUT: session.stdout, STDERR: session.stderr}
    while message := await socket.receive():
        channel, data = message[0], message[1:]
        if channel == ERROR and data:
            return orjson.loads(data)
        if channel in outputs and data:
            outputs[channel].write(decoders[channel].decode(data))
            outputs[channel].flush()
    return None


def _judge(session: Session, status: Any) -> None:
    """What the Status at the end means for the exit code. Raises Exit or CommandError."""
    if not isinstance(status, dict) or status.get("status") == "Success":
        return
    if status.get("reason") == "NonZeroExitCode":
        causes = (status.get("details") or {}).get("causes") or ()
        code = next((str(cause.get("message", "")) for cause in causes if cause.get("reason") == "ExitCode"), "1")
        session.err(f"command terminated with exit code {code}")
        raise Exit(int(code))
    raise CommandError(str(status.get("message", "")) or "the stream failed")


async def chunks(stdin: TextIO) -> AsyncIterator[bytes]:
    """What is read, as it comes; a file or a text is read whole."""
    try:
        descriptor = stdin.fileno()
    except (OSError, AttributeError, ValueError):
        if text := stdin.read():
            yield text.encode()
        return
    if stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor):  # /dev/null cannot be waited for
        yield await asyncio.to_thread(stdin.buffer.read)
        return
    reader = asyncio.StreamReader()
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(descriptor), "rb")
        )
    except ValueError:  # no pipe, no socket, no terminal
        yield await asyncio.to_thread(stdin.buffer.read)
        return
    try:
        while chunk := await reader.read(CHUNK):
            yield chunk
    finally:
        transport.close()


# -- the terminal


@contextmanager
def _raw(stdin: TextIO) -> Iterator[None]:
    """Every key goes to the other side, unechoed."""
    descriptor = stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setraw(descriptor)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


async def _tell_size(socket: Socket) -> None:
    size = os.get_terminal_size(sys.stdout.fileno()) if sys.stdout.isatty() else os.terminal_size((80, 24))
    await socket.send(bytes([RESIZE]) + orjson.dumps({"Width": size.columns, "Height": size.lines}))
