"""Flags the way pflag reads them: anywhere among the arguments, long and short, joined or apart.

Source of the behaviour: spf13/pflag (flag.go, its error texts included) and Go's time.ParseDuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from engine.api.golang.duration import parse_duration
from engine.api.golang.text import quoted
from engine.kubectl.errors import FlagError


class Type(StrEnum):
    STRING = "string"
    BOOL = "bool"
    INT = "int"  # of 64 bits
    INT32 = "int32"
    DURATION = "duration"
    STRINGS = "strings"  # a repeatable list, also split at commas
    ARRAY = "stringArray"  # a repeatable list, never split
    PAIRS = "mapStringString"  # a list of KEY=VALUE, split at commas


_INTEGER = re.compile(
    r"[+-]?(0[xX](_?[0-9a-fA-F])+|0[oO]?(_?[0-7])+|0[bB](_?[01])+|0|[1-9](_?[0-9])*)",
)
Value = str | bool | int | float | list[str]
_ZERO: dict[Type, Value] = {Type.STRING: "", Type.BOOL: False, Type.INT: 0, Type.INT32: 0, Type.DURATION: 0.0}


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag. `bare` is the value it takes when given without one (`--dry-run`, a bool's `true`)."""

    name: str
    type: Type = Type.STRING
    default: Value | None = None
    short: str = ""
    bare: str = ""
    help: str = ""
    required: bool = False
    hidden: bool = False  # not in the help of its command
    deprecated: str = ""  # what is said where it is used
    short_deprecated: str = ""  # and where its letter is

    @property
    def bare_value(self) -> str:
        return "true" if self.type is Type.BOOL and not self.bare else self.bare

    def initial(self) -> Value:
        if self.type in (Type.STRINGS, Type.ARRAY, Type.PAIRS):
            return list(self.default) if isinstance(self.default, list) else []
        return _ZERO[self.type] if self.default is None else self.default


class Flags:
    """The values of a command's flags, and which of them were given."""

    def __init__(self, flags: Iterable[Flag]) -> None:
        self._flags = {flag.name: flag for flag in flags}
        self._short = {flag.short: flag for flag in self._flags.values() if flag.short}
        self._values: dict[str, Value] = {name: flag.initial() for name, flag in self._flags.items()}
        self._given: dict[str, None] = {}
        self._deprecations: list[str] = []
        self.typed: list[tuple[str, str]] = []  # names and values as they stood on the command line

    def __contains__(self, name: str) -> bool:
        return name in self._flags

    def given(self, name: str) -> bool:
        return name in self._given

    def text(self, name: str) -> str:
        value = self._values.get(name, "")
        return value if isinstance(value, str) else str(value)

    def on(self, name: str) -> bool:
        return self._values.get(name) is True

    def number(self, name: str) -> int:
        value = self._values[name]
        return int(value) if isinstance(value, int | float) else 0

    def seconds(self, name: str) -> float:
        value = self._values[name]
        return float(value) if isinstance(value, int | float) else 0.0

    def many(self, name: str) -> list[str]:
        value = self._values.get(name, [])
        return value if isinstance(value, list) else []

    def deprecations(self) -> list[str]:
        """What is to be said of flags that were given and should not be (pflag's words), in their order."""
        return list(self._deprecations)

    # -- parsing

    def parse(self, arguments: Sequence[str]) -> tuple[list[str], int]:
        """Read the flags; returns the other arguments and how many stood before `--` (-1 without one)."""
        rest: list[str] = []
        self.typed.clear()
        self._deprecations.clear()
        queue = list(arguments)
        while queue:
            item = queue.pop(0)
            if item == "--":
                return rest + queue, len(rest)
            if item.startswith("--"):
                self._long(item[2:], queue)
            elif item.startswith("-") and item != "-":
                self._shorts(item[1:], queue)
            else:
                rest.append(item)
        return rest, -1

    def preset(self, name: str, text: str) -> None:
        """Give a flag a value as if the command line did. Raises FlagError."""
        self._set(self._flags[name], text)

    def missing(self) -> list[str]:
        """Required flags that were not given."""
        return [name for name, flag in self._flags.items() if flag.required and name not in self._given]

    def _long(self, item: str, queue: list[str]) -> None:
        name, equals, value = item.partition("=")
        if not name or name[0] in "-=":
            raise FlagError(f"bad flag syntax: --{item}")
        flag = self._flags.get(name)
        if flag is None:
            raise FlagError(f"unknown flag: --{name}")
        if equals:
            self._set(flag, value)
        elif flag.bare_value:
            self._set(flag, flag.bare_value)
        elif queue:
            self._set(flag, queue.pop(0))
        else:
            raise FlagError(f"flag needs an argument: --{name}")

    def _shorts(self, letters: str, queue: list[str]) -> None:
        while letters:
            whole = letters
            letter, letters = letters[0], letters[1:]
            flag = self._short.get(letter)
            if flag is None:
                raise FlagError(f"unknown shorthand flag: '{letter}' in -{whole}")
            if flag.short_deprecated:
                self._deprecations.append(f"Flag shorthand -{letter} has been deprecated, {flag.short_deprecated}")
            if letters.startswith("=") and letters != "=":  # `-o=` alone has the value `=`
                self._set(flag, letters[1:])
                return
            if flag.bare_value:
                self._set(flag, flag.bare_value)
                continue
            if letters:
                self._set(flag, letters)
            elif queue:
                self._set(flag, queue.pop(0))
            else:
                raise FlagError(f"flag needs an argument: '{letter}' in -{whole}")
            return

    def _set(self, flag: Flag, text: str) -> None:
        try:
            value = _convert(flag, text)
        except ValueError as error:
            shown = f"-{flag.short}, --{flag.name}" if flag.short else f"--{flag.name}"
            raise FlagError(f'invalid argument {quoted(text)} for "{shown}" flag: {error}') from error
        known = self._values[flag.name]
        if isinstance(value, list) and isinstance(known, list) and flag.name in self._given:
            value = known + value  # the first one given replaces the default
        self._values[flag.name] = value
        self._given[flag.name] = None
        self.typed.append((flag.name, text))
        if flag.deprecated:
            self._deprecations.append(f"Flag --{flag.name} has been deprecated, {flag.deprecated}")


