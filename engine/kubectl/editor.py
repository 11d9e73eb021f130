"""The person's editor: EDITOR on a temporary file.

Source of the behaviour: kubectl pkg/cmd/util/editor/editor.go (KUBE_EDITOR, then EDITOR, then vi).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from engine.api.golang.text import quoted
from engine.kubectl.errors import CommandError


def _words(command: str, environment: Mapping[str, str]) -> list[str]:
    """The program and what it is given before the file. It takes a shell where words are quoted; that is given the
    file as part of its last word."""
    if any(character in command for character in "\"'\\"):
        return [environment.get("SHELL") or "/bin/bash", "-c", command]
    return command.split(" ")


async def edit_text(text: str, environment: Mapping[str, str], *, suffix: str = ".yaml") -> tuple[str, Path]:
    """What the editor makes of a text, and the file that still holds it. Raises CommandError."""
    words = _words(environment.get("KUBE_EDITOR") or environment.get("EDITOR") or "vi", environment)
    shown = quoted(" ".join(words))
    if "/" not in words[0] and shutil.which(words[0], path=environment.get("PATH")) is None:
        raise CommandError(f"unable to launch the editor {shown}")
    descriptor, name = tempfile.mkstemp(prefix="kubectl-edit-", suffix=suffix)
    file = Path(name)
    with os.fdopen(descriptor, "w") as handle:
        handle.write(text)
    words = [*words[:2], f'{words[2]} "{name}"'] if words[1:2] == ["-c"] else [*words, name]
    try:
        process = await asyncio.create_subprocess_exec(*words, env=dict(environment))
        failed = await process.wait() != 0
    except OSError:  # a path that leads nowhere, or to what is no program
        failed = True
    if failed:
        raise CommandError(f"there was a problem with the editor {shown}")
    return await asyncio.to_thread(file.read_text), file
