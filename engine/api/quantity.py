"""Quantities such as `500m` and `1Gi`: exact arithmetic and the canonical form.

Source of the behaviour: apimachinery pkg/api/resource (Quantity). A value is kept as a whole number of nanos, the
smallest that upstream keeps; what is finer is rounded away from zero when it is parsed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

FORMAT_WRONG = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"  # ErrFormatWrong
)
SUFFIX_WRONG = "unable to parse quantity's suffix"
NUMBER_WRONG = "unable to parse numeric part of quantity"

NANO = 10**9
_MAX_BINARY = (2**63 - 1) * NANO
_SPLIT = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
# Upstream reads the JSON text without undoing its escapes, so that these are not blanks around a quantity.
_ESCAPED = re.compile(r"[\x00-\x1f]")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_INT64_DIGITS = 18
# Beyond this a decimal exponent is refused: the number alone would fill the memory.
_MOST_DIGITS = 4000  # upstream takes any number; Python refuses to convert more than 4,300
_MAX_EXPONENT = 512


class QuantityError(ValueError):
    """The text is no quantity; the message is upstream's."""


class Format(StrEnum):
    """How a quantity is written: it keeps the form it was given in."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """An amount in nanos. Compares by amount alone; `str` gives the form that the API shows."""

    nanos: int = 0
    format: Format = Format.DECIMAL_SI
    text: str = ""  # as it was given, where upstream keeps that: `1.500`, `+3`

    @classmethod
    def parse(cls, value: str | int | float) -> Quantity:
        """The quantity that a JSON string or number stands for. Raises QuantityError."""
        if isinstance(value, bool):
            raise QuantityError(FORMAT_WRONG)
        if isinstance(value, str) and _ESCAPED.search(value):
            raise QuantityError(FORMAT_WRONG)
        return _parse(value.strip() if isinstance(value, str) else str(value))

    @classmethod
    def of(cls, value: int, format: Format = Format.DECIMAL_SI) -> Quantity:
        return cls(value * NANO, format)

    @classmethod
    def of_milli(cls, value: int, format: Format = Format.DECIMAL_SI) -> Quantity:
        return cls(value * 10**6, format)

    @property
    def value(self) -> int:
        """In whole units, rounded away from zero."""
        return _divide_up(self.nanos, NANO)

    @property
    def milli(self) -> int:
        """In thousandths, rounded away from zero."""
        return _divide_up(self.nanos, 10**6)

    def rounded_up(self, exponent: int) -> Quantity:
        """Rounded away from zero to a multiple of 10**exponent (`RoundUp`; the API keeps resources in milli, -3)."""
        step = 10 ** (exponent + 9)
        return Quantity(_divide_up(self.nanos, step) * step, self.format)

    def __float__(self) -> float:
        return self.nanos / NANO

    def __bool__(self) -> bool:
        return self.nanos != 0

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.nanos + other.nanos, self.format if self.nanos else other.format)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.nanos - other.nanos, self.format if self.nanos else other.format)

    def __mul__(self, times: int) -> Quantity:
        return Quantity(self.nanos * times, self.format)

    def __neg__(self) -> Quantity:
        return Quantity(-self.nanos, self.format)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __lt__(self, other: Quantity) -> bool:
        return self.nanos < other.nanos

    def __le__(self, other: Quantity) -> bool:
        return self.nanos <= other.nanos

    def __gt__(self, other: Quantity) -> bool:
        return self.nanos > other.nanos

    def __ge__(self, other: Quantity) -> bool:
        return self.nanos >= other.nanos

    def __str__(self) -> str:
        if self.text:
            return self.text
        if not self.nanos:
            return "0"
        whole, fraction = divmod(self.nanos, NANO)
        if self.format is Format.BINARY_SI and not fraction and not -1024 < whole < 1024:
            return _binary_text(whole)
        return _decimal_text(self.nanos, exponent_form=self.format is Format.DECIMAL_EXPONENT)


def _divide_up(value: int, by: int) -> int:
    return -(-value // by) if value > 0 else value // by


def _binary_text(whole: int) -> str:
    power = 0
    while whole % 1024 == 0:
        whole //= 1024
        power += 10
    for suffix, exponent in reversed(_BINARY.items()):  # amounts of 1024 Ei and more stay in Ei
        if exponent <= power:
            return f"{whole << (power - exponent)}{suffix}"
    return str(whole << power)


def _decimal_text(nanos: int, *, exponent_form: bool) -> str:
    """The mantissa without trailing zeros and the exponent moved down to a multiple of three."""
    exponent = -9
    while nanos % 10 == 0:
        nanos //= 10
        exponent += 1
    surplus = exponent % 3
    mantissa, exponent = nanos * 10**surplus, exponent - surplus
    if not exponent_form and exponent in _DECIMAL_SUFFIX:
        return f"{mantissa}{_DECIMAL_SUFFIX[exponent]}"
    return f"{mantissa}e{exponent}" if exponent else str(mantissa)


@lru_cache(maxsize=4096)
def _parse(text: str) -> Quantity:
    if not text:
        raise QuantityError(FORMAT_WRONG)
    match = _SPLIT.fullmatch(text)
    if match is None:
        raise QuantityError(FORMAT_WRONG)
    sign, number, fraction, suffix = match.groups()
    fraction = fraction or ""
    base, exponent, form = _interpret(suffix)
    if not number and not fraction and not _no_digits_is_zero(base, exponent):
        raise QuantityError(NUMBER_WRONG)
    if len(number) + len(fraction) > _MOST_DIGITS:
        raise QuantityError(NUMBER_WRONG)
    unscaled = int(f"{number}{fraction}" or "0")
    places = len(fraction)
    if base == 2:
        nanos, form = _binary_amount(unscaled << exponent, places)
    else:
        nanos = _scaled_up(unscaled, exponent - places + 9)
    kept = text if _keeps_text(number.lstrip("0") or "0", fraction, (base, exponent)) else ""
    return Quantity(-nanos if sign == "-" else nanos, form, kept)


def quick_form(text: str) -> tuple[int, int] | None:
    """The int64 and the power of ten that upstream takes a quantity for at a glance; nothing of one with too many
    digits, which becomes an arbitrary decimal. The text is a quantity."""
    match = _SPLIT.fullmatch(text.strip())
    assert match is not None
    sign, number, fraction, suffix = match.groups()
    base, exponent, _ = _interpret(suffix)
    number, fraction = number.lstrip("0") or "0", fraction or ""
    places = len(fraction)
    if base == 2:
        if fraction or _binary_precision(number, exponent) < 0:
            return None
        digits, exponent = int(number) << exponent, 0
    elif len(number) + places > _INT64_DIGITS or exponent - places < -9:
        return None
    else:
        digits, exponent = int(number + fraction), exponent - places
    return -digits if sign == "-" else digits, exponent


def _keeps_text(number: str, fraction: str, scale: tuple[int, int]) -> bool:
    """Whether upstream takes a text for canonical at a glance and keeps it, which lets some pass that are not."""
    base, exponent = scale
    if base == 2:
        return not fraction and _binary_precision(number, exponent) >= 0 and int(number) & 7 != 0
    digits = number + fraction
    exponent -= len(fraction)
    if len(digits) > _INT64_DIGITS or exponent < -9:
        return False
    return exponent % 3 == 0 and not digits.endswith("000") and not digits.startswith("0")


def _binary_precision(number: str, exponent: int) -> int:
    """The digits that upstream's quick way of parsing has to spare."""
    return 15 - len(number) - int(exponent * 3 / 10) - 1


