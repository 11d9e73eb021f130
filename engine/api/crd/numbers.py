"""The numbers of custom resources: bounds and multiples (kube-openapi pkg/validation/validate, values.go)."""

from __future__ import annotations

from engine.api.crd.number_ranges import out_of_range
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
    if multiple is not None:
        fits = _check_range(schema, multiple, path, problems, "MultipleOf")
        _check_multiple(value if fits else float(value), multiple, path, problems)
    low = raw.get("minimum")
    if low is not None:
        fits = _check_range(schema, low, path, problems, "Minimum boundary")
        data = value if fits else float(value)
        low, exclusive = _bound(low, data), raw.get("exclusiveMinimum")
        if data < low or (exclusive and data == low):
            words = "greater than" if exclusive else "greater than or equal to"
            problems.invalid(path, data, f"{in_body(path)} should be {words} {shown_float(float(low))}")
    high = raw.get("maximum")
    if high is not None:
        fits = _check_range(schema, high, path, problems, "Maximum boundary")
        data = value if fits else float(value)
        high, exclusive = _bound(high, data), raw.get("exclusiveMaximum")
        if data > high or (exclusive and data == high):
            words = "less than" if exclusive else "less than or equal to"
            problems.invalid(path, data, f"{in_body(path)} should be {words} {shown_float(float(high))}")


def _check_multiple(value: float, multiple: float, path: str, problems: Problems) -> None:
    factor = _bound(multiple, value)
    if factor <= 0:
        shown = shown_float(float(factor))
        problems.invalid(path, factor, f"factor MultipleOf declared for {path} must be positive: {shown}")
    elif not _is_multiple(value, factor):
        problems.invalid(path, value, f"{in_body(path)} should be a multiple of {shown_float(float(factor))}")


def _bound(bound: float, value: float) -> float:
    """Whole numbers are held against the whole part of a bound (kube-openapi's MinimumNativeType and its sisters)."""
    return int(bound) if isinstance(value, int) and abs(bound) < 2**63 else bound


def _check_range(schema: Structural, value: float, path: str, problems: Problems, what: str) -> bool:
    """Whether it is in the range of the type; what is held against a bound that is not is a float. A bound is one to
    upstream, whatever it looks like."""
    wrong = out_of_range(schema, value if what == "Checked" else float(value), path, what=what)
    if wrong is not None:
        problems.append(wrong)
    return wrong is None


def _is_multiple(value: float, factor: float) -> bool:
    """As kube-openapi reckons: whole numbers among each other, others in floats, whose quotient must be no less than
    the whole number that it should be."""
    if isinstance(value, int):
        return value % int(factor) == 0
    return is_whole(1 / factor * value if factor < 1 else value / factor)


def is_whole(value: float) -> bool:
    """Whether a float counts as a whole number, which one that is very near does too (swag, IsFloat64AJSONInteger)."""
    whole = abs(float(int(value)))
    if abs(value) > _LARGEST_WHOLE or value == int(value):
        return abs(value) <= _LARGEST_WHOLE
    return value > 0 and whole > 0 and (value - whole) / (value + whole) < _NEAR
