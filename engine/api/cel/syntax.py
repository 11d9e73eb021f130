"""The expression as a tree, and the place in the source that an error points to.

Source of the shapes: cel-go common/ast, common/source.go, common/error.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, eq=False)
class Node:
    """`kind` is const, ident, select, call, list, map, struct or comprehension.

    `name` is of ident, field, function or message type; `args` are arguments, elements, or the values of fields and
    entries, whose keys are in `keys` (names for a struct). `optional` holds the places of elements and entries with a
    question mark.
    """

    kind: str
    offset: int
    name: str = ""
    value: Any = None
    test: bool = False
    target: Node | None = None
    args: list[Node] = field(default_factory=list)
    keys: list[Any] = field(default_factory=list)
    optional: frozenset[int] = frozenset()
    loop: Loop | None = None

    def children(self) -> Iterator[Node]:
        if self.target is not None:
            yield self.target
        if self.kind == "map":
            yield from self.keys
        yield from self.args
        if self.loop is not None:
            loop = self.loop
            yield from (loop.range, loop.init, loop.condition, loop.step, loop.result)

    def depth(self) -> int:
        deepest, level = 0, [self]
        while level:
            deepest += 1
            level = [child for node in level for child in node.children()]
        return deepest

    def walk(self) -> Iterator[Node]:
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.children())


@dataclass(slots=True, eq=False)
class Loop:
    """A comprehension: what every macro over lists and maps becomes."""

    variable: str
    second: str
    range: Node
    accumulator: str
    init: Node
    condition: Node
    step: Node
    result: Node


class CompileError(ValueError):
    """The message is cel-go's, with the place of every error."""


class ProgramError(CompileError):
    """The expression is right, but cannot be run."""


@dataclass(frozen=True, slots=True, order=True)
class Issue:
    offset: int
    text: str


_MOST_SHOWN = 100


class Source:
    def __init__(self, text: str) -> None:
        self.text = text

    def shown(self, issues: list[Issue]) -> str:
        """The first that were found, in the order of their places."""
        kept = sorted(issues[:_MOST_SHOWN], key=lambda each: each.offset)
        more = len(issues) - len(kept)
        shown = [self._shown(issue) for issue in kept]
        return "\n".join([*shown, f"{more} more errors were truncated"] if more else shown)

    def _shown(self, issue: Issue) -> str:
        start = self.text.rfind("\n", 0, issue.offset) + 1
        number, column = self.text.count("\n", 0, issue.offset) + 1, issue.offset - start
        line = self.text[start:].split("\n", 1)[0].replace("\t", " ")
        dots = "".join("．" if ord(letter) > 127 else "." for letter in line[:column])
        wide = column < len(line) and ord(line[column]) > 127
        return f"ERROR: <input>:{number}:{column + 1}: {issue.text}\n | {line}\n | {dots}{'＾' if wide else '^'}"
