"""`fieldPath` of a rule: which field its failure is told of (schema/cel/validation.go, ValidFieldPath)."""

from __future__ import annotations

import re

from engine.api.crd.structural import Structural

_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|[.\[\]]|[^.\[\]]+", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


class FieldPathError(ValueError):
    """The path is none, or leads nowhere."""


def normalized(path: str, schema: Structural, *, brackets: bool = True) -> tuple[str, Structural]:
    """The path as errors show it, and what it leads to. Raises FieldPathError."""
    made, node = "", schema
    tokens = [match[0] for match in _TOKEN.finditer(path)]
    place = 0

    def following() -> str:
        nonlocal place
        if place >= len(tokens):
            raise FieldPathError("unexpected end of JSON path")
        place += 1
        return tokens[place - 1]

    while place < len(tokens):
        token = following()
        if token == "[":
            if not brackets:
                raise FieldPathError("array notation is not allowed")
            made, node = _stepped(made, node, _unquoted(following()))
            if (closing := following()) != "]":
                raise FieldPathError(f"expected ] but got {closing}")
        elif token == ".":
            made, node = _stepped(made, node, following())
        else:
            raise FieldPathError(f"expected [ or . but got: {token}")
    return made, node


def _unquoted(token: str) -> str:
    if len(token) < 2 or token[0] != "'" or token[-1] != "'":
        raise FieldPathError(f"expected single quoted string but got {token}")

    def letter(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise FieldPathError(f"invalid string literal: invalid escape char {match[0]}")
        return _ESCAPES[match[1]]

    return re.sub(r"\\(.)", letter, token[1:-1])


def _stepped(made: str, node: Structural, name: str) -> tuple[str, Structural]:
    if node.raw.get("properties") is not None:
        if name not in node.properties:
            raise FieldPathError("does not refer to a valid field")
        return (f"{made}.{name}" if made else name), node.properties[name]
    if not node.is_map:
        raise FieldPathError("does not refer to a valid field")
    return f"{made}[{name}]", node.values or Structural({})
