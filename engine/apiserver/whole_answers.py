"""An answer that is there as a whole, written to its connection in one go.

What aiohttp's own responses can do besides (cookies, compression, chunks, answers to HTTP/1.0) takes as long as to
check, to store and to tell of a small write; who needs it gets one of those.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from http import HTTPStatus

from aiohttp import hdrs, web
from aiohttp.helpers import rfc822_formatted_time

from engine.apiserver.warning_headers import warnings_in


class WholeAnswer:
    """As much of aiohttp's `StreamResponse` as its connections ask for. Raises ValueError for a header that would end
    its line."""

    keep_alive = True

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self._text = _head(status, headers, len(body)) + body

    async def prepare(self, request: web.BaseRequest) -> None:
        transport = request.transport
        if transport is None:
            raise ConnectionResetError("the client has gone")
        transport.write(self._text)
        await request.writer.drain()

    async def write_eof(self) -> None:
        """All is written."""


def is_written_at_once(request: web.BaseRequest, status: int) -> bool:
    """Whether a request may be answered so: its connection goes on, and there is a body."""
    return (
        request.version == (1, 1)
        and request.keep_alive
        and request.method != hdrs.METH_HEAD
        and status >= HTTPStatus.OK
        and status not in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
    )


def _head(status: int, headers: Mapping[str, str], length: int) -> bytes:
    lines = [_status_line(status)]
    for name, value in headers.items():
        if name != "warning":
            lines.append(f"{name}: {value}\r\n")
    lines.append(f"Content-Length: {length}\r\nDate: {rfc822_formatted_time()}\r\n")
    if warned := headers.get("warning"):
        lines += [f"Warning: {each}\r\n" for each in warnings_in(warned)]
    head = "".join(lines)
    ends = len(lines) + 1  # of which one comes before the date
    if head.count("\r") != ends or head.count("\n") != ends or "\0" in head:
        raise ValueError(f"a header would end its line: {dict(headers)}")
    return f"{head}\r\n".encode()


@cache
def _status_line(status: int) -> str:
    phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else ""
    return f"HTTP/1.1 {status} {phrase}\r\n"
