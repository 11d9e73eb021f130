"""Lines that etcdctl reads from its input: words as a shell has them, and flags as pflag has them (etcdctl
ctlv3/command util.go Argify)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from engine.api.golang.boolean import parse_bool
from engine.api.golang.integer import parse_int

_WORD = re.compile(r""""(?:[^"\\]|\\.)*"|'[^']*'|[^'"\s]\S*[^'"\s]?""")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|`([^`]*)`')
# The inside of a Go string in double quotes.
_STRING = re.compile(
    r'(?:[^"\\\n]|\\(?:[abfnrtv\\"]|x[0-9a-fA-F]{2}|[0-3][0-7]{2}|u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}))*'
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)")
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def words_of(line: str) -> list[str]:
    return [_plain(word) for word in _WORD.findall(line)]


def _plain(word: str) -> str:
    if word.startswith("'"):
        return word[1:-1]
    return unquoted(word[1:-1]) if word.startswith('"') else word


def unquoted(text: str) -> str:
    """What stands between the quotes of a Go string; bytes that are no text as Python keeps them.

    Raises SyntaxFault for what may not stand there.
    """
    if not _STRING.fullmatch(text):
        raise SyntaxFault("invalid syntax")
    return _ESCAPE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    found = match[1]
    if found[0] in "uU":
        return chr(int(found[1:], 16))
    if found[0] == "x" or len(found) == 3:
        byte = int(found[1:], 16) if found[0] == "x" else int(found, 8) % 256
        return bytes([byte]).decode(errors="surrogateescape")
    return _LETTERS.get(found, found)


class SyntaxFault(ValueError):
    """A string that is none, in the words of Go's strconv."""


class FlagError(ValueError):
    """In pflag's words."""


class Parsed(NamedTuple):
    """`flags` has those that are set: True for a switch, its text for one with a value."""

    words: list[str]
    flags: dict[str, str | bool]

    def text(self, name: str) -> str:
        return str(self.flags.get(name, ""))

    def number(self, name: str) -> int:
        """Raises FlagError."""
        text = self.text(name) or "0"
        try:
            return parse_int(text, base=0)
        except ValueError as error:
            raise FlagError(f'invalid argument "{text}" for "--{name}" flag: {error}') from None

    def is_set(self, name: str) -> bool:
        return self.flags.get(name) is True


def parse(words: Sequence[str], known: Mapping[str, bool]) -> Parsed:
    """Sort flags from words; `known` says of each flag whether it takes a value. Raises FlagError."""
    found = Parsed([], {})
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            found.words.extend(left)
            break
        if not word.startswith("-") or word == "-":
            found.words.append(word)
            continue
        name, assigned, value = word[2:].partition("=")
        if not word.startswith("--"):
            raise FlagError(f"unknown shorthand flag: '{word[1]}' in {word}")
        if name not in known:
            raise FlagError(f"unknown flag: --{name}")
        if known[name] and not assigned:
            if not left:
                raise FlagError(f"flag needs an argument: --{name}")
            value = left.pop(0)
        found.flags[name] = value if known[name] else switch(name, value if assigned else "true")
    return found


def switch(name: str, value: str) -> bool:
    """Raises FlagError."""
    try:
        return parse_bool(value)
    except ValueError as problem:
        raise FlagError(f'invalid argument "{value}" for "--{name}" flag: {problem}') from None
