"""The type check: what every part of an expression is, which overloads its calls may mean, and what is wrong with it.

Source: cel-go checker/checker.go, checker/errors.go. Lists and maps may be mixed here; literals.py says where not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.api.cel import types
from engine.api.cel.functions import Function, Overload
from engine.api.cel.syntax import CompileError, Issue, Node, Source
from engine.api.cel.types import Substitution, Type, most_general
from engine.api.cel.values import type_of

_LOGICAL = frozenset(("_&&_", "_||_"))


class Declarations(Protocol):
    """What an expression may speak of."""

    variables: Mapping[str, Type]
    functions: Mapping[str, Function]
    type_names: Mapping[str, Type]

    def field(self, type_name: str, name: str) -> Type | None: ...

    def struct(self, name: str) -> Type | None:
        """A type that can be written as a literal."""
        ...


@dataclass(slots=True)
class Checked:
    root: Node
    types: dict[Node, Type] = field(default_factory=dict)
    overloads: dict[Node, list[Overload]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)  # of the variables that are spoken of

    @property
    def result(self) -> Type:
        return self.types[self.root]


def check(root: Node, source: str, declarations: Declarations) -> Checked:
    """Raises CompileError."""
    checker = _Checker(root, declarations)
    checker.check(root)
    if checker.issues:
        raise CompileError(Source(source).shown(checker.issues))
    made = checker.made
    made.types = {node: checker.known.applied(type_, to_dyn=True) for node, type_ in made.types.items()}
    return made


class _Checker:
    def __init__(self, root: Node, declarations: Declarations) -> None:
        self.made = Checked(root)
        self.issues: list[Issue] = []
        self.known = Substitution()
        self._declared = declarations
        self._scopes: list[dict[str, Type]] = []
        self._fresh = 0

    def check(self, node: Node) -> Type:
        made: Type = getattr(self, f"_{node.kind}")(node)
        self.made.types[node] = made
        return made

    def _report(self, offset: int, text: str) -> Type:
        self.issues.append(Issue(offset, text))
        return types.ERROR

    def _shown(self, type_: Type) -> str:
        return str(self.known.applied(type_))

    def _new(self) -> Type:
        self._fresh += 1
        return Type("param", f"_var{self._fresh - 1}")

    @contextmanager
    def _scope(self, **variables: Type) -> Iterator[None]:
        self._scopes.append(variables)
        yield
        self._scopes.pop()

    # -- names

    def _const(self, node: Node) -> Type:
        return type_of(node.value)

    def _variable(self, name: str) -> Type | None:
        bare = name.lstrip(".")
        for scope in [] if name.startswith(".") else reversed(self._scopes):
            if name in scope:
                return scope[name]
        if bare in self._declared.variables:
            self.made.names.add(bare)
            return self._declared.variables[bare]
        found = self._declared.type_names.get(bare)
        return types.type_of_type(found) if found is not None else None

    def _ident(self, node: Node) -> Type:
        found = self._variable(node.name)
        if found is None:
            return self._undeclared(node.offset, node.name)
        return found

    def _undeclared(self, offset: int, name: str) -> Type:
        return self._report(offset, f"undeclared reference to '{name}' (in container '')")

    def _select(self, node: Node) -> Type:
        name = None if node.test else _qualified(node)
        if name is not None and (name in self._declared.variables or name in self._declared.type_names):
            node.kind, node.name, node.target = "ident", name, None
            return self._ident(node)
        assert node.target is not None
        owner = self.check(node.target)
        found_type = self._field(node.offset, owner, node.name, optional=False)
        return types.BOOL if node.test else found_type

    def _field(self, offset: int, owner: Type, name: str, *, optional: bool) -> Type:
        owner = self.known.applied(owner)
        wrapped = owner.is_optional
        target = owner.params[0] if wrapped else owner
        made = types.DYN
        match target.kind:
            case "map":
                made = target.params[1]
            case "struct":
                found = self._declared.field(target.name, name)
                made = found if found is not None else self._report(offset, f"undefined field '{name}'")
            case "param":
                self.known.assignable(types.DYN, target)
            case "dyn" | "any" | "error":
                pass
            case _:
                self._report(offset, f"type '{self._shown(target)}' does not support field selection")
        made = self.known.applied(made)
        return types.optional_of(made) if wrapped or optional else made

    # -- calls

    def _call(self, node: Node) -> Type:
        if node.name == "_?._" and node.target is None:
            return self._optional_select(node)
        if node.target is not None:
            return self._member_call(node, node.target)
        argument_types = [self.check(each) for each in node.args]
        function = self._declared.functions.get(node.name.lstrip("."))
        if function is None:
            return self._undeclared(node.offset, node.name)
        return self._resolve(node, function, argument_types, member=False)

    def _member_call(self, node: Node, target: Node) -> Type:
        argument_types = [self.check(each) for each in node.args]
        prefix = _qualified(target)
        if prefix is not None and (function := self._declared.functions.get(f"{prefix}.{node.name}")) is not None:
            node.name, node.target = function.name, None
            return self._resolve(node, function, argument_types, member=False)
        target_type = self.check(target)
        function = self._declared.functions.get(node.name)
        if function is None:
            return self._undeclared(node.offset, node.name)
        return self._resolve(node, function, [target_type, *argument_types], member=True)

    def _optional_select(self, node: Node) -> Type:
        owner, field_node = node.args
        owner_type = self.check(owner)
        self.made.types[field_node] = types.STRING
        if field_node.kind != "const" or not isinstance(field_node.value, str):
            return self._report(field_node.offset, "unsupported optional field selection")
        made = self._field(node.offset, owner_type, field_node.value, optional=True)
        self.made.overloads[node] = list(self._declared.functions["_?._"].overloads)
        return made

    def _resolve(self, node: Node, function: Function, given: list[Type], *, member: bool) -> Type:
        if function.name in _LOGICAL:
            return self._logic(node, function, given)
        result: Type | None = None
        chosen: list[Overload] = []
        for overload in function.overloads:
            if overload.member != member:
                continue
            params, made = self._instantiated(overload)
            if not self.known.all_assignable(params, tuple(given)):
                continue
            chosen.append(overload)
            made = self.known.applied(made)
            if result is None:
                result = made
            elif not result.is_dyn and made != result:
                result = types.DYN
        if result is None:
            return self._no_overload(node, function.name, given, member=member)
        self.made.overloads[node] = chosen
        return result

    def _logic(self, node: Node, function: Function, given: list[Type]) -> Type:
        """Each side must be a truth for itself, and is told of where it is none."""
        wrong = [pair for pair in zip(node.args, given, strict=True) if not self.known.assignable(types.BOOL, pair[1])]
        for side, found in wrong:
            self._mismatch(side.offset, types.BOOL, found)
        self.made.overloads[node] = list(function.overloads)
        return types.ERROR if wrong else types.BOOL

    def _no_overload(self, node: Node, name: str, given: list[Type], *, member: bool) -> Type:
        shown = [str(self.known.applied(each, to_dyn=True)) for each in given]
        applied = f"{shown[0]}.({', '.join(shown[1:])})" if member else f"({', '.join(shown)})"
        return self._report(node.offset, f"found no matching overload for '{name}' applied to '{applied}'")

    def _instantiated(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        names: dict[Type, Type] = {}

        def fresh(type_: Type) -> Type:
            if type_.kind == "param":
                return names.setdefault(type_, names.get(type_) or self._new())
            return Type(type_.kind, type_.name, tuple(map(fresh, type_.params))) if type_.params else type_

        return tuple(map(fresh, overload.params)), fresh(overload.result)

    # -- aggregates

    def _list(self, node: Node) -> Type:
        item: Type | None = None
        for index, each in enumerate(node.args):
            item = self._joined(item, self._element(each, optional=index in node.optional))
        return types.list_of(item if item is not None else self._new())

    def _element(self, node: Node, *, optional: bool) -> Type:
        found = self.check(node)
        if not optional:
            return found
        shown = self.known.applied(found)
        if shown.is_optional:
            return shown.params[0]
        if shown.is_dyn:
            return shown
        wanted = types.optional_of(shown)
        return self._mismatch(node.offset, wanted, found)

    def _joined(self, before: Type | None, found: Type) -> Type:
        if before is None:
            return found
        return most_general(before, found) if self.known.assignable(before, found) else types.DYN

    def _mismatch(self, offset: int, wanted: Type, found: Type) -> Type:
        return self._report(offset, f"expected type '{self._shown(wanted)}' but found '{self._shown(found)}'")

    def _map(self, node: Node) -> Type:
        key: Type | None = None
        value: Type | None = None
        for index, (key_node, value_node) in enumerate(zip(node.keys, node.args, strict=True)):
            key = self._joined(key, self.check(key_node))
            found = self._element(value_node, optional=index in node.optional)
            value = self._joined(value, found)
        if key is None or value is None:
            return types.map_of(self._new(), self._new())
        return types.map_of(key, value)

    def _struct(self, node: Node) -> Type:
        made = self._declared.struct(node.name.lstrip("."))
        found = self._variable(node.name) if made is None else None
        if made is None and found is None:
            return self._undeclared(node.offset, node.name)  # what its fields are given is not looked at
        if found is not None:
            made = self._report(node.offset, f"'{found.type_name}' is not a type")
        elif made is not None and made.kind != "struct":
            made = self._report(node.offset, f"'{made.type_name}' is not a message type")
        assert made is not None
        for index, ((name, offset), value) in enumerate(zip(node.keys, node.args, strict=True)):
            given = self._element(value, optional=index in node.optional)
            if made.kind != "struct":
                continue
            wanted = self._declared.field(made.name, name)
            if wanted is None:
                self._report(offset, f"undefined field '{name}'")
            elif not self.known.assignable(wanted, given):
                self._report(
                    offset,
                    f"expected type of field '{name}' is '{self._shown(wanted)}' but provided type is "
                    f"'{self._shown(given)}'",
                )
        return made

    # -- loops

    def _comprehension(self, node: Node) -> Type:
        loop = node.loop
        assert loop is not None
        over = self.known.applied(self.check(loop.range))
        accumulated = self.check(loop.init)
        items = self._items(loop.range, over, two=bool(loop.second))
        variables = {name: type_ for name, type_ in zip((loop.variable, loop.second), items, strict=True) if name}
        with self._scope(**{loop.accumulator: accumulated}):
            with self._scope(**variables):
                self._must_be(loop.condition, types.BOOL)
                self._must_be(loop.step, accumulated)
            return self.known.applied(self.check(loop.result))

    def _items(self, node: Node, over: Type, *, two: bool) -> tuple[Type, Type]:
        match over.kind:
            case "list":
                return (types.INT, over.params[0]) if two else (over.params[0], types.DYN)
            case "map":
                return over.params[0], over.params[1]
            case "dyn" | "any" | "error" | "param":
                self.known.assignable(types.DYN, over)
                return types.DYN, types.DYN
        self._report(
            node.offset,
            f"expression of type '{self._shown(over)}' cannot be range of a comprehension "
            "(must be list, map, or dynamic)",
        )
        return types.ERROR, types.ERROR

    def _must_be(self, node: Node, wanted: Type) -> None:
        found = self.check(node)
        if not self.known.assignable(wanted, found):
            self._mismatch(node.offset, wanted, found)


def _qualified(node: Any) -> str | None:
    """The dotted name that a chain of selections is; None for what is none."""
    if node.kind == "ident":
        return str(node.name)
    if node.kind == "select" and not node.test:
        owner = _qualified(node.target)
        return f"{owner}.{node.name}" if owner is not None else None
    return None
