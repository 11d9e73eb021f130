"""SPDY/3.1 frames, as far as Kubernetes uses them: streams with headers, data, ping, reset, go-away.

Go's clients send them on a connection that was upgraded to them, and port-forward inside the messages of a WebSocket as
well (KEP-4006). Source: the SPDY/3.1 draft, sections 2.2, 2.6 and 2.6.10 (the dictionary of header compression).
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

SYN_STREAM, SYN_REPLY, RST_STREAM, SETTINGS, PING, GOAWAY, HEADERS, WINDOW_UPDATE = 1, 2, 3, 4, 6, 7, 8, 9
FIN = 1
_CONTROL = 0x8000
_VERSION = 3
_ID = 0x7FFFFFFF

# The names and values that headers of the web are made of; both sides must start from the same bytes.
_WORDS = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie "
    "keep-alive origin"
)
_CODES = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
    "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
)
_VALUES = (
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,"
    "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


def _dictionary() -> bytes:
    words = [word.replace("_", " ") for word in _WORDS.split(" ")]
    sized = b"".join(struct.pack(">I", len(word)) + word.encode() for word in words)
    return sized + (_CODES + _VALUES).encode()


DICTIONARY = _dictionary()


class Frame(NamedTuple):
    """A control frame, or with `kind` 0 the data of a stream. `value` is the id of a ping, the status of a reset."""

    kind: int
    stream: int = 0
    flags: int = 0
    data: bytes = b""
    headers: dict[str, str] | None = None
    value: int = 0


class Framer:
    """Both directions of one connection. Raises ValueError for what is no SPDY."""

    def __init__(self) -> None:
        self._buffer = b""
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)
        self._deflate = zlib.compressobj(zdict=DICTIONARY)

    def read(self, data: bytes) -> list[Frame]:
        """The frames that are whole by now."""
        self._buffer += data
        frames = []
        while len(self._buffer) >= 8:
            first, second, rest = struct.unpack(">HHI", self._buffer[:8])
            length = rest & 0xFFFFFF
            if len(self._buffer) < 8 + length:
                break
            body, self._buffer = self._buffer[8 : 8 + length], self._buffer[8 + length :]
            if first & _CONTROL:
                frames.append(self._control(first, second, rest >> 24, body))
            else:
                frames.append(Frame(0, (first << 16 | second) & _ID, rest >> 24, body))
        return frames

    def _control(self, first: int, kind: int, flags: int, body: bytes) -> Frame:
        if first & ~_CONTROL != _VERSION:
            raise ValueError(f"SPDY version {first & ~_CONTROL} is not spoken")
        try:
            stream = struct.unpack(">I", body[:4])[0]
            if kind == SYN_STREAM:
                return Frame(kind, stream & _ID, flags, headers=self._headers(body[10:]))
            if kind in (SYN_REPLY, HEADERS):
                return Frame(kind, stream & _ID, flags, headers=self._headers(body[4:]))
            if kind == PING:
                return Frame(kind, value=stream)
            value = struct.unpack(">I", body[4:8])[0] if len(body) >= 8 else 0
            return Frame(kind, stream & _ID, flags, value=value)
        except (struct.error, zlib.error, UnicodeDecodeError) as error:
            raise ValueError(f"a broken SPDY frame: {error}") from error

    def _headers(self, block: bytes) -> dict[str, str]:
        plain = self._inflate.decompress(block)
        count, place = struct.unpack(">I", plain[:4])[0], 4
        words: list[str] = []
        for _ in range(count * 2):
            size = struct.unpack(">I", plain[place : place + 4])[0]
            words.append(plain[place + 4 : place + 4 + size].decode())
            place += 4 + size
        return {name.lower(): value for name, value in zip(words[::2], words[1::2], strict=True)}

    # -- writing

    def syn_stream(self, stream: int, headers: dict[str, str], *, fin: bool = False) -> bytes:
        body = struct.pack(">IIH", stream, 0, 0) + self._block(headers)
        return _framed(SYN_STREAM, body, FIN if fin else 0)

    def syn_reply(self, stream: int) -> bytes:
        return _framed(SYN_REPLY, struct.pack(">I", stream) + self._block({}))

    def _block(self, headers: dict[str, str]) -> bytes:
        plain = struct.pack(">I", len(headers))
        for name, value in headers.items():
            for word in (name.lower().encode(), value.encode()):
                plain += struct.pack(">I", len(word)) + word
        return self._deflate.compress(plain) + self._deflate.flush(zlib.Z_SYNC_FLUSH)


def data_frame(stream: int, data: bytes, *, fin: bool = False) -> bytes:
    return struct.pack(">II", stream, (FIN if fin else 0) << 24 | len(data)) + data


def ping(value: int) -> bytes:
    return _framed(PING, struct.pack(">I", value))


def reset(stream: int, status: int) -> bytes:
    return _framed(RST_STREAM, struct.pack(">II", stream, status))


def go_away(last: int) -> bytes:
    return _framed(GOAWAY, struct.pack(">II", last, 0))


def _framed(kind: int, body: bytes, flags: int = 0) -> bytes:
    return struct.pack(">HHI", _CONTROL | _VERSION, kind, flags << 24 | len(body)) + body
