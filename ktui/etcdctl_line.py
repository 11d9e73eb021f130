"""Lines that etcdctl reads from its input: words as a shell has them, and flags as pflag has them (etcdctl
ctlv3/command util.go Argify)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_WORD = re.compile(r""""(?:[^"\\]|\\.)*"|'[^']*'|[^'"\s]\S*[^'"\s]?""")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|`([^`]*)`')
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)")
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def words_of(line: str) -> list[str]:
    return [_plain(word) for word in _WORD.findall(line)]


def _plain(word: str) -> str:
    if word.startswith("'"):
        return word[1:-1]
    return unquoted(word[1:-1]) if word.startswith('"') else word


def unquoted(text: str) -> str:
    """What stands between the quotes of a Go string; bytes that are no text as Python keeps them."""
    return _ESCAPE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    found = match[1]
    if found[0] in "uU":
        return chr(int(found[1:], 16))
    if found[0] == "x" or len(found) == 3:
        byte = int(found[1:], 16) if found[0] == "x" else int(found, 8) % 256
        return bytes([byte]).decode(errors="surrogateescape")
    return _LETTERS.get(found, found)


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
        if not re.fullmatch(r"[+-]?[0-9]+", text):
            message = (
                f'invalid argument "{text}" for "--{name}" flag: strconv.ParseInt: parsing "{text}": invalid syntax'
            )
            raise FlagError(message)
        return int(text)

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
        if not word.startswith("--"):
            found.words.append(word)
            continue
        name, assigned, value = word[2:].partition("=")
        if name not in known:
            raise FlagError(f"unknown flag: --{name}")
        if known[name] and not assigned:
            if not left:
                raise FlagError(f"flag needs an argument: --{name}")
            value = left.pop(0)
        found.flags[name] = value if known[name] else value != "false"
    return found
