"""`ktui`: attach to the cluster, start it first where it does not run, and show the screen.

The screen is up before the engine is: what it asks for waits until there is one to ask.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import sys
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from engine.client import Client
from engine.folder import ClusterFolder, Running
from engine.world import World
from ktui.address import Address
from ktui.app import KtuiApp
from ktui.collector import Collector
from ktui.commands import UsageError
from ktui.engine_process import StartError, UpOptions, spawn
from ktui.screens.catalogue import SCREENS
from ktui.session import LateTransport, Session
from ktui.settings import Settings

WRITER_WAITS_SECONDS = 0.0005  # Textual's thread that writes to the terminal waits that long for the one that draws
TERMINAL_SECONDS = 1.0  # between looks whether the terminal is still there
LOOK_SECONDS = 0.1  # between looks for an engine that is starting


def show(*, name: str, profile: str, ephemeral: bool, screen: str = "", attach: str = "") -> int:
    """Returns the exit code."""
    if screen and screen not in SCREENS:
        raise UsageError(f'there is no screen "{screen}"; there are {", ".join(SCREENS)}')
    in_browser = "TEXTUAL_DRIVER" in os.environ  # `ktui web`: textual-serve's pipes are the terminal
    if not sys.stdout.isatty() and not in_browser:
        print('error: the screen needs a terminal: use "ktui up" to run a cluster without one', file=sys.stderr)
        return 1
    if os.environ.get("TERM") == "dumb" and not in_browser:
        print("error: the screen needs a terminal whose cursor it can move, and TERM=dumb has none", file=sys.stderr)
        return 1
    options = UpOptions(name=name, profile=profile, ephemeral=ephemeral)
    sys.setswitchinterval(WRITER_WAITS_SECONDS)
    problem = asyncio.run(_show(options, screen=screen, attach=attach))
    if problem:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problem else 0


async def _show(options: UpOptions, *, screen: str, attach: str) -> str:
    settings = Settings.load()
    settings.theme = settings.theme or _theme_of(os.environ)
    engine = None if attach else _Engine(options)
    session = engine.session if engine is not None else attached(attach, options.name)
    app = KtuiApp(session, collector=Collector(), settings=settings, screen=screen)
    _mind_signals(app)
    try:
        problem = await app.run_async() or ""
    finally:
        await session.client.close()
    if engine is not None and not problem and "TEXTUAL_DRIVER" not in os.environ:
        engine.say_goodbye()
    return problem


def _mind_signals(app: KtuiApp) -> None:
    """Leave the terminal as it was when told to end; a terminal that has gone needs nothing any more."""
    if os.name == "nt":
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, app.exit, "")
    loop.add_signal_handler(signal.SIGHUP, _hang_up)
    if os.isatty(0):
        terminal = select.poll()
        terminal.register(0, 0)
        _mind_terminal(terminal)


def _mind_terminal(terminal: select.poll) -> None:
    """That it has gone is told to the leader of its session alone, which waits for its child if it is `make`."""
    if terminal.poll(0):
        _hang_up()
    else:
        asyncio.get_running_loop().call_later(TERMINAL_SECONDS, _mind_terminal, terminal)


def _hang_up() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGHUP)


def _theme_of(environment: Mapping[str, str]) -> str:
    """The theme of sixteen colours for a terminal that says it has no more."""
    has_more = environment.get("COLORTERM") or "256color" in environment.get("TERM", "") or os.name == "nt"
    has_more = has_more or "TEXTUAL_DRIVER" in environment  # a browser
    return "" if has_more else "ansi"


def attached(url: str, name: str) -> Session:
    """A session on the server at a URL, as whom the kubeconfig says: $KUBECONFIG, else the cluster's own.

    Raises UsageError.
    """
    from engine.client.connection import KubeConfigError
    from engine.client.https import HttpsTransport

    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise UsageError(f'--attach takes the URL of an API server, as in https://127.0.0.1:6443; "{url}" is none')
    address = Address("" if os.environ.get("KUBECONFIG") else str(ClusterFolder.named(name).kubeconfig), url)
    try:
        transport = HttpsTransport(address.connection())
    except (KubeConfigError, ConnectionError) as error:
        raise UsageError(str(error)) from error

    async def where() -> Address:
        return address

    return Session(
        name=url.removeprefix("https://"),
        client=Client(transport, user_agent="ktui"),
        world=World.create(),
        address=where,
    )


class _Engine:
    """The engine of one name, as a process of its own."""

    def __init__(self, options: UpOptions) -> None:
        self._options = options
        self._folder = ClusterFolder.named(options.name)
        self._transport = LateTransport()
        self._running: Running | None = None
        self._was_stopped = False
        self.session = Session(
            name=options.name,
            client=Client(self._transport, user_agent="ktui"),
            world=World.create(),
            kubeconfig=self._folder.kubeconfig,
            address=self._address,
            begin=self.begin,
            is_alive=lambda: self._folder.find_running() is not None,
            stop_engine=self._stop,
            started_here=self._folder.find_running() is None,
        )

    async def begin(self) -> None:
        """Find the engine or start it, and reach it. Raises ConnectionError."""
        running = await self._find() or await self._start()
        if running == self._running:
            return
        # Loading what speaks HTTPS takes a while: the first frame does not wait for it.
        from engine.client.connection import KubeConfigError
        from engine.client.https import HttpsTransport

        try:
            transport = HttpsTransport(Address(running.kubeconfig).connection())
        except KubeConfigError as error:
            raise ConnectionError(str(error)) from error
        await self._transport.attach(transport)
        self._running = running

    async def _address(self) -> Address:
        await self._transport.attached()
        return Address(str(self._folder.kubeconfig))

    async def _start(self) -> Running:
        """Start it, unless somebody is quicker: another visitor of `ktui web`, another terminal. Raises
        ConnectionError."""
        try:
            return await asyncio.to_thread(spawn, self._asked())
        except StartError as error:
            running = await self._find()
            if running is None:
                self._transport.fail(str(error))
                raise ConnectionError(str(error)) from error
            return running

    async def _find(self) -> Running | None:
        """The engine that runs; one that another process has begun to start is waited for."""
        while (running := self._folder.find_running()) is None and self._folder.is_held():
            await self.session.world.clock.sleep(LOOK_SECONDS)
        return running

    def _asked(self) -> Sequence[str]:
        """One that has ended is started again as it was started before."""
        before = self._running.asked if self._running is not None else ()
        return before or self._options.arguments()

    def say_goodbye(self) -> None:
        """Whoever leaves the screen leaves an engine behind, also one that was still starting."""
        if not self._was_stopped and (self._folder.find_running() is not None or self._folder.is_held()):
            name = "" if self._options.name == UpOptions().name else f" --name {self._options.name}"
            print(f"cluster {self._options.name} goes on: ktui{name} shows it again, ktui down{name} ends it")

    def _stop(self) -> None:
        self._was_stopped = True
        running = self._folder.find_running()
        if running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(running.pid, signal.SIGTERM)
