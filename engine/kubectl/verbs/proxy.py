"""`proxy`: a local port through which any program talks to the API server with one's own credentials.

Source of the behaviour: kubectl pkg/cmd/proxy/proxy.go and pkg/proxy/proxy_server.go (filters and their defaults).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aiohttp import ClientError, web

from engine.client.https import HttpsTransport
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.session import Session
from engine.kubectl.wire_dump import WireDump

HOSTS = r"^localhost$,^127\.0\.0\.1$,^\[::1\]$"
REJECTED_PATHS = "^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach"
# Headers about one connection, not about the message.
_HOP_BY_HOP = (
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
)  # fmt: skip
DROPPED = frozenset((*_HOP_BY_HOP, "host", "content-length", "content-encoding", "accept-encoding", "authorization"))
BODY_LIMIT = 64 << 20


@dataclass(frozen=True, slots=True)
class Filter:
    """Which requests are let through: regular expressions, found anywhere in what they are about."""

    accepted_paths: tuple[re.Pattern[str], ...]
    rejected_paths: tuple[re.Pattern[str], ...]
    accepted_hosts: tuple[re.Pattern[str], ...]
    rejected_methods: tuple[re.Pattern[str], ...]

    @classmethod
    def of_flags(cls, session: Session) -> Filter:
        names = ("accept-paths", "reject-paths", "accept-hosts", "reject-methods")
        return cls(*(_patterns(session.flags.text(name)) for name in names))

    def lets(self, method: str, path: str, host: str) -> bool:
        if _any(self.rejected_paths, path) or _any(self.rejected_methods, method):
            return False
        return _any(self.accepted_paths, path) and _any(self.accepted_hosts, host)


def _patterns(text: str) -> tuple[re.Pattern[str], ...]:
    try:
        return tuple(re.compile(part) for part in text.split(","))
    except re.error as error:
        raise CommandError(f"error parsing regexp: {error}") from error


def _any(patterns: Sequence[re.Pattern[str]], text: str) -> bool:
    return any(pattern.search(text) for pattern in patterns)


def host_of(header: str) -> str:
    """The host of a Host header, without its port."""
    return re.sub(r":\d+$", "", header)


class _Proxy:
    def __init__(self, session: Session, transport: HttpsTransport) -> None:
        self._session = session
        self._transport = transport
        self._filter = None if session.flags.on("disable-filter") else Filter.of_flags(session)
        prefix = session.flags.text("api-prefix")
        self._prefix = prefix if prefix.endswith("/") else f"{prefix}/"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        if self._filter is not None and not self._filter.lets(request.method, path, host_of(request.host)):
            return web.Response(status=403, text="Forbidden")
        if not path.startswith(self._prefix):
            return web.Response(status=404, text="404 page not found\n")
        target = "/" + request.raw_path.removeprefix(self._prefix)
        try:
            async with await self._transport.forward(
                request.method, target, headers=_kept(request.headers.items()), body=await request.read()
            ) as answer:
                response = web.StreamResponse(status=answer.status, headers=_kept(answer.headers.items()))
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
                await response.write_eof()
                return response
        except (ClientError, OSError) as error:
            return web.Response(status=502, text=f"Error while proxying request: {error}")


def _kept(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: value for name, value in headers if name.lower() not in DROPPED}


async def run(session: Session) -> None:
    transport = session.client.transport
    if isinstance(transport, WireDump):
        transport = transport.inner
    if not isinstance(transport, HttpsTransport):
        raise CommandError("a proxy needs a connection over HTTPS: use the command line, or --kubeconfig")
    flags = session.flags
    if flags.given("port") and flags.text("unix-socket"):
        raise CommandError("cannot set --unix-socket and --port at the same time")
    runner = web.AppRunner(_application(session, transport), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        address = await _listen(session, runner)
        session.out(f"Starting to serve on {address}")
        session.stdout.flush()
        await asyncio.get_running_loop().create_future()
    finally:
        await runner.cleanup()


def _application(session: Session, transport: HttpsTransport) -> web.Application:
    application = web.Application(client_max_size=BODY_LIMIT)
    if folder := session.flags.text("www"):
        application.router.add_static(session.flags.text("www-prefix"), folder)
    application.router.add_route("*", "/{path:.*}", _Proxy(session, transport).handle)
    return application


async def _listen(session: Session, runner: web.AppRunner) -> str:
    """Start to listen; returns where. Raises CommandError."""
    flags = session.flags
    if not 0 <= flags.number("port") <= 65535:
        raise CommandError(f"listen tcp: address {flags.number('port')}: invalid port")
    try:
        if path := flags.text("unix-socket"):
            await web.UnixSite(runner, path).start()
            return path
        await web.TCPSite(runner, flags.text("address"), flags.number("port")).start()
    except OSError as error:
        raise CommandError(f"listen tcp {flags.text('address')}:{flags.number('port')}: {error.strerror}") from error
    host, port = runner.addresses[0][:2]
    return f"{host}:{port}"


COMMAND = Command(
    name="proxy",
    short="Run a proxy to the Kubernetes API server",
    usage="[--port=PORT] [--www=static-dir] [--www-prefix=prefix] [--api-prefix=prefix]",
    run=run,
    flags=(
        Flag("accept-hosts", default=HOSTS, help="Hosts to accept, as regular expressions."),
        Flag("accept-paths", default="^.*", help="Paths to accept, as regular expressions."),
        Flag("address", default="127.0.0.1", help="The address to serve on."),
        Flag("api-prefix", default="/", help="The prefix of the API."),
        Flag("append-server-path", Type.BOOL, help="Put the path of the context's server before each request's."),
        Flag("disable-filter", Type.BOOL, help="Let all requests through."),
        Flag("keepalive", Type.DURATION, help="How long to keep connections alive."),
        Flag("port", Type.INT, default=8001, short="p", help="The port to serve on; 0 for any."),
        Flag("reject-methods", default="^$", help="Methods to reject, as regular expressions."),
        Flag("reject-paths", default=REJECTED_PATHS, help="Paths to reject, as regular expressions."),
        Flag("unix-socket", short="u", help="The socket to serve on."),
        Flag("www", short="w", help="A folder to serve besides."),
        Flag("www-prefix", default="/static/", short="P", help="The prefix of that folder."),
    ),
    examples=("proxy --port=8011",),
)
