"""`sed`: substitutions, prints, deletions and the few other commands of scripts on one line (POSIX sed)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file
from engine.kubelet.runtime.shell.commands.regex import compiled

_LONG = {"--quiet": "n", "--silent": "n", "--regexp-extended": "E", "--in-place": "i"}
_ESCAPES = {"n": "\n", "t": "\t"}


class _Address(NamedTuple):
    number: int = 0  # 0: by pattern; -1: the last line
    pattern: re.Pattern[str] | None = None

    def at(self, line: str, number: int, last: bool) -> bool:
        if self.pattern is not None:
            return self.pattern.search(line) is not None
        return last if self.number == -1 else number == self.number


@dataclass(slots=True)
class _Step:
    """One command with its addresses; `inside` while the lines of its range go by."""

    name: str
    first: _Address | None = None
    last: _Address | None = None
    inverted: bool = False
    pattern: re.Pattern[str] | None = None
    text: str = ""
    flags: str = ""
    inside: bool = False

    def applies(self, line: str, number: int, last: bool) -> bool:
        return self._selected(line, number, last) != self.inverted

    def _selected(self, line: str, number: int, last: bool) -> bool:
        if self.first is None:
            return True
        if self.last is None:
            return self.first.at(line, number, last)
        if self.inside:
            self.inside = not (self.last.at(line, number, last) or 0 < self.last.number <= number)
            return True
        if self.first.at(line, number, last):
            self.inside = self.last.number == -1 or self.last.number > number or self.last.pattern is not None
            return True
        return False


class _Script:
    """Reads a script; raises ValueError for what it cannot."""

    def __init__(self, text: str, *, extended: bool) -> None:
        self._text = text
        self._at = 0
        self._extended = extended

    def steps(self) -> list[_Step]:
        found = []
        while self._skip(" \t\n;"):
            found.append(self._step())
        return found

    def _skip(self, characters: str) -> bool:
        while self._text[self._at : self._at + 1] and self._text[self._at] in characters:
            self._at += 1
        return self._at < len(self._text)

    def _next(self) -> str:
        character = self._text[self._at : self._at + 1]
        self._at += 1
        return character

    def _step(self) -> _Step:
        first = self._address()
        last = None
        if first is not None and self._text[self._at : self._at + 1] == ",":
            self._at += 1
            last = self._address()
            if last is None:
                raise ValueError("no address after comma")
        self._skip(" ")
        inverted = self._text[self._at : self._at + 1] == "!"
        self._at += inverted
        step = _Step(self._next(), first, last, inverted)
        if step.name in ("s", "y"):
            self._exchange(step)
        elif step.name in ("a", "i", "c"):
            self._skip(" \\\n")
            end = self._text.find("\n", self._at)
            step.text = self._text[self._at : end if end >= 0 else len(self._text)]
            self._at += len(step.text)
        elif step.name not in ("p", "d", "q", "=") or not step.name:
            raise ValueError(f"unsupported command {step.name}" if step.name else "missing command")
        return step

    def _exchange(self, step: _Step) -> None:
        delimiter = self._next()
        pattern, step.text = self._until(delimiter), self._until(delimiter)
        while self._text[self._at : self._at + 1] not in ("", ";", "\n", " ", "}"):
            step.flags += self._next()
        if step.name == "y":
            step.flags = pattern
            return
        if not re.fullmatch(r"[gpiI\d]*", step.flags):
            raise ValueError(f"unknown option to `s': {step.flags}")
        step.pattern = compiled(pattern, extended=self._extended, ignore_case="i" in step.flags.lower())

    def _address(self) -> _Address | None:
        character = self._text[self._at : self._at + 1]
        if character.isdigit():
            digits = re.match(r"\d+", self._text[self._at :])
            assert digits is not None
            self._at += len(digits[0])
            return _Address(int(digits[0]))
        if character == "$":
            self._at += 1
            return _Address(-1)
        if character == "/":
            self._at += 1
            return _Address(0, compiled(self._until("/"), extended=self._extended))
        return None

    def _until(self, delimiter: str) -> str:
        text = ""
        while (character := self._next()) != delimiter:
            if not character:
                raise ValueError("unterminated `s' command")
            if character == "\\" and self._text[self._at : self._at + 1] == delimiter:
                character = self._next()
            elif character == "\\":
                character += self._next()
            text += character
        return text


def _replacement(text: str, match: re.Match[str]) -> str:
    def one(part: re.Match[str]) -> str:
        word = part[0]
        if word == "&":
            return match[0]
        if word[1].isdigit():
            return (match[int(word[1])] or "") if int(word[1]) <= len(match.groups()) else ""
        return _ESCAPES.get(word[1], word[1])

    return re.sub(r"&|\\.", one, text, flags=re.DOTALL)


def _substituted(step: _Step, line: str) -> tuple[str, bool]:
    wanted = int("".join(filter(str.isdigit, step.flags)) or 1)
    count = 0
    changed = False

    def one(match: re.Match[str]) -> str:
        nonlocal count, changed
        count += 1
        if count < wanted or (count > wanted and "g" not in step.flags):
            return match[0]
        changed = True
        return _replacement(step.text, match)

    assert step.pattern is not None
    return step.pattern.sub(one, line), changed


def _edited(steps: list[_Step], text: str, *, quiet: bool) -> str:
    out: list[str] = []
    lines = text.splitlines()
    for number, original in enumerate(lines, start=1):
        line, after, going = original, [], True
        for step in steps:
            if not step.applies(line, number, number == len(lines)):
                continue
            if step.name == "s":
                line, changed = _substituted(step, line)
                if changed and "p" in step.flags:
                    out.append(line)
            elif step.name == "y":
                line = line.translate(str.maketrans(step.flags, step.text))
            elif step.name == "a":
                after.append(step.text)
            elif step.name in "p=i":
                out.append({"p": line, "=": str(number), "i": step.text}[step.name])
            elif step.name == "q":
                going = False
                break
            else:
                after = [step.text] if step.name == "c" else []
                break
        else:
            step = _Step("")
        if not quiet and (not steps or step.name not in ("d", "c")):
            out.append(line)
        out += after
        if not going:
            break
    return "".join(f"{line}\n" for line in out)


def _sed(call: Call) -> int:
    quiet = extended = in_place = False
    scripts: list[str] = []
    names: list[str] = []
    words = list(call.argv[1:])
    while words:
        word = words.pop(0)
        if word in ("-e", "--expression") and words:
            scripts.append(words.pop(0))
        elif re.fullmatch(r"-[nErsi]+|-i\..*|--quiet|--silent|--regexp-extended|--in-place", word):
            letters = set(_LONG.get(word, word[1:].partition(".")[0]))
            quiet, extended = quiet or "n" in letters, extended or bool(letters & {"E", "r"})
            in_place = in_place or "i" in letters
        else:
            names.append(word)
    if not scripts and names:
        scripts.append(names.pop(0))
    try:
        steps = _Script("\n".join(scripts), extended=extended).steps()
    except ValueError as error:
        return call.fail(str(error))
    return _run(call, steps, names, quiet=quiet, in_place=in_place)


def _run(call: Call, steps: list[_Step], names: list[str], *, quiet: bool, in_place: bool) -> int:
    status, texts = 0, []
    for name in names:
        text = read_file(call.machine, call.path(name))
        if text is None:
            missing = name if call.machine.busybox else f"can't read {name}"
            status = call.fail(f"{missing}: No such file or directory", 1 if call.machine.busybox else 2)
        elif in_place:
            try:
                call.machine.files[call.path(name)] = _edited(steps, text, quiet=quiet)
            except OSError as error:
                folder = call.path(name).rpartition("/")[0]
                busybox = f"can't create temp file '{call.path(name)}XXXXXX'"
                status = call.cannot(error, busybox=busybox, gnu=f"couldn't open temporary file {folder}/sedXXXXXX")
        else:
            texts.append(text)
    if not in_place:
        call.io.stdout(_edited(steps, "".join(texts) if names else call.io.stdin or "", quiet=quiet))
    return status


COMMANDS: dict[str, Command] = {"sed": _sed}
