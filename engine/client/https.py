"""The HTTPS transport: a client's requests over a socket, with a client certificate or a token (hop 01 to hop 02).

Connections are kept alive and shared. A watch comes back as a stream of WatchEvents, a followed log,
newline-delimited JSON or a snapshot as a stream of bytes, all else is read whole. A server that is away is a
ConnectionError in kubectl's words (source: kubectl pkg/cmd/util, StandardErrorMessage); one that asks for patience gets
it (`retry`), on this machine's clock, for the network knows no model time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson
from multidict import CIMultiDict
from yarl import URL

from engine.api.golang.duration import duration_text
from engine.api.golang.text import quoted
from engine.api.wire import JSON, Request, Response
from engine.client import retry
from engine.client.client import error_of
from engine.client.connection import Connection
from engine.client.credentials import Credentials, authorization
from engine.client.exec_plugin import Credential
from engine.client.http_streams import HttpBytes, HttpEvents, HttpSocket
from engine.client.peer_names import MISMATCHES, mismatch
from engine.client.tls import tls_context
from engine.client.unreachable import BrokenError, UnreachableError, unreachable
from engine.clock import Clock

NDJSON = "application/x-ndjson"
STREAMED = frozenset((NDJSON, "application/vnd.etcd.snapshot"))  # read as they come, whatever was asked
CONNECT_SECONDS = 30.0


class HttpsTransport:
    """Sends requests to the server of a kubeconfig's context."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._session: aiohttp.ClientSession | None = None
        self._opening = asyncio.Lock()
        self._clock = Clock()
        self._base = connection.url
        self._proxy = connection.proxy or None
        self._tls = tls_context(connection)
        self._credentials = Credentials(connection, self._clock)
        self._certificate: bytes | None = connection.certificate
        self._said = Credential()  # what the headers are of that say who one is
        self._authorization = authorization(connection, self._said)

    async def send(self, request: Request) -> Response:
        for _ in range(retry.MAX_RETRIES):
            try:
                response = await self._send_once(request)
            except BrokenError:
                if not retry.is_repeatable(request):
                    raise
                await self._clock.sleep(retry.BROKEN_SECONDS)
                continue
            if (seconds := retry.seconds_asked_for(response)) is None:
                return response
            await self._clock.sleep(seconds)
        return await self._send_once(request)

    async def _send_once(self, request: Request) -> Response:
        given = await self._credentials.given()
        session = await self._open(given)
        url = self._url(request)
        headers = self._all(request.headers, given)
        body = _body(request, headers)
        try:
            answer = await session.request(
                request.method,
                url,
                data=body,
                headers=headers,
                allow_redirects=False,
                server_hostname=self._name(),
                proxy=self._proxy,
            )
            if answer.status == HTTPStatus.UNAUTHORIZED:
                await self._credentials.refused(given)
            return await _response(request, answer)
        except (aiohttp.ClientError, OSError) as error:
            raise await self._unreachable(error, request.method, url) from error

    async def forward(
        self, method: str, target: str, *, headers: Mapping[str, str], body: bytes | None
    ) -> aiohttp.ClientResponse:
        """Somebody else's request, sent with this client's credentials; the answer is theirs to read."""
        given = await self._credentials.given()
        session = await self._open(given)
        return await session.request(
            method,
            URL(self._base + target, encoded=True),
            data=body or None,
            headers=self._all(headers, given),
            allow_redirects=False,
            server_hostname=self._name(),
            proxy=self._proxy,
        )

    async def connect(self, request: Request, protocols: Sequence[str]) -> HttpSocket:
        """Open a WebSocket with the first of the subprotocols that the server speaks. Raises ApiError."""
        given = await self._credentials.given()
        session = await self._open(given)
        url = self._url(request)
        headers = self._all(request.headers, given)
        try:
            socket = await session.ws_connect(
                url, protocols=protocols, headers=headers, max_msg_size=0, autoping=True, proxy=self._proxy
            )
        except aiohttp.WSServerHandshakeError as error:
            # The handshake's failure comes without its body; asking plainly tells what is wrong.
            answer = await self.send(Request("GET", request.path, request.query, dict(request.headers)))
            if answer.status >= 400:
                raise error_of(answer) from error
            raise ConnectionError(f"unable to upgrade connection: {error.message}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise await self._unreachable(error, "GET", url) from error
        return HttpSocket(socket)

    async def _unreachable(self, error: Exception, method: str, url: URL) -> UnreachableError:
        asked = f"{method.capitalize()} {quoted(str(url))}"
        inner = error.certificate_error if isinstance(error, aiohttp.ClientConnectorCertificateError) else None
        if getattr(inner, "verify_code", 0) not in MISMATCHES:
            return unreachable(self._base, error, asked=asked)
        parts = urlsplit(self._base)
        host, name = parts.hostname or "", self._name()
        try:
            why = await mismatch(host, parts.port or 443, name or host, self._clock)
        except (OSError, TimeoutError, ValueError):
            return unreachable(self._base, error, asked=asked)
        reason = f"tls: failed to verify certificate: x509: {why}"
        return UnreachableError(f"Unable to connect to the server: {reason}", f"{asked}: {reason}")

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _all(self, asked: Mapping[str, str], given: Credential) -> CIMultiDict[str]:
        if given is not self._said:
            self._said, self._authorization = given, authorization(self.connection, given)
        headers = self._authorization.copy()
        headers.update(asked)
        return headers

    def _url(self, request: Request) -> URL:
        """With the time that the server is given, as client-go asks for it."""
        query = dict(request.query)
        if self.connection.timeout:
            query.setdefault("timeout", [duration_text(self.connection.timeout)])
        return URL(self._base + replace(request, query=query).target, encoded=True)

    def _name(self) -> str | None:
        return self.connection.tls_server_name or None

    async def _open(self, given: Credential) -> aiohttp.ClientSession:
        """The session; a new one where a plugin has given another certificate."""
        async with self._opening:
            if given.certificate is not None and given.certificate != self._certificate:
                await self.close()
                self._certificate = given.certificate
                self._tls = tls_context(self.connection, given)
            if self._session is None:
                connector = aiohttp.TCPConnector(ssl=self._tls, limit=0)
                timeout = aiohttp.ClientTimeout(total=self.connection.timeout or None, sock_connect=CONNECT_SECONDS)
                self._session = aiohttp.ClientSession(
                    connector=connector, timeout=timeout, auto_decompress=True, read_bufsize=1 << 18
                )
            return self._session


def _body(request: Request, headers: MutableMapping[str, str]) -> bytes | None:
    if request.body is None:
        return None
    headers.setdefault("content-type", JSON)
    if isinstance(request.body, bytes):
        return request.body
    return orjson.dumps(request.body)


def _streams(request: Request, content_type: str) -> bool:
    return content_type in STREAMED or request.parameter("follow") in ("true", "1")


async def _response(request: Request, answer: aiohttp.ClientResponse) -> Response:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    # Several Warning headers are one header with several values.
    if len(warnings := answer.headers.getall("warning", [])) > 1:
        headers["warning"] = ", ".join(warnings)
    if answer.status < 400:
        if request.parameter("watch") in ("true", "1"):
            return Response(answer.status, headers=headers, events=HttpEvents(answer))
        if _streams(request, answer.content_type):
            return Response(answer.status, headers=headers, stream=HttpBytes(answer))
    async with answer:
        data = await answer.read()
    body: Any = data
    if answer.content_type.endswith("json"):
        try:
            body = orjson.loads(data) if data else None
        except orjson.JSONDecodeError as error:
            raise ConnectionError(
                f"the server's answer to {request.method} {request.path} is no JSON: {error}"
            ) from error
    return Response(answer.status, body, headers, wire=data)
