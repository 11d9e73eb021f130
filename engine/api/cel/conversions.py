"""Conversions of the standard library (cel-go common/stdlib, ConvertToType in common/types), and its string tests.

Why a text is none of a type is not told: the error names the types alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from engine.api.cel import types
from engine.api.cel.functions import Library
from engine.api.cel.operators import timestamp, unsigned, whole
from engine.api.cel.regexes import matches
from engine.api.cel.times import parse_duration, parse_timestamp, shown_duration, shown_timestamp
from engine.api.cel.types import BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, UINT, A, Type
from engine.api.cel.values import EvaluationError, UInt, type_of
from engine.api.golang.boolean import parse_bool
from engine.api.golang.floats import parse_float, shown_float
from engine.api.golang.integer import parse_int, parse_uint


def conversions() -> Library:
    made = Library()
    _identities(made)
    _to_numbers(made)
    _to_texts(made)
    _to_times(made)
    made.add("dyn", (A,), DYN, lambda value: value, identity="to_dyn")
    made.add("type", (A,), types.type_of_type(A), type_of, identity="type")
    _strings(made)
    return made


def _identities(made: Library) -> None:
    for type_ in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, DURATION, TIMESTAMP):
        made.add(type_.kind, (type_,), type_, lambda value: value, identity=f"{type_}_to_{type_}")


def _of_text(run: Callable[[str], Any], result: Type) -> Callable[[str], Any]:
    def attempt(text: str) -> Any:
        try:
            return run(text)
        except ValueError:
            raise EvaluationError(f"type conversion error from 'string' to '{result.type_name}'") from None

    return attempt


def _to_numbers(made: Library) -> None:
    made.add("int", (UINT,), INT, lambda value: whole(int(value)), identity="uint64_to_int64")
    made.add("int", (DOUBLE,), INT, _truncated, identity="double_to_int64")
    made.add("int", (STRING,), INT, _of_text(parse_int, INT), identity="string_to_int64")
    made.add("int", (TIMESTAMP,), INT, lambda value: value.nanos // 10**9, identity="timestamp_to_int64")
    made.add("int", (DURATION,), INT, lambda value: value.nanos, identity="duration_to_int64")
    made.add("uint", (INT,), UINT, unsigned, identity="int64_to_uint64")
    made.add("uint", (DOUBLE,), UINT, _truncated_unsigned, identity="double_to_uint64")
    made.add("uint", (STRING,), UINT, _of_text(lambda text: UInt(parse_uint(text)), UINT), identity="string_to_uint64")
    made.add("double", (INT,), DOUBLE, float, identity="int64_to_double")
    made.add("double", (UINT,), DOUBLE, float, identity="uint64_to_double")
    made.add("double", (STRING,), DOUBLE, _of_text(parse_float, DOUBLE), identity="string_to_double")
    made.add("bool", (STRING,), BOOL, _of_text(parse_bool, BOOL), identity="string_to_bool")


def _truncated(value: float) -> int:
    """The least integer is refused too: a float cannot tell it from those below."""
    if not -(2.0**63) < value < 2.0**63:
        raise EvaluationError("integer overflow")
    return int(value)


def _truncated_unsigned(value: float) -> UInt:
    if math.isnan(value) or not 0 <= value < 2.0**64:
        raise EvaluationError("unsigned integer overflow")
    return UInt(int(value))


def _to_texts(made: Library) -> None:
    made.add("string", (BOOL,), STRING, lambda value: "true" if value else "false", identity="bool_to_string")
    made.add("string", (INT,), STRING, lambda value: str(int(value)), identity="int64_to_string")
    made.add("string", (UINT,), STRING, lambda value: str(int(value)), identity="uint64_to_string")
    made.add("string", (DOUBLE,), STRING, shown_float, identity="double_to_string")
    made.add("string", (BYTES,), STRING, _decoded, identity="bytes_to_string")
    made.add("string", (TIMESTAMP,), STRING, shown_timestamp, identity="timestamp_to_string")
    made.add("string", (DURATION,), STRING, shown_duration, identity="duration_to_string")
    made.add("bytes", (STRING,), BYTES, lambda value: value.encode(), identity="string_to_bytes")


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def _to_times(made: Library) -> None:
    made.add("timestamp", (STRING,), TIMESTAMP, _of_text(parse_timestamp, TIMESTAMP), identity="string_to_timestamp")
    made.add("timestamp", (INT,), TIMESTAMP, lambda value: timestamp(value * 10**9), identity="int64_to_timestamp")
    made.add("duration", (STRING,), DURATION, _of_text(parse_duration, DURATION), identity="string_to_duration")


def _strings(made: Library) -> None:
    made.member("startsWith", (STRING, STRING), BOOL, lambda one, other: one.startswith(other),
                identity="starts_with_string")  # fmt: skip
    made.member("endsWith", (STRING, STRING), BOOL, lambda one, other: one.endswith(other),
                identity="ends_with_string")  # fmt: skip
    made.member("contains", (STRING, STRING), BOOL, lambda one, other: other in one, identity="contains_string")
    made.add("matches", (STRING, STRING), BOOL, matches, identity="matches")
    made.member("matches", (STRING, STRING), BOOL, matches, identity="matches_string")
