"""The program that KUBECTL_EXTERNAL_DIFF names, on a folder of what there is and one of what would be.

Source of the behaviour: kubectl pkg/cmd/diff/diff.go (DiffProgram, Differ).
"""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from engine.kubectl.errors import CommandError, Exit
from engine.kubectl.session import Session

VARIABLE = "KUBECTL_EXTERNAL_DIFF"
Texts = Mapping[str, tuple[str, str | None]]  # by name: what there is, and what would be, unless nothing would be
_TAKEN = re.compile(r"[a-zA-Z0-9=-]+")  # of the words after the program's name


async def show(session: Session, texts: Texts) -> None:
    """Print what the program says. Raises Exit with 1 where it finds a difference, CommandError where it fails."""
    program, *words = session.environment.get(VARIABLE, "").split(" ")
    options = [word for word in words if _TAKEN.fullmatch(word)]
    with tempfile.TemporaryDirectory(prefix="LIVE-") as live, tempfile.TemporaryDirectory(prefix="MERGED-") as merged:
        for name, (before, after) in texts.items():
            (Path(live) / name).write_text(before)
            if after is not None:
                (Path(merged) / name).write_text(after)
        if shutil.which(program, path=session.environment.get("PATH")) is None:
            raise CommandError(f'failed to run "{program}": executable file not found in $PATH')
        process = await asyncio.create_subprocess_exec(
            *(program, live, merged, *options),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(session.environment),
        )
        out, err = await process.communicate()
    session.stdout.write(out.decode(errors="replace"))
    session.stderr.write(err.decode(errors="replace"))
    if process.returncode == 1:
        raise Exit(1)
    if process.returncode:
        raise CommandError(f'failed to run "{program}": exit status {process.returncode}')
