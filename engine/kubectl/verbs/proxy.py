"""`proxy`: a local port through which any program talks to the API server with one's own credentials.

Source of the behaviour: kubectl pkg/cmd/proxy/proxy.go and pkg/proxy/proxy_server.go (filters and their defaults).
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aiohttp import ClientError, web

from engine.api.crd import patterns
from engine.client.https import HttpsTransport
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, FatalError
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

    accepted_paths: tuple[str, ...]
    rejected_paths: tuple[str, ...]
    accepted_hosts: tuple[str, ...]
    rejected_methods: tuple[str, ...]

    @classmethod
    def of_flags(cls, session: Session) -> Filter:
        names = ("accept-paths", "reject-paths", "accept-hosts", "reject-methods")
        return cls(*(_patterns(session.flags.text(name)) for name in names))

    def lets(self, method: str, path: str, host: str) -> bool:
        if _any(self.rejected_paths, path) or _any(self.rejected_methods, method):
            return False
        return _any(self.accepted_paths, path) and _any(self.accepted_hosts, host)


def _patterns(text: str) -> tuple[str, ...]:
    """Raises FatalError for one that RE2 does not take."""
    found = tuple(text.split(","))
    for pattern in found:
        if why := patterns.what_is_wrong(pattern):
            raise FatalError(f"Error compiling re: {why}", "proxy_server.go:83", code=255)
    return found


def _any(found: Sequence[str], text: str) -> bool:
    return any(patterns.matches(pattern, text) for pattern in found)


def host_of(header: str) -> str:
    """The host of a Host header, without its port."""
    return re.sub(r":\d+$", "", header)


class _Proxy:
    def __init__(self, session: Session, transport: HttpsTransport, passing: Filter | None) -> None:
        self._session = session
        self._transport = transport
        self._filter = passing
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
    application = _application(session, _Proxy(session, transport, _filter(session)))
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        address = await _listen(session, runner)
        session.out(f"Starting to serve on {address}")
        session.stdout.flush()
        await asyncio.get_running_loop().create_future()
    finally:
        await runner.cleanup()


def _filter(session: Session) -> Filter | None:
    if not session.flags.on("disable-filter"):
        return Filter.of_flags(session)
    if not session.flags.text("unix-socket"):
        session.warn(
            "proxy.go:177", "Request filter disabled, your proxy is vulnerable to XSRF attacks, please be cautious"
        )
    return None


def _application(session: Session, proxy: _Proxy) -> web.Application:
    application = web.Application(client_max_size=BODY_LIMIT)
    folder, prefix = session.flags.text("www"), session.flags.text("www-prefix")
    if folder and _is_folder(session, folder) and prefix.startswith("/"):  # another prefix is that of a host
        application.router.add_static(prefix, folder)
    application.router.add_route("*", "/{path:.*}", proxy.handle)
    return application


def _is_folder(session: Session, path: str) -> bool:
    """Says so where it is none; there is nothing to serve then."""
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            return True
        session.warn("proxy.go:205", f"Static file directory {path} is not a directory")
    except OSError as error:
        why = f"stat {path}: {os.strerror(error.errno or 0).lower()}"
        session.warn("proxy.go:203", f"Failed to stat static file directory {path}: {why}")
    return False


async def _listen(session: Session, runner: web.AppRunner) -> str:
    """Start to listen; returns where. Raises CommandError."""
    flags = session.flags
    if not 0 <= flags.number("port") <= 65535:
        raise CommandError(f"listen tcp: address {flags.number('port')}: invalid port")
    path = flags.text("unix-socket")
    try:
        if path:
            await web.UnixSite(runner, path).start()
            return path
        await web.TCPSite(runner, flags.text("address"), flags.number("port")).start()
    except socket.gaierror as error:
        raise CommandError(f"listen tcp: lookup {flags.text('address')}: no such host") from error
    except OSError as error:
        where = f"unix {path}" if path else f"tcp {flags.text('address')}:{flags.number('port')}"
        raise CommandError(f"listen {where}: bind: {os.strerror(error.errno or 0).lower()}") from error
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
