"""How a connection reads requests, as far as Go's net/http and aiohttp differ.

kube-apiserver takes a mebibyte of request line and headers together (server/secure_serving.go, MaxHeaderBytes), and
selectors of thousands of values come in such lines; aiohttp takes eight kibibytes of a line. It also unpacks bodies
that say that they are compressed, which the real server hands to its decoders as they are. What is no HTTP at all is
answered in net/http's words (server.go, conn.serve). A method may be any token, which the handlers then refuse with
405; aiohttp's fast parser knows those of the standards alone.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from aiohttp import StreamReader, hdrs, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import HttpProcessingError, RawRequestMessage
from aiohttp.http_exceptions import LineTooLong
from aiohttp.http_parser import HttpRequestParserPy
from aiohttp.web_protocol import RequestHandler

from engine.apiserver.warning_headers import warnings_in

# Go's http.Server adds 4096 bytes to what it is told, for what its reader may have taken in already.
HEADER_LIMIT = 1024 * 1024 + 4096
# net/http does not count headers: as many as fit are taken, of three bytes and a line's end each.
_HEADERS = HEADER_LIMIT // 5
_TOO_MANY = "Too many headers received"  # aiohttp's parsers say so without a class of its own
_NO_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_BAD = "400 Bad Request"
_NO_HOST = "Missing 'Host' header in request."  # aiohttp's words
# Go's net/http takes these bytes in a Host header (golang.org/x/net/http/httpguts, ValidHostHeader).
_HOST = re.compile(r"[-A-Za-z0-9!$%&'()*+,.:;=\[\]_~]*")
_METHODS = frozenset(method.encode() for method in hdrs.METH_ALL)


class Incoming(web.BaseRequest):
    """A request whose answer does not say which software gave it: net/http's has no Server header. Each warning is a
    header by itself (apiserver pkg/endpoints/filters/warning.go adds them one by one)."""

    async def _prepare_hook(self, response: web.StreamResponse) -> None:
        response.headers.popall(hdrs.SERVER, None)
        if warned := response.headers.get(hdrs.WARNING):
            response.headers.pop(hdrs.WARNING)
            response.headers.extend((hdrs.WARNING, each) for each in warnings_in(warned))


class Server(web.Server):
    """An aiohttp server whose connections are `Connection`s, and whose requests are `Incoming`."""

    def _make_request(
        self,
        message: RawRequestMessage,
        payload: StreamReader,
        protocol: RequestHandler,
        writer: AbstractStreamWriter,
        task: asyncio.Task[None],
    ) -> Incoming:
        return Incoming(message, payload, protocol, writer, task, self._loop)

    def __call__(self) -> RequestHandler:
        return Connection(
            self,
            loop=self._loop,
            access_log=None,  # type: ignore[arg-type] # as aiohttp's own runners have it where there is none
            tcp_keepalive=True,
            max_line_size=HEADER_LIMIT,
            max_field_size=HEADER_LIMIT,
            max_headers=_HEADERS,
            auto_decompress=False,
        )


class _AnyMethods(HttpRequestParserPy):
    """aiohttp's slow parser, which takes any token for a method; and leaves it as it came, for `get` is not `GET`."""

    def parse_message(self, lines: list[bytes]) -> RawRequestMessage:
        return super().parse_message(lines)._replace(method=lines[0].partition(b" ")[0].decode())


class Connection(RequestHandler):
    """One connection; what cannot be read ends it."""

    _begun = False

    def data_received(self, data: bytes) -> None:
        if not self._begun:
            self._begun = True
            method, space, _ = data.partition(b" ")
            if space and method not in _METHODS:
                self._parser = _AnyMethods(
                    self,
                    self._loop,
                    max_line_size=HEADER_LIMIT,
                    max_field_size=HEADER_LIMIT,
                    max_headers=_HEADERS,
                    payload_exception=web.RequestPayloadError,
                    auto_decompress=False,
                )
        super().data_received(data)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Of bytes that are no request, net/http tells only the client, and closes."""
        if not isinstance(exc, HttpProcessingError) or request.writer.output_size > 0:
            return super().handle_error(request, status, exc, message)
        if exc.message == _NO_HOST:
            return _ended(400, f"{_BAD}: missing required Host header")
        large = isinstance(exc, LineTooLong) or exc.message == _TOO_MANY
        return _ended(431, "431 Request Header Fields Too Large") if large else _ended(400, _BAD)


def refusal(request: web.BaseRequest) -> web.Response | None:
    """The answer to what aiohttp takes for a request and net/http does not: one of another version of HTTP (server.go,
    http1ServerSupportsRequest), or for a path that is none (net/url; a query may be anything)."""
    if request.version < (1, 0):
        return _ended(400, _BAD)
    if request.version >= (2, 0):
        return _ended(505, "505 HTTP Version Not Supported: unsupported protocol version")
    if _NO_ESCAPE.search(request.raw_path.partition("?")[0]):
        return _ended(400, _BAD)
    if not _HOST.fullmatch(request.headers.get(hdrs.HOST, "")):
        return _ended(400, f"{_BAD}: malformed Host header")
    return None


def _ended(code: int, text: str) -> web.Response:
    """An answer after which the connection ends."""
    answer = web.Response(status=code, text=text, content_type="text/plain", charset="utf-8")
    answer.force_close()
    return answer


async def body_invited(request: web.BaseRequest) -> bool:
    """Tell a client that waits for it (curl does, with large bodies) that its body is wanted; False where it waits for
    something else, which nobody gives."""
    expected = request.headers.get("expect")
    if not expected:
        return True
    if expected.strip().lower() != "100-continue":
        return False
    if request.version >= (1, 1):
        writer: Any = request.writer
        await writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        writer.output_size = 0  # the answer itself has not begun
    return True
