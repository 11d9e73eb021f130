"""The HTTPS front of a `wire.Handler`: sockets, TLS, bytes, and nothing that the chain should know.

HTTP/1.1 by aiohttp. A client certificate is optional and, where there is one, verified by TLS against the CA of the
given context; its subject is handed on. Watches and streams are sent as chunks, the encoded bytes of an event shared by
all who get it. A client that goes away ends its watch; a stop ends all within two seconds.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import ssl
import zlib
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast
from weakref import WeakKeyDictionary

import orjson
from aiohttp import web

from engine.api.golang.json import escaped
from engine.api.golang.text import unicode_of
from engine.api.golang.yaml_writer import dump
from engine.api.nil_lists import with_nils
from engine.api.wire import (
    BODY_LIMIT,
    JSON,
    YAML,
    ByteStream,
    ClientCertificate,
    EventStream,
    Handler,
    Metered,
    Request,
    Response,
)
from engine.apiserver.authentication.x509 import UID_ATTRIBUTE
from engine.apiserver.connections import Server, body_invited, refusal
from engine.apiserver.handshake import protocols_offered, wants_spdy, wants_web_socket
from engine.apiserver.protobuf.answers import FRAME_HEAD
from engine.apiserver.protobuf.answers import STREAM as PROTOBUF_WATCH
from engine.apiserver.query_string import read_query
from engine.apiserver.registry.representation import is_for_a_person, likes_yaml
from engine.apiserver.sockets import serve_socket
from engine.apiserver.spdy_connections import serve_spdy
from engine.apiserver.whole_answers import WholeAnswer, is_written_at_once
from engine.client_certificates import issued
from engine.tasks import Supervisor
from engine.world import World

# Answers above this size are compressed for those who accept it (apiserver responsewriters/writers.go).
GZIP_ABOVE = 128 * 1024
# So many items of a list are encoded in one go.
PACKED_AT_ONCE = 16 * 1024  # what the loop compresses itself: some hundred microseconds, of a Secret a millisecond
LIST_CHUNK = 200
STOP_SECONDS = 1.0
REAP_SECONDS = 1.0  # of this machine's time, as all that is about sockets
_GZIP = {"content-encoding": "gzip", "vary": "Accept-Encoding"}
_NOT_KEPT = {"cache-control": "no-cache, private"}  # of answers that do not say better (filters/cachecontrol.go)


class HttpServer:
    """`start` listens, raising OSError where it cannot; `port` is the port in use."""

    def __init__(
        self,
        handler: Handler,
        *,
        host: str,
        port: int,
        ssl_context: ssl.SSLContext | None,
        world: World,
        apart: Sequence[str] = (),
    ) -> None:
        """`apart` are headers, or how their names begin, whose values are not to be joined by commas."""
        self.host = host
        self._apart = ("impersonate-", *(name.lower() for name in apart))
        self.port = port
        self._handler = handler
        self._context = ssl_context
        self._world = world
        self._runner: web.ServerRunner | None = None
        self._tasks = Supervisor("https")
        self._streams: dict[int, tuple[EventStream | ByteStream, web.BaseRequest]] = {}
        self._reaper: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        server = Server(self._serve, handler_cancellation=True)  # who has gone asks for nothing any more
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
        self._reap()

    async def stop(self) -> None:
        """Stop listening, end the open streams, wait a moment for what is under way. May be called twice."""
        runner, self._runner = self._runner, None
        if runner is None:
            return
        for site in list(runner.sites):
            await site.stop()
        if self._reaper is not None:
            self._reaper.cancel()
        for source, _ in list(self._streams.values()):
            await source.aclose()  # its client reads the end of the stream
        await runner.cleanup()  # what has not ended within STOP_SECONDS is cancelled
        await self._tasks.close()

    def _reap(self) -> None:
        """End the streams whose clients have gone: one that has nothing to send would not find out by itself."""
        for source, incoming in list(self._streams.values()):
            if incoming.transport is None:
                self._tasks.spawn(source.aclose(), "end of stream")
        self._reaper = asyncio.get_running_loop().call_later(REAP_SECONDS, self._reap)

    # -- one request

    async def _serve(self, incoming: web.BaseRequest) -> web.StreamResponse:
        if (refused := refusal(incoming)) is not None:
            return refused
        if not await body_invited(incoming):
            return _closing(417)
        request = await _request(incoming, self._apart)
        response = await self._handler.handle(request)
        if response.upgrade is not None:
            if wants_spdy(request):
                return await serve_spdy(incoming, response.upgrade)
            return await serve_socket(incoming, response.upgrade)
        if wants_web_socket(request) and (watch := _messages(response)) is not None:
            protocols = [each for each in protocols_offered(request)[:1] if each]
            return await self._watch_socket(incoming, *watch, protocols=protocols)
        packed = response.packs and _takes_gzip(request.headers.get("accept-encoding", ""))
        if response.events is not None:
            return await self._stream(incoming, response, _lines(response.events), response.events, packed=packed)
        if response.stream is not None:
            chunks = response.stream.__aiter__()
            return await self._stream(incoming, response, chunks, response.stream, packed=packed)
        return await self._whole(incoming, request, response)

    async def _watch_socket(
        self,
        incoming: web.BaseRequest,
        messages: AsyncIterator[bytes | str],
        source: EventStream | ByteStream,
        *,
        protocols: list[str],
    ) -> web.StreamResponse:
        """A watch as the messages of a WebSocket, one an event (handlers/watch.go HandleWS)."""
        outgoing = web.WebSocketResponse(protocols=protocols)
        if not outgoing.can_prepare(incoming).ok:
            await source.aclose()
            return web.Response(status=400, text="Bad Request: not a WebSocket handshake\n")
        self._streams[id(source)] = (source, incoming)
        await outgoing.prepare(incoming)
        self._tasks.spawn(_until_closed(outgoing, source), "end of a watch")
        try:
            async for message in messages:
                await (outgoing.send_str(message) if isinstance(message, str) else outgoing.send_bytes(message))
        except ConnectionError:
            pass  # the client has gone
        finally:
            self._streams.pop(id(source), None)
            await source.aclose()
            await outgoing.close()
        return outgoing

    async def _whole(self, incoming: web.BaseRequest, request: Request, response: Response) -> web.StreamResponse:
        headers = dict(response.headers)
        body = response.body
        if body is None:
            data = b""
        elif isinstance(body, bytes):
            data = body
        else:
            data = await self._encoded(request, response, headers)
        headers = {**_NOT_KEPT, **headers}
        if not response.relayed and len(data) > GZIP_ABOVE and _takes_gzip(request.headers.get("accept-encoding", "")):
            # In a thread: the bytes are nobody else's, and the loop goes on.
            data = await asyncio.to_thread(gzip.compress, data, 1)
            headers |= _GZIP
        if response.sized is not None:
            response.sized(len(data))
        if data and is_written_at_once(incoming, response.status):
            return cast("web.StreamResponse", WholeAnswer(response.status, headers, data))
        return web.Response(status=response.status, body=data, headers=headers)

    async def _encoded(self, request: Request, response: Response, headers: dict[str, str]) -> bytes:
        body = response.body
        # As Go's serializers: a line ends with what machines read, and not with what persons do.
        option = orjson.OPT_INDENT_2 if is_for_a_person(request) else orjson.OPT_APPEND_NEWLINE
        if "content-type" in headers:
            return escaped(orjson.dumps(body, option=option))
        accept = request.headers.get("accept", "")
        if YAML in accept and likes_yaml(accept):
            headers["content-type"] = YAML
            plain = orjson.loads(orjson.dumps(_as_go_has_it(body)))
            return dump(plain).encode()
        headers["content-type"] = JSON
        items = body.get("items") if isinstance(body, dict) else None
        if isinstance(items, list):
            encoded = await self._encoded_list(body, items, typed=not response.untyped)
            return escaped(orjson.dumps(orjson.loads(encoded), option=option)) if is_for_a_person(request) else encoded
        return escaped(orjson.dumps(_as_go_has_it(body), option=option))

    async def _encoded_list(self, body: dict[str, Any], items: list[Any], *, typed: bool) -> bytes:
        """A list as Go writes it: the items of a typed list do not repeat their kind. A long one is encoded in parts,
        between which the loop runs others."""
        kind, version = body.get("kind", ""), body.get("apiVersion")
        typed = typed and kind.endswith("List") and kind != "List"
        single = kind.removesuffix("List") if typed else None
        parts: list[bytes] = []
        for start in range(0, len(items), LIST_CHUNK):
            if start:
                await self._world.clock.sleep(0)
            chunk = [_without_type(item, single, version) for item in items[start : start + LIST_CHUNK]]
            parts.append(escaped(orjson.dumps(chunk))[1:-1])
        head = escaped(orjson.dumps({**body, "items": []}))
        before, _, after = head.rpartition(b'"items":[]')
        return b"".join((before, b'"items":[', b",".join(parts), b"]", after, b"\n"))

    async def _stream(
        self,
        incoming: web.BaseRequest,
        response: Response,
        chunks: AsyncIterator[bytes],
        source: EventStream | ByteStream,
        *,
        packed: bool,
    ) -> web.StreamResponse:
        self._streams[id(source)] = (source, incoming)
        headers = {**_NOT_KEPT, **response.headers, **(_GZIP if packed else {})}
        outgoing = web.StreamResponse(status=response.status, headers=headers)
        outgoing.enable_chunked_encoding()
        try:
            await outgoing.prepare(incoming)
            async for chunk in chunks:
                # Each event is a member of its own, as of upstream's writer: there is nothing to keep between them.
                if packed and len(chunk) > PACKED_AT_ONCE:
                    chunk = await asyncio.to_thread(_member, chunk)
                elif packed:
                    chunk = _member(chunk)
                await outgoing.write(chunk)
            await outgoing.write_eof()
        except ConnectionError:
            pass  # the client has gone
        finally:
            self._streams.pop(id(source), None)
            await source.aclose()
        return outgoing


def _closing(status: int) -> web.Response:
    """An answer without a word, after which the connection ends."""
    answer = web.Response(status=status)
    answer.force_close()
    return answer


def _messages(response: Response) -> tuple[AsyncIterator[bytes | str], EventStream | ByteStream] | None:
    """A watch's events as messages, text where they are JSON; None for what is no watch."""
    if response.events is not None:
        return _texts(response.events), response.events
    if response.stream is not None and response.headers.get("content-type") == PROTOBUF_WATCH:
        return _unframed(response.stream), response.stream
    return None


