"""The HTTPS transport against a real TLS server on loopback that asks for a client certificate."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from engine.api.errors import ApiError
from engine.api.types import PODS
from engine.api.wire import Request
from engine.client import Client
from engine.client.connection import Connection, ExecPlugin
from engine.client.https import HttpsTransport
from engine.clock import Clock
from engine.rng import Rng
from engine.trace import Hop, Tracer
from tests.client.certificates import Authority

AUTHORITY = Authority()
SERVER = AUTHORITY.issue("server")
ADMIN = AUTHORITY.issue("kubernetes-admin", "system:masters")


class Server:
    """Answers a few paths and remembers what it was asked."""

    def __init__(self) -> None:
        self.seen: list[web.BaseRequest] = []
        self.peers: dict[Any, None] = {}
        self.release = asyncio.Event()
        self.trouble: list[int | None] = []  # what comes before the next answers: a failure, or no answer at all

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.seen.append(request)
        assert request.transport is not None
        self.peers[request.transport.get_extra_info("peername")] = None
        if self.trouble:
            return self.fail(request, self.trouble.pop(0))
        if request.query.get("watch"):
            return await self.watch(request)
        match request.path:
            case "/whoami":
                subject = request.transport.get_extra_info("peercert")["subject"]
                return web.json_response(
                    {"subject": subject, "body": await request.json() if request.can_read_body else None}
                )
            case "/log":
                return await self.lines(request)
            case "/plain":
                return web.Response(text="ok")
            case _:
                status = {"kind": "Status", "code": 404, "reason": "NotFound", "message": 'pods "x" not found'}
                return web.json_response(status, status=404)

    def fail(self, request: web.BaseRequest, code: int | None) -> web.StreamResponse:
        if code is None:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        patience = {"retry-after": request.headers["x-patience"]} if "x-patience" in request.headers else {}
        return web.json_response({"kind": "Status", "code": code, "message": "no"}, status=code, headers=patience)

    async def watch(self, request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "application/json"})
        await response.prepare(request)
        long = "x" * 500_000
        await response.write(b'{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"7"}}}\n{"type":"MOD')
        await response.write(b'IFIED","object":{"metadata":{"name":"%s","resourceVersion":"8"}}}\n' % long.encode())
        await self.release.wait()
        return response

    async def lines(self, request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/plain"})
        await response.prepare(request)
        await response.write(b"one\n")
        await self.release.wait()
        await response.write(b"two\n")
        return response


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[tuple[Server, Connection]]:
    (tmp_path / "ca.pem").write_bytes(AUTHORITY.certificate)
    (tmp_path / "server.pem").write_bytes(SERVER.certificate + SERVER.key)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(tmp_path / "ca.pem"))
    tls.load_cert_chain(tmp_path / "server.pem")
    tls.verify_mode = ssl.CERT_OPTIONAL
    server = Server()
    runner = web.ServerRunner(web.Server(server.handle), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    port = runner.addresses[0][1]
    yield (
        server,
        Connection(
            server=f"https://127.0.0.1:{port}", ca=AUTHORITY.certificate, certificate=ADMIN.certificate, key=ADMIN.key
        ),
    )
    server.release.set()
    await runner.cleanup()


async def test_a_request_carries_the_client_certificate_and_json_both_ways(server: tuple[Server, Connection]) -> None:
    _, connection = server
    client = Client(HttpsTransport(connection), user_agent="kubectl/test")
    answer = await client.request("POST", "/whoami", body={"a": [1, None]})
    assert answer["body"] == {"a": [1, None]}
    assert ["commonName", "kubernetes-admin"] in [pair for part in answer["subject"] for pair in part]
    await client.close()


async def test_headers_query_and_traceparent_pass_through(server: tuple[Server, Connection]) -> None:
    seen, connection = server
    client = Client(HttpsTransport(replace(connection, token="secret")), user_agent="kubectl/test")
    with Tracer(Clock(), Rng(1)).span(Hop.CLIENT, component="kubectl", verb="get") as span:
        await client.send("GET", "/plain", query={"labelSelector": ["a in (b,c),d!=e"], "command": ["x", "y z"]})
    request = seen.seen[-1]
    assert request.headers["traceparent"] == span.traceparent
    assert request.headers["authorization"] == "Bearer secret"
    assert request.query["labelSelector"] == "a in (b,c),d!=e"
    assert request.query.getall("command") == ["x", "y z"]
    await client.close()


@pytest.mark.parametrize(
    ("method", "path", "patience", "trouble", "asked", "answer"),
    [
        pytest.param("GET", "/plain", "0", [429, 503], 3, 200, id="a busy server, and one with a fault"),
        pytest.param("POST", "/plain", "0", [429, 500], 3, 200, id="a write that was not done"),
        pytest.param("GET", "/plain?watch=true", "0", [429], 2, 200, id="a watch"),
        pytest.param("GET", "/plain", "0", [404], 1, 404, id="what is not there will not be"),
        pytest.param("GET", "/plain", None, [429], 1, 429, id="a server that names no time"),
        pytest.param("GET", "/plain", "Fri, 31 Dec 1999 23:59:59 GMT", [503], 1, 503, id="or a date"),
        pytest.param("GET", "/plain", "0", [429] * 20, 11, 429, id="ten times and no more"),
    ],
)
async def test_a_server_that_asks_for_patience_is_asked_again(
    server: tuple[Server, Connection],
    method: str,
    path: str,
    patience: str | None,
    trouble: list[int | None],
    asked: int,
    answer: int,
) -> None:
    """client-go TestCheckRetryHandles429And5xx, TestRequestWithRetry."""
    seen, connection = server
    seen.trouble = list(trouble)
    transport = HttpsTransport(connection)
    path, _, query = path.partition("?")
    headers = {} if patience is None else {"x-patience": patience}
    response = await transport.send(Request(method, path, {"watch": ["true"]} if query else {}, headers))
    if response.events is not None:
        await response.events.aclose()
    assert (len(seen.seen), response.status) == (asked, answer)
    await transport.close()


async def test_a_question_is_repeated_when_its_connection_breaks_and_a_write_is_not(
    server: tuple[Server, Connection],
) -> None:
    seen, connection = server
    transport = HttpsTransport(connection)
    seen.trouble = [None, None]
    assert (await transport.send(Request("GET", "/plain"))).body == b"ok"
    seen.seen.clear()
    seen.trouble = [None]
    with pytest.raises(ConnectionError, match="Unable to connect to the server: "):
        await transport.send(Request("POST", "/plain", body={}))
    assert len(seen.seen) == 1
    await transport.close()


async def test_connections_are_kept_alive(server: tuple[Server, Connection]) -> None:
    seen, connection = server
    transport = HttpsTransport(connection)
    for _ in range(3):
        assert (await transport.send(Request("GET", "/plain"))).body == b"ok"
    assert len(seen.peers) == 1
    await transport.close()


async def test_a_failure_is_the_servers_status(server: tuple[Server, Connection]) -> None:
    _, connection = server
    client = Client(HttpsTransport(connection), user_agent="kubectl/test")
    with pytest.raises(ApiError) as raised:
        await client.get(PODS, "x", namespace="default")
    assert (raised.value.code, raised.value.reason, raised.value.message) == (404, "NotFound", 'pods "x" not found')
    await client.close()


async def test_watch_events_come_as_they_are_sent_however_long(server: tuple[Server, Connection]) -> None:
    seen, connection = server
    client = Client(HttpsTransport(connection), user_agent="kubectl/test")
    async with await client.watch(PODS) as events:
        stream = aiter(events)
        first, second = await anext(stream), await anext(stream)
        seen.release.set()
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
    assert (first.type, first.revision, first.object["metadata"]["name"]) == ("ADDED", 7, "a")
    assert (second.type, second.revision, len(second.object["metadata"]["name"])) == ("MODIFIED", 8, 500_000)
    await client.close()


async def test_a_watch_that_is_closed_lets_go_of_its_connection(server: tuple[Server, Connection]) -> None:
    _, connection = server
    client = Client(HttpsTransport(connection), user_agent="kubectl/test")
    async with await client.watch(PODS) as events:
        await anext(aiter(events))
    assert (await client.send("GET", "/plain")).body == b"ok"
    await client.close()


async def test_a_followed_log_is_a_stream_of_bytes(server: tuple[Server, Connection]) -> None:
    seen, connection = server
    transport = HttpsTransport(connection)
    response = await transport.send(Request("GET", "/log", query={"follow": ["true"]}))
    assert response.stream is not None
    stream = aiter(response.stream)
    assert await anext(stream) == b"one\n"
    seen.release.set()
    assert await anext(stream) == b"two\n"
    await transport.close()


async def test_a_server_that_is_away_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    transport = HttpsTransport(Connection(server=f"https://127.0.0.1:{port}"))
    with pytest.raises(ConnectionRefusedError) as raised:
        await transport.send(Request("GET", "/api"))
    assert str(raised.value) == (
        f"The connection to the server 127.0.0.1:{port} was refused - did you specify the right host or port?"
    )
    await transport.close()


async def test_a_plugin_is_asked_anew_when_the_server_refuses_what_it_gave(
    server: tuple[Server, Connection], tmp_path: Path
) -> None:
    answering, connection = server
    plugin = tmp_path / "plugin"
    plugin.write_text(
        f"#!/bin/sh\necho x >>{tmp_path}/runs\n"
        'printf \'{"apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "%s"}}\' '
        f"$(wc -l <{tmp_path}/runs)\n"
    )
    plugin.chmod(0o755)
    asked = ExecPlugin(str(plugin))
    transport = HttpsTransport(replace(connection, certificate=None, key=None, reloads=False, plugin=asked))
    answering.trouble = [200, 401]
    for _ in range(3):
        await transport.send(Request("GET", "/plain"))
    assert [request.headers["authorization"] for request in answering.seen] == ["Bearer 1", "Bearer 1", "Bearer 2"]
    await transport.close()
    # A token of the command line comes before the plugin, which is not run.
    transport = HttpsTransport(replace(connection, token="mine", plugin=asked))
    await transport.send(Request("GET", "/plain"))
    assert answering.seen[-1].headers["authorization"] == "Bearer mine"
    await transport.close()


async def test_a_server_of_another_name_is_told_with_its_own(server: tuple[Server, Connection]) -> None:
    _, connection = server
    for name, of in (("nope", "localhost"), ("10.0.0.1", "127.0.0.1")):
        transport = HttpsTransport(replace(connection, tls_server_name=name))
        with pytest.raises(ConnectionError) as raised:
            await transport.send(Request("GET", "/plain"))
        assert str(raised.value) == (
            "Unable to connect to the server: tls: failed to verify certificate: "
            f"x509: certificate is valid for {of}, not {name}"
        )
        await transport.close()


async def test_a_server_of_another_authority_is_refused(server: tuple[Server, Connection]) -> None:
    _, connection = server
    transport = HttpsTransport(replace(connection, ca=Authority("other").certificate))
    with pytest.raises(ConnectionError, match="x509: certificate signed by unknown authority"):
        await transport.send(Request("GET", "/plain"))
    await transport.close()
