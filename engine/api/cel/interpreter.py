"""Running a checked expression, and counting what it costs.

An expression becomes a tree of closures over a Frame once; running it calls them. Source of the behaviour: cel-go
interpreter (planner.go, attributes.go, runtimecost.go; decorators.go for what is done once and costs nothing).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.api.cel import attributes
from engine.api.cel.attributes import is_attribute, root_costs
from engine.api.cel.call_costs import LIST_BASE, MAP_BASE, STRUCT_BASE, call_cost
from engine.api.cel.checker import Checked
from engine.api.cel.functions import Overload
from engine.api.cel.library.optionals import element, optional_field, optional_index
from engine.api.cel.mismatches import NO_OVERLOAD
from engine.api.cel.operators import shown_key
from engine.api.cel.syntax import Node
from engine.api.cel.types import Type, is_nullable
from engine.api.cel.values import CostExceeded, EvaluationError, Failed, Optional, Struct, as_key


class Frame:
    """The variables of one run, and what it has cost."""

    __slots__ = ("cost", "limit", "names")

    def __init__(self, names: Mapping[str, Any], limit: int) -> None:
        self.names = dict(names)
        self.limit = limit
        self.cost = 0

    def spend(self, cost: int) -> None:
        self.cost += cost
        if self.cost > self.limit:
            raise CostExceeded


Step = Callable[[Frame], Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`error` is "" for an expression that came to its end; what it cost counts in any case."""

    value: Any
    error: str
    cost: int


EXCEEDED = "operation cancelled: actual cost limit exceeded"


def run(step: Step, names: Mapping[str, Any], limit: int) -> Outcome:
    frame = Frame(names, limit)
    try:
        return Outcome(step(frame), "", frame.cost)
    except EvaluationError as error:
        return Outcome(None, str(error), frame.cost)
    except CostExceeded:
        return Outcome(None, EXCEEDED, frame.cost)
    except RecursionError:
        return Outcome(None, "internal error: stack overflow", frame.cost)


_TAKES: Mapping[str, Callable[[Any, Any], Any]] = {"_[_]": element, "_[?_]": optional_index, "_?._": optional_field}
_CONVERSIONS = frozenset(("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"))


def plan(checked: Checked, type_names: Mapping[str, Type]) -> Step:
    """Raises EvaluationError for a literal that cannot be converted."""
    return _Planner(checked, type_names).step(checked.root)


