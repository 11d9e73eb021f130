"""kubectl as a library: `run` takes its words and does them with a client (hop 01).

`ktui apply|get|...` on the command line and the screen's `:` line both come through here. Results go to `stdout`,
everything else to `stderr`, and the exit code is kubectl's.
"""

from __future__ import annotations

import io
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from engine.api.errors import ApiError
from engine.client import Client
from engine.client.connection import Connection, KubeConfigError
from engine.client.https import HttpsTransport
from engine.client.kubeconfig import KubeConfig
from engine.clock import Clock
from engine.kubectl import klog, preferences, refused
from engine.kubectl.command import Command, Found, find, help_text, show_group
from engine.kubectl.connecting import allowed, asked_for, asks_namespace_first, overrides_of
from engine.kubectl.discovery import Discovery
from engine.kubectl.discovery_cache import DiskCache, folder
from engine.kubectl.errors import Aggregate, CommandError, Exit, FatalError, FlagError, MisusedError, UsageError, render
from engine.kubectl.flags import Flags
from engine.kubectl.flagsets import GLOBAL
from engine.kubectl.preferences import Applied, PreferencesError
from engine.kubectl.session import Session
from engine.kubectl.tree import ROOT
from engine.kubectl.undiscovered import UndiscoveredError, times
from engine.kubectl.wire_dump import TIMES, WireDump
from engine.trace import Hop

if TYPE_CHECKING:
    from engine.world import World

# Flags that name another server or another identity than that of the client that was given.
_CONNECTION_FLAGS = (
    "kubeconfig", "context", "cluster", "user", "server", "token", "certificate-authority", "client-certificate",
    "client-key", "insecure-skip-tls-verify", "tls-server-name", "as", "as-group", "as-uid", "as-user-extra",
    "request-timeout",
)  # fmt: skip

# What kubectl can measure of itself; nothing is, here.
_PROFILES = ("none", "cpu", "heap", "goroutine", "threadcreate", "block", "mutex", "trace")
_SERVER_FLAGS = ("kubeconfig", "context", "cluster", "server")


async def run(
    argv: Sequence[str] | str,
    *,
    client: Client | None = None,
    stdin: TextIO | None = None,
    stdout: TextIO,
    stderr: TextIO,
    world: World | None = None,
    clock: Clock | None = None,
    namespace: str = "",
    discovery: Discovery | None = None,
    kubeconfig: KubeConfig | None = None,
    environment: Mapping[str, str] | None = None,
    server: str = "",
    program: str = "ktui",
) -> int:
    """Do one command, `argv` being what follows the program's name; returns the exit code.

    Without a client, or with flags that name another server or identity (`--kubeconfig`, `--as`, ...), one is made from
    the kubeconfig; `server` is the URL of the client's, which stays where the flags name none. With a world the command
    is a hop-1 span, the cause of its requests. Keep one `discovery` over several commands to one server. `namespace` is
    where a command works that names none.
    """
    words = shlex.split(argv) if isinstance(argv, str) else list(argv)
    path = program
    failure_code, level = 1, 0
    found: Found | None = None
    clock = clock or (world.clock if world else Clock())
    try:
        environment = os.environ if environment is None else environment
        wanted = preferences.apply(
            ROOT, words, environment, program=program, warn=lambda text: print(text, end="", file=stderr)
        )
        found = find(ROOT, wanted.words, program=program, global_flags=GLOBAL)
        path, failure_code = found.path, found.command.failure_code
        flags = Flags((*GLOBAL, *found.command.flags))
        wanted.set(flags)
        try:
            arguments, dash = flags.parse(found.arguments)
        except FlagError as error:
            raise UsageError(str(error)) if found.command.flag_errors_as_usage else error from error
        level = flags.number("v")
        stderr.writelines(f"{line}\n" for line in flags.deprecations())
        if flags.on("help") or (found.command is ROOT and not arguments):
            stdout.write(help_text(found, program=program) + "\n")
            return 0
        if found.command.run is None:
            stream = stdout if found.command.help_on_stdout else stderr
            return _group(Found(found.command, path, arguments), program=program, stream=stream)
        if all(flag.name != "profile" for flag in found.command.flags) and flags.text("profile") not in _PROFILES:
            raise CommandError(f"unknown profile '{flags.text('profile')}'")
        if missing := flags.missing():
            names = ", ".join(f'"{name}"' for name in missing)
            raise CommandError(f"required flag(s) {names} not set")
        task = _Task(found, flags, arguments, dash, program, wanted)
        return await task.run(
            client=client,
            streams=(stdin or io.StringIO(), stdout, stderr),
            world=world,
            clock=clock,
            namespace=namespace,
            discovery=discovery,
            kubeconfig=kubeconfig,
            environment=environment,
            server=server,
        )
    except PreferencesError as error:
        stderr.write(f"{error}\n")
        return 1
    except Exit as leave:
        return leave.code
    except FatalError as error:
        stderr.write(klog.line("F", clock.now(), error.place, str(error)) + "\n")
        return error.code
    except BrokenPipeError:
        raise  # who read the output went away: that is no server that cannot be reached
    except (CommandError, Aggregate, ApiError, ConnectionError, KubeConfigError) as error:
        if isinstance(error, MisusedError) and found is not None:
            stdout.write(help_text(found, program=program) + "\n")
        if level >= refused.LEVEL:
            stderr.writelines(f"{line}\n" for line in _logged(clock, refused.PLACE, refused.statuses(error)))
        stderr.write(render(error, command=path) + "\n")
        return failure_code


