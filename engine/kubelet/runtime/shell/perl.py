"""The one program in Perl that half of all first Jobs run: kubernetes.io's, which prints the digits of pi."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.kubelet.runtime.shell.process import Io, Machine

_BPI = re.compile(r"\s*print\s+bpi\(\s*(\d*)\s*\)\s*;?\s*")
_DEFAULT_DIGITS = 40
_MOST_DIGITS = 10_000
_GUARD = 10


def answer(machine: Machine, words: Sequence[str], io: Io) -> int | None:
    """`perl -Mbignum=bpi -wle 'print bpi(2000)'`."""
    found = _BPI.fullmatch(words[-1]) if "-Mbignum=bpi" in words else None
    if found is None:
        return None
    newline = "\n" if any(re.fullmatch(r"-\w*l\w*e", word) for word in words) else ""
    io.stdout(f"{pi(min(int(found[1] or _DEFAULT_DIGITS), _MOST_DIGITS))}{newline}")
    return 0


def pi(digits: int) -> str:
    """So many digits in all, the last one rounded (Machin's formula)."""
    unit = 10 ** (digits - 1 + _GUARD)
    exact = 4 * (4 * _inverse_tangent(5, unit) - _inverse_tangent(239, unit))
    rounded = str((exact + 5 * 10 ** (_GUARD - 1)) // 10**_GUARD)
    return f"{rounded[0]}.{rounded[1:]}" if digits > 1 else rounded


def _inverse_tangent(divisor: int, unit: int) -> int:
    """Of 1/divisor, in parts of `unit`."""
    term, total, number, sign = unit // divisor, 0, 1, 1
    while term:
        total += sign * (term // number)
        term //= divisor * divisor
        number, sign = number + 2, -sign
    return total
