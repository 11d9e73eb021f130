"""Quantities and semantic versions (pkg/cel/library/quantity.go, semverlib.go)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from engine.api.cel.functions import Library
from engine.api.cel.types import BOOL, DOUBLE, INT, STRING, opaque
from engine.api.cel.values import MAX_INT, MIN_INT, EvaluationError, Opaque
from engine.api.quantity import Quantity, QuantityError

QUANTITY, SEMVER = opaque("kubernetes.Quantity"), opaque("kubernetes.Semver")


@dataclass(frozen=True, slots=True)
class Amount(Opaque):
    """A Quantity; its fractions end at a billionth, as upstream's arithmetic."""

    cel_type = QUANTITY
    nanos: int


@dataclass(frozen=True, slots=True)
class Version(Opaque):
    cel_type = SEMVER
    numbers: tuple[int, int, int]
    before: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[Any, ...]:
        parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.before)
        return (self.numbers, not self.before, parts)


def numbers() -> Library:
    made = Library()
    _quantities(made)
    _versions(made)
    return made


def amount(text: str) -> Amount:
    """Raises EvaluationError."""
    try:
        return Amount(Quantity.parse(text).nanos)
    except QuantityError as error:
        raise EvaluationError(str(error)) from None


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def _nanos(value: Any) -> int:
    return value.nanos if isinstance(value, Amount) else int(value) * 10**9


def _sign(number: int) -> int:
    return int(number > 0) - int(number < 0)


def _as_integer(value: Amount) -> int:
    whole, rest = divmod(value.nanos, 10**9)
    if rest or not MIN_INT <= whole <= MAX_INT:
        raise EvaluationError("cannot convert value to integer")
    return whole


def _is_integer(value: Amount) -> bool:
    return value.nanos % 10**9 == 0 and MIN_INT <= value.nanos // 10**9 <= MAX_INT


def _divisor(value: Any) -> int:
    found = _nanos(value)
    if found == 0:
        raise EvaluationError("division by zero")
    return found


def _quantities(made: Library) -> None:
    made.add("quantity", (STRING,), QUANTITY, amount, identity="string_to_quantity")
    made.add("isQuantity", (STRING,), BOOL, _is_quantity, identity="is_quantity_string")
    made.member("sign", (QUANTITY,), INT, lambda value: _sign(value.nanos))
    made.member("isInteger", (QUANTITY,), BOOL, _is_integer)
    made.member("asInteger", (QUANTITY,), INT, _as_integer)
    made.member("asApproximateFloat", (QUANTITY,), DOUBLE, lambda value: value.nanos / 10**9)
    both = (QUANTITY, QUANTITY)
    made.member("isGreaterThan", both, BOOL, lambda one, other: one.nanos > other.nanos)
    made.member("isLessThan", both, BOOL, lambda one, other: one.nanos < other.nanos)
    made.member("compareTo", both, INT, lambda one, other: _sign(one.nanos - other.nanos))
    for other_type in (QUANTITY, INT):
        made.member("add", (QUANTITY, other_type), QUANTITY, lambda one, other: Amount(one.nanos + _nanos(other)))
        made.member("sub", (QUANTITY, other_type), QUANTITY, lambda one, other: Amount(one.nanos - _nanos(other)))
        made.member(
            "mul", (QUANTITY, other_type), QUANTITY, lambda one, other: Amount(one.nanos * _nanos(other) // 10**9)
        )
        made.member(
            "div", (QUANTITY, other_type), QUANTITY, lambda one, other: Amount(one.nanos * 10**9 // _divisor(other))
        )
        made.member("divInt", (QUANTITY, other_type), QUANTITY,
                    lambda one, other: Amount(one.nanos // _divisor(other) * 10**9))  # fmt: skip


# -- versions

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


def _versions(made: Library) -> None:
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
