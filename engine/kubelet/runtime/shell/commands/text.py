"""Commands on lines of text."""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.kubelet.runtime.shell import programs
from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file
from engine.kubelet.runtime.shell.process import Process


def _tail(call: Call) -> int | Process:
    if call.flag("f") or call.flag("F"):
        return programs.block(first=call.first)
    if call.operands[-1:] == ["/dev/zero"]:  # a line that never ends, and all of it is kept
        return programs.devour(call.machine, first=call.first)
    return _part(call, lambda lines, count: lines[-count:] if count else [])


def _head(call: Call) -> int:
    return _part(call, lambda lines, count: lines[:count])


def _part(call: Call, take: Callable[[list[str], int], list[str]]) -> int:
    count, names, arguments = 10, [], list(call.argv[1:])
    while arguments:
        argument = arguments.pop(0)
        if argument == "-n" and arguments:
            count = abs(int(arguments.pop(0)))
        elif match := re.fullmatch(r"-n?(\d+)", argument):
            count = int(match[1])
        elif not argument.startswith("-"):
            names.append(argument)
    text = read_file(call.machine, call.path(names[0])) if names else (call.io.stdin or "")
    if text is None:
        return call.fail(f"{names[0]}: No such file or directory")
    call.io.stdout("".join(take(text.splitlines(keepends=True), count)))
    return 0


def _wc(call: Call) -> int:
    text = read_file(call.machine, call.path(call.operands[0])) if call.operands else call.io.stdin or ""
    if text is None:
        return call.fail(f"{call.operands[0]}: No such file or directory")
    counts = [text.count("\n"), len(text.split()), len(text.encode("utf-8", "surrogateescape"))]
    letters = [letter for letter in "lwc" if call.flag(letter)] or list("lwc")
    call.io.stdout(" ".join(str(counts["lwc".index(letter)]) for letter in letters) + "\n")
    return 0


def _sort(call: Call) -> int:
    lines = (call.io.stdin or "").splitlines()
    unique = list(dict.fromkeys(lines)) if call.flag("u") else lines
    call.io.stdout("".join(f"{line}\n" for line in sorted(unique, reverse=call.flag("r"))))
    return 0


COMMANDS: dict[str, Command] = {
    "head": _head,
    "tail": _tail,
    "wc": _wc,
    "sort": _sort,
}
