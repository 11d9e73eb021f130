"""The HTTPS transport: a client's requests over a socket, with a client certificate or a token (hop 01 to hop 02).

Connections are kept alive and shared. A watch comes back as a stream of WatchEvents, a followed log,
newline-delimited JSON or a snapshot as a stream of bytes, all else is read whole. A server that is away is a
ConnectionError in kubectl's words (source: kubectl pkg/cmd/util, StandardErrorMessage); one that asks for patience gets
it (`retry`), on this machine's clock, for the network knows no model time.
"""

from __future__ import annotations

import asyncio
import errno
import os
import ssl
import tempfile
from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import aiohttp
import orjson
from multidict import CIMultiDict
from yarl import URL

from engine.api.golang.duration import duration_text
from engine.api.golang.text import quoted
from engine.api.wire import JSON, Request, Response, WatchEvent
from engine.client import retry
from engine.client.client import error_of
from engine.client.connection import Connection, KubeConfigError
from engine.client.credentials import Credentials, authorization
from engine.client.exec_plugin import Credential
from engine.client.key_pair import content_problem, pair_problem, roots_problem
from engine.client.peer_names import MISMATCHES, mismatch
from engine.clock import Clock

NDJSON = "application/x-ndjson"
STREAMED = frozenset((NDJSON, "application/vnd.etcd.snapshot"))  # read as they come, whatever was asked
CONNECT_SECONDS = 30.0
# X509_V_ERR_*: an issuer that is not there, or a certificate of its own that nobody has vouched for.
_UNKNOWN_AUTHORITY = frozenset((2, 18, 19, 20, 21))


class _BrokenError(ConnectionError):
    """A connection that was there was lost before the answer was."""


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
            except _BrokenError:
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
            raise await self._unreachable(error) from error

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
            raise await self._unreachable(error) from error
        return HttpSocket(socket)

    async def _unreachable(self, error: Exception) -> ConnectionError:
        inner = error.certificate_error if isinstance(error, aiohttp.ClientConnectorCertificateError) else None
        if getattr(inner, "verify_code", 0) not in MISMATCHES:
            return _unreachable(self._base, error)
        parts = urlsplit(self._base)
        host, name = parts.hostname or "", self._name()
        try:
            why = await mismatch(host, parts.port or 443, name or host, self._clock)
        except (OSError, TimeoutError, ValueError):
            return _unreachable(self._base, error)
        return ConnectionError(f"Unable to connect to the server: tls: failed to verify certificate: x509: {why}")

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
        return URL(self._base + _target(replace(request, query=query)), encoded=True)

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


def tls_context(connection: Connection, given: Credential | None = None) -> ssl.SSLContext | bool:
    """The TLS settings of a connection; True where the server speaks plain HTTP. Raises KubeConfigError."""
    if urlsplit(connection.url).scheme != "https":
        return True
    if connection.ca is not None and connection.insecure:
        raise KubeConfigError("specifying a root certificates file with the insecure flag is not allowed")
    if not connection.ca and not connection.insecure:
        context = ssl.create_default_context()  # reads the system's hundred authorities, longer than all else takes
    else:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if connection.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif connection.ca:
        _load_roots(context, connection.ca)
    certificate = (given.certificate if given else None) or connection.certificate
    key = (given.key if given else None) or connection.key
    if certificate is not None:
        _load_certificate(context, certificate, key or b"", reloads=connection.reloads)
    return context


def _load_roots(context: ssl.SSLContext, pem: bytes) -> None:
    text = pem.decode(errors="replace")
    if problem := roots_problem(text):
        raise KubeConfigError(f"unable to load root certificates: {problem}")
    try:
        context.load_verify_locations(cadata=text)
    except ssl.SSLError as error:
        why = "failed to parse certificate: x509: malformed certificate"
        raise KubeConfigError(f"unable to load root certificates: {why}") from error


def _load_certificate(context: ssl.SSLContext, certificate: bytes, key: bytes, *, reloads: bool) -> None:
    """Raises KubeConfigError; ConnectionError for files, which are not read before the server asks for them."""
    texts = certificate.decode(errors="replace"), key.decode(errors="replace")
    problem = pair_problem(*texts)
    if not problem:
        try:
            _load_chain(context, certificate + b"\n" + key)
        except ssl.SSLError as error:
            problem = content_problem(*texts) or str(error)
    if problem:
        raise ConnectionError(f"Unable to connect to the server: {problem}") if reloads else KubeConfigError(problem)


def _load_chain(context: ssl.SSLContext, pem: bytes) -> None:
    """OpenSSL reads client certificates from files only: hand it one that nobody else may read, and remove it."""
    descriptor, path = tempfile.mkstemp(prefix="ktui-", suffix=".pem")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
        context.load_cert_chain(path)
    finally:
        os.unlink(path)


