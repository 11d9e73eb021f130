"""The comparisons of filters, which know texts, whole numbers, fractions and booleans, each with its like alone.

Source of the behaviour: client-go third_party/forked/golang/template/funcs.go.
"""

from __future__ import annotations

from typing import Any

from engine.api.jsonpath.nodes import JsonPathError

OPERATORS = frozenset(("==", "!=", "<", "<=", ">", ">="))


def compares(left: Any, operator: str, right: Any) -> bool:
    """Raises JsonPathError for what cannot be compared."""
    kind, other = _kind(left), _kind(right)
    if operator in ("==", "!="):
        if kind is not other:
            raise JsonPathError("incompatible types for comparison")
        return bool(left == right) is (operator == "==")
    if kind is not other:
        raise JsonPathError("incompatible types for comparison")
    if kind is bool:
        raise JsonPathError("invalid type for comparison")
    if operator in ("<", ">="):
        return bool(left < right) is (operator == "<")
    return bool(left <= right) is (operator == "<=")


def _kind(value: Any) -> type:
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind
    raise JsonPathError("invalid type for comparison")
