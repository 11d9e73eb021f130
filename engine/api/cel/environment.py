"""Expressions with the variables, types and functions that they may speak of: what is compiled, and how it runs.

Source: apiserver pkg/cel/environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from engine.api.cel import types
from engine.api.cel.checker import Checked, check
from engine.api.cel.costs import UNKNOWN, Estimator, Range, Sizes
from engine.api.cel.estimates import call_estimate
from engine.api.cel.functions import Function, Library, joined
from engine.api.cel.grammar import TOO_DEEP
from engine.api.cel.interpreter import Outcome, plan, run
from engine.api.cel.library import authorization
from engine.api.cel.library.addresses import CIDR, IP, URL
from engine.api.cel.library.named_formats import FORMAT
from engine.api.cel.library.patches import literal_field, literal_type, patches
from engine.api.cel.library.quantities import QUANTITY
from engine.api.cel.library.versions import SEMVER
from engine.api.cel.literals import wrong_literals, wrong_pattern
from engine.api.cel.parser import parse
from engine.api.cel.releases import Release, functions, macros
from engine.api.cel.stack import room
from engine.api.cel.syntax import CompileError, ProgramError, Source
from engine.api.cel.types import Type
from engine.api.cel.values import EvaluationError

PER_CALL_LIMIT = 1_000_000
_MAX_SIZE = 100_000
_SHALLOW = 50  # runs on the stack that there is, wherever it is asked for
_BASIC = (
    types.BOOL, types.INT, types.UINT, types.DOUBLE, types.STRING, types.BYTES, types.TYPE, types.TIMESTAMP,
    types.DURATION, types.NULL, types.list_of(types.DYN), types.map_of(types.DYN, types.DYN),
    types.optional_of(types.DYN), IP, CIDR, URL, FORMAT, QUANTITY, SEMVER, *authorization.TYPES,
)  # fmt: skip
Fields = Mapping[str, Type]


@lru_cache(maxsize=1)
def _type_names() -> Mapping[str, Type]:
    return {_named(type_): type_ for type_ in _BASIC}


def _named(type_: Type) -> str:
    return type_.type_name if type_.kind != "type" else "type"


class Environment:
    """`structs` are the fields of the types that variables are of. `literals` says that objects and patches can be
    written; `binding` that there is `cel.bind`; `release` is the one in which an expression is new."""

    def __init__(
        self,
        variables: Mapping[str, Type],
        *,
        structs: Mapping[str, Fields] | None = None,
        literals: bool = False,
        binding: bool = False,
        libraries: Iterable[Library] = (),
        release: Release | None = None,
    ) -> None:
        self.variables = variables
        self._structs = structs or {}
        self._literals = literals
        self._macros = macros(release, binding=binding)
        self.type_names = _type_names()
        extra = [*libraries, patches()] if literals else list(libraries)
        self.functions = functions(release) if not extra else _extended(functions(release), extra)

    def field(self, type_name: str, name: str) -> Type | None:
        if type_name in self._structs:
            return self._structs[type_name].get(name)
        return literal_field(type_name, name) if self._literals else None

    def struct(self, name: str) -> Type | None:
        found = literal_type(name) if self._literals else None
        return found if found is not None else self.type_names.get(name)

    def compile(self, source: str) -> Program:
        """Raises CompileError."""
        if len(source) > _MAX_SIZE:
            raise CompileError(
                "compilation failed: ERROR: <input>:-1:0: expression code point size exceeds limit: "
                f"size: {len(source)}, limit {_MAX_SIZE}"
            )
        try:
            with room:
                return self._compile(source)
        except RecursionError:
            raise CompileError(f"compilation failed: {TOO_DEEP}") from None

    def _compile(self, source: str) -> Program:
        try:
            checked = check(parse(source, self._macros), source, self)
        except CompileError as error:
            raise CompileError(f"compilation failed: {error}") from None
        wrong = list(wrong_literals(checked))
        if wrong:
            raise CompileError(f"compilation failed: {Source(source).shown(wrong)}")
        if why := wrong_pattern(checked):
            raise ProgramError(f"program instantiation failed: {why}")
        try:
            return Program(checked, self)
        except EvaluationError as error:
            raise ProgramError(f"program instantiation failed: {error}") from None


def _extended(known: Mapping[str, Function], libraries: list[Library]) -> Mapping[str, Function]:
    base = Library()
    base.functions = dict(known)
    return joined(base, *libraries)


class Program:
    """A compiled expression."""

    def __init__(self, checked: Checked, environment: Environment) -> None:
        self.checked = checked
        self._environment = environment
        self._step = plan(checked, environment.type_names)
        self._deep = checked.root.depth() > _SHALLOW

    @property
    def result(self) -> Type:
        return self.checked.result

    @property
    def names(self) -> set[str]:
        """The variables that the expression speaks of."""
        return self.checked.names

    def run(self, values: Mapping[str, Any], *, limit: int = PER_CALL_LIMIT) -> Outcome:
        if not self._deep:
            return run(self._step, values, limit)
        with room:
            return run(self._step, values, limit)

    def estimate(self, sizes: Sizes) -> Range:
        try:
            with room:
                return Estimator(self.checked, sizes, call_estimate).total
        except RecursionError:
            return UNKNOWN