class _Planner:
    def __init__(self, checked: Checked, type_names: Mapping[str, Type]) -> None:
        self._checked = checked
        self._type_names = type_names
        self._known: dict[Node, Any] = {}  # what comes to the same in every run, and costs nothing

    def step(self, node: Node) -> Step:
        made: Step = getattr(self, f"_{node.kind}")(node)
        if not self._is_constant(node):
            return made
        try:
            value = self._known[node] = made(Frame({}, sys.maxsize))
        except EvaluationError:
            if node.kind == "call":
                raise
            return made
        return lambda frame: value

    def _is_constant(self, node: Node) -> bool:
        if node.kind == "ident":
            return node.name.lstrip(".") in self._type_names and self._checked.types[node].kind == "type"
        if node.kind == "call" and (node.name not in _CONVERSIONS or node.target is not None):
            return False
        return node.kind in ("const", "list", "map", "call") and all(each in self._known for each in node.children())

    def _is_set(self, node: Node) -> bool:
        """Whether it is looked up at no cost if something is in this list, which is as it is written."""
        items = self._known.get(node)
        return (
            node.kind == "list"
            and isinstance(items, list)
            and all(isinstance(item, str | int | float) for item in items)
        )

    # -- values and names

    def _const(self, node: Node) -> Step:
        value = node.value
        return lambda frame: value

    def _ident(self, node: Node) -> Step:
        name = node.name.lstrip(".")
        type_ = self._type_names.get(name)

        def step(frame: Frame) -> Any:
            frame.spend(1)
            if name in frame.names:
                value = frame.names[name]
                if value.__class__ is Failed:
                    raise value.error
                return value
            if type_ is not None:
                return type_
            raise EvaluationError(f"no such attribute(s): {name}")

        return step

    def _select(self, node: Node) -> Step:
        assert node.target is not None
        owner_step, name = self.step(node.target), node.name
        cost, test_cost = 1 if is_attribute(node.target) else 2, 0 if root_costs(node.target) else 1

        def select(frame: Frame) -> Any:
            owner = owner_step(frame)
            if owner.__class__ is not Optional:
                frame.spend(cost)
                return attributes.field_of(owner, name)
            found = optional_field(owner, name)
            frame.spend(cost if found.there else cost - 1)
            return found

        def has(frame: Frame) -> bool:
            owner = owner_step(frame)
            frame.spend(test_cost)
            if not isinstance(owner, dict):
                return optional_field(owner, name).there
            if (value := owner.get(name)).__class__ is Failed:
                raise value.error
            return name in owner

        return has if node.test else select

    def _inner(self, node: Node) -> Step:
        """An attribute within another, where what it starts from is not counted."""
        step = self.step(node)
        if node in self._known or not root_costs(node):
            return step

        def inner(frame: Frame) -> Any:
            frame.cost -= 1
            return step(frame)

        return inner

    # -- calls

    def _call(self, node: Node) -> Step:
        match node.name:
            case "_&&_" | "_||_":
                return self._logic(node, decisive=node.name == "_||_")
            case name if name in attributes.CONDITIONAL:
                return self._choice(node)
            case "@not_strictly_false":
                return self._not_strictly_false(node)
            case "or" | "orValue" if node.target is not None and self._checked.types[node.target].is_optional:
                return self._otherwise(node, node.target)
            case name if name in _TAKES:
                return self._index(node)
            case "@in" if node.args[1].kind == "list" and not node.args[1].args:
                return lambda frame: False
        return self._function(node)

    def _logic(self, node: Node, *, decisive: bool) -> Step:
        """The side that decides alone makes the other's errors and types not matter; of two errors the first counts."""
        left, right = (self.step(each) for each in node.args)

        def step(frame: Frame) -> bool:
            error: EvaluationError | None = None
            one: object = None
            try:
                one = left(frame)
                if one is decisive:
                    return decisive
            except EvaluationError as found:
                error = found
            other: object = None
            try:
                other = right(frame)
                if other is decisive:
                    return decisive
            except EvaluationError as found:
                error = error or found
            if error is not None:
                raise error
            if not isinstance(one, bool) or not isinstance(other, bool):
                raise EvaluationError(NO_OVERLOAD)
            return not decisive

        return step

    def _choice(self, node: Node) -> Step:
        condition, yes, no = self.step(node.args[0]), self._inner(node.args[1]), self._inner(node.args[2])

        def step(frame: Frame) -> Any:
            found = condition(frame)
            if not isinstance(found, bool):
                raise EvaluationError(NO_OVERLOAD)
            return yes(frame) if found else no(frame)

        return step

    def _not_strictly_false(self, node: Node) -> Step:
        inner = self.step(node.args[0])

        def step(frame: Frame) -> bool:
            try:
                found = inner(frame)
            except EvaluationError:
                found = True
            frame.spend(1)
            return found is not False

        return step

    def _otherwise(self, node: Node, target: Node) -> Step:
        first, second, unwrap = self.step(target), self.step(node.args[0]), node.name == "orValue"

        def step(frame: Frame) -> Any:
            found = first(frame)
            if not isinstance(found, Optional):
                raise EvaluationError(NO_OVERLOAD)
            if found.there:
                return found.value if unwrap else found
            return second(frame)

        return step

    def _function(self, node: Node) -> Step:
        nodes = [node.target, *node.args] if node.target is not None else node.args
        steps, overloads = [self.step(each) for each in nodes], self._checked.overloads[node]
        name, identity = node.name, overloads[0].identity if len(overloads) == 1 else ""
        free = name == "@in" and self._is_set(nodes[1])
        only = overloads[0] if identity and self._is_certain(nodes, overloads[0]) else None

        def step(frame: Frame) -> Any:
            args, wrong = _evaluated(steps, frame)
            try:
                if wrong is not None:
                    raise wrong
                overload = only or attributes.chosen(name, overloads, args)
                result = overload.run(*args)
            except EvaluationError:
                frame.spend(0 if free else call_cost(name, identity, args, None))
                raise
            frame.spend(0 if free else call_cost(name, identity, args, result))
            return result

        return step

    def _index(self, node: Node) -> Step:
        """What an owner is that the checker does not know, or that is null, is seen as it runs."""
        owner, key, take = self.step(node.args[0]), self._inner(node.args[1]), _TAKES[node.name]
        cost = 1 if is_attribute(node.args[0]) else 2

        def step(frame: Frame) -> Any:
            args = owner(frame), key(frame)
            try:
                result = take(*args)
            except EvaluationError:
                frame.spend(cost)
                raise
            if result.__class__ is Failed:
                raise result.error
            frame.spend(cost - attributes.is_absent(result))
            return result

        return step

    def _is_certain(self, nodes: list[Node], overload: Overload) -> bool:
        """Whether the checker knows enough for the values not to be looked at."""
        return all(
            wanted.kind in ("param", "dyn") or not (is_nullable(wanted) or self._checked.types[each].is_dyn_or_error)
            for each, wanted in zip(nodes, overload.params, strict=True)
        )

    # -- aggregates

    def _list(self, node: Node) -> Step:
        steps, optional = [self.step(each) for each in node.args], node.optional

        def made_of(frame: Frame) -> list[Any]:
            made = []
            for index, each in enumerate(steps):
                value = each(frame)
                if index not in optional:
                    made.append(value)
                elif attributes.option(value).there:
                    made.append(value.value)
            return made

        return _aggregate(made_of, LIST_BASE)

    def _map(self, node: Node) -> Step:
        steps = [(self.step(key), self.step(value)) for key, value in zip(node.keys, node.args, strict=True)]
        optional = node.optional

        def made_of(frame: Frame) -> dict[Any, Any]:
            made: dict[Any, Any] = {}
            for index, (key_step, value_step) in enumerate(steps):
                key, value = key_step(frame), value_step(frame)
                if not isinstance(key, str | int):
                    raise EvaluationError("unsupported key type")
                if index in optional:
                    if not attributes.option(value).there:
                        continue
                    value = value.value
                if (held := as_key(key)) in made:
                    raise EvaluationError(f"Failed with repeated key [{shown_key(key)}]")
                made[held] = value
            return made

        return _aggregate(made_of, MAP_BASE)

    def _struct(self, node: Node) -> Step:
        steps = [(name, self.step(value)) for (name, _), value in zip(node.keys, node.args, strict=True)]
        optional, type_name = node.optional, node.name.lstrip(".")

        def made_of(frame: Frame) -> Struct:
            made = Struct(type_name, {})
            for index, (name, value_step) in enumerate(steps):
                value = value_step(frame)
                if index not in optional:
                    made[name] = value
                elif attributes.option(value).there:
                    made[name] = value.value
            return made

        return _aggregate(made_of, STRUCT_BASE)

    # -- loops

    def _comprehension(self, node: Node) -> Step:
        loop = node.loop
        assert loop is not None
        over, init, condition, step, result = (
            self.step(each) for each in (loop.range, loop.init, loop.condition, loop.step, loop.result)
        )
        first, second, accumulator = loop.variable, loop.second, loop.accumulator
        endless = loop.condition.kind == "const" and loop.condition.value is True

        def run_loop(frame: Frame) -> Any:
            items = attributes.pairs(over(frame), two=bool(second))
            outer, names = frame.names, dict(frame.names)
            made = init(frame)
            frame.names = names
            try:
                for key, value in items:
                    names[accumulator], names[first] = made, key
                    if second:
                        names[second] = value
                    if not endless and condition(frame) is False:
                        break
                    made = _attempt(step, frame)
                names[accumulator] = made
                return result(frame)
            finally:
                frame.names = outer

        return run_loop


def _aggregate(made_of: Step, cost: int) -> Step:
    """Which costs also where what it would be made of fails."""

    def step(frame: Frame) -> Any:
        try:
            return made_of(frame)
        finally:
            frame.spend(cost)

    return step


def _evaluated(steps: list[Step], frame: Frame) -> tuple[list[Any], EvaluationError | None]:
    """Of two arguments the second is looked at even if the first fails, and the call is counted."""
    args: list[Any] = []
    wrong: EvaluationError | None = None
    for step in steps:
        try:
            args.append(step(frame))
        except EvaluationError as error:
            if len(steps) > 2:
                raise
            args.append(None)
            wrong = wrong or error
    return args, wrong


def _attempt(step: Step, frame: Frame) -> Any:
    try:
        return step(frame)
    except EvaluationError as error:
        return Failed(error)
