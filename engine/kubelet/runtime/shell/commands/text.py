"""Commands on lines of text."""

from __future__ import annotations

import re

from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file


def _wc(call: Call) -> int:
    """Lines, words and bytes of files, with their sum where there are several, or of the input."""
    letters = [letter for letter in "lwc" if call.flag(letter)] or list("lwc")
    rows: list[tuple[list[int], str]] = []
    status = 0
    for name in call.operands or [""]:
        text = read_file(call.machine, call.path(name)) if name and name != "-" else call.io.stdin or ""
        if text is None:
            missing = f"can't open '{name}'" if call.machine.busybox else name
            status = call.fail(f"{missing}: No such file or directory")
            continue
        found = (text.count("\n"), len(text.split()), len(text.encode("utf-8", "surrogateescape")))
        rows.append(([found["lwc".index(letter)] for letter in letters], name))
    several = len(call.operands) > 1
    width = _width(call, [counts for counts, _ in rows], alone=not several and len(letters) == 1)
    if several:
        rows.append(([sum(column) for column in zip(*(counts for counts, _ in rows), strict=True)], "total"))
    for counts, name in rows:
        numbers = " ".join(f"{count:>{width}}" for count in counts)
        call.io.stdout(f"{numbers} {name}\n" if name else f"{numbers}\n")
    return status


def _width(call: Call, rows: list[list[int]], *, alone: bool) -> int:
    """A number that stands alone is not aligned; GNU makes columns as wide as the sum of all sizes, of a pipe seven."""
    if alone:
        return 1
    if call.machine.busybox:
        return 9
    return len(str(sum(max(counts) for counts in rows))) if call.operands else 7


def _sort(call: Call) -> int:
    """Of files or of the input: -n by number, -r backwards, -u each once."""
    texts = [read_file(call.machine, call.path(name)) for name in call.operands] or [call.io.stdin or ""]
    lines: list[str] = []
    for name, text in zip(call.operands or ["-"], texts, strict=True):
        if text is None:
            missing = name if call.machine.busybox else f"cannot read: {name}"
            return call.fail(f"{missing}: No such file or directory", 1 if call.machine.busybox else 2)
        lines += text.splitlines()
    unique = list(dict.fromkeys(lines)) if call.flag("u") else lines
    ordered = sorted(unique, key=_number if call.flag("n") else str)
    call.io.stdout("".join(f"{line}\n" for line in (ordered[::-1] if call.flag("r") else ordered)))
    return 0


def _number(line: str) -> tuple[float, str]:
    """What a line begins with, and the line itself."""
    match = re.match(r"\s*(-?\d+(?:\.\d+)?)", line)
    return (float(match[1]) if match else 0.0, line)


def _rev(call: Call) -> int:
    texts = [read_file(call.machine, call.path(name)) for name in call.operands] or [call.io.stdin or ""]
    for name, text in zip(call.operands or ["-"], texts, strict=True):
        if text is None:
            return call.fail(f"can't open '{name}': No such file or directory" if call.machine.busybox
                             else f"cannot open {name}: No such file or directory")  # fmt: skip
        call.io.stdout("".join(f"{line[::-1]}\n" for line in text.splitlines()))
    return 0


COMMANDS: dict[str, Command] = {
    "wc": _wc,
    "rev": _rev,
    "sort": _sort,
}
