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

from engine.kubectl.errors import CommandError


def _has_shell_words(command: str) -> bool:
    """Whether it takes a shell to run the command; without one a program that is not there is told of."""
    return any(character in command for character in "\"'\\")


async def edit_text(text: str, environment: Mapping[str, str], *, suffix: str = ".yaml") -> tuple[str, Path]:
    """What the editor makes of a text, and the file that still holds it. Raises CommandError."""
    command = environment.get("KUBE_EDITOR") or environment.get("EDITOR") or "vi"
    if not _has_shell_words(command) and shutil.which(command.split()[0]) is None:
        raise CommandError(f'unable to launch the editor "{command}"')
    descriptor, name = tempfile.mkstemp(prefix="kubectl-edit-", suffix=suffix)
    file = Path(name)
    with os.fdopen(descriptor, "w") as handle:
        handle.write(text)
    process = await asyncio.create_subprocess_exec("sh", "-c", f'{command} "$0"', name, env=dict(environment))
    if await process.wait():
        raise CommandError(f'there was a problem with the editor "{command}"')
    return await asyncio.to_thread(file.read_text), file
