"""Numbers that check themselves: of books and of credit cards (kube-openapi's formats, which govalidator checks)."""

from __future__ import annotations

import re

_SEPARATED = re.compile(r"[\s-]+", re.ASCII)
_ISBN10, _ISBN13 = re.compile(r"[0-9]{9}[0-9X]"), re.compile(r"[0-9]{13}")
_CARD = re.compile(
    r"4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(?:222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"
    r"|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11}"
)


def isbn10(text: str) -> bool:
    plain = _SEPARATED.sub("", text)
    if not _ISBN10.fullmatch(plain):
        return False
    digits = [10 if each == "X" else int(each) for each in plain]
    return sum(place * digit for place, digit in enumerate(digits, 1)) % 11 == 0


def isbn13(text: str) -> bool:
    plain = _SEPARATED.sub("", text)
    return _ISBN13.fullmatch(plain) is not None and sum(
        int(each) * (3 if place % 2 else 1) for place, each in enumerate(plain)
    ) % 10 == 0  # fmt: skip


def credit_card(text: str) -> bool:
    plain = re.sub("[^0-9]+", "", text)
    if not _CARD.fullmatch(plain):
        return False
    digits = [int(digit) for digit in reversed(plain)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0
