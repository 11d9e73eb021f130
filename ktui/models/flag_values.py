"""The values that a flag of kubectl's can take, for completion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine.kubectl.command import Command
from engine.kubectl.flags import Flag
from engine.kubectl.flagsets import GLOBAL
from engine.kubectl.printers.objects import FORMATS
from engine.kubectl.verbs.get import ALLOWED

VALUES: Mapping[str, Sequence[str]] = {
    "output": FORMATS.split(","),
    "dry-run": ("none", "server", "client"),
    "cascade": ("background", "orphan", "foreground"),
    "validate": ("strict", "warn", "ignore"),
}
CONTAINER = "container"


def awaited(command: Command, word: str) -> Flag | None:
    """The flag whose value comes behind a word; None where the word is none, or needs no value."""
    flag = _named(command, word)
    return flag if flag is not None and not flag.bare_value else None


def values_of(flag: Flag, verb: str) -> Iterable[str]:
    """None of those that are a person's own words, as a selector is."""
    if flag.name == "output" and verb == "get":
        return ALLOWED.split(",")
    return VALUES.get(flag.name, ())


def joined(command: Command, typed: str, verb: str) -> list[str] | None:
    """What `--output=` can go on with; None where no value is being typed."""
    name, equals, _ = typed.partition("=")
    flag = _named(command, name) if equals else None
    return [f"{name}={value}" for value in values_of(flag, verb)] if flag is not None else None


def _named(command: Command, word: str) -> Flag | None:
    for flag in (*command.flags, *GLOBAL):
        if word == f"--{flag.name}" or (flag.short and word == f"-{flag.short}"):
            return flag
    return None