def _logged(clock: Clock, place: str, texts: Iterable[str]) -> list[str]:
    return [klog.line("I", clock.now(), place, text) for text in texts]


def _group(found: Found, *, program: str, stream: TextIO) -> int:
    outcome = show_group(found, program=program)
    if isinstance(outcome, Exit):
        stream.write(help_text(found, program=program) + "\n")
        return outcome.code
    raise outcome


class _Task:
    """One command that was found and parsed, ready to run."""

    def __init__(
        self, found: Found, flags: Flags, arguments: list[str], dash: int, program: str, wanted: Applied
    ) -> None:
        self._command: Command = found.command
        self._path = found.path
        self._flags = flags
        self._arguments = arguments
        self._dash = dash
        self._program = program
        self._wanted = wanted

    async def run(
        self,
        *,
        client: Client | None,
        streams: tuple[TextIO, TextIO, TextIO],
        world: World | None,
        clock: Clock,
        namespace: str,
        discovery: Discovery | None,
        kubeconfig: KubeConfig | None,
        environment: Mapping[str, str],
        server: str,
    ) -> int:
        connection, own = None, None
        offline = self._command.offline_flag
        if not self._command.connects or (offline and self._flags.on(offline)):
            client = client or (own := Client(HttpsTransport(Connection()), user_agent="kubectl/ktui"))
            kubeconfig = None if self._flags.given("kubeconfig") else kubeconfig
        elif client is None or self._elsewhere():
            kubeconfig = KubeConfig.load(self._flags.text("kubeconfig"), environment=environment)
            if self._flags.number("v") >= TIMES:
                loaded = (f"Config loaded from file:  {file}" for file in kubeconfig.loaded)
                streams[2].writelines(f"{line}\n" for line in _logged(clock, "loader.go:408", loaded))
            hidden = {flag.name for flag in self._command.flags}
            overrides = overrides_of(self._flags, hidden, environment)
            if client is not None and server and not any(map(self._flags.given, _SERVER_FLAGS)):
                overrides = replace(overrides, server=server)
            config = kubeconfig.client_config(overrides)
            if asks_namespace_first(self._path, self._flags):
                config.confirm_usable()
            connection = allowed(config.connection(), self._wanted)
            connection = await asked_for(connection, streams[0], streams[1])
            client = own = Client(HttpsTransport(connection), user_agent="kubectl/ktui")
            place = folder(connection.server, given=self._flags.text("cache-dir"), environment=environment)
            discovery = Discovery(DiskCache(place, clock) if place is not None else None)
        if (level := self._flags.number("v")) >= TIMES:
            client = _told(client, level=level, stderr=streams[2], clock=clock, connection=connection)
        given = self._flags.text("namespace")
        session = Session(
            client=client,
            flags=self._flags,
            arguments=self._arguments,
            dash=self._dash,
            program=self._program,
            path=self._path,
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            clock=clock,
            namespace=given or namespace or (connection.namespace if connection else "") or "default",
            namespace_given=bool(given),
            discovery=discovery or Discovery(),
            environment=environment,
            kubeconfig=kubeconfig,
            server=connection.server if connection else server,
        )
        try:
            await self._do(session, world)
        except UndiscoveredError as error:
            session.tell_undiscovered(error, times(self._path.split()[1:], self._arguments))
            raise
        finally:
            if own is not None:
                await own.close()
        if session.warnings and self._flags.on("warnings-as-errors"):
            session.err(f"error: {len(session.warnings)} warning{'s' if len(session.warnings) > 1 else ''} received")
            return 1
        return 0

    def _elsewhere(self) -> bool:
        """Whether a global flag names another server or identity (`create rolebinding` has a --user of its own)."""
        own = {flag.name for flag in self._command.flags}
        return any(self._flags.given(name) for name in _CONNECTION_FLAGS if name not in own)

    async def _do(self, session: Session, world: World | None) -> None:
        assert self._command.run is not None
        span = (
            world.tracer.span(
                Hop.CLIENT,
                component="kubectl",
                verb=session.verb,
                detail={"argv": [self._program, *self._path.split()[1:], *self._arguments]},
            )
            if world is not None
            else nullcontext()
        )
        with span:
            if world is not None:
                await world.latency.pause("client")
            await self._command.run(session)


def _told(client: Client, *, level: int, stderr: TextIO, clock: Clock, connection: Connection | None) -> Client:
    """The client, made to tell what it sends and gets."""
    scheme = ""
    if connection is not None and (connection.token or connection.plugin):
        scheme = "Bearer"
    elif connection is not None and connection.username:
        scheme = "Basic"
    server = connection.url if connection is not None else ""
    transport = WireDump(client.transport, level=level, stderr=stderr, clock=clock, server=server, scheme=scheme)
    return Client(transport, user_agent=client.user_agent)
