"""`ktui store watch KEY -- COMMAND`: a command that is run for each event of a watch (etcdctl/ctlv3/command
watch_command.go printWatchCh)."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from base64 import b64decode
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand

from ktui.store.printers import go_quoted

_COMMAND = "ktui.store.exec"  # where a context keeps what stands after `--`


class CommandAfterDashes(TyperCommand):
    """A command of ktui whose words end at `--`: what comes after is another command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words, dashes, command = parted(args)
        ctx.meta[_COMMAND] = command
        return super().parse_args(ctx, words if command or not dashes else args)


def parted(words: Sequence[str]) -> tuple[list[str], bool, list[str]]:
    """The words before `--`, whether it is there, and those after it."""
    if "--" not in words:
        return list(words), False, []
    end = words.index("--")
    return list(words[:end]), True, list(words[end + 1 :])


def command_of(context: typer.Context) -> list[str]:
    """What is to be run for each event; nothing where there is nothing."""
    found: list[str] = context.meta[_COMMAND]
    return found


async def run_for_each(command: Sequence[str], response: dict[str, Any]) -> None:
    """Run the command for each event of a watch response, one after the other. Raises typer.Exit where it
    fails."""
    for event in response["Events"] or ():
        kv = event["kv"]
        environment = {
            **os.environ,
            "ETCD_WATCH_REVISION": str(response["Header"]["revision"]),
            "ETCD_WATCH_EVENT_TYPE": go_quoted(b"DELETE" if event.get("type") else b"PUT"),
            "ETCD_WATCH_KEY": go_quoted(b64decode(kv.get("key", ""))),
            "ETCD_WATCH_VALUE": go_quoted(b64decode(kv.get("value", ""))),
        }
        problem = await _run(command, environment)
        if problem:
            shown = " ".join(go_quoted(os.fsencode(word)) for word in command)
            print(f"command [{shown}] error ({problem})", file=sys.stderr)
            raise typer.Exit(1)


async def _run(command: Sequence[str], environment: dict[str, str]) -> str:
    """What went wrong, in the words of Go's os/exec; "" for nothing."""
    if shutil.which(command[0]) is None:
        return f"exec: {go_quoted(os.fsencode(command[0]))}: executable file not found in $PATH"
    process = await asyncio.create_subprocess_exec(*command, env=environment)
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.kill()
        raise
    if code < 0:
        return f"signal: {signal.strsignal(-code) or -code}".lower()
    return f"exit status {code}" if code else ""
