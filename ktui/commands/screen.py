"""`ktui`: attach to the cluster, start it first where it does not run, and show the screen."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from engine.folder import ClusterFolder, Running
from engine.world import World
from ktui.app import KtuiApp
from ktui.connect import connect
from ktui.engine_process import StartError, UpOptions, spawn
from ktui.session import Session


def show(*, name: str, profile: str, ephemeral: bool) -> int:
    """Returns the exit code."""
    if not sys.stdout.isatty():
        print('error: the screen needs a terminal: use "ktui up" to run a cluster without one', file=sys.stderr)
        return 1
    running = ClusterFolder.named(name).find_running()
    if running is None:
        try:
            running = spawn(UpOptions(name=name, profile=profile, ephemeral=ephemeral))
        except StartError as error:
            print(error, file=sys.stderr)
            return 1
    asyncio.run(_show(running))
    return 0


async def _show(running: Running) -> None:
    client = connect(Path(running.kubeconfig), user_agent="ktui")
    session = Session(
        name=running.name,
        client=client,
        world=World.create(),
        kubeconfig=Path(running.kubeconfig),
        stop_engine=lambda: os.kill(running.pid, signal.SIGTERM),
    )
    try:
        await KtuiApp(session).run_async()
    finally:
        await client.close()
