"""Attributes: names with what is taken of them, which cel-go plans and counts as one, and what is taken.

Source: cel-go interpreter/planner.go (which calls are parts of attributes), interpreter/attributes.go.
"""

from __future__ import annotations

from typing import Any

from engine.api.cel.functions import Overload
from engine.api.cel.library.optionals import optional_field
from engine.api.cel.mismatches import no_overload
from engine.api.cel.operators import no_element
from engine.api.cel.syntax import Node
from engine.api.cel.values import EvaluationError, Failed, Optional, accepts, go_type, of_key

CONDITIONAL = ("_?:_", "_?_:_")
_TAKING = ("_[_]", "_[?_]", "_?._")


def is_attribute(node: Node) -> bool:
    match node.kind:
        case "ident":
            return True
        case "select":
            return not node.test
    return node.kind == "call" and (node.name in _TAKING or node.name in CONDITIONAL)


def root_costs(node: Node) -> bool:
    """Whether what the attribute starts from is counted: all but conditions are, names as well as other values."""
    if not is_attribute(node) or (node.kind == "call" and node.name in CONDITIONAL):
        return False
    owner = owner_of(node)
    return owner is None or not is_attribute(owner) or root_costs(owner)


def owner_of(node: Node) -> Node | None:
    return node.target if node.kind == "select" else node.args[0] if node.kind == "call" else None


def field_of(owner: Any, name: str) -> Any:
    if isinstance(owner, dict):
        if name not in owner:
            raise EvaluationError(f"no such key: {name}")
        value = owner[name]
        if value.__class__ is Failed:
            raise value.error
        return value
    if isinstance(owner, Optional):
        return optional_field(owner, name)
    raise no_element(owner, name)


def is_absent(value: Any) -> bool:
    """What is not there to be taken costs nothing."""
    return value.__class__ is Optional and not value.there


def chosen(function: str, overloads: list[Overload], args: list[Any]) -> Overload:
    for overload in overloads:
        if all(map(accepts, overload.params, args)):
            return overload
    raise no_overload(function, args)


def option(value: Any) -> Optional:
    if not isinstance(value, Optional):
        raise EvaluationError("cannot initialize optional entry from non-optional value")
    return value


def pairs(items: Any, *, two: bool) -> list[tuple[Any, Any]]:
    if isinstance(items, list):
        return list(enumerate(items)) if two else [(item, None) for item in items]
    if isinstance(items, dict):
        return [(of_key(key), item) for key, item in items.items()]
    raise EvaluationError(f"got '{go_type(items)}', expected iterable type")
