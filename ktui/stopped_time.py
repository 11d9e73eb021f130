"""Why a command of `ktui` waits without a word: the cluster's time is paused, and with it the latency of each hop."""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from engine.tasks import Supervisor
from engine.world import World

PATIENCE_SECONDS = 1.0  # what takes no longer needs no explanation
RESUME = """echo '{"action":"resume"}' | ktui replace --raw /debug/ktui/clock -f -"""
WORDS = f"the cluster's time is paused: this waits until it goes on. Space in the screen does that, or\n  {RESUME}"
# Commands that end by themselves once the cluster has done its part.
WAITING = frozenset(
    (
        "annotate", "apply", "autoscale", "certificate", "cordon", "cp", "create", "delete", "drain", "expose", "label",
        "patch", "replace", "rollout", "run", "scale", "set", "taint", "uncordon", "wait",
    )
)  # fmt: skip


async def told_of(work: Coroutine[Any, Any, int], kubeconfig: str, stderr: TextIO = sys.stderr) -> int:
    """Do the work; where it waits for a paused cluster, say so once."""
    looks = Supervisor("ktui")
    looks.spawn(_say_if_paused(kubeconfig, stderr), "clock")
    try:
        return await work
    finally:
        await looks.close()


async def _say_if_paused(kubeconfig: str, stderr: TextIO) -> None:
    """An engine that does not answer is the command's own to complain of."""
    from engine.api.errors import ApiError
    from ktui.commands import UsageError

    clock = World.create().clock
    await clock.sleep(PATIENCE_SECONDS)
    with suppress(ApiError, ConnectionError, UsageError):
        while not await _is_paused(kubeconfig):
            await clock.sleep(PATIENCE_SECONDS)
        print(WORDS, file=stderr, flush=True)


async def _is_paused(kubeconfig: str) -> bool:
    from ktui.connect import connect
    from ktui.steering import PATH

    client = connect(Path(kubeconfig))
    try:
        clock = await client.request("GET", PATH)
        return bool(clock["mode"] == "paused")
    finally:
        await client.close()
