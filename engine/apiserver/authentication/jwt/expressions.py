"""CEL about the claims of a token and the user that comes of them (apiserver pkg/authentication/cel)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from engine.api.cel.environment import Environment, Program
from engine.api.cel.syntax import CompileError, Node
from engine.api.cel.types import ANY, BOOL, STRING, STRINGS, Type, map_of, struct
from engine.api.crd.cel.escaping import unescaped

_USER = struct("kubernetes.UserInfo")
_FIELDS = {"username": STRING, "uid": STRING, "groups": STRINGS, "extra": map_of(STRING, STRINGS)}
UNLIMITED = 1 << 62  # these have no budget


@lru_cache(maxsize=2)
def _environment(name: str) -> Environment:
    if name == "claims":
        return Environment({"claims": map_of(STRING, ANY)})
    return Environment({"user": _USER}, structs={_USER.name: _FIELDS})


@lru_cache(maxsize=1024)
def _compiled(name: str, expression: str, wanted: Type | None) -> Program:
    program = _environment(name).compile(expression)
    if wanted is not None and program.result != wanted:
        raise CompileError(f"must evaluate to {wanted}")
    return program


def mapping(expression: str) -> Program:
    """Of claims, to whatever they are. Raises CompileError."""
    return _compiled("claims", expression, None)


def claim_rule(expression: str) -> Program:
    return _compiled("claims", expression, BOOL)


def user_rule(expression: str) -> Program:
    return _compiled("user", expression, BOOL)


def speaks_of(program: Program, claim: str) -> bool:
    """Whether an expression selects a claim by its name, optionally or not."""
    return any(_selects(node, claim) for node in program.checked.root.walk())


def _selects(node: Node, claim: str) -> bool:
    if node.kind == "select":
        return node.name == claim and node.target is not None and _is_claims(node.target)
    is_optional = node.kind == "call" and node.name == "_?._" and node.target is None and len(node.args) == 2
    return is_optional and _is_claims(node.args[0]) and node.args[1].value == claim


def _is_claims(node: Node) -> bool:
    return node.kind == "ident" and node.name == "claims"


class Reachable(dict[Any, Any]):
    """A map whose keys can also be said as fields, escaped: `claims.a__dot__b`."""

    def __contains__(self, key: object) -> bool:
        return super().__contains__(_plain(key))

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(_plain(key))

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_plain(key), default)


def _plain(key: Any) -> Any:
    return unescaped(key) if isinstance(key, str) else key


def reachable(value: Any) -> Any:
    """As Go reads JSON into any value, all numbers are floating."""
    if isinstance(value, Mapping):
        return Reachable((key, reachable(item)) for key, item in value.items())
    if isinstance(value, list):
        return [reachable(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def texts_of(value: Any) -> list[str]:
    """A text or a list of them, without the empty ones. Raises ValueError for anything else."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value] if value else []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError("expression must return a string or a list of strings")
    return [each for each in value if each]
