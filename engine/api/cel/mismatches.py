"""What is said of a call whose arguments turn out to be of no type that the function takes.

Source: cel-go interpreter/interpretable.go (by what the first operand can do), common/decls/decls.go (by the types of
all), common/stdlib/standard.go and ext/lists.go (which functions are bound in which way).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.cel.values import EvaluationError, type_of

NO_OVERLOAD = "no such overload"
_COMPARED = frozenset(("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration"))
_ADDED = frozenset(("int", "uint", "double", "string", "bytes", "list", "timestamp", "duration"))
_RECEIVERS = frozenset(("string", "timestamp", "duration"))
_BY_FIRST: Mapping[str, frozenset[str]] = {
    "_+_": _ADDED,
    "_-_": _ADDED - {"string", "bytes", "list"},
    "_*_": frozenset(("int", "uint", "double")),
    "_/_": frozenset(("int", "uint", "double")),
    "_%_": frozenset(("int", "uint")),
    "-_": frozenset(("bool", "int", "double", "duration")),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _COMPARED),
    "size": frozenset(("string", "bytes", "list", "map")),
    "matches": frozenset(("string",)),
    "sort": frozenset(("list",)),
    "@sortByAssociatedKeys": frozenset(("list",)),
}
_UNTOLD = frozenset(("!_", "@in", "contains", "startsWith", "endsWith"))


def no_overload(function: str, args: list[Any]) -> EvaluationError:
    if function in _UNTOLD:
        return EvaluationError(NO_OVERLOAD)
    able = _BY_FIRST.get(function)
    if able is not None:
        kind = type_of(args[0]).kind
        told = kind not in able and kind not in _RECEIVERS
        return EvaluationError(f"{NO_OVERLOAD}: {function}" if told else NO_OVERLOAD)
    if function == "flatten":
        return EvaluationError(f"{NO_OVERLOAD}: {type_of(args[0])}.flatten({', '.join(map(_kind, args[1:]))})")
    shown = ", ".join(type_of(each).type_name for each in args)
    return EvaluationError(f"{NO_OVERLOAD}: {function}({shown})")


def _kind(value: Any) -> str:
    return str(type_of(value))
