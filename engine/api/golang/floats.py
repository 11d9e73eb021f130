"""Floats as Go reads them from text (strconv, ParseFloat), and as its fmt prints them with %v and %g (ftoa.go, the
shortest digits that tell a number).
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from engine.api.golang.text import quoted

_LEAST, _MOST = -4, 6  # outside of these powers of ten a number is written with an exponent
_DIGITS, _HEX_DIGITS = "[0-9](?:_?[0-9])*", "[0-9a-fA-F](?:_?[0-9a-fA-F])*"
_DECIMAL = re.compile(rf"[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?")
_HEX = re.compile(rf"[+-]?0[xX](?:_?{_HEX_DIGITS}(?:\.(?:{_HEX_DIGITS})?)?|\.{_HEX_DIGITS})[pP][+-]?{_DIGITS}")
_SPECIAL = re.compile(r"[+-]?inf(?:inity)?|nan", re.IGNORECASE)


class WholeFloat(int):
    """A float that is a whole number, which JSON has written with a point or an exponent: `3.0`, `1e3`.

    Go keeps it as a float64 until the object is stored: encoding/json writes it as digits alone, so that it is read as
    an int64 from then on. It counts as the integer that it becomes; who tells the two apart asks for its class.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return shown_float(float(self))

    __str__ = __repr__


def parse_float(text: str) -> float:
    """`1`, `.5e3`, `1_000`, `0x1p-2`, `Inf`. Raises ValueError in Go's words."""
    if _SPECIAL.fullmatch(text):
        return float(text)
    digits = text.replace("_", "")
    if _DECIMAL.fullmatch(text):
        value = float(digits)
    elif _HEX.fullmatch(text):
        try:
            value = float.fromhex(digits)
        except OverflowError:
            value = math.inf
    else:
        raise ValueError(f"strconv.ParseFloat: parsing {quoted(text)}: invalid syntax")
    if math.isinf(value):
        raise ValueError(f"strconv.ParseFloat: parsing {quoted(text)}: value out of range")
    return value


def shown_float(value: float) -> str:
    """`1`, `0.5`, `1e+06`, `1.5e-05`."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    sign, digits, _ = Decimal(repr(value)).as_tuple()
    shortest = "".join(map(str, digits)).strip("0") or "0"
    power = Decimal(repr(value)).adjusted() if value else 0
    minus = "-" if sign else ""
    if not _LEAST <= power < _MOST:
        tail = f".{shortest[1:]}" if len(shortest) > 1 else ""
        return f"{minus}{shortest[0]}{tail}e{power:+03d}"
    if power < 0:
        return f"{minus}0.{'0' * (-power - 1)}{shortest}"
    whole, fraction = shortest[: power + 1].ljust(power + 1, "0"), shortest[power + 1 :]
    return f"{minus}{whole}.{fraction}" if fraction else f"{minus}{whole}"
