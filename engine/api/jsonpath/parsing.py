"""From the text of a template to its nodes (client-go util/jsonpath/parser.go)."""

from __future__ import annotations

import re

from engine.api.jsonpath.nodes import (
    Actions,
    Filter,
    Identifier,
    JsonPathError,
    Literal,
    Member,
    Node,
    Recursive,
    Slice,
    Text,
    Union,
    Wildcard,
)
from engine.api.jsonpath.quoting import unquoted

_TERMINATORS = frozenset(" \t\r\n.,[]$@{}")
_QUOTED_KEY = re.compile(r"'([^']*)'")
_SLICE = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?")
_NUMBER = re.compile(r"[+-]?[\d.]*")
_ARRAY = re.compile(r"[^\]\n]*\]")
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)")


def parse(template: str) -> list[Node]:
    """The texts and actions of a template, in order. Raises JsonPathError."""
    return _Parser(template).nodes


def _action(text: str) -> Actions:
    """A part of an action, read as one of its own."""
    first = parse(f"{{{text}}}")[0]
    assert isinstance(first, Actions)
    return first


class _Parser:
    def __init__(self, template: str) -> None:
        self._text = template
        self._place = 0
        self.nodes: list[Node] = []
        while self._place < len(template):
            brace = template.find("{", self._place)
            end = len(template) if brace < 0 else brace
            if end > self._place:
                self.nodes.append(Text(template[self._place : end]))
            self._place = end + 1
            if brace >= 0:
                actions = Actions()
                self.nodes.append(actions)
                self._inside(actions.nodes)

    @property
    def _next(self) -> str:
        """ "" at the end."""
        return self._text[self._place : self._place + 1]

    def _inside(self, nodes: list[Node]) -> None:
        """All up to the brace that closes the action."""
        while True:
            if self._text.startswith("[?(", self._place):
                self._filter(nodes)
                continue
            if self._text.startswith("..", self._place):
                self._recursive(nodes)
                continue
            char = self._next
            if char in ("", "\r", "\n"):
                raise JsonPathError("unclosed action")
            if char in "}@$ .[\"'":
                self._place += 1
            if char == "}":
                return
            if char in "@$ ":
                continue
            if char == ".":
                nodes.append(self._field())
            elif char == "[":
                nodes += self._array()
            elif char in "\"'":
                nodes.append(self._quoted(char))
            elif char in "+-" or char.isdecimal():
                nodes.append(self._number())
            elif char == "_" or char.isalpha():
                nodes.append(self._identifier())
            else:
                raise JsonPathError(f"unrecognized character in action: {_named(char)}")

    def _recursive(self, nodes: list[Node]) -> None:
        if nodes and isinstance(nodes[-1], Recursive):
            raise JsonPathError("invalid multiple recursive descent")
        self._place += 2
        nodes.append(Recursive())
        if self._next == "_" or self._next.isalpha() or self._next.isdecimal():
            nodes.append(self._field())

    def _field(self) -> Node:
        start = self._place
        while (char := self._next) and char not in _TERMINATORS:
            self._place += 2 if char == "\\" else 1
        name = self._text[start : self._place]
        return Wildcard() if name == "*" else Member(name.replace("\\", ""))

    def _identifier(self) -> Node:
        start = self._place
        while (char := self._next) and char not in _TERMINATORS:
            self._place += 1
        name = self._text[start : self._place]
        return Literal(name == "true") if name in ("true", "false") else Identifier(name)

    def _number(self) -> Node:
        match = _NUMBER.match(self._text, self._place)
        assert match is not None
        self._place = match.end()
        try:
            value = float(match[0])
            return Literal(int(match[0]) if "." not in match[0] and abs(value) < 1 << 63 else value)
        except ValueError:
            raise JsonPathError(f"cannot parse number {match[0]}") from None

    def _quoted(self, quote: str) -> Node:
        start = self._place - 1
        while True:
            char = self._next
            if char in ("", "\n"):
                raise JsonPathError("unterminated quoted string")
            self._place += 1
            if char == quote and self._text[self._place - 2] != "\\":
                return Text(unquoted(self._text[start : self._place]))

    def _array(self) -> list[Node]:
        match = _ARRAY.match(self._text, self._place)
        if match is None:
            raise JsonPathError("unterminated array")
        self._place = match.end()
        inside = match[0][:-1]
        inside = ":" if inside == "*" else inside
        if "," in inside:
            return [Union([_action(f"[{part.strip(' ')}]") for part in inside.split(",")])]
        if (key := _QUOTED_KEY.fullmatch(inside)) is not None:
            return _action(f".{key[1]}").nodes
        return [_slice(inside)]

    def _filter(self, nodes: list[Node]) -> None:
        self._place += 3
        start = self._place
        self._place = self._end_of_filter()
        inside = self._text[start : self._place - 1]
        if self._next != "]":
            raise JsonPathError("unclosed array expect ]")
        self._place += 1
        if (parts := _COMPARISON.fullmatch(inside)) is not None:
            nodes.append(Filter(_action(parts[1]), _action(parts[3]), parts[2]))
        else:
            nodes.append(Filter(_action(inside), Actions(), "exists"))

    def _end_of_filter(self) -> int:
        """Behind the parenthesis that ends it, which is none within the first quotes."""
        quote, closed = "", False
        for place in range(self._place, len(self._text)):
            char = self._text[place]
            if char == "\n":
                break
            if char in "\"'" and not quote:
                quote = char
            elif char == quote and self._text[place - 1] != "\\":
                closed = True
            elif char == ")" and bool(quote) == closed:
                return place + 1
        raise JsonPathError("unterminated filter")


def _slice(text: str) -> Slice:
    match = _SLICE.fullmatch(text)
    if match is None:
        raise JsonPathError(f"invalid array index {text}")
    start, end, step = (_index(part) for part in match.groups(default=""))
    if match[2]:
        return Slice(start, end, step)
    return Slice(start, (start or 0) + 1, step, single=True)


def _index(part: str) -> int | None:
    number = part.removeprefix(":")
    if not number:
        return None
    try:
        value = int(number)
    except ValueError:
        value = 1 << 64
    if not -(1 << 63) <= value < 1 << 63:
        raise JsonPathError(f"array index {number} is not a number")
    return value


def _named(char: str) -> str:
    """A character as Go's `%#U` prints it."""
    return f"U+{ord(char):04X} '{char}'" if char.isprintable() else f"U+{ord(char):04X}"
