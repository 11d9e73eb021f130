"""The functions that a template may call, and how Go prints values.

Source of the behaviour: Go's text/template/funcs.go and fmt; cli-runtime pkg/printers/template.go (exists,
base64decode).
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus

from engine.api.golang.base64 import first_illegal_byte
from engine.api.golang.floats import shown_float
from engine.api.golang.text import quoted
from engine.api.golang.values import shown_value
from engine.kubectl.printers.go_template.parsing import TemplateInt


class FunctionError(Exception):
    """A call that fails, in the function's words."""


def truth(value: Any) -> bool:
    return bool(value)


def kind_of(value: Any) -> str:
    """The Go type of a value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    names = {float: "float64", str: "string", dict: "map[string]interface {}", list: "[]interface {}"}
    return names.get(type(value), "nil")


def shown_kind(value: Any) -> str:
    """As `kind_of`, for who is told of it: whole numbers of an object are wider than those of a template."""
    return "int64" if type(value) is int else kind_of(value)


# -- functions


def _and(*values: Any) -> Any:
    return next((value for value in values if not truth(value)), values[-1])


def _or(*values: Any) -> Any:
    return next((value for value in values if truth(value)), values[-1])


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        if value is None:
            raise FunctionError("index of untyped nil")
        if isinstance(value, dict):
            if not isinstance(key, str):
                raise FunctionError(f"value has type {shown_kind(key)}; should be string")
            value = value.get(key)
        elif isinstance(value, list | str):
            if isinstance(key, bool) or not isinstance(key, int):
                raise FunctionError(f"cannot index slice/array with type {shown_kind(key)}")
            if not 0 <= key < len(value):
                raise FunctionError(f"index out of range: {key}")
            value = value[key] if isinstance(value, list) else value.encode()[key]
        else:
            raise FunctionError(f"can't index item of type {shown_kind(value)}")
    return value


def _slice(value: Any, *bounds: Any) -> Any:
    if value is None:
        raise FunctionError("slice of untyped nil")
    if not isinstance(value, str | list):
        raise FunctionError(f"can't slice item of type {shown_kind(value)}")
    items = value.encode() if isinstance(value, str) else value  # a text is one of bytes
    start, end = ([*bounds, None, None])[:2]
    for bound in bounds:
        if not 0 <= bound <= len(items):
            raise FunctionError(f"index out of range: {bound}")
    part = items[start:end]
    return part.decode(errors="replace") if isinstance(part, bytes) else part


def _len(value: Any) -> int:
    if isinstance(value, str):
        return TemplateInt(len(value.encode()))
    if isinstance(value, dict | list):
        return TemplateInt(len(value))
    if value is None:
        raise FunctionError("reflect: call of reflect.Value.Type on zero Value")
    raise FunctionError(f"len of type {shown_kind(value)}")


def _basic(value: Any) -> str:
    if isinstance(value, dict | list):
        raise FunctionError("non-comparable type")
    return kind_of(value)


def _eq(first: Any, *others: Any) -> bool:
    if not others:
        raise FunctionError("missing argument for comparison")
    for other in others:
        if first is None or other is None:
            if first is other:
                return True
            continue
        if _basic(first) != _basic(other):
            raise FunctionError(f"incompatible types for comparison: {_wide(first)} and {_wide(other)}")
        if first == other:
            return True
    return False


def _wide(value: Any) -> str:
    return "int64" if kind_of(value) == "int" else kind_of(value)


def _lt(left: Any, right: Any) -> bool:
    if left is None or right is None:
        raise FunctionError("invalid type for comparison")
    if kind_of(left) != kind_of(right):
        raise FunctionError(f"incompatible types for comparison: {_wide(left)} and {_wide(right)}")
    if kind_of(left) not in ("int", "float64", "string"):
        raise FunctionError("invalid type for comparison")
    return bool(left < right)


def _print(*values: Any) -> str:
    """A space between two operands of which neither is a string."""
    text = ""
    for index, value in enumerate(values):
        if index and not isinstance(value, str) and not isinstance(values[index - 1], str):
            text += " "
        text += shown_value(value)
    return text


_VERB = re.compile(r"%([-+# 0]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])")


def _printf(pattern: str, *values: Any) -> str:
    queue = list(values)

    def one(match: re.Match[str]) -> str:
        flags, width, precision, verb = match.groups()
        if verb == "%":
            return "%"
        if not queue:
            return f"%!{verb}(MISSING)"
        text = _formatted(verb, queue.pop(0), flags, precision)
        if width is None:
            return text
        if "-" in flags:
            return text.ljust(int(width))
        return text.zfill(int(width)) if "0" in flags else text.rjust(int(width))

    text = _VERB.sub(one, pattern)
    if queue:
        text += f"%!(EXTRA {', '.join(f'{shown_kind(v)}={shown_value(v)}' for v in queue)})"
    return text


def _formatted(verb: str, value: Any, flags: str, precision: str | None) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if verb == "v":
        return shown_value(value)
    if verb == "T":
        return shown_kind(value)
    if value is None:
        return f"%!{verb}(<nil>)"
    if isinstance(value, dict | list):
        return _each_formatted(verb, value, flags, precision)
    if verb == "s" and isinstance(value, str):
        return shown_value(value)[: int(precision)] if precision is not None else shown_value(value)
    if verb == "q" and isinstance(value, str):
        return quoted(value)
    if verb == "t" and isinstance(value, bool):
        return shown_value(value)
    if verb in "xX" and isinstance(value, str):
        return value.encode().hex() if verb == "x" else value.encode().hex().upper()
    if verb in "dxXob" and isinstance(value, int) and number:
        return format(value, f"{'+' if '+' in flags else ''}{verb}")
    if verb in "feEgG" and isinstance(value, float):
        shown = precision if precision is not None else ("6" if verb in "feE" else None)
        return format(value, f".{shown}{verb}") if shown is not None else shown_float(value)
    return f"%!{verb}({shown_kind(value)}={shown_value(value)})"


def _each_formatted(verb: str, value: dict[str, Any] | list[Any], flags: str, precision: str | None) -> str:
    """What a map or a list holds, each by the verb."""

    def one(item: Any) -> str:
        return "<nil>" if item is None else _formatted(verb, item, flags, precision)

    if isinstance(value, list):
        return f"[{' '.join(map(one, value))}]"
    return f"map[{' '.join(f'{one(key)}:{one(value[key])}' for key in sorted(value))}]"


def _not(value: Any) -> bool:
    return not truth(value)


def _base64(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode(errors="replace")
    except (binascii.Error, ValueError) as error:
        place = first_illegal_byte(text)
        raise FunctionError(f"base64 decode failed: illegal base64 data at input byte {place}") from error


def _exists(value: Any, *keys: Any) -> bool:
    try:
        return _index(value, *keys) is not None
    except FunctionError:
        return False


def _plain(*values: Any) -> str:
    """Values as text for who escapes it."""
    return _print(*("<no value>" if value is None else value for value in values))


def _html(*values: Any) -> str:
    return html.escape(_plain(*values)).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")


def _js(*values: Any) -> str:
    table = {"\\": "\\\\", "'": "\\'", '"': '\\"', "<": "\\u003C", ">": "\\u003E", "&": "\\u0026", "=": "\\u003D"}
    return "".join(table.get(c) or (c if _plain_in_js(c) else f"\\u{ord(c):04X}") for c in _plain(*values))


def _plain_in_js(letter: str) -> bool:
    return letter >= " " and (letter.isascii() or letter.isprintable())


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "and": _and, "or": _or, "not": _not, "len": _len, "index": _index, "slice": _slice,
    "eq": _eq, "ne": lambda a, b: not _eq(a, b), "lt": _lt, "le": lambda a, b: _lt(a, b) or _eq(a, b),
    "gt": lambda a, b: not (_lt(a, b) or _eq(a, b)), "ge": lambda a, b: not _lt(a, b),
    "print": _print, "printf": _printf, "println": lambda *v: " ".join(map(shown_value, v)) + "\n",
    "html": _html, "js": _js, "urlquery": lambda *v: quote_plus(_plain(*v)),
    "base64decode": _base64, "exists": _exists,
}  # fmt: skip

# How many arguments each takes at least, and whether it takes no more.
_FEWEST = {
    "not": 1, "len": 1, "base64decode": 1, "ne": 2, "lt": 2, "le": 2, "gt": 2, "ge": 2,
    "and": 1, "or": 1, "index": 1, "slice": 1, "eq": 1, "printf": 1, "exists": 1, "call": 1,
}  # fmt: skip
_EXACT = frozenset(("not", "len", "base64decode", "ne", "lt", "le", "gt", "ge"))


def wrong_number(name: str, given: int) -> str:
    """What is wrong with the number of arguments; "" for nothing."""
    wanted = _FEWEST.get(name, 0)
    if name in _EXACT:
        return f"want {wanted} got {given}" if given != wanted else ""
    return f"want at least {wanted} got {given}" if given < wanted else ""
