"""The checked expression that the CEL runtime hands out, as a tree: which fields a rule asks for, and where.

Read from the protocol buffer (cel.expr.CheckedExpr, syntax.proto and checked.proto of the CEL specification).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Fields = dict[int, list[Any]]


@dataclass(slots=True)
class Node:
    """`kind` is constant, ident, select, call, list, struct or comprehension; `name` is of ident, field or function."""

    id: int
    kind: str
    name: str = ""
    test: bool = False
    target: Node | None = None
    args: list[Node] = field(default_factory=list)
    loop: tuple[str, Node, str, Node, Node, Node, Node] | None = None  # var, range, accumulator, init, while, step, end

    def children(self) -> Iterator[Node]:
        if self.target is not None:
            yield self.target
        yield from self.args
        if self.loop is not None:
            _, range_, _, init, condition, step, end = self.loop
            yield from (range_, init, condition, step, end)


@dataclass(slots=True)
class Tree:
    root: Node
    offsets: dict[int, int]  # of every node, in characters from the start of the rule

    def names(self) -> set[str]:
        """The variables that are spoken of."""
        found: set[str] = set()
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node.kind == "ident":
                found.add(node.name)
            waiting.extend(node.children())
        return found


def read(serialized: bytes) -> Tree:
    checked = _fields(_fields(serialized)[2][0])
    info = _fields(checked[5][0]) if 5 in checked else {}
    offsets = {}
    for entry in info.get(4, ()):
        pair = _fields(entry)
        offsets[pair.get(1, [0])[0]] = pair.get(2, [0])[0]
    return Tree(_node(checked[4][0]), offsets)


def _fields(data: bytes) -> Fields:
    found: Fields = {}
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        number, wire = tag >> 3, tag & 7
        value: Any
        if wire == 0:
            value, place = _varint(data, place)
        elif wire == 2:
            size, place = _varint(data, place)
            value, place = data[place : place + size], place + size
        else:
            size = 8 if wire == 1 else 4
            value, place = data[place : place + size], place + size
        found.setdefault(number, []).append(value)
    return found


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7


def _text(fields: Fields, number: int) -> str:
    return fields[number][0].decode() if number in fields else ""


def _node(data: bytes) -> Node:
    fields = _fields(data)
    identity = fields.get(2, [0])[0]
    if 4 in fields:
        return Node(identity, "ident", _text(_fields(fields[4][0]), 1))
    if 5 in fields:
        select = _fields(fields[5][0])
        return Node(identity, "select", _text(select, 2), bool(select.get(3, [0])[0]), _node(select[1][0]))
    if 6 in fields:
        call = _fields(fields[6][0])
        target = _node(call[1][0]) if 1 in call else None
        return Node(identity, "call", _text(call, 2), False, target, [_node(each) for each in call.get(3, ())])
    if 7 in fields:
        return Node(identity, "list", args=[_node(each) for each in _fields(fields[7][0]).get(1, ())])
    if 8 in fields:
        return Node(identity, "struct", args=list(_entries(_fields(fields[8][0]))))
    if 9 in fields:
        return _comprehension(identity, _fields(fields[9][0]))
    return Node(identity, "constant")


def _entries(struct: Fields) -> Iterator[Node]:
    for data in struct.get(2, ()):
        entry = _fields(data)
        for number in (3, 4):
            if number in entry:
                yield _node(entry[number][0])


def _comprehension(identity: int, loop: Fields) -> Node:
    parts = [_node(loop[number][0]) for number in (2, 4, 5, 6, 7)]
    range_, init, condition, step, end = parts
    names = _text(loop, 1), _text(loop, 3)
    return Node(identity, "comprehension", loop=(names[0], range_, names[1], init, condition, step, end))