async def _texts(events: EventStream) -> AsyncIterator[str]:
    async for line in _lines(events):
        yield line.decode()


async def _unframed(stream: ByteStream) -> AsyncIterator[bytes]:
    """A message says itself how long it is."""
    async for frame in stream:
        yield frame[FRAME_HEAD:]


async def _until_closed(socket: web.WebSocketResponse, source: EventStream | ByteStream) -> None:
    """End the events when the client closes; what else it sends is nobody's business."""
    async for _ in socket:
        pass
    await source.aclose()


async def _lines(events: EventStream) -> AsyncIterator[bytes]:
    metered = events if isinstance(events, Metered) else None
    async for event in events:
        line = event.encoded
        if metered is not None:
            metered.count_bytes(len(line))
        yield line


async def _body(incoming: web.BaseRequest) -> bytes | None:
    """The body, b"" where there is none; None for one that is too large, the rest of which is left unread."""
    if not incoming.can_read_body:
        return b""
    if (incoming.content_length or 0) > BODY_LIMIT:
        return None
    content = incoming.content
    if content.is_eof() and content.total_bytes <= BODY_LIMIT and content.exception() is None:
        return content.read_nowait()  # it is all there, as small ones are
    parts: list[bytes] = []
    size = 0
    async for part in content.iter_any():
        size += len(part)
        if size > BODY_LIMIT:
            return None
        parts.append(part)
    return b"".join(parts)


