"""The numbers of custom resources: bounds and multiples (kube-openapi pkg/validation/validate, values.go)."""

from __future__ import annotations

from engine.api.crd.number_ranges import out_of_range, ranged
from engine.api.crd.structural import Structural
from engine.api.golang.floats import WholeFloat, shown_float
from engine.api.validation.problems import Problems

_LARGEST_WHOLE, _NEAR = 2.0**53 - 1, 1e-9


def in_body(path: str) -> str:
    return f"{path} in body"


def check_number(schema: Structural, value: float, path: str, problems: Problems) -> None:
    raw = schema.raw
    value = float(value) if isinstance(value, WholeFloat) else value
    _check_range(schema, value, path, problems, "Checked")
    multiple = raw.get("multipleOf")
    _check_range(schema, multiple, path, problems, "MultipleOf")
    if multiple and not _is_multiple(value, multiple):
        counted = shown_float(float(_bound(multiple, value) or multiple))
        problems.invalid(path, value, f"{in_body(path)} should be a multiple of {counted}")
    low = raw.get("minimum")
    _check_range(schema, low, path, problems, "Minimum boundary")
    if low is not None:
        low, exclusive = _bound(low, value), raw.get("exclusiveMinimum")
        if value < low or (exclusive and value == low):
            words = "greater than" if exclusive else "greater than or equal to"
            problems.invalid(path, value, f"{in_body(path)} should be {words} {shown_float(float(low))}")
    high = raw.get("maximum")
    _check_range(schema, high, path, problems, "Maximum boundary")
    if high is not None:
        high, exclusive = _bound(high, value), raw.get("exclusiveMaximum")
        if value > high or (exclusive and value == high):
            words = "less than" if exclusive else "less than or equal to"
            problems.invalid(path, value, f"{in_body(path)} should be {words} {shown_float(float(high))}")


def _bound(bound: float, value: float) -> float:
    """Whole numbers are held against the whole part of a bound (kube-openapi's MinimumNativeType and its sisters)."""
    return int(bound) if isinstance(value, int) and abs(bound) < 2**63 else bound


def _check_range(schema: Structural, value: float | None, path: str, problems: Problems, what: str) -> None:
    """A bound is a float to upstream, whatever it looks like."""
    if value is not None and ranged(schema):
        wrong = out_of_range(schema, value if what == "Checked" else float(value), path, what=what)
        if wrong is not None:
            problems.append(wrong)


def _is_multiple(value: float, multiple: float) -> bool:
    """As kube-openapi reckons: whole numbers by the whole part of what they should be multiples of, others in floats,
    whose quotient must be no less than the whole number that it should be."""
    if isinstance(value, int) and int(multiple):
        return value % int(multiple) == 0
    return is_whole(1 / multiple * value if multiple < 1 else value / multiple)


def is_whole(value: float) -> bool:
    """Whether a float counts as a whole number, which one that is very near does too (swag, IsFloat64AJSONInteger)."""
    whole = abs(float(int(value)))
    if abs(value) > _LARGEST_WHOLE or value == int(value):
        return abs(value) <= _LARGEST_WHOLE
    return value > 0 and whole > 0 and (value - whole) / (value + whole) < _NEAR
