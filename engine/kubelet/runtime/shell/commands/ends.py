"""head and tail: the beginnings and ends of files, and what is written to them afterwards.

After busybox coreutils/tail.c and head.c, and GNU's of the same names. Files that are followed are looked at once in a
second, as busybox does; where one of them can change at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.kubelet.runtime.shell import programs
from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file
from engine.kubelet.runtime.shell.commands.clock import seconds_of
from engine.kubelet.runtime.shell.process import Process
from engine.kubelet.runtime.shell.processes import SIGNALS

_ENDLESS, _EMPTY = "/dev/zero", "/dev/null"
# Options that take the next word, where nothing is written behind them.
_TAKING = ("n", "c", "s")
_LONG = {"--lines": "n", "--bytes": "c", "--sleep-interval": "s", "--follow": "f", "--retry": "r", "--quiet": "q",
         "--silent": "q", "--verbose": "v"}  # fmt: skip


@dataclass(slots=True)
class _Options:
    names: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    unit: str = "n"
    amount: str = "10"
    interval: float = 1.0

    @property
    def count(self) -> int:
        return int(self.amount.lstrip("+-") or 0)

    @property
    def follows(self) -> bool:
        return bool(self.flags & {"f", "F"})

    @property
    def retries(self) -> bool:
        """Whether a file is followed by its name, also before it is there."""
        return "F" in self.flags or {"f", "r"} <= self.flags

    def headed(self) -> bool:
        """Whether each file has its name above it."""
        return "q" not in self.flags and (len(self.names) > 1 or "v" in self.flags)


def _options(call: Call) -> _Options:
    found, arguments = _Options(), list(call.argv[1:])
    while arguments:
        argument = arguments.pop(0)
        if argument == "--":
            found.names += arguments
            break
        if not argument.startswith("-") or argument == "-":
            found.names.append(argument)
        elif argument.startswith("--"):
            name, _, value = argument.partition("=")
            _set(found, _LONG.get(name, ""), value, arguments)
        elif re.fullmatch(r"-\d+", argument):
            found.amount = argument[1:]
        else:
            letters = argument[1:]
            while letters:
                letter, letters = letters[0], letters[1:]
                _set(found, letter, letters, arguments)
                if letter in _TAKING:
                    break
    return found


def _set(found: _Options, letter: str, value: str, rest: list[str]) -> None:
    if letter not in _TAKING:
        found.flags.add("F" if letter == "f" and value == "name" else letter)
        return
    value = value or (rest.pop(0) if rest else "")
    if letter == "s":
        found.interval = seconds_of(value) or 1.0
    elif re.fullmatch(r"[+-]?\d+", value):
        found.unit, found.amount = letter, value


def _head(call: Call) -> int:
    options = _options(call)

    def take(text: str) -> str:
        wanted = slice(None, -options.count or None) if options.amount.startswith("-") else slice(options.count)
        return _sliced(text, wanted, options.unit)

    return _print(call, options, take)


def _tail(call: Call) -> int | Process:
    options = _options(call)
    if options.names[-1:] == [_ENDLESS]:  # a line that never ends, and all of it is kept
        return programs.devour(call.machine, first=call.first)
    if not options.names and options.follows and call.io.stdin is None:
        return programs.block(first=call.first)

    def take(text: str) -> str:
        count = options.count
        if options.amount.startswith("+"):
            return _sliced(text, slice(max(count - 1, 0), None), options.unit)
        return _sliced(text, slice(-count, None), options.unit) if count else ""

    status = _print(call, options, take)
    return _followed(call, options) if options.follows and options.names else status


def _sliced(text: str, wanted: slice, unit: str) -> str:
    if unit == "n":
        return "".join(text.splitlines(keepends=True)[wanted])
    return text.encode("utf-8", "surrogateescape")[wanted].decode("utf-8", "surrogateescape")


def _text(call: Call, name: str) -> str | None:
    return call.io.stdin or "" if name == "-" else read_file(call.machine, call.path(name))


def _print(call: Call, options: _Options, take: Callable[[str], str]) -> int:
    status, above = 0, ""
    for name in options.names or ["-"]:
        text = _text(call, name)
        if text is None:
            status = _missing(call, name)
            continue
        if options.headed():
            call.io.stdout(f"{above}{_header(name)}")
            above = "\n"
        call.io.stdout(take(text))
    return status


def _header(name: str) -> str:
    return f"==> {'standard input' if name == '-' else name} <==\n"


def _missing(call: Call, name: str) -> int:
    busybox, gnu = f"can't open '{name}'", f"cannot open '{name}' for reading"
    return call.fail(f"{busybox if call.machine.busybox else gnu}: No such file or directory")


# -- following


@dataclass(slots=True)
class _Followed:
    name: str
    seen: int | None  # how much of it has been told; None while it is not there


def _followed(call: Call, options: _Options) -> int | Process:
    files = []
    for name in options.names:
        text = _text(call, name)
        if text is not None or options.retries:
            files.append(_Followed(name, None if text is None else len(text)))
    if not files:
        return call.fail("no files" if call.machine.busybox else "no files remaining")
    if all(call.path(file.name) == _EMPTY for file in files):
        return programs.block(first=call.first)
    return _follow(call, options, files)


def _follow(call: Call, options: _Options, files: list[_Followed]) -> Process:
    last = files[-1]
    while True:
        signal = yield options.interval
        if signal is not None and not call.first:
            return 128 + SIGNALS.get(signal, 15)
        for file in files:
            news = _news(call, options, file)
            if news and options.headed() and file is not last:
                call.io.stdout(f"\n{_header(file.name)}")
                last = file
            if news:
                call.io.stdout(news)


def _news(call: Call, options: _Options, file: _Followed) -> str:
    """What has come since the last look."""
    busybox = call.machine.busybox
    text, shown = _text(call, file.name), file.name if busybox else f"'{file.name}'"
    if text is None:
        if file.seen is not None and options.retries:  # by a descriptor a file is had also when its name has gone
            call.fail(f"{shown} has become inaccessible{'' if busybox else ': No such file or directory'}")
            file.seen = None
        return ""
    if file.seen is None:
        call.fail(f"{shown} has appeared; {'following end of new file' if busybox else ' following new file'}")
        file.seen = 0
    if len(text) < file.seen:
        if not busybox:
            call.fail(f"{file.name}: file truncated")
        file.seen = 0
    news, file.seen = text[file.seen :], len(text)
    return news


COMMANDS: dict[str, Command] = {"head": _head, "tail": _tail}
