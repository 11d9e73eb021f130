"""Commands on parts of lines and of names (POSIX utilities cut, tr, uniq, basename, dirname; coreutils base64)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from itertools import groupby

from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file

_ERRORS = "surrogateescape"
_CLASSES = {
    "[:lower:]": "abcdefghijklmnopqrstuvwxyz",
    "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[:digit:]": "0123456789",
    "[:space:]": " \t\n\r\v\f",
}
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\\\": "\\"}


def options_of(call: Call, with_value: str, *, clustered: bool = False) -> tuple[dict[str, str], list[str]]:
    """Options by letter, those of `with_value` with theirs, and the operands. `clustered`: such a one may also end a
    run of letters."""
    options: dict[str, str] = {}
    operands: list[str] = []
    arguments = list(call.argv[1:])
    while arguments:
        argument = arguments.pop(0)
        if not re.fullmatch(r"-[A-Za-z].*", argument):
            operands.append(argument)
        elif argument[1] in with_value:
            options[argument[1]] = argument[2:] or (arguments.pop(0) if arguments else "")
        elif clustered and argument[-1] in with_value:
            options.update(dict.fromkeys(argument[1:-1], ""))
            options[argument[-1]] = arguments.pop(0) if arguments else ""
        else:
            options.update(dict.fromkeys(argument[1:], ""))
    return options, operands


def _text(call: Call, operands: list[str]) -> str | None:
    return read_file(call.machine, call.path(operands[0])) if operands else call.io.stdin or ""


def _ranges(text: str, count: int) -> Iterator[int]:
    """The positions that `1,3-5,7-` stands for, from 0, in order."""
    wanted: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        start = int(first or 1)
        end = int(last) if last else (count if dash else start)
        wanted.update(range(start - 1, min(end, count)))
    return iter(sorted(wanted))


def _cut(call: Call) -> int:
    options, operands = options_of(call, "dfcb")
    listed = options.get("f") or options.get("c") or options.get("b")
    if not listed or not re.fullmatch(r"[\d,-]+", listed):
        return call.fail("you must specify a list of bytes, characters, or fields")
    text = _text(call, operands)
    if text is None:
        return call.fail(f"{operands[0]}: No such file or directory")
    for line in text.splitlines():
        if "f" not in options:
            shown = "".join(line[at] for at in _ranges(listed, len(line)))
        else:
            delimiter = options.get("d") or "\t"
            fields = line.split(delimiter)
            if len(fields) == 1 and "s" in options:
                continue
            shown = line if len(fields) == 1 else delimiter.join(fields[at] for at in _ranges(listed, len(fields)))
        call.io.stdout(f"{shown}\n")
    return 0


def _characters(text: str) -> str:
    """A set of characters as `tr` takes it: ranges, classes and escapes spelled out."""
    text = re.sub(r"\\([0-7]{1,3})", lambda match: chr(int(match[1], 8) & 0xFF), text)
    for name, members in {**_CLASSES, **_ESCAPES}.items():
        text = text.replace(name, members)
    return re.sub(r"(.)-(.)", lambda match: "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1))), text)


def _tr(call: Call) -> int:
    options, operands = options_of(call, "")
    if not operands:
        return call.fail("missing operand")
    text, first = call.io.stdin or "", _characters(operands[0])
    if "d" in options:
        call.io.stdout("".join(each for each in text if each not in first))
        return 0
    if "s" in options and len(operands) == 1:
        call.io.stdout("".join(key if key in first else "".join(run) for key, run in groupby(text)))
        return 0
    if len(operands) < 2:
        return call.fail(f"missing operand after '{operands[0]}'")
    second = _characters(operands[1])
    table = {old: second[min(number, len(second) - 1)] if second else old for number, old in enumerate(first)}
    changed = "".join(table.get(each, each) for each in text)
    if "s" in options:
        changed = "".join(key if key in second else "".join(run) for key, run in groupby(changed))
    call.io.stdout(changed)
    return 0


def _uniq(call: Call) -> int:
    options, operands = options_of(call, "")
    text = _text(call, operands)
    if text is None:
        return call.fail(f"{operands[0]}: No such file or directory")
    for line, same in groupby(text.splitlines()):
        count = len(list(same))
        if ("d" in options and count == 1) or ("u" in options and count > 1):
            continue
        call.io.stdout(f"{count:7d} {line}\n" if "c" in options else f"{line}\n")
    return 0


def _base64(call: Call) -> int:
    options, operands = options_of(call, "w")
    text = _text(call, operands)
    if text is None:
        return call.fail(f"{operands[0]}: No such file or directory")
    if "d" in options:
        try:
            call.io.stdout(base64.b64decode("".join(text.split()), validate=True).decode("utf-8", _ERRORS))
        except binascii.Error:
            return call.fail("invalid input")
        return 0
    encoded = base64.b64encode(text.encode("utf-8", _ERRORS)).decode()
    width = int(options.get("w") or 76) if options.get("w", "76").isdigit() else 76
    lines = [encoded[at : at + width] for at in range(0, len(encoded), width)] if width else [encoded]
    call.io.stdout("\n".join(lines) + ("\n" if width else ""))
    return 0


def _basename(call: Call) -> int:
    if not call.argv[1:]:
        return call.fail("missing operand")
    name = call.argv[1].rstrip("/").rpartition("/")[2] or "/"
    suffix = call.argv[2] if len(call.argv) > 2 else ""
    call.io.stdout(f"{name.removesuffix(suffix) if suffix != name else name}\n")
    return 0


def _dirname(call: Call) -> int:
    if not call.argv[1:]:
        return call.fail("missing operand")
    folder, slash, _ = call.argv[1].rstrip("/").rpartition("/")
    call.io.stdout(f"{folder or (slash or '.')}\n")
    return 0


COMMANDS: dict[str, Command] = {
    "cut": _cut,
    "tr": _tr,
    "uniq": _uniq,
    "base64": _base64,
    "basename": _basename,
    "dirname": _dirname,
}
