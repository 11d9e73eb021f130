"""Semantic versions (pkg/cel/library/semverlib.go)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import digits
from typing import Any

from engine.api.cel.functions import Library
from engine.api.cel.types import BOOL, INT, STRING, opaque
from engine.api.cel.values import EvaluationError, Opaque
from engine.api.golang.text import quoted

SEMVER = opaque("kubernetes.Semver")


@dataclass(frozen=True, slots=True)
class Version(Opaque):
    cel_type = SEMVER
    numbers: tuple[int, int, int]
    before: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[Any, ...]:
        parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.before)
        return (self.numbers, not self.before, parts)


_DIGITS = re.compile(r"[0-9]+")
_IDENTIFIER = re.compile(r"[0-9A-Za-z-]+")
_SUFFIX = re.compile(r"[+-]")
_MAX_UINT = 2**64 - 1


def version(text: str, normalize: bool = False) -> Version:
    """As github.com/blang/semver parses. Raises EvaluationError."""
    if normalize:
        text = _normalized(text)
    if not text:
        raise EvaluationError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise EvaluationError("No Major.Minor.Patch elements found")
    major, minor = _number("major", parts[0]), _number("minor", parts[1])
    rest, plus, build = parts[2].partition("+")
    patch, dash, before = rest.partition("-")
    numbers = (major, minor, _number("patch", patch))
    found = tuple(before.split(".")) if dash else ()
    for part in found:
        _check_prerelease(part)
    for part in build.split(".") if plus else ():
        if not _IDENTIFIER.fullmatch(part):
            wrong = (
                f"Invalid character(s) found in build meta data {quoted(part)}" if part else "Build meta data is empty"
            )
            raise EvaluationError(wrong)
    return Version(numbers, found)


def _check_prerelease(part: str) -> None:
    if not part:
        raise EvaluationError("Prerelease is empty")
    if not _DIGITS.fullmatch(part):
        if not _IDENTIFIER.fullmatch(part):
            raise EvaluationError(f"Invalid character(s) found in prerelease {quoted(part)}")
        return
    if len(part) > 1 and part.startswith("0"):
        raise EvaluationError(f"Numeric PreRelease version must not contain leading zeroes {quoted(part)}")
    _uint(part)


def _number(name: str, text: str) -> int:
    if text and not _DIGITS.fullmatch(text):
        raise EvaluationError(f"Invalid character(s) found in {name} number {quoted(text)}")
    if len(text) > 1 and text.startswith("0"):
        raise EvaluationError(f"{name.capitalize()} number must not contain leading zeroes {quoted(text)}")
    return _uint(text)


def _uint(text: str) -> int:
    wrong = "" if text else "invalid syntax"
    if len(text) > len(str(_MAX_UINT)) or (text and int(text) > _MAX_UINT):
        wrong = "value out of range"
    if wrong:
        raise EvaluationError(f"strconv.ParseUint: parsing {quoted(text)}: {wrong}")
    return int(text)


def _normalized(text: str) -> str:
    """Without a `v` before and zeros in front of numbers, with what is short of three numbers (normalizeAndParse)."""
    parts = text.removeprefix("v").split(".", 2)
    parts = [_stripped(part) if len(part) > 1 else part for part in parts]
    if len(parts) < 3 and _SUFFIX.search(parts[-1]):
        raise EvaluationError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, *["0"] * (3 - len(parts))])


def _stripped(part: str) -> str:
    rest = part.lstrip("0")
    return rest if rest and rest[0] in digits else f"0{rest}"


def _is_version(text: str, normalize: bool = False) -> bool:
    try:
        version(text, normalize)
    except EvaluationError:
        return False
    return True


def versions() -> Library:
    made = Library()
    made.add("semver", (STRING,), SEMVER, version, identity="string_to_semver")
    made.add("semver", (STRING, BOOL), SEMVER, version, identity="string_bool_to_semver")
    made.add("isSemver", (STRING,), BOOL, _is_version, identity="is_semver_string")
    made.add("isSemver", (STRING, BOOL), BOOL, _is_version, identity="is_semver_string_bool")
    both = (SEMVER, SEMVER)
    made.member("isGreaterThan", both, BOOL, lambda one, other: one.order > other.order)
    made.member("isLessThan", both, BOOL, lambda one, other: one.order < other.order)
    made.member("compareTo", both, INT, lambda one, other: int(one.order > other.order) - int(one.order < other.order))
    for index, name in enumerate(("major", "minor", "patch")):
        made.member(name, (SEMVER,), INT, lambda value, index=index: value.numbers[index])
    return made
