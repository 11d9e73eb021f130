"""Whether the fields that a rule asks for are there: the part of CEL's type check that needs the resource's schema.

The runtime is told that objects are maps of anything; their fields are checked here, in cel-go's words. It takes no
times and durations from outside either: they come as texts, which are made what they are where a rule speaks of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from engine.api.crd.cel.escaping import escaped
from engine.api.crd.cel.syntax import Node, Tree
from engine.api.crd.structural import Structural

_META = Structural({"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}})
_STRING = Structural({"type": "string"})

# Formats of text that rules see as times and durations, and the functions that make these.
INSTANTS: Mapping[str, str] = {
    "date": "kubernetesTime",
    "date-time": "kubernetesTime",
    "datetime": "kubernetesTime",
    "duration": "kubernetesDuration",
}
_NAME = re.compile(r"(?:\.\s*)?\w+")

Scope = dict[str, "Typed | None"]


class Typed:
    """A node of the schema, and whether its value has type and metadata besides."""

    def __init__(self, schema: Structural, *, resource: bool = False) -> None:
        self.schema = schema
        self.resource = resource or schema.embedded

    def field(self, name: str) -> tuple[bool, Typed | None]:
        """Whether there is such a field, and its type as far as it is known."""
        schema = self.schema
        if self.resource and name in ("apiVersion", "kind", "metadata"):
            return True, Typed(_META if name == "metadata" else _STRING)
        for key, node in schema.properties.items():
            if escaped(key) == name:
                return True, Typed(node)
        if schema.has_values:
            return True, Typed(schema.values) if schema.values is not None else None
        open_ = not schema.properties and not self.resource
        return open_ and (schema.preserve or schema.type != "object"), None

    @property
    def element(self) -> Typed | None:
        node = self.schema.items or self.schema.values
        return Typed(node) if node is not None else None


class Found(NamedTuple):
    """`errors` has a text for every field that is asked for and is not there; `instants` are the places in the source
    right behind which a text stands that is a time or a duration, and what makes it one."""

    errors: list[str]
    instants: list[tuple[int, str]]


def looked_up(tree: Tree, source: str, self_type: Typed) -> Found:
    walk = _Walk(tree, source)
    walk.type_of(tree.root, {"self": self_type, "oldSelf": self_type})
    return Found(walk.errors, walk.instants)


class _Walk:
    def __init__(self, tree: Tree, source: str) -> None:
        self.errors: list[str] = []
        self.instants: list[tuple[int, str]] = []
        self._tree = tree
        self._source = source

    def type_of(self, node: Node | None, scope: Scope) -> Typed | None:
        """The type of a node, as far as it is known; what is wrong below it is noted."""
        if node is None:
            return None
        found = self._found(node, scope)
        if found is not None and not node.test and (made := INSTANTS.get(found.schema.format)):
            self._note_instant(node, made)
        return found

    def _found(self, node: Node, scope: Scope) -> Typed | None:
        match node.kind:
            case "ident":
                return scope.get(node.name)
            case "select":
                owner = self.type_of(node.target, scope)
                if owner is None:
                    return None
                there, below = owner.field(node.name)
                if not there:
                    self._report(node)
                return below
            case "call":
                found = [self.type_of(each, scope) for each in (node.target, *node.args)]
                return found[1].element if node.name == "_[_]" and found[1] is not None else None
            case "comprehension" if node.loop is not None:
                self._loop(node, scope)
                return None
        for each in node.children():
            self.type_of(each, scope)
        return None

    def _loop(self, node: Node, scope: Scope) -> None:
        assert node.loop is not None
        name, range_, accumulator, init, condition, step, end = node.loop
        over = self.type_of(range_, scope)
        is_list = over is not None and over.schema.items is not None
        inner: Scope = {**scope, name: over.element if over is not None and is_list else None, accumulator: None}
        self.type_of(init, scope)
        for part in (condition, step):
            self.type_of(part, inner)
        self.type_of(end, {**scope, accumulator: None})

    def _report(self, node: Node) -> None:
        source, offset = self._source, self._tree.offsets.get(node.id, 0)
        line = source.count("\n", 0, offset)
        column = offset - source.rfind("\n", 0, offset) - 1
        shown = source.split("\n")[line]
        self.errors.append(
            f"ERROR: <input>:{line + 1}:{column + 1}: undefined field '{node.name}'\n | {shown}\n | {'.' * column}^"
        )

    def _note_instant(self, node: Node, made: str) -> None:
        offset = self._tree.offsets.get(node.id)
        if offset is None:
            return
        if node.kind == "call":
            end = _closing(self._source, offset)
        else:
            match = _NAME.match(self._source, offset)
            end = match.end() if match is not None else 0
        if end:
            self.instants.append((end, made))


def _closing(source: str, start: int) -> int:
    """Right behind the bracket that closes the one at `start`; 0 where that cannot be told."""
    if source[start : start + 1] != "[" or any(quote in source[start:] for quote in "'\""):
        return 0
    depth = 0
    for place in range(start, len(source)):
        depth += {"[": 1, "]": -1}.get(source[place], 0)
        if not depth:
            return place + 1
    return 0