async def _request(incoming: web.BaseRequest, apart: tuple[str, ...]) -> Request:
    """The request as the chain sees it."""
    body = await _body(incoming)
    headers: dict[str, str] = {}
    for name, value in incoming.headers.items():
        key = name.lower()
        if not value.isascii():
            value = unicode_of(value)
        if key not in headers:
            headers[key] = value
        elif key != "authorization":  # of which the first one counts
            between = "\n" if key.startswith(apart) else ", "
            headers[key] = f"{headers[key]}{between}{value}"
    url = incoming.rel_url
    query = url.raw_query_string
    return Request(
        incoming.method,
        url.raw_path,
        read_query(query) if query else {},
        headers,
        body or None,
        certificate=_certificate(incoming),
        remote=incoming.remote or "",
        raw_query=query,
        oversized=body is None,
    )


# By connections, of which each has shown its certificate once and for all before its first request.
_SUBJECTS: WeakKeyDictionary[ssl.SSLObject, ClientCertificate | None] = WeakKeyDictionary()


def _certificate(incoming: web.BaseRequest) -> ClientCertificate | None:
    """The subject of the client's certificate, and whether TLS has verified it."""
    tls = incoming.get_extra_info("ssl_object")
    if tls is None:
        return None
    try:
        return _SUBJECTS[tls]
    except KeyError:
        found = _SUBJECTS[tls] = _subject(tls)
        return found


def _subject(tls: ssl.SSLObject) -> ClientCertificate | None:
    peer: Any = tls.getpeercert()
    if not peer:
        return None
    name, organizations, uids = "", [], []
    for relative in peer.get("subject", ()):
        for attribute, value in relative:
            if attribute == "commonName":
                name = value
            elif attribute == "organizationName":
                organizations.append(value)
            elif attribute == UID_ATTRIBUTE:
                uids.append(value)
    fingerprint = hashlib.sha256(tls.getpeercert(True) or b"").hexdigest()
    ends = float(ssl.cert_time_to_seconds(peer["notAfter"]))
    whose = issued(tls)
    return ClientCertificate(
        name, tuple(organizations), fingerprint, tuple(uids), whose.to_client, ends, of_proxy=whose.to_proxy
    )


def _member(text: bytes) -> bytes:
    """A gzip member, flushed before it ends: Go's reader keeps back what comes with the end of one until it has seen
    the next begin, and a client would wait for an event until there is another."""
    packer = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH) + packer.flush()


def _takes_gzip(accept_encoding: str) -> bool:
    """As upstream's writer: the word alone, without a share."""
    return any(each.strip() == "gzip" for each in accept_encoding.split(","))


def _without_type(item: Any, kind: str | None, version: Any) -> Any:
    if kind is not None and isinstance(item, dict) and item.get("kind") == kind and item.get("apiVersion") == version:
        item = with_nils(item)
        return {name: value for name, value in item.items() if name not in ("kind", "apiVersion")}
    return item


def _as_go_has_it(body: Any) -> Any:
    """An object, or a list of them, with the fields that Go writes as null."""
    if not isinstance(body, dict):
        return body
    items = body.get("items")
    if not isinstance(items, list):
        return with_nils(body)
    return {**body, "items": [with_nils(item) if isinstance(item, dict) else item for item in items]}
