"""Go's regular expressions (RE2, regexp/syntax) in the syntax of Python's `re`, for whoever needs the words found.

Only for patterns that RE2 takes. Go's classes are of ASCII, `$` is the very end, flags may change within a group, and
names, quoted parts and classes of POSIX and Unicode are written otherwise. Letters under `(?i)` are folded one by one.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

Ranges = tuple[tuple[int, int], ...]

_LAST = sys.maxunicode
_PERL: dict[str, Ranges] = {
    "d": ((0x30, 0x39),),
    "s": ((9, 10), (12, 13), (32, 32)),
    "w": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
}
_POSIX: dict[str, Ranges] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0, 0x7F),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "digit": _PERL["d"],
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((9, 13), (32, 32)),
    "upper": ((0x41, 0x5A),),
    "word": _PERL["w"],
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
_CONTROL = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_HEX, _OCTAL = re.compile(r"\\x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))"), re.compile(r"\\(0[0-7]{0,2}|[1-7][0-7]{1,2})")
_NAMED = re.compile(r"\\([pP])(?:\{(\^?)(\w+)\}|(\w))")
_POSIX_CLASS = re.compile(r"\[:(\^?)(\w+):\]")
_REPEAT = re.compile(r"([*+?]|\{[0-9]+(?:,[0-9]*)?\})(\??)")
_GROUP = re.compile(r"\(\?(?:P?<\w+>|([imsU]*)(?:-([imsU]+))?([:)]))")


def translated(pattern: str) -> str:
    """Raises ValueError for classes of scripts, which Python does not know."""
    return _Translation(pattern).run()


class _Translation:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._flags: frozenset[str] = frozenset()
        self._outer: list[frozenset[str]] = []

    def run(self) -> str:
        made = []
        while self._at < len(self._pattern):
            made.append(self._next())
        return "".join(made)

    def _next(self) -> str:
        pattern, at = self._pattern, self._at
        if match := _REPEAT.match(pattern, at):
            self._at = match.end()
            return match[1] + ("?" if bool(match[2]) != ("U" in self._flags) else "")
        if match := _GROUP.match(pattern, at):
            self._at = match.end()
            return self._group(match)
        if pattern.startswith("\\Q", at):
            quoted, _, _ = pattern[at + 2 :].partition("\\E")
            self._at = at + 2 + len(quoted) + 2
            return "".join(self._folded(re.escape(each)) for each in quoted)
        self._at += 1
        match pattern[at]:
            case "(":
                self._outer.append(self._flags)
                return "("
            case ")":
                self._flags = self._outer.pop()
                return ")"
            case "|":
                return "|"
            case ".":
                return "(?s:.)" if "s" in self._flags else r"[^\n]"
            case "^":
                return "(?m:^)" if "m" in self._flags else r"(?:\A)"
            case "$":
                return "(?m:$)" if "m" in self._flags else r"(?:\Z)"
            case "[":
                return self._folded(self._class())
            case "\\":
                self._at = at
                return self._escape()
        return self._folded(re.escape(pattern[at]))

    def _group(self, match: re.Match[str]) -> str:
        if match[3] is None:
            self._outer.append(self._flags)
            return "("
        if match[3] == ":":
            self._outer.append(self._flags)
        self._flags = (self._flags | set(match[1])) - set(match[2] or "")
        return "(?:" if match[3] == ":" else ""

    def _folded(self, atom: str) -> str:
        return f"(?i:{atom})" if "i" in self._flags else atom

    def _escape(self) -> str:
        match self._pattern[self._at + 1]:
            case "A":
                self._at += 2
                return r"(?:\A)"
            case "b":
                self._at += 2
                return r"(?a:\b)"
            case "B":  # which Python does not find in an empty text
                self._at += 2
                return r"(?!(?a:\b))"
            case "z":
                self._at += 2
                return r"(?:\Z)"
            case "C":
                self._at += 2
                return "(?s:.)"
        if (named := self._named()) is not None:
            return self._folded(_bracketed(*named))
        code = self._code()
        return self._folded(_shown([(code, code)]))

    def _named(self) -> tuple[Ranges, bool] | None:
        """Of a class by its letter, of Perl or of Unicode; and whether all others are meant, also when folded."""
        pattern, at = self._pattern, self._at
        if match := _NAMED.match(pattern, at):
            self._at = match.end()
            return _category(match[3] or match[4]), (match[1] == "P") != bool(match[2])
        letter = pattern[at + 1 : at + 2] if pattern[at] == "\\" else ""
        if not letter or letter.lower() not in _PERL:
            return None
        self._at += 2
        return _PERL[letter.lower()], letter.isupper()

    def _code(self) -> int:
        """One letter, as it is or escaped."""
        pattern, at = self._pattern, self._at
        if match := _HEX.match(pattern, at):
            self._at = match.end()
            return int(match[1] or match[2], 16)
        if match := _OCTAL.match(pattern, at):
            self._at = match.end()
            return int(match[1], 8)
        if pattern[at] == "\\":
            self._at += 2
            return _CONTROL.get(pattern[at + 1], ord(pattern[at + 1]))
        self._at += 1
        return ord(pattern[at])

    def _class(self) -> str:
        """What stands between brackets; a `]` is the first letter, or the end."""
        pattern, ranges, others = self._pattern, list[tuple[int, int]](), list[str]()
        negated = pattern.startswith("^", self._at)
        self._at += negated
        first = True
        while first or pattern[self._at] != "]":
            first = False
            if (named := self._posix() or self._named()) is None:
                ranges.append(self._range())
            elif named[1]:
                others.append(_bracketed(*named))
            else:
                ranges += named[0]
        self._at += 1
        if not others:
            return _bracketed(ranges, negated)
        union = "|".join([*others, *([_bracketed(ranges, False)] if ranges else [])])
        return f"(?:(?!{union})(?s:.))" if negated else f"(?:{union})"

    def _posix(self) -> tuple[Ranges, bool] | None:
        match = _POSIX_CLASS.match(self._pattern, self._at)
        if match is None or match[2] not in _POSIX:
            return None
        self._at = match.end()
        return _POSIX[match[2]], bool(match[1])

    def _range(self) -> tuple[int, int]:
        low = high = self._code()
        if self._pattern[self._at] == "-" and self._pattern[self._at + 1] != "]":
            self._at += 1
            high = self._code()
        return low, high


def _bracketed(ranges: Iterable[tuple[int, int]], negated: bool) -> str:
    return f"[{'^' if negated else ''}{_shown(ranges)}]"


def _shown(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"\\U{low:08x}" if low == high else f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


@lru_cache(maxsize=64)
def _category(name: str) -> Ranges:
    """All letters of a category, as `L` or `Lu`."""
    if name == "Any":
        return ((0, _LAST),)
    if len(name) > 2:
        raise ValueError(f"the script {name} is not known")
    found: list[tuple[int, int]] = []
    for code in range(_LAST + 1):
        if unicodedata.category(chr(code)).startswith(name):
            if found and found[-1][1] == code - 1:
                found[-1] = (found[-1][0], code)
            else:
                found.append((code, code))
    return tuple(found)