def _target(request: Request) -> str:
    path = quote(request.path, safe="/:@!$&'()*+,;=~%")
    return f"{path}?{urlencode(request.query, doseq=True)}" if request.query else path


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
    return Response(answer.status, body, headers)


class HttpSocket:
    """A WebSocket's client side, in whole messages of bytes."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket

    async def receive(self) -> bytes | None:
        """The next message; None when the other side has closed."""
        message = await self._socket.receive()
        if message.type is aiohttp.WSMsgType.BINARY:
            return bytes(message.data)
        if message.type is aiohttp.WSMsgType.TEXT:
            return str(message.data).encode()
        return None

    async def send(self, message: bytes) -> None:
        if not self._socket.closed:
            await self._socket.send_bytes(message)

    async def close(self) -> None:
        await self._socket.close()


class HttpBytes:
    """A body read as it comes. Iterating ends with it; `aclose` drops the connection."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._answer.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, OSError) as error:
            raise ConnectionError(f"the stream was cut: {_how_cut(error)}") from error
        finally:
            self._answer.close()

    async def aclose(self) -> None:
        self._answer.close()


class HttpEvents:
    """A watch over HTTP: one event a line, of any length. A stream that is cut ends the iteration as a time-out does,
    for a watcher must be ready to go on from its last resourceVersion anyway."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[WatchEvent]:
        rest = b""
        try:
            async for chunk in self._answer.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    if line:
                        yield _event(line)
            if rest.strip():
                yield _event(rest)
        except (aiohttp.ClientError, OSError):
            return
        finally:
            self._answer.close()

    async def aclose(self) -> None:
        self._answer.close()


def _how_cut(error: Exception) -> str:
    """In Go's words (io.ErrUnexpectedEOF) for a body that ends before its end."""
    if isinstance(error, aiohttp.ClientPayloadError):
        return "unexpected EOF"
    return str(error) or type(error).__name__


def _event(line: bytes) -> WatchEvent:
    try:
        value = orjson.loads(line)
        kind, obj = value["type"], value["object"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise ConnectionError(f"unable to decode an event from the watch stream: {error}") from error
    version = (obj.get("metadata") or {}).get("resourceVersion", "")
    return WatchEvent(kind, obj, int(version) if str(version).isdigit() else 0, value.get("cause", ""))


def _unreachable(server: str, error: Exception) -> ConnectionError:
    """kubectl's sentence for a server that cannot be reached."""
    parts = urlsplit(server)
    host = parts.netloc.rpartition("@")[2]
    if _refused(error):
        return ConnectionRefusedError(
            f"The connection to the server {host} was refused - did you specify the right host or port?"
        )
    kind = _BrokenError if _broken(error) else ConnectionError
    return kind(f"Unable to connect to the server: {_reason(error, server)}")


def _broken(error: Exception) -> bool:
    """net.IsConnectionReset and IsProbableEOF."""
    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError):
        return True
    return isinstance(error, OSError) and error.errno == errno.ECONNRESET


def _refused(error: BaseException | None) -> bool:
    """Whether a connection was refused, on every address that was tried."""
    if error is None:
        return False
    if isinstance(error, ConnectionRefusedError) or getattr(error, "errno", None) == 111:
        return True
    if isinstance(error, aiohttp.ClientConnectorError):
        return _refused(error.os_error)
    return "Connect call failed" in str(error) and "111" in str(error)


def _reason(error: Exception, server: str) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"tls: failed to verify certificate: x509: {_why_unverified(error.certificate_error)}"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "EOF"
    if isinstance(error, TimeoutError):
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return "net/http: request canceled while waiting for connection"
        return "net/http: request canceled (Client.Timeout exceeded while awaiting headers)"
    if isinstance(error, aiohttp.NonHttpUrlClientError):
        return f"unsupported protocol scheme {quoted(urlsplit(server).scheme)}"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"dial tcp: lookup {error.host}{_name_server()}: no such host"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"dial tcp {error.host}:{error.port}: {(error.os_error.strerror or str(error.os_error)).lower()}"
    return str(error) or type(error).__name__


def _why_unverified(error: Exception) -> str:
    code = getattr(error, "verify_code", 0)
    if code in _UNKNOWN_AUTHORITY:
        return "certificate signed by unknown authority"
    return getattr(error, "verify_message", "") or str(error)


def _name_server() -> str:
    """Who was asked for an address, as Go's resolver tells of it."""
    try:
        lines = Path("/etc/resolv.conf").read_text().splitlines()
    except OSError:
        return ""
    words = next((line.split() for line in lines if line.startswith("nameserver ")), [])
    return f" on {words[1]}:53" if len(words) > 1 else ""
