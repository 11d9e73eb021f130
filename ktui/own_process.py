"""One of ktui's own commands, done for the screen by a process of its own.

They are made for a terminal: they print to it as they go, wait for the server in a loop of their own, and end with it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from typing import TextIO

MOST = 2**16  # bytes that are taken at once


async def run(argv: Sequence[str], *, name: str, columns: int, stdout: TextIO, stderr: TextIO) -> int:
    """Do `ktui --name NAME ARGV`, whose input is empty; returns its exit code. Cancelled, it ends the process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "ktui", "--name", name, *argv,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        await asyncio.gather(_hand_on(process.stdout, stdout), _hand_on(process.stderr, stderr))
        return await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def _hand_on(stream: asyncio.StreamReader | None, to: TextIO) -> None:
    """Whole lines, for a character may be in two pieces."""
    rest = b""
    while stream is not None and (piece := await stream.read(MOST)):
        lines, newline, rest = (rest + piece).rpartition(b"\n")
        to.write((lines + newline).decode(errors="replace"))
    to.write(rest.decode(errors="replace"))
