"""Quantities (pkg/cel/library/quantity.go): upstream's two forms of them, which its functions let shine through.

A quantity of few digits is an int64 and a power of ten (apimachinery pkg/api/resource, int64Amount), as it was written:
`1000m` is a thousand thousandths, which nobody reduces, and so no integer. One of many digits, as `1Pi` already is, is
an arbitrary decimal, which is never an integer, whatever it holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from engine.api.cel.functions import Library
from engine.api.cel.types import BOOL, DOUBLE, INT, STRING, opaque
from engine.api.cel.values import MAX_INT, MIN_INT, EvaluationError, Opaque
from engine.api.quantity import NANO, Quantity, QuantityError, quick_form

QUANTITY = opaque("kubernetes.Quantity")


@dataclass(frozen=True, slots=True)
class Amount(Opaque):
    """A Quantity: `digits` times ten to the `exponent`, `quick` while that is an int64. Equal are equal `nanos`."""

    cel_type = QUANTITY
    nanos: int
    digits: int = field(compare=False)
    exponent: int = field(compare=False)
    quick: bool = field(compare=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises EvaluationError."""
        try:
            nanos = Quantity.parse(text).nanos
        except QuantityError as error:
            raise EvaluationError(str(error)) from None
        digits, exponent = quick_form(text) or (nanos, -9)
        return cls(nanos, digits, exponent, quick_form(text) is not None)

    @classmethod
    def of(cls, value: int) -> Self:
        return cls(value * NANO, value, 0, True)

    def plus(self, other: Amount) -> Amount:
        """What is added to nothing stays as it is, as does what nothing is added to."""
        if self.quick and other.quick and not (self.nanos and other.nanos):
            return self if self.nanos else other
        exponent = min(self.exponent, other.exponent)
        parts = [each.digits * 10 ** (each.exponent - exponent) for each in (self, other)]
        quick = self.quick and other.quick and all(map(_fits, (*parts, sum(parts))))
        return Amount(self.nanos + other.nanos, sum(parts), exponent, quick)

    def minus(self, other: Amount) -> Amount:
        return self.plus(Amount(-other.nanos, -other.digits, other.exponent, other.quick))

    def whole(self) -> int | None:
        if not self.quick or self.exponent < 0:
            return None
        number: int = self.digits * 10**self.exponent
        return number if _fits(number) else None


def quantities() -> Library:
    made = Library()
    made.add("quantity", (STRING,), QUANTITY, Amount.parse, identity="string_to_quantity")
    made.add("isQuantity", (STRING,), BOOL, _is_quantity, identity="is_quantity_string")
    made.add("sign", (QUANTITY,), INT, lambda value: _sign(value.nanos), identity="quantity_sign")  # no member upstream
    made.member("isInteger", (QUANTITY,), BOOL, lambda value: value.whole() is not None)
    made.member("asInteger", (QUANTITY,), INT, _as_integer)
    made.member("asApproximateFloat", (QUANTITY,), DOUBLE, _as_float)
    both = (QUANTITY, QUANTITY)
    made.member("isGreaterThan", both, BOOL, lambda one, other: one.nanos > other.nanos)
    made.member("isLessThan", both, BOOL, lambda one, other: one.nanos < other.nanos)
    made.member("compareTo", both, INT, lambda one, other: _sign(one.nanos - other.nanos))
    for other_type in (QUANTITY, INT):
        made.member("add", (QUANTITY, other_type), QUANTITY, lambda one, other: one.plus(_amount(other)))
        made.member("sub", (QUANTITY, other_type), QUANTITY, lambda one, other: one.minus(_amount(other)))
    return made


def _fits(number: int) -> bool:
    return MIN_INT <= number <= MAX_INT


def _amount(value: Any) -> Amount:
    return value if isinstance(value, Amount) else Amount.of(value)


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def _sign(number: int) -> int:
    return int(number > 0) - int(number < 0)


def _as_integer(value: Amount) -> int:
    whole = value.whole()
    if whole is None:
        raise EvaluationError("cannot convert value to integer")
    return whole


def _as_float(value: Amount) -> float:
    """Approximate indeed: a product of floats (Quantity.AsApproximateFloat64)."""
    return float(value.digits) * float(f"1e{value.exponent}")
