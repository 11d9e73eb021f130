"""The functions of awk that only make values of values (POSIX awk, built-in functions)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from engine.kubelet.runtime.shell.commands.awk.values import Value, number, text

_SLOT = re.compile(r"%%|%[-+ 0#]*\d*(?:\.\d+)?[sdiufgexc]")


def formatted(values: list[Value]) -> str:
    """`printf FORMAT, VALUE...`."""
    queue = values[1:]

    def one(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return "%"
        value = queue.pop(0) if queue else ""
        kind = match[0][-1]
        if kind in "diux":
            return match[0].replace("u", "d") % int(number(value))
        if kind in "fge":
            return match[0] % number(value)
        return match[0] % (text(value)[:1] if kind == "c" else text(value))

    return _SLOT.sub(one, text(values[0])) if values else ""


def _substr(values: list[Value]) -> Value:
    whole, start = text(values[0]), round(number(values[1]))
    end = len(whole) + 1 if len(values) < 3 else start + round(number(values[2]))
    return whole[max(start, 1) - 1 : max(end - 1, 0)]


FUNCTIONS: Mapping[str, Callable[[list[Value]], Value]] = {
    "substr": _substr,
    "index": lambda values: float(text(values[0]).find(text(values[1])) + 1),
    "toupper": lambda values: text(values[0]).upper(),
    "tolower": lambda values: text(values[0]).lower(),
    "int": lambda values: float(int(number(values[0]))),
    "sprintf": formatted,
}
