"""Macros: calls that are loops or tests once they are written out.

Source: cel-go parser/macro.go, ext/comprehensions.go, ext/lists.go (sortBy).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from engine.api.cel.syntax import Loop, Node

ACCUMULATOR = "@result"
_NO_NAME = "argument is not an identifier"


class MacroError(ValueError):
    def __init__(self, offset: int, text: str) -> None:
        super().__init__(text)
        self.offset = offset


Expander = Callable[[int, Node, list[Node]], Node]


class Macros(NamedTuple):
    """Which are known besides those that always are: `cel.bind`, loops with two variables, `sortBy`."""

    binding: bool = False
    pairs: bool = True
    sorting: bool = True


def expanded(name: str, offset: int, target: Node | None, args: list[Node], known: Macros) -> Node | None:
    """The expression that a macro stands for; None for a call that is no macro. Raises MacroError."""
    if target is None:
        return _has(offset, args) if name == "has" and len(args) == 1 else None
    if known.binding and name == "bind" and len(args) == 3 and (target.kind, target.name) == ("ident", "cel"):
        return _bind(offset, args)
    called = (name, len(args))
    expander = _MACROS.get(called)
    if expander is None and known.pairs:
        expander = _PAIRS.get(called)
    if expander is None and known.sorting and called == ("sortBy", 2):
        expander = _sort_by
    return expander(offset, target, args) if expander is not None else None


def _has(offset: int, args: list[Node]) -> Node:
    field = args[0]
    if field.kind != "select" or field.test:
        raise MacroError(field.offset, "invalid argument to has() macro")
    return Node("select", offset, field.name, test=True, target=field.target)


def _variable(node: Node, otherwise: str = "argument must be a simple name") -> str:
    if node.kind != "ident":
        raise MacroError(node.offset, otherwise)
    if node.name == ACCUMULATOR or node.name == "__result__":
        raise MacroError(node.offset, "iteration variable overwrites accumulator variable")
    return node.name


class _Maker:
    """Nodes that all stand where the macro does."""

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def call(self, name: str, *args: Node) -> Node:
        return Node("call", self.offset, name, args=list(args))

    def const(self, value: object) -> Node:
        return Node("const", self.offset, value=value)

    def list(self, *items: Node) -> Node:
        return Node("list", self.offset, args=list(items))

    def result(self) -> Node:
        return Node("ident", self.offset, ACCUMULATOR)

    def loop(
        self,
        names: tuple[str, str],
        range_: Node,
        init: Node,
        step: Node,
        condition: Node | None = None,
        result: Node | None = None,
    ) -> Node:
        loop = Loop(
            names[0], names[1], range_, ACCUMULATOR, init, condition or self.const(True), step, result or self.result()
        )
        return Node("comprehension", self.offset, loop=loop)

    def all(self, names: tuple[str, str], range_: Node, predicate: Node) -> Node:
        condition = self.call("@not_strictly_false", self.result())
        step = self.call("_&&_", self.result(), predicate)
        return self.loop(names, range_, self.const(True), step, condition)

    def exists(self, names: tuple[str, str], range_: Node, predicate: Node) -> Node:
        condition = self.call("@not_strictly_false", self.call("!_", self.result()))
        step = self.call("_||_", self.result(), predicate)
        return self.loop(names, range_, self.const(False), step, condition)

    def exists_one(self, names: tuple[str, str], range_: Node, predicate: Node) -> Node:
        more = self.call("_+_", self.result(), self.const(1))
        step = self.call("_?_:_", predicate, more, self.result())
        return self.loop(names, range_, self.const(0), step, result=self.call("_==_", self.result(), self.const(1)))

    def gather(self, names: tuple[str, str], range_: Node, made: Node, *, only: Node | None, init: Node) -> Node:
        step = self.call("_?_:_", only, made, self.result()) if only is not None else made
        return self.loop(names, range_, init, step)


def _quantifier(how: str) -> Expander:
    def one(offset: int, target: Node, args: list[Node]) -> Node:
        maker = _Maker(offset)
        made: Node = getattr(maker, how)((_variable(args[0]), ""), target, args[1])
        return made

    return one


def _quantifier_of_two(how: str) -> Expander:
    def two(offset: int, target: Node, args: list[Node]) -> Node:
        made: Node = getattr(_Maker(offset), how)(_two(args), target, args[2])
        return made

    return two


def _two(args: list[Node]) -> tuple[str, str]:
    first, second = _variable(args[0]), _variable(args[1])
    if first == second:
        raise MacroError(args[1].offset, f"duplicate variable name: {second}")
    return first, second


def _map(offset: int, target: Node, args: list[Node]) -> Node:
    maker, only = _Maker(offset), args[1] if len(args) == 3 else None
    made = maker.call("_+_", maker.result(), maker.list(args[-1]))
    return maker.gather((_variable(args[0], _NO_NAME), ""), target, made, only=only, init=maker.list())


def _filter(offset: int, target: Node, args: list[Node]) -> Node:
    maker, name = _Maker(offset), _variable(args[0], _NO_NAME)
    made = maker.call("_+_", maker.result(), maker.list(args[0]))
    return maker.gather((name, ""), target, made, only=args[1], init=maker.list())


def _transform_list(offset: int, target: Node, args: list[Node]) -> Node:
    maker, only = _Maker(offset), args[2] if len(args) == 4 else None
    made = maker.call("_+_", maker.result(), maker.list(args[-1]))
    return maker.gather(_two(args), target, made, only=only, init=maker.list())


def _transform_map(offset: int, target: Node, args: list[Node]) -> Node:
    maker, only, names = _Maker(offset), args[2] if len(args) == 4 else None, _two(args)
    made = maker.call("cel.@mapInsert", maker.result(), Node("ident", offset, names[0]), args[-1])
    return maker.gather(names, target, made, only=only, init=Node("map", offset))


def _transform_entry(offset: int, target: Node, args: list[Node]) -> Node:
    maker, only = _Maker(offset), args[2] if len(args) == 4 else None
    made = maker.call("cel.@mapInsert", maker.result(), args[-1])
    return maker.gather(_two(args), target, made, only=only, init=Node("map", offset))


def _bound(offset: int, name: str, value: Node, result: Node) -> Node:
    """The result with a name for a value: a loop over nothing."""
    maker = _Maker(offset)
    loop = Loop("#unused", "", maker.list(), name, value, maker.const(False), Node("ident", offset, name), result)
    return Node("comprehension", offset, loop=loop)


def _bind(offset: int, args: list[Node]) -> Node:
    return _bound(offset, _variable(args[0], "cel.bind() variable names must be simple identifiers"), args[1], args[2])


_SORTABLE = frozenset(("list", "select", "ident", "comprehension", "call"))


def _sort_by(offset: int, target: Node, args: list[Node]) -> Node:
    """The list, ordered by the list of its elements' keys as cel-go writes it out."""
    if target.kind not in _SORTABLE:
        raise MacroError(
            target.offset, "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        )
    name = "@__sortBy_input__"
    keys = _map(offset, Node("ident", offset, name), args)
    ordered = Node("call", offset, "@sortByAssociatedKeys", target=Node("ident", offset, name), args=[keys])
    return _bound(offset, name, target, ordered)


def _opt_map(*, flat: bool) -> Expander:
    def of_optional(offset: int, target: Node, args: list[Node]) -> Node:
        macro = "optFlatMap" if flat else "optMap"
        maker, name = _Maker(offset), _variable(args[0], f"{macro}() variable name must be a simple identifier")
        value = Node("call", offset, "value", target=target)
        bound = _bound(offset, name, value, args[1])
        found = bound if flat else maker.call("optional.of", bound)
        there = Node("call", offset, "hasValue", target=target)
        return maker.call("_?_:_", there, found, maker.call("optional.none"))

    return of_optional


_MACROS: dict[tuple[str, int], Expander] = {
    ("all", 2): _quantifier("all"),
    ("exists", 2): _quantifier("exists"),
    ("exists_one", 2): _quantifier("exists_one"),
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("optMap", 2): _opt_map(flat=False),
    ("optFlatMap", 2): _opt_map(flat=True),
}
_PAIRS: dict[tuple[str, int], Expander] = {
    ("all", 3): _quantifier_of_two("all"),
    ("exists", 3): _quantifier_of_two("exists"),
    ("existsOne", 3): _quantifier_of_two("exists_one"),
    ("exists_one", 3): _quantifier_of_two("exists_one"),
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_entry,
    ("transformMapEntry", 4): _transform_entry,
}