def _convert(flag: Flag, text: str) -> Value:
    match flag.type:
        case Type.BOOL:
            return _bool(text)
        case Type.INT | Type.INT32:
            return _int(text, bits=32 if flag.type is Type.INT32 else 64)
        case Type.DURATION:
            return parse_duration(text)
        case Type.STRINGS:
            return _cells(text)
        case Type.ARRAY:
            return [text]
        case Type.PAIRS:
            return [_pair(pair) for pair in text.split(",") if pair]
    return text


def _pair(text: str) -> str:
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError("malformed pair, expect string=string")
    return f"{key.strip()}={value.strip()}"


def _cells(text: str) -> list[str]:
    """A line of comma-separated values, which may be quoted, as Go's encoding/csv reads it."""
    cells: list[str] = []
    position = 0
    while text:
        if text[position : position + 1] != '"':
            end = text.find(",", position)
            cell = text[position:] if end < 0 else text[position:end]
            if '"' in cell:
                column = position + cell.index('"') + 1
                raise ValueError(f'parse error on line 1, column {column}: bare " in non-quoted-field')
            position += len(cell)
        else:
            cell, position = _quoted_cell(text, position + 1)
        cells.append(cell)
        if position >= len(text):
            break
        position += 1
    return cells


def _quoted_cell(text: str, start: int) -> tuple[str, int]:
    """What stands from `start` to the closing quote (a doubled one is a quote itself), and where it ends."""
    cell, position = "", start
    while (quote := text.find('"', position)) >= 0:
        cell += text[position:quote]
        if text[quote + 1 : quote + 2] != '"':
            if text[quote + 1 : quote + 2] not in ("", ","):
                raise ValueError(f'parse error on line 1, column {quote + 1}: extraneous or missing " in quoted-field')
            return cell, quote + 1
        cell, position = cell + '"', quote + 2
    raise ValueError(f'parse error on line 1, column {len(text) + 1}: extraneous or missing " in quoted-field')


def _bool(text: str) -> bool:
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise ValueError(f"strconv.ParseBool: parsing {quoted(text)}: invalid syntax")


def _int(text: str, *, bits: int) -> int:
    """Of Go's syntax for integers, base prefixes and underscores between digits included."""
    problem = f"strconv.ParseInt: parsing {quoted(text)}: "
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{problem}invalid syntax")
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.lstrip("+"))
    if re.fullmatch(r"0[0-7_]+", digits):
        digits = f"0o{digits[1:].removeprefix('_')}"
    value = sign * int(digits, 0)
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(f"{problem}value out of range")
    return value
