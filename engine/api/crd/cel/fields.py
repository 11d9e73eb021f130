"""Whether the fields that a rule asks for are there: the part of CEL's type check that needs the resource's schema.

The runtime is told that objects are maps of anything; their fields are checked here, in cel-go's words.
"""

from __future__ import annotations

from engine.api.crd.cel.escaping import escaped
from engine.api.crd.cel.syntax import Node, Tree
from engine.api.crd.structural import Structural

_META = Structural({"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}})
_STRING = Structural({"type": "string"})

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


def undefined_fields(tree: Tree, source: str, self_type: Typed) -> list[str]:
    """An error text for every field that is asked for and is not there."""
    errors: list[str] = []

    def report(node: Node) -> None:
        offset = tree.offsets.get(node.id, 0)
        line = source.count("\n", 0, offset)
        start = source.rfind("\n", 0, offset) + 1
        column = offset - start
        shown = source.split("\n")[line]
        errors.append(
            f"ERROR: <input>:{line + 1}:{column + 1}: undefined field '{node.name}'\n | {shown}\n | {'.' * column}^"
        )

    _type_of(tree.root, {"self": self_type, "oldSelf": self_type}, report)
    return errors


def _type_of(node: Node | None, scope: Scope, report: object) -> Typed | None:
    assert callable(report)
    if node is None:
        return None
    match node.kind:
        case "ident":
            return scope.get(node.name)
        case "select":
            owner = _type_of(node.target, scope, report)
            if owner is None:
                return None
            there, below = owner.field(node.name)
            if not there:
                report(node)
            return below
        case "call":
            found = [_type_of(each, scope, report) for each in (node.target, *node.args)]
            return found[1].element if node.name == "_[_]" and found[1] is not None else None
        case "comprehension" if node.loop is not None:
            _loop(node, scope, report)
            return None
    for each in node.children():
        _type_of(each, scope, report)
    return None


def _loop(node: Node, scope: Scope, report: object) -> None:
    assert node.loop is not None
    name, range_, accumulator, init, condition, step, end = node.loop
    over = _type_of(range_, scope, report)
    is_list = over is not None and over.schema.items is not None
    inner: Scope = {**scope, name: over.element if over is not None and is_list else None, accumulator: None}
    _type_of(init, scope, report)
    for part in (condition, step):
        _type_of(part, inner, report)
    _type_of(end, {**scope, accumulator: None}, report)
