"""The HTTPS front of a `wire.Handler`: sockets, TLS, bytes, and nothing that the chain should know.

HTTP/1.1 by aiohttp. A client certificate is optional and, where there is one, verified by TLS against the CA of the
given context; its subject is handed on. Watches and streams are sent as chunks, the encoded bytes of an event shared by
all who get it. A client that goes away ends its watch; a stop ends all within two seconds.
"""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from typing import Any

import orjson
import yaml
from aiohttp import web

from engine.api.errors import too_large
from engine.api.wire import JSON, YAML, ByteStream, ClientCertificate, EventStream, Handler, Request, Response
from engine.apiserver.registry.representation import negotiate
from engine.world import World

BODY_LIMIT = 3 * 1024 * 1024
# Answers of this size and more are compressed for those who accept it (apiserver responsewriters/writers.go).
GZIP_FROM = 128 * 1024
STOP_SECONDS = 1.0
_TOO_LARGE = f"Request body too large: limit is {BODY_LIMIT} bytes"


class HttpServer:
    """`start` listens, raising OSError where it cannot; `port` is the port in use."""

    def __init__(
        self, handler: Handler, *, host: str, port: int, ssl_context: ssl.SSLContext | None, world: World
    ) -> None:
        self.host = host
        self.port = port
        self._handler = handler
        self._context = ssl_context
        self._world = world
        self._runner: web.ServerRunner | None = None
        self._streams: dict[asyncio.Task[Any], None] = {}

    async def start(self) -> None:
        server = web.Server(self._serve, access_log=None, tcp_keepalive=True)
        runner = web.ServerRunner(server, shutdown_timeout=STOP_SECONDS)
        await runner.setup()
        try:
            site = web.TCPSite(runner, self.host, self.port, ssl_context=self._context, backlog=1024)
            await site.start()
        except BaseException:
            await runner.cleanup()
            raise
        self._runner = runner
        self.port = runner.addresses[0][1]

    async def stop(self) -> None:
        """Stop listening, end the open streams, wait a moment for what is under way. May be called twice."""
        runner, self._runner = self._runner, None
        if runner is None:
            return
        for site in list(runner.sites):
            await site.stop()
        for task in list(self._streams):
            task.cancel()
        await runner.cleanup()

    # -- one request

    async def _serve(self, incoming: web.BaseRequest) -> web.StreamResponse:
        request = await _request(incoming)
        if request is None:
            error = too_large(_TOO_LARGE)
            return web.Response(status=error.code, body=orjson.dumps(error.status), content_type=JSON)
        response = await self._handler.handle(request)
        if response.events is not None:
            return await self._stream(incoming, response, _lines(response.events), response.events)
        if response.stream is not None:
            return await self._stream(incoming, response, response.stream.__aiter__(), response.stream)
        return _whole(request, response)

    async def _stream(
        self,
        incoming: web.BaseRequest,
        response: Response,
        chunks: AsyncIterator[bytes],
        source: EventStream | ByteStream,
    ) -> web.StreamResponse:
        task = asyncio.current_task()
        assert task is not None
        self._streams[task] = None
        outgoing = web.StreamResponse(status=response.status, headers=response.headers)
        outgoing.enable_chunked_encoding()
        try:
            await outgoing.prepare(incoming)
            async for chunk in chunks:
                await outgoing.write(chunk)
            await outgoing.write_eof()
        except (ConnectionError, asyncio.CancelledError):
            # The client has gone, or the server stops: either way the stream is over.
            if incoming.transport is not None:
                incoming.transport.close()
        finally:
            self._streams.pop(task, None)
            await source.aclose()
        return outgoing


async def _lines(events: EventStream) -> AsyncIterator[bytes]:
    async for event in events:
        yield event.encoded


async def _request(incoming: web.BaseRequest) -> Request | None:
    """The request as the chain sees it; None for one whose body is too large."""
    body: bytes | None = None
    if incoming.can_read_body:
        if (incoming.content_length or 0) > BODY_LIMIT:
            return None
        parts: list[bytes] = []
        size = 0
        async for part in incoming.content.iter_any():
            size += len(part)
            if size > BODY_LIMIT:
                return None
            parts.append(part)
        body = b"".join(parts)
    query: dict[str, list[str]] = {}
    for name, value in incoming.query.items():
        query.setdefault(name, []).append(value)
    headers: dict[str, str] = {}
    for name, value in incoming.headers.items():
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return Request(
        incoming.method, incoming.rel_url.raw_path, query, headers, body or None, certificate=_certificate(incoming)
    )


def _certificate(incoming: web.BaseRequest) -> ClientCertificate | None:
    """The subject of the client's certificate, which TLS has verified."""
    peer = incoming.get_extra_info("peercert")
    if not peer:
        return None
    name, organizations = "", []
    for relative in peer.get("subject", ()):
        for attribute, value in relative:
            if attribute == "commonName":
                name = value
            elif attribute == "organizationName":
                organizations.append(value)
    return ClientCertificate(name, tuple(organizations)) if name else None


def _whole(request: Request, response: Response) -> web.Response:
    headers = dict(response.headers)
    body = response.body
    if body is None:
        data = b""
    elif isinstance(body, bytes):
        data = body
    else:
        data = _encoded(request, body, headers)
    headers.setdefault("cache-control", "no-cache, private")
    if len(data) >= GZIP_FROM and "gzip" in request.headers.get("accept-encoding", ""):
        data = gzip.compress(data, compresslevel=1)
        headers["content-encoding"] = "gzip"
        headers["vary"] = "Accept-Encoding"
    return web.Response(status=response.status, body=data, headers=headers)


def _encoded(request: Request, body: Any, headers: dict[str, str]) -> bytes:
    if isinstance(body, dict) and "items" in body:
        body = _untyped(body)
    data = orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE)
    if "content-type" in headers:
        return data
    headers["content-type"] = JSON
    if YAML in request.headers.get("accept", "") and negotiate(request.headers["accept"]).media_type == YAML:
        headers["content-type"] = YAML
        return yaml.dump(orjson.loads(data), Dumper=yaml.CSafeDumper, allow_unicode=True).encode()
    return data


def _untyped(body: dict[str, Any]) -> dict[str, Any]:
    """A list as Go writes it: the items of a typed list do not repeat their kind."""
    kind = body.get("kind", "")
    if not kind.endswith("List") or kind == "List" or not isinstance(body["items"], list):
        return body
    single = kind.removesuffix("List")
    version = body.get("apiVersion")
    return {**body, "items": [_without_type(item, single, version) for item in body["items"]]}


def _without_type(item: Any, kind: str, version: Any) -> Any:
    if isinstance(item, dict) and item.get("kind") == kind and item.get("apiVersion") == version:
        return {name: value for name, value in item.items() if name not in ("kind", "apiVersion")}
    return item
