"""Compiling the rules of a node, and what they may cost.

Source: apiextensions-apiserver pkg/apiserver/schema/cel (compilation.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.cel import types
from engine.api.cel.environment import PER_CALL_LIMIT, Environment, Program
from engine.api.cel.interpreter import Outcome
from engine.api.cel.releases import Release
from engine.api.cel.syntax import CompileError
from engine.api.cel.types import Type
from engine.api.crd.cel.declarations import Declaration, declared
from engine.api.crd.structural import Structural

# Upstream gives the type of `self` another name each time, so that nobody comes to count on it.
_SELF = "selfType"


class Expression:
    def __init__(self, program: Program, declaration: Declaration) -> None:
        self._program = program
        self._declaration = declaration

    @property
    def uses_old(self) -> bool:
        return "oldSelf" in self._program.names

    @property
    def cost(self) -> int:
        """The most that it can cost to ask it once."""
        return self._program.estimate(self._declaration.size_at).most

    def run(self, values: Mapping[str, Any], *, limit: int = PER_CALL_LIMIT) -> Outcome:
        return self._program.run(values, limit=limit)


class Compiler:
    """Compiles the rules of one node. `root` says that it is a resource, with type and metadata."""

    def __init__(self, schema: Structural, *, root: bool) -> None:
        self.declaration = declared(schema, _SELF, resource=root)
        self._environments: dict[tuple[bool, Release | None], Environment] = {}

    def rule(self, source: str, *, optional: bool = False, release: Release | None = None) -> Expression:
        """`release` is the one in which it is new. Raises CompileError."""
        return self._compiled(source, types.BOOL, (optional, release), prefix="")

    def message(self, source: str, *, optional: bool = False, release: Release | None = None) -> Expression:
        """Raises CompileError. A message is checked with the variables of its rule, `optional` or not."""
        return self._compiled(source, types.STRING, (optional, release), prefix="messageExpression ")

    def _compiled(self, source: str, wanted: Type, known: tuple[bool, Release | None], *, prefix: str) -> Expression:
        if self.declaration is None:
            raise CompileError("rule declared on schema that does not support validation rules")
        try:
            program = self._environment(self.declaration, known).compile(source)
        except CompileError as error:
            raise CompileError(f"{prefix}{error}") from None
        if program.result != wanted:
            what = "cel expression" if wanted == types.BOOL else "messageExpression"
            raise CompileError(f"{what} must evaluate to a {wanted}")
        return Expression(program, self.declaration)

    def _environment(self, declaration: Declaration, known: tuple[bool, Release | None]) -> Environment:
        found = self._environments.get(known)
        if found is None:
            own, (optional, release) = declaration.type, known
            variables = {"self": own, "oldSelf": types.optional_of(own) if optional else own}
            found = Environment(variables, structs=declaration.structs(), release=release)
            self._environments[known] = found
        return found
