"""`ktui`: attach to the cluster, start it first where it does not run, and show the screen.

The screen is up before the engine is: what it asks for waits until there is one to ask.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from engine.client import Client
from engine.folder import ClusterFolder, Running
from engine.world import World
from ktui.app import KtuiApp
from ktui.collector import Collector
from ktui.engine_process import StartError, UpOptions, spawn
from ktui.session import LateTransport, Session


def show(*, name: str, profile: str, ephemeral: bool) -> int:
    """Returns the exit code."""
    if not sys.stdout.isatty():
        print('error: the screen needs a terminal: use "ktui up" to run a cluster without one', file=sys.stderr)
        return 1
    problem = asyncio.run(_show(UpOptions(name=name, profile=profile, ephemeral=ephemeral)))
    if problem:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problem else 0


async def _show(options: UpOptions) -> str:
    engine = _Engine(options)
    try:
        return await KtuiApp(engine.session, collector=Collector()).run_async() or ""
    finally:
        await engine.session.client.close()


class _Engine:
    """The engine of one name, as a process of its own."""

    def __init__(self, options: UpOptions) -> None:
        self._options = options
        self._folder = ClusterFolder.named(options.name)
        self._transport = LateTransport()
        self._running: Running | None = None
        self.session = Session(
            name=options.name,
            client=Client(self._transport, user_agent="ktui"),
            world=World.create(),
            kubeconfig=self._folder.kubeconfig,
            begin=self.begin,
            is_alive=lambda: self._folder.find_running() is not None,
            stop_engine=self._stop,
            started_here=self._folder.find_running() is None,
        )

    async def begin(self) -> None:
        """Find the engine or start it, and reach it. Raises ConnectionError."""
        running = self._folder.find_running()
        if running is None:
            try:
                running = await asyncio.to_thread(spawn, self._options)
            except StartError as error:
                self._transport.fail(str(error))
                raise ConnectionError(str(error)) from error
        if running == self._running:
            return
        # Loading what speaks HTTPS takes a while: the first frame does not wait for it.
        from engine.client.https import HttpsTransport
        from engine.client.kubeconfig import KubeConfig, KubeConfigError

        try:
            connection = KubeConfig.load(Path(running.kubeconfig)).connection()
        except KubeConfigError as error:
            raise ConnectionError(str(error)) from error
        await self._transport.attach(HttpsTransport(connection))
        self._running = running

    def _stop(self) -> None:
        running = self._folder.find_running()
        if running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(running.pid, signal.SIGTERM)
