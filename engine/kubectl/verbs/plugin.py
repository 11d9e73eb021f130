"""`plugin`: programs on the PATH that kubectl takes for commands of its own (kubectl pkg/cmd/plugin/plugin.go)."""

from __future__ import annotations

import os
from pathlib import Path

from engine.api.golang.text import quoted
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.session import Session

PREFIX = "kubectl-"


async def listing(session: Session) -> None:
    problems = 0
    found = _programs(session)
    if not found:
        raise CommandError("unable to find any kubectl plugins in your PATH")
    session.out("The following compatible plugins are available:\n")
    seen: dict[str, Path] = {}
    for file in found:
        session.out(file.name if session.flags.on("name-only") else str(file))
        if not os.access(file, os.X_OK):
            session.err(f"  - warning: {file} identified as a kubectl plugin, but it is not executable")
            problems += 1
        elif file.name in seen:
            session.err(f"  - warning: {file} is overshadowed by a similarly named plugin: {seen[file.name]}")
            problems += 1
        seen.setdefault(file.name, file)
    if problems:
        raise CommandError(f"{problems} plugin warning{'s were' if problems > 1 else ' was'} found")


def _programs(session: Session) -> list[Path]:
    found: list[Path] = []
    for folder in dict.fromkeys(filter(str.strip, session.environ("PATH").split(os.pathsep))):
        try:
            files = sorted(Path(folder).iterdir())
        except OSError as error:
            call = "fdopendir" if isinstance(error, NotADirectoryError) else "open"
            why = f"{call} {folder}: {(error.strerror or '').lower()}"
            session.err(f"Unable to read directory {quoted(folder)} from your PATH: {why}. Skipping...")
            continue
        found += [file for file in files if file.name.startswith(PREFIX) and not file.is_dir()]
    return found


COMMAND = Command(
    name="plugin",
    usage="[flags]",
    short="Provides utilities for interacting with plugins",
    children=(
        Command(
            name="list",
            usage="[flags]",
            short="List all visible plugin executables on a user's PATH",
            run=listing,
            connects=False,
            flags=(Flag("name-only", Type.BOOL, help="Without their folders."),),
        ),
    ),
)
