"""What an expression may cost at most, by the sizes that the schema allows (cel-go checker/cost.go).

`sizes` tells how large a value is at most, by its path from a variable: field names, `@items`, `@keys`, `@values`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from engine.api.cel.call_costs import LIST_BASE, MAP_BASE, STRUCT_BASE
from engine.api.cel.checker import Checked
from engine.api.cel.macros import ACCUMULATOR
from engine.api.cel.syntax import Loop, Node
from engine.api.cel.types import Type

MAX = 2**64 - 1

Path = tuple[str, ...]
Sizes = Callable[[Path], "int | None"]


class Range(NamedTuple):
    """From least to most: of a size, or of a cost."""

    least: int
    most: int

    def plus(self, other: Range) -> Range:
        return Range(min(self.least + other.least, MAX), min(self.most + other.most, MAX))

    def times(self, other: Range) -> Range:
        return Range(min(self.least * other.least, MAX), min(self.most * other.most, MAX))

    def by(self, factor: float) -> Range:
        return Range(_scaled(self.least, factor), _scaled(self.most, factor))

    def union(self, other: Range) -> Range:
        return Range(min(self.least, other.least), max(self.most, other.most))


def _scaled(value: int, factor: float) -> int:
    if factor and value > MAX / factor:
        return MAX
    return min(math.ceil(float(value) * factor), MAX)


NOTHING, ONE, UNKNOWN = Range(0, 0), Range(1, 1), Range(0, MAX)


@dataclass(frozen=True, slots=True)
class Entries:
    """The sizes of the keys and values of a list or a map that the expression makes."""

    kind: str
    key: Range
    value: Range

    def union(self, other: Entries | None) -> Entries | None:
        return Entries(self.kind, self.key.union(other.key), self.value.union(other.value)) if other else None


@dataclass(frozen=True, slots=True)
class Local:
    path: Path
    size: Range | None
    entries: Entries | None = None


class Estimate(NamedTuple):
    cost: Range
    result: Range | None = None


CallEstimator = Callable[["Estimator", Node, str, list[Range]], Estimate]


class Estimator:
    """Estimates of one expression; `cost` is all that is asked of it from outside."""

    def __init__(self, checked: Checked, sizes: Sizes, of_call: CallEstimator) -> None:
        self._checked = checked
        self._of_call = of_call
        self._sizes = sizes
        self._paths: dict[Node, Path] = {}
        self._known: dict[Node, Range] = {}
        self._entries: dict[Node, Entries] = {}
        self._locals: dict[str, list[Local]] = {}

    @property
    def total(self) -> Range:
        return self.cost(self._checked.root)

    def cost(self, node: Node) -> Range:
        made: Range = getattr(self, f"_{node.kind}")(node)
        return made

    def type_of(self, node: Node) -> Type:
        return self._checked.types[node]

    def path(self, node: Node) -> Path:
        if node.kind == "ident" and (local := self._local(node.name)) is not None:
            return local.path
        return self._paths.get(node, ())

    def _local(self, name: str) -> Local | None:
        found = self._locals.get(name)
        return found[-1] if found else None

    # -- names

    def _const(self, node: Node) -> Range:
        return NOTHING

    def _ident(self, node: Node) -> Range:
        local = self._local(node.name)
        self._paths[node] = local.path if local is not None else (node.name,)
        return ONE

    def _select(self, node: Node) -> Range:
        assert node.target is not None
        total = self.cost(node.target)
        if node.test:
            return total
        if self.type_of(node.target).kind in ("map", "struct", "param"):
            total = total.plus(ONE)
        self._paths[node] = (*self.path(node.target), node.name)
        return total

    # -- calls

    def _call(self, node: Node) -> Range:
        if node.name == "dyn":
            return self._dyn(node)
        costs = [self.cost(each) for each in node.args]
        overloads = self._checked.overloads.get(node)
        if not overloads:
            return NOTHING
        total = self.cost(node.target) if node.target is not None else NOTHING
        of_call, result = Range(MAX, 0), None
        for overload in overloads:
            estimate = self._of_call(self, node, overload.identity, costs)
            of_call = of_call.union(estimate.cost)
            if estimate.result is not None:
                result = result.union(estimate.result) if result is not None else estimate.result
            if overload.identity in ("index_list", "index_map"):
                entries = self.entries(node.args[0])
                result = entries.value if entries is not None else None
                step = "@items" if overload.identity == "index_list" else "@values"
                self._paths[node] = (*self.path(node.args[0]), step)
            if result is None:
                result = self.size(node)
        if result is not None:
            self._known[node] = result
        return total.plus(of_call)

    def _dyn(self, node: Node) -> Range:
        total = self.cost(node.args[0])
        self._copy(node, node.args[0])
        return total.plus(ONE)

    def _copy(self, node: Node, source: Node) -> None:
        if (size := self.size(source)) is not None:
            self._known[node] = size
        self.set_entries(node, self.entries(source))

    # -- aggregates

    def _list(self, node: Node) -> Range:
        total, item = NOTHING, Range(MAX if node.args else 0, 0)
        for each in node.args:
            total = total.plus(self.cost(each))
            item = item.union(self.size_or_unknown(each))
        self._entries[node] = Entries("list", ONE, item)
        return total.plus(Range(LIST_BASE, LIST_BASE))

    def _map(self, node: Node) -> Range:
        least = MAX if node.args else 0
        total, keys, values = NOTHING, Range(least, 0), Range(least, 0)
        for key, value in zip(node.keys, node.args, strict=True):
            total = total.plus(self.cost(key)).plus(self.cost(value))
            keys, values = keys.union(self.size_or_unknown(key)), values.union(self.size_or_unknown(value))
        self._entries[node] = Entries("map", keys, values)
        return total.plus(Range(MAP_BASE, MAP_BASE))

    def _struct(self, node: Node) -> Range:
        total = Range(STRUCT_BASE, STRUCT_BASE)
        for each in node.args:
            total = total.plus(self.cost(each))
        return total

    # -- loops

    def _comprehension(self, node: Node) -> Range:
        loop = node.loop
        assert loop is not None
        if loop.accumulator != ACCUMULATOR:
            return self._bound(node, loop)
        total = self.cost(loop.range).plus(self.cost(loop.init))
        self._push(loop.accumulator, Local(self.path(loop.init), self.size(loop.init), self.entries(loop.init)))
        variables = self._variables(loop)
        for name, local in variables:
            self._push(name, local)
        each = self.cost(loop.condition)
        each = self.cost(loop.step).plus(each)
        for name, _ in variables:
            self._locals[name].pop()
        total = total.plus(self.cost(loop.result))
        self._locals[loop.accumulator].pop()
        count = self.size_or_unknown(loop.range)
        self._set_result(node, loop, count)
        return total.plus(count.times(each))

    def _set_result(self, node: Node, loop: Loop, count: Range) -> None:
        if loop.init.kind == "const":
            size = self.size(loop.init)
            if size is not None:
                self._known[node] = size
        elif loop.init.kind in ("list", "map"):
            self._known[node] = count
            self.set_entries(node, self.entries(loop.step))

    def _bound(self, node: Node, loop: Loop) -> Range:
        total = self.cost(loop.range).plus(self.cost(loop.init))
        self._push(loop.accumulator, Local(self.path(loop.init), self.size(loop.init), self.entries(loop.init)))
        total = total.plus(self.cost(loop.result))
        self._copy(node, loop.result)
        self._locals[loop.accumulator].pop()
        return total

    def _push(self, name: str, local: Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _variables(self, loop: Loop) -> list[tuple[str, Local]]:
        entries, path = self.entries(loop.range), self.path(loop.range)
        is_list = (entries.kind if entries is not None else self.type_of(loop.range).kind) == "list"
        key, value = (entries.key, entries.value) if entries is not None else (None, None)
        if loop.second:
            first = Local((*path, "@indices" if is_list else "@keys"), key)
            return [(loop.variable, first), (loop.second, Local((*path, "@items" if is_list else "@values"), value))]
        step, size = ("@items", value) if is_list else ("@keys", key)
        return [(loop.variable, Local((*path, step), size))]

    # -- sizes

    def size(self, node: Node) -> Range | None:
        if node in self._known:
            return self._known[node]
        if (fixed := _fixed_size(node)) is not None:
            return fixed
        found = self.size_at(self.path(node))
        if found is not None:
            self._known[node] = found
            return found
        if _is_scalar(self.type_of(node)):
            return ONE
        local = self._local(node.name) if node.kind == "ident" else None
        return local.size if local is not None else None

    def size_at(self, path: Path) -> Range | None:
        if not path or path[0] == ACCUMULATOR:
            return None
        most = self._sizes(path)
        return Range(0, most) if most is not None else None

    def size_or_unknown(self, node: Node) -> Range:
        found = self.size(node)
        return found if found is not None else UNKNOWN

    def entries(self, node: Node) -> Entries | None:
        if node in self._entries:
            return self._entries[node]
        local = self._local(node.name) if node.kind == "ident" else None
        return local.entries if local is not None else None

    def set_entries(self, node: Node, entries: Entries | None) -> None:
        if entries is not None:
            self._entries[node] = entries


def _fixed_size(node: Node) -> Range | None:
    if node.kind == "const":
        size = len(node.value) if isinstance(node.value, str | bytes) else 1
    elif node.kind in ("list", "map"):
        size = len(node.args)
    else:
        return None
    return Range(size, size)


def _is_scalar(type_: Type) -> bool:
    if type_.is_optional:
        return _is_scalar(type_.params[0])
    return type_.kind in ("bool", "double", "duration", "int", "timestamp", "uint")
