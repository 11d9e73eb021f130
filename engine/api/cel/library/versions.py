"""Semantic versions (pkg/cel/library/semverlib.go)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from engine.api.cel.functions import Library
from engine.api.cel.types import BOOL, INT, STRING, opaque
from engine.api.cel.values import EvaluationError, Opaque

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


_IDENTIFIER = re.compile(r"[0-9A-Za-z-]+")


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
    found = before.split(".") if dash else []
    for part in [*found, *(build.split(".") if plus else [])]:
        if not _IDENTIFIER.fullmatch(part):
            raise EvaluationError(
                f'Invalid character(s) found in prerelease "{part}"' if part else "Prerelease is empty"
            )
    for part in found:
        if part.isdigit() and len(part) > 1 and part.startswith("0"):
            raise EvaluationError(f'Numeric PreRelease version must not contain leading zeroes "{part}"')
    return Version((major, minor, _number("patch", patch)), tuple(found))


def _number(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text):
        raise EvaluationError(f'Invalid character(s) found in {name} number "{text}"')
    if len(text) > 1 and text.startswith("0"):
        raise EvaluationError(f'{name.capitalize()} number must not contain leading zeroes "{text}"')
    return int(text)


def _normalized(text: str) -> str:
    text = text.removeprefix("v")
    parts = text.split(".", 2)
    parts = [part.lstrip("0") or "0" if part.isdigit() else part for part in parts]
    if len(parts) == 3:
        digits = re.match(r"0+(?=\d)", parts[2])
        parts[2] = parts[2][digits.end() :] if digits else parts[2]
    elif not (parts[-1].isdigit()):
        return ".".join(parts)
    return ".".join([*parts, *["0"] * (3 - len(parts))])


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
