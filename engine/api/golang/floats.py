"""Floats as Go's fmt prints them with %v and %g (strconv, ftoa.go, the shortest digits that tell a number)."""

from __future__ import annotations

import math
from decimal import Decimal

_LEAST, _MOST = -4, 6  # outside of these powers of ten a number is written with an exponent


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
