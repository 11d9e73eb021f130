"""Flags that are no texts, read as pflag reads them, with its words for those that it does not take."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TypeVar

from engine.api.golang.boolean import parse_bool
from engine.api.golang.duration import parse_duration
from engine.api.golang.text import quoted
from ktui.commands import UsageError
from ktui.server_flags import ServerFlags

_INTEGER = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_T = TypeVar("_T")


def boolean(options: ServerFlags, field: str) -> bool:
    """Raises UsageError, as its sisters."""
    return _read(options, field, parse_bool)


def integer(options: ServerFlags, field: str) -> int:
    return _read(options, field, _integer)


def number(options: ServerFlags, field: str) -> float:
    return _read(options, field, _number)


def duration(options: ServerFlags, field: str) -> float:
    """In seconds."""
    return _read(options, field, parse_duration)


def _read(options: ServerFlags, field: str, parse: Callable[[str], _T]) -> _T:
    text = str(getattr(options, field))
    try:
        return parse(text)
    except ValueError as error:
        flag = f'"--{field.replace("_", "-")}"'
        raise UsageError(f"invalid argument {quoted(text)} for {flag} flag: {error}") from error


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax")
    return int(text)


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise ValueError(f"strconv.ParseFloat: parsing {quoted(text)}: invalid syntax")
    return float(text)
