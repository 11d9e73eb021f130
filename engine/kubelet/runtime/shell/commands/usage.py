"""`du`: what directories take of the disk, in whole blocks (busybox coreutils/du.c, GNU du.c)."""

from __future__ import annotations

import re

from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.commands.listing import human
from engine.kubelet.runtime.shell.commands.tree import join, look_at, names_in

_DEPTH = re.compile(r"(?:-d|--max-depth=)(\d+)")


def _du(call: Call) -> int:
    """`du [-shack] [-d N] [NAME...]`; those that a directory holds stand before it."""
    names, depth = _read(call)
    total, status = 0, 0
    for name in names or ["."]:
        if look_at(call.machine, call.path(name)) is None:
            why = f"{name}: No such file or directory"
            status = call.fail(why if call.machine.busybox else f"cannot access '{name}': No such file or directory")
            continue
        total += _walk(call, name, depth)
    if call.flag("c"):
        _tell(call, total, "total")
    return status


def _read(call: Call) -> tuple[list[str], int | None]:
    """The names, and how deep below them others are told of; None for no limit."""
    names: list[str] = []
    depth = 0 if call.flag("s") or "--summarize" in call.argv else None
    words = call.argv[1:]
    while words:
        word = words.pop(0)
        if match := _DEPTH.fullmatch(word):
            depth = int(match[1])
        elif word == "-d" and words and words[0].isdecimal():
            depth = int(words.pop(0))
        elif not word.startswith("-"):
            names.append(word)
    return names, depth


def _walk(call: Call, name: str, depth: int | None, level: int = 0) -> int:
    """Kilobytes of what is there, with all that is below it."""
    entry = look_at(call.machine, call.path(name), follow=False)
    if entry is None:
        return 0
    size = entry.kilobytes
    if entry.directory:
        size += sum(_walk(call, join(name, each), depth, level + 1) for each in names_in(call.machine, entry.path))
    if level == 0 or ((entry.directory or call.flag("a")) and (depth is None or level <= depth)):
        _tell(call, size, name)
    return size


def _tell(call: Call, kilobytes: int, name: str) -> None:
    readable = call.flag("h") or "--human-readable" in call.argv
    size = human(kilobytes * 1024, busybox=call.machine.busybox) if readable else str(kilobytes)
    call.io.stdout(f"{size}\t{name}\n")


COMMANDS: dict[str, Command] = {"du": _du}
