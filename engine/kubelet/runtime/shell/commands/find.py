"""`find`: what is below a path, by name, path, kind, depth and size (POSIX find; the tests of busybox)."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator

from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.commands.tree import Entry, join, look_at, names_in

Test = Callable[[str, Entry], bool]


class _Expression:
    """`TEST TEST`, `TEST -o TEST`, `! TEST` and parentheses; depth limits and actions apart."""

    def __init__(self, call: Call, words: list[str]) -> None:
        self._call = call
        self._words = words
        self.least, self.most = 0, 10**6
        self.acts = False
        self.test = self._either()
        if self._words:
            raise ValueError(f"unrecognized: {self._words[0]}")

    def _either(self) -> Test:
        sides = [self._all()]
        while self._words[:1] in (["-o"], ["-or"]):
            self._words.pop(0)
            sides.append(self._all())
        return lambda name, entry: any(side(name, entry) for side in sides)

    def _all(self) -> Test:
        parts: list[Test] = []
        while self._words and self._words[0] not in ("-o", "-or", ")"):
            if self._words[0] in ("-a", "-and"):
                self._words.pop(0)
            parts.append(self._one())
        return lambda name, entry: all(part(name, entry) for part in parts)

    def _one(self) -> Test:
        word = self._words.pop(0)
        if word in ("!", "-not"):
            inner = self._one()
            return lambda name, entry: not inner(name, entry)
        if word == "(":
            inner = self._either()
            if not self._words or self._words.pop(0) != ")":
                raise ValueError("unmatched '('")
            return inner
        if word in ("-print", "-print0", "-delete", "-ls"):
            self.acts = True
            return self._action(word)
        if word == "-empty":
            return lambda name, entry: not (names_in(self._call.machine, entry.path) if entry.directory else entry.size)
        return self._valued(word)

    def _valued(self, word: str) -> Test:
        if word not in ("-name", "-iname", "-path", "-type", "-maxdepth", "-mindepth", "-size"):
            raise ValueError(f"unrecognized: {word}")
        if not self._words:
            raise ValueError(
                f"{word} requires an argument" if self._call.machine.busybox else f"missing argument to `{word}'"
            )
        value = self._words.pop(0)
        if word in ("-maxdepth", "-mindepth"):
            if not value.isdigit():
                raise ValueError(f"invalid number '{value}'")
            self.least, self.most = (self.least, int(value)) if word == "-maxdepth" else (int(value), self.most)
            return lambda name, entry: True
        if word == "-size":
            return _size(value)
        if word == "-type":
            return lambda name, entry: ("d" if entry.directory else "l" if entry.target else "f") in value.split(",")
        if word == "-path":
            return lambda name, entry: fnmatch.fnmatchcase(name, value)
        if word == "-iname":
            return lambda name, entry: fnmatch.fnmatchcase(_base(name).lower(), value.lower())
        return lambda name, entry: fnmatch.fnmatchcase(_base(name), value)

    def _action(self, word: str) -> Test:
        machine, out = self._call.machine, self._call.io.stdout

        def act(name: str, entry: Entry) -> bool:
            if word == "-delete":
                if entry.target:
                    del machine.files[entry.path]
                else:
                    machine.files.pop(entry.path, None)
                    machine.directories.discard(entry.path)
            elif word == "-ls":
                shown = f"{name} -> {entry.target}" if entry.target else name
                out(f"{entry.permissions} {entry.links} {entry.owner} {entry.group} {entry.size} {shown}\n")
            else:
                out(f"{name}\0" if word == "-print0" else f"{name}\n")
            return True

        return act


def _base(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2] or "/"


def _size(value: str) -> Test:
    sign, number = (value[0], value[1:]) if value[:1] in ("+", "-") else ("", value)
    unit = {"c": 1, "w": 2, "b": 512, "k": 1024, "M": 1024**2, "G": 1024**3}.get(number[-1:], 0)
    digits = number[:-1] if unit else number
    if not digits.isdigit():
        raise ValueError(f"invalid number '{value}'")
    wanted = int(digits)

    def test(name: str, entry: Entry) -> bool:
        units = -(-entry.size // (unit or 512))
        return units > wanted if sign == "+" else units < wanted if sign == "-" else units == wanted

    return test


def _find(call: Call) -> int:
    words = list(call.argv[1:])
    follow, starts = False, []
    while words and words[0] in ("-H", "-L", "-P"):
        follow = words.pop(0) == "-L"
    while words and not words[0].startswith("-") and words[0] not in ("!", "("):
        starts.append(words.pop(0))
    try:
        expression = _Expression(call, words)
    except ValueError as error:
        return call.fail(str(error))
    status = 0
    for start in starts or ["."]:
        entry = look_at(call.machine, call.path(start), follow=follow)
        if entry is None:
            shown = start if call.machine.busybox else f"‘{start}’"
            status = call.fail(f"{shown}: No such file or directory")
            continue
        found = _below(call, start, entry, most=expression.most, follow=follow)
        for name, each, depth in list(found):
            if depth >= expression.least and expression.test(name, each) and not expression.acts:
                call.io.stdout(f"{name}\n")
    return status


def _below(
    call: Call, name: str, entry: Entry, depth: int = 0, *, most: int, follow: bool
) -> Iterator[tuple[str, Entry, int]]:
    yield name, entry, depth
    if not entry.directory or depth >= most:
        return
    for below in names_in(call.machine, entry.path):
        inside = look_at(call.machine, join(entry.path, below), follow=follow)
        if inside is not None:
            yield from _below(call, join(name, below), inside, depth + 1, most=most, follow=follow)


COMMANDS: dict[str, Command] = {"find": _find}
