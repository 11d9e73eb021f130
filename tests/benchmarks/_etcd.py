"""A real etcd as a peer, with a client that costs it as little of the machine as may be.

The client speaks just enough HTTP/2 and protobuf for etcd's KV.Put (RFC 9113, RFC 7541, etcd api/etcdserverpb), its
frames made from constants, so that the figure is etcd's and not a client library's.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 4, 6, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
WRITERS_PER_CONNECTION = 16  # what they have under way fits a connection's first window


def _literal(text: bytes) -> bytes:
    return bytes([len(text)]) + text


# Method POST and scheme http are in HPACK's static table; the rest are literals that leave no trace in the dynamic one.
_REQUEST_HEADERS = (
    b"\x83\x86"
    + b"\x04" + _literal(b"/etcdserverpb.KV/Put")
    + b"\x01" + _literal(b"localhost")
    + b"\x0f\x10" + _literal(b"application/grpc")
    + b"\x00" + _literal(b"te") + _literal(b"trailers")
)  # fmt: skip


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


class Connection(asyncio.Protocol):
    """One HTTP/2 connection; puts on it run at the same time."""

    def __init__(self) -> None:
        self._buffer = b""
        self._next_stream = 1
        self._answered: dict[int, bool] = {}
        self._waiting: dict[int, asyncio.Future[None]] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(SETTINGS, 0, 0, b""))
        transport.write(_frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)))

    def put(self, key: bytes, value: bytes) -> asyncio.Future[None]:
        message = b"\x0a" + _varint(len(key)) + key + b"\x12" + _varint(len(value)) + value
        stream = self._next_stream
        self._next_stream += 2
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[stream] = done
        self._transport.write(
            _frame(HEADERS, END_HEADERS, stream, _REQUEST_HEADERS)
            + _frame(DATA, END_STREAM, stream, b"\0" + struct.pack(">I", len(message)) + message)
        )
        return done

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data
        position = 0
        while len(buffer) - position >= 9:
            length = int.from_bytes(buffer[position : position + 3], "big")
            if len(buffer) - position < 9 + length:
                break
            kind, flags, stream = struct.unpack_from(">BBI", buffer, position + 3)
            self._frame_received(kind, flags, stream, buffer[position + 9 : position + 9 + length])
            position += 9 + length
        self._buffer = buffer[position:]

    def _frame_received(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == DATA:
            self._answered[stream] = True
        elif kind == HEADERS and flags & END_STREAM:
            done = self._waiting.pop(stream)
            if self._answered.pop(stream, False):
                done.set_result(None)
            else:
                done.set_exception(RuntimeError("etcd refused a put"))
        elif kind in (SETTINGS, PING) and not flags & ACK:
            self._transport.write(_frame(kind, ACK, 0, payload if kind == PING else b""))

    def close(self) -> None:
        self._transport.close()


def executable() -> str | None:
    return shutil.which("etcd")


@asynccontextmanager
async def running(folder: Path, writers: int) -> AsyncIterator[list[Connection]]:
    """A fresh etcd with its data in `folder`, and connections enough for that many writers."""
    client, peer = _free_port(), _free_port()
    program = executable()
    assert program is not None
    process = await asyncio.create_subprocess_exec(
        program,
        *("--data-dir", str(folder / "etcd"), "--listen-client-urls", f"http://127.0.0.1:{client}"),
        *("--advertise-client-urls", f"http://127.0.0.1:{client}", "--listen-peer-urls", f"http://127.0.0.1:{peer}"),
        *("--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}"),
        *("--initial-cluster", f"default=http://127.0.0.1:{peer}"),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield [await _connect(client) for _ in range(-(-writers // WRITERS_PER_CONNECTION))]
    finally:
        process.terminate()
        await process.wait()


async def _connect(port: int) -> Connection:
    loop = asyncio.get_running_loop()
    for _ in range(100):
        try:
            _, connection = await loop.create_connection(Connection, "127.0.0.1", port)
            await asyncio.wait_for(connection.put(b"/warm-up", b""), 5)
            return connection
        except OSError:
            await asyncio.sleep(0.1)
    raise RuntimeError("etcd did not start")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
