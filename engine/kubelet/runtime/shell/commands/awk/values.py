"""Values of awk: numbers, strings, and strings from the input that count as numbers where they look like one."""

from __future__ import annotations

import re

Value = float | str
_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


class Input(str):
    """Text from the input."""

    __slots__ = ()


class Unset(Input):
    """A variable that nobody has set: both 0 and empty."""

    __slots__ = ()


def number(value: Value) -> float:
    if isinstance(value, float):
        return value
    match = _NUMBER.match(value)
    return float(match[0]) if match is not None else 0.0


def text(value: Value) -> str:
    if isinstance(value, str):
        return str(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e16 else f"{value:.6g}"


def truth(value: Value) -> bool:
    return bool(number(value)) if numeric(value) else bool(value)


def numeric(value: Value) -> bool:
    if isinstance(value, float):
        return True
    if isinstance(value, Unset):
        return True
    match = _NUMBER.match(value) if isinstance(value, Input) else None
    return match is not None and not value[match.end() :].strip()


def compared(left: Value, operator: str, right: Value) -> bool:
    strings = not (numeric(left) and numeric(right))
    order: int
    if strings:
        first, second = text(left), text(right)
        order = (first > second) - (first < second)
    else:
        one, two = number(left), number(right)
        order = (one > two) - (one < two)
    return {"<": order < 0, "<=": order <= 0, "==": order == 0, "!=": order != 0, ">": order > 0, ">=": order >= 0}[
        operator
    ]
