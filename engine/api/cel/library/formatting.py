"""`"%s".format([...])`: the clauses of a format, and values as they show them.

Source: cel-go ext/formatting.go, which versions 1 to 3 of the string extension have. Kubernetes has version 2 of it, in
its default locale, en_US: golang.org/x/text groups the digits of `%f` and writes the exponent of `%e` in superscript.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.api.cel.times import shown_duration, shown_timestamp
from engine.api.cel.types import Type
from engine.api.cel.values import Duration, EvaluationError, Struct, Timestamp, UInt, of_key, type_of
from engine.api.golang.floats import shown_float
from engine.api.golang.integer import parse_int
from engine.api.golang.text import quoted

_PRECISION = 6
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_SPACE = "\u202f"
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

_HEXADECIMAL = ("int", "uint", "string", "bytes"), "only integers, byte buffers, and strings can be formatted as hex"
_TAKES = {
    "s": (
        ("list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"),
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
        "timestamps",
    ),
    "d": (("int", "uint"), "decimal clause can only be used on integers"),
    "f": (("double", "string"), "fixed-point clause can only be used on doubles"),
    "e": (("double", "string"), "scientific clause can only be used on doubles"),
    "b": (("int", "uint", "bool"), "only integers and bools can be formatted as binary"),
    "x": _HEXADECIMAL,
    "X": _HEXADECIMAL,
    "o": (("int", "uint"), "octal clause can only be used on integers"),
}


@dataclass(frozen=True, slots=True)
class Clause:
    letter: str
    precision: int | None = None

    def takes(self, type_: Type) -> bool:
        return type_.kind in _TAKES[self.letter][0]

    def refusal(self, type_: Type) -> EvaluationError:
        return EvaluationError(f"{_TAKES[self.letter][1]}, was given {type_.type_name}")


def interpolated(pattern: str, count: int, show: Callable[[Clause, int], str], *, checking: bool = False) -> str:
    """`show` shows an argument, of `count`, by its place. Who is only `checking` is told of a bad end first."""
    made, place, used = [], 0, 0
    while (found := pattern.find("%", place)) >= 0:
        made.append(pattern[place:found])
        if pattern.startswith("%%", found):
            made.append("%")
            place = found + 2
            continue
        if used >= count and not (checking and found + 1 == len(pattern)):
            raise EvaluationError(f"index {used} out of range")
        clause, place = _clause(pattern, found + 1)
        try:
            made.append(show(clause, used))
        except EvaluationError as error:
            raise EvaluationError(f"error during formatting: {error}") from None
        used += 1
    return "".join([*made, pattern[place:]])


def _clause(pattern: str, place: int) -> tuple[Clause, int]:
    if place == len(pattern):
        raise EvaluationError("unexpected end of string")
    precision = None
    if pattern[place] == ".":
        end = place + 1
        while end < len(pattern) and pattern[end] in "0123456789":
            end += 1
        precision, place = _precision(pattern[place + 1 : end], ended=end == len(pattern)), end
    letter = pattern[place]
    if letter not in _TAKES:
        first = chr(letter.encode()[0])
        raise EvaluationError(f'could not parse formatting clause: unrecognized formatting clause "{first}"')
    return Clause(letter, precision), place + 1


def _precision(digits: str, *, ended: bool) -> int:
    try:
        if not ended:
            return parse_int(digits)
        why = "could not find end of precision specifier"
    except ValueError as error:
        why = f"error while converting precision to integer: {error}".replace("ParseInt", "Atoi")
    raise EvaluationError(f"could not parse formatting clause: error while parsing precision: {why}")


def formatted(pattern: str, args: list[Any]) -> str:
    return interpolated(pattern, len(args), lambda clause, index: _shown_as(clause, args[index]))


def _shown_as(clause: Clause, value: Any) -> str:
    type_ = type_of(value)
    number = clause.letter in "fe" and isinstance(value, str)
    if not clause.takes(type_) or (number and value not in _NOT_FINITE):
        raise clause.refusal(type_)
    match clause.letter:
        case "s":
            return shown(value)
        case "f":
            return _fixed(_NOT_FINITE[value] if number else value, clause.precision)
        case "e":
            return _scientific(_NOT_FINITE[value] if number else value, clause.precision)
        case "x" | "X":
            text = _bytes(value).hex() if isinstance(value, str | bytes) else f"{int(value):x}"
            return text.upper() if clause.letter == "X" else text
    return f"{int(value):{clause.letter}}"


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _fixed(value: float, precision: int | None) -> str:
    places = _PRECISION if precision is None else precision
    if not math.isfinite(value):
        return _special(value)
    text = f"{value:,.{places}f}" if places else f"{math.trunc(value):,}"  # x/text does not round to whole numbers
    return text if any(digit in text for digit in "123456789") else text.lstrip("-")


def _scientific(value: float, precision: int | None) -> str:
    """What stands for the precision is read as the width; there are always six places."""
    if not math.isfinite(value):
        return _special(value)
    mantissa, _, power = f"{value or 0.0:.{_PRECISION}e}".partition("e")
    raised = f"{'-' if power[0] == '-' else ''}{int(power[1:]):02d}".translate(_SUPERSCRIPT)
    return f"{mantissa}{_SPACE}×{_SPACE}10{raised}".rjust(precision or 0)


def _special(value: float) -> str:
    return "NaN" if math.isnan(value) else "-∞" if value < 0 else "∞"


# -- %s


def shown(value: Any) -> str:
    """A value as `%s` shows it."""
    match value:
        case str():
            return value
        case list():
            return f"[{', '.join(map(_inner, value))}]"
        case dict() if not isinstance(value, Struct):
            pairs = sorted((_key(of_key(key)), _inner(item)) for key, item in value.items())
            return f"{{{', '.join(f'{key}:{item}' for key, item in pairs)}}}"
        case float():
            return shown_float(value)
        case Timestamp():
            return shown_timestamp(value)
        case Duration():
            return shown_duration(value)
    return _plain(value)


def _plain(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case bytes():
            return value.decode(errors="replace")
        case Type():
            return str(value.type_name)
    raise Clause("s").refusal(type_of(value))


def _inner(value: Any) -> str:
    """As a literal of CEL."""
    match value:
        case str():
            return quoted(value)
        case bytes():
            return f"b{quoted(shown(value))}"
        case float():
            return f"{value:.{_PRECISION}f}" if math.isfinite(value) else quoted(shown_float(value))
        case Timestamp():
            return f"timestamp({quoted(shown(value))})"
        case Duration():
            return f"duration({quoted(shown(value))})"
    type_ = type_of(value)
    if not Clause("s").takes(type_):
        raise EvaluationError(f"no formatting function for {type_.type_name}")
    return shown(value)


def _key(key: Any) -> str:
    if not isinstance(key, str | bool | int | UInt):
        raise EvaluationError(f"no formatting function for map key of type {type_of(key).type_name}")
    return _inner(key)
