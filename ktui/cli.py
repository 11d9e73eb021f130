"""The command line: kubectl's verbs, which parse their own flags the way kubectl does, and ktui's own commands.

Streams and exit codes follow kubectl: results on stdout, everything else on stderr; 0 for success, 1 for a failure
whose message says what to do. A verb loads only what it needs: it starts often, and somebody waits for it.
"""

from __future__ import annotations

import os
import sys

from ktui.commands import UsageError, kubectl


def main() -> None:
    """The console command `ktui`."""
    try:
        sys.exit(_do(sys.argv[1:]))
    except UsageError as error:
        print(f"{error.prefix}: {error}", file=sys.stderr)
        sys.exit(error.code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be written has no reader
        sys.exit(141)  # as the shell tells of who is ended by SIGPIPE


def _do(words: list[str]) -> int:
    """Do what the words say, and see it through to who reads; returns the exit code."""
    name, rest = take_name(words)
    rest = kubectl.verb_first(rest)
    try:
        if rest and rest[0] in kubectl.VERBS:
            return kubectl.run(rest, name=name)
        _own(words if not rest or rest[0].startswith("-") else named(rest, name))
        return 0
    finally:
        sys.stdout.flush()


def _own(words: list[str]) -> None:
    from engine.folder import FolderError
    from ktui.application import run

    try:
        run(words)
    except FolderError as error:
        raise UsageError(str(error)) from error


def named(words: list[str], name: str) -> list[str]:
    """A command of ktui's own with the name that stood in front of it: it has an option of its own for that."""
    if not name:
        return words
    end = words.index("--") if "--" in words else len(words)
    return [*words[:end], f"--name={name}", *words[end:]]


def take_name(words: list[str]) -> tuple[str, list[str]]:
    """The cluster that `--name` names in front of a verb, and the words after it."""
    if words and words[0].startswith("--name="):
        return words[0].partition("=")[2], words[1:]
    if len(words) > 1 and words[0] == "--name":
        return words[1], words[2:]
    return "", words