def _no_digits_is_zero(base: int, exponent: int) -> bool:
    """Upstream takes a text with no digits at all for nothing when it goes the quick way, and refuses it otherwise."""
    return _binary_precision("0", exponent) >= 0 if base == 2 else exponent >= -9


def _binary_amount(unscaled: int, places: int) -> tuple[int, Format]:
    nanos = min(_scaled_up(unscaled, 9 - places), _MAX_BINARY)
    return nanos, Format.DECIMAL_SI if 0 < nanos < NANO else Format.BINARY_SI


def _scaled_up(unscaled: int, exponent: int) -> int:
    return unscaled * 10**exponent if exponent >= 0 else _divide_up(unscaled, 10**-exponent)


def _interpret(suffix: str) -> tuple[int, int, Format]:
    """Base, exponent and form of a suffix (quantitySuffixer)."""
    if suffix in _DECIMAL:
        return 10, _DECIMAL[suffix], Format.DECIMAL_SI
    if suffix in _BINARY:
        return 2, _BINARY[suffix], Format.BINARY_SI
    match = _EXPONENT.fullmatch(suffix)
    if match is None or len(match[1]) > _MOST_DIGITS or abs(int(match[1])) > _MAX_EXPONENT:
        raise QuantityError(SUFFIX_WRONG)
    return 10, int(match[1]), Format.DECIMAL_EXPONENT
