"""`xargs`: runs a command with what is read for its arguments (busybox findutils/xargs.c, GNU xargs.c)."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from engine.kubelet.runtime.shell.commands.call import Call
from engine.kubelet.runtime.shell.process import Io, Process

Launch = Callable[[Call], int | Process]

_TAKING = "nILdPsE"  # options with a value
_FAILED, _STOPPED = 123, 124
_NEVER_RUN = (126, 127)


@dataclass(slots=True)
class _Options:
    command: list[str] = field(default_factory=lambda: ["echo"])
    values: dict[str, str] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)


def xargs(call: Call, launch: Launch) -> int | Process:
    options = _read(call.argv[1:])
    try:
        runs = list(_runs(options, call.io.stdin or ""))
    except ValueError:
        return call.fail("unmatched quote" if call.machine.busybox else "unmatched single quote; by default quotes "
                         "are special to xargs unless you use the -0 option")  # fmt: skip
    return _run(call, launch, runs, traced="t" in options.flags)


def _read(words: list[str]) -> _Options:
    found = _Options()
    words = list(words)
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        letters = {"--null": "0", "--no-run-if-empty": "r", "--verbose": "t"}.get(word, word[1:])
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter not in _TAKING:
                found.flags.add(letter)
                continue
            found.values[letter] = letters or (words.pop(0) if words else "")
            break
    if words:
        found.command = words
    return found


def _runs(options: _Options, text: str) -> Iterator[list[str]]:
    """The command lines. Raises ValueError for a quote that does not end."""
    if (mark := options.values.get("I")) is not None:
        for line in _items(options, text, by_line=True):
            yield [word.replace(mark, line) for word in options.command]
        return
    items = list(_items(options, text, by_line="L" in options.values))
    if not items and "r" in options.flags:
        return
    count = options.values.get("n") or options.values.get("L") or ""
    step = int(count) if count.isdecimal() and int(count) else max(len(items), 1)
    for start in range(0, max(len(items), 1), step):
        yield [*options.command, *items[start : start + step]]


def _items(options: _Options, text: str, *, by_line: bool) -> list[str]:
    if "0" in options.flags or "d" in options.values:
        separator = "\0" if "0" in options.flags else options.values["d"].replace("\\n", "\n").replace("\\0", "\0")
        return text.removesuffix(separator).split(separator) if text else []
    if by_line:
        return [line.strip() for line in text.splitlines() if line.strip()]
    reader = shlex.shlex(text, posix=True, punctuation_chars=False)
    reader.whitespace_split, reader.commenters = True, ""
    return list(reader)


def _run(call: Call, launch: Launch, runs: list[list[str]], *, traced: bool) -> Process:
    """One after another, as without -P; the commands read nothing."""
    io = Io(call.io.stdout, call.io.stderr, "", watched=call.io.watched)
    status = 0
    for argv in runs:
        if traced:
            call.io.stderr(f"{' '.join(argv)}\n")
        process = launch(replace(call, argv=argv, io=io, first=False))
        code = process if isinstance(process, int) else (yield from process)
        if code in _NEVER_RUN:
            return code
        if code == 255:
            return call.fail(f"{argv[0]}: exited with status 255; aborting", _STOPPED)
        status = _FAILED if code else status
    return status
