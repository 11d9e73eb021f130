"""Bytes on a connection, as Go's net/http reads them."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest

from engine.api.wire import Request, Response
from engine.apiserver.http import HttpServer
from engine.apiserver.warning_headers import warning_header
from engine.clock import Clock
from engine.world import World


class Echo:
    """Answers with how much of the request has arrived, and keeps its method, body and user agent."""

    def __init__(self) -> None:
        self.bodies: list[bytes | None] = []
        self.methods: list[str] = []
        self.agents: list[str] = []
        self.warnings: list[str] = []

    async def handle(self, request: Request) -> Response:
        self.bodies.append(request.body)
        self.methods.append(request.method)
        self.agents.append(request.headers.get("user-agent", ""))
        long = request.headers.get("x-long", "")
        said = f"path {len(request.path)} long {len(long)} headers {len(request.headers)}"
        headers = {"warning": warning_header(self.warnings)} if self.warnings else {}
        return Response(body=said.encode(), headers=headers)


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
async def port(echo: Echo) -> AsyncIterator[int]:
    http = HttpServer(echo, host="127.0.0.1", port=0, ssl_context=None, world=World.create(clock=Clock(), seed=1))
    await http.start()
    yield http.port
    await http.stop()


async def _ask(port: int, data: bytes) -> bytes:
    """Everything that comes back until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    try:
        return await reader.read()
    finally:
        writer.close()


async def test_lines_may_be_a_mebibyte_long(port: int) -> None:
    path = b"/" + b"a" * 500_000
    answer = await _ask(port, b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b"path 500001 " in answer
    answer = await _ask(
        port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: " + b"v" * 500_000 + b"\r\n\r\n"
    )
    assert b" long 500000 " in answer


async def test_headers_are_not_counted(port: int) -> None:
    many = b"".join(b"X-%d: 1\r\n" % number for number in range(1_000))
    answer = await _ask(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + many + b"\r\n")
    assert b"headers 1002" in answer


async def test_more_than_that_is_too_much(port: int) -> None:
    answer = await _ask(port, b"GET /" + b"a" * 1_100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0].endswith(b" 431 Request Header Fields Too Large")
    assert body == b"431 Request Header Fields Too Large"


async def test_what_is_no_http_is_a_bad_request(port: int) -> None:
    answer = await _ask(port, b"blah\r\n\r\n")
    assert b" 400 Bad Request\r\n" in answer
    assert answer.endswith(b"\r\n\r\n400 Bad Request")


@pytest.mark.parametrize(
    ("line", "answered"),
    [
        (b"GET /", b"400 Bad Request"),
        (b"GET / HTTP/2.0", b"505 HTTP Version Not Supported: unsupported protocol version"),
        (b"GET /%zz HTTP/1.1", b"400 Bad Request"),
        (b"GET /a%2 HTTP/1.1", b"400 Bad Request"),
    ],
)
async def test_what_is_no_request_for_net_http_is_answered_and_ended(port: int, line: bytes, answered: bytes) -> None:
    answer = await _ask(port, line + b"\r\nHost: x\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0].split(b" ")[1] == answered[:3]
    assert body == answered


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (b"X-Other: a", b"missing required Host header"),
        (b"Host: a b", b"malformed Host header"),
        ("Host: \u00fc".encode(), b"malformed Host header"),
    ],
)
async def test_a_host_must_be_named(port: int, head: bytes, why: bytes) -> None:
    answer = await _ask(port, b"GET / HTTP/1.1\r\n" + head + b"\r\n\r\n")
    assert answer.split(b"\r\n")[0].endswith(b" 400 Bad Request")
    assert answer.endswith(b"\r\n\r\n400 Bad Request: " + why)


@pytest.mark.parametrize("method", [b"FOO", b"LIST", b"get", b"PROPFIND", b"A!B", b"X" * 50])
async def test_a_method_may_be_any_token(port: int, echo: Echo, method: bytes) -> None:
    """The chain says 405 then; what follows on the connection, and its body, is read as ever."""
    end = b" / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    answer = await _ask(port, method + b" / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n." + b"PUT" + end)
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert echo.methods == [method.decode(), "PUT"]
    assert echo.bodies == [b".", b"{}"]


async def test_a_method_is_a_token(port: int) -> None:
    answer = await _ask(port, b"A(B / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.endswith(b"\r\n\r\n400 Bad Request")


async def test_a_query_may_have_any_percent_signs(port: int) -> None:
    answer = await _ask(port, b"GET /?a=%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 OK")


async def test_bytes_of_a_header_that_are_no_text_are_replaced(port: int, echo: Echo) -> None:
    """They go into the audit log, and into answers that name a user."""
    for agent in (b"a\xffb", b"\xe2\x82", "ä".encode()):
        await _ask(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nUser-Agent: " + agent + b"\r\n\r\n")
    assert echo.agents == ["a\ufffdb", "\ufffd\ufffd", "ä"]


async def test_a_body_is_not_unpacked(port: int, echo: Echo) -> None:
    packed = gzip.compress(b"{}")
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    await _ask(port, head % len(packed) + packed)
    assert echo.bodies == [packed]


async def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(port: int, echo: Echo) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    )
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(b"{}")
    assert (await reader.read()).startswith(b"HTTP/1.1 200 OK\r\n")
    assert echo.bodies == [b"{}"]
    writer.close()


async def test_what_else_a_client_waits_for_nobody_gives(port: int, echo: Echo) -> None:
    answer = await _ask(port, b"POST / HTTP/1.1\r\nHost: x\r\nExpect: money\r\nContent-Length: 2\r\n\r\n{}")
    assert answer.startswith(b"HTTP/1.1 417 ")
    assert echo.bodies == []


async def test_no_answer_says_which_software_gave_it(port: int) -> None:
    for request in (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b"nonsense\r\n\r\n"):
        head = (await _ask(port, request)).partition(b"\r\n\r\n")[0].lower()
        assert b"\r\nserver:" not in head
        assert b"aiohttp" not in head


async def test_each_warning_is_a_header_by_itself(echo: Echo, port: int) -> None:
    echo.warnings = ["one", 'a "second", 299 - ', "back\\slash"]
    answer = await _ask(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert [line for line in answer.decode().splitlines() if line.lower().startswith("warning:")] == [
        'Warning: 299 - "one"',
        'Warning: 299 - "a \\"second\\", 299 - "',
        'Warning: 299 - "back\\\\slash"',
    ]
