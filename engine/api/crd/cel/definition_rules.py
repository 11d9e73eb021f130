"""The rules of a definition's schema: whether they compile, and whether they cost too much.

Source of the texts: apiextensions-apiserver pkg/apis/apiextensions/validation (validation.go, cel_validation.go).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.api.cel.costs import MAX
from engine.api.cel.syntax import CompileError
from engine.api.crd.cel.compiling import Compiler
from engine.api.crd.internal_form import internal_rule
from engine.api.crd.structural import Structural
from engine.api.types import Object
from engine.api.validation.new_expressions import STORED, NewExpressions
from engine.api.validation.problems import Problems

_EXPRESSION_LIMIT = 10_000_000
_TOTAL_LIMIT = 100_000_000
_WORTH_NAMING = _TOTAL_LIMIT // 100
_NAMED = 4
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
    "declared)"
)
_CONTRIBUTED = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
_TOTAL = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"


@dataclass(slots=True)
class Total:
    """What all rules of a schema cost together, and which of them cost most. `named` says that each must keep to its
    own limit too, which rules need not that were there before."""

    named: bool = True
    cost: int = 0
    expensive: list[tuple[int, str]] = field(default_factory=list)

    def add(self, path: str, cost: int) -> None:
        self.cost = min(self.cost + cost, MAX)
        if cost >= _WORTH_NAMING:
            self.expensive.append((cost, path))
            self.expensive.sort(key=lambda each: -each[0])
            del self.expensive[_NAMED:]

    def report(self, path: str, problems: Problems) -> None:
        if self.cost <= _TOTAL_LIMIT:
            return
        for _, at in self.expensive:
            problems.forbidden(at, _CONTRIBUTED)
        problems.forbidden(path, over_budget(_TOTAL, self.cost, _TOTAL_LIMIT))


def over_budget(what: str, cost: int, limit: int) -> str:
    factor = cost / limit
    shown = "more than 100x" if factor > 100 else f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    return f"{what} exceeds budget by factor of {shown} {_ADVICE}"


@dataclass(frozen=True, slots=True)
class Count:
    """How many values of a node an object can have, None for as many as fit; `root` for those that are resources."""

    root: bool = True
    most: int | None = 1

    def each(self, limit: int | None, *, root: bool) -> Count:
        most = self.most * limit if self.most is not None and limit is not None else None
        return Count(root, most)


def check_rules(
    schema: Structural,
    path: str,
    problems: Problems,
    total: Total,
    count: Count,
    *,
    lost: str,
    new: NewExpressions = STORED,
) -> None:
    """The rules of one node; `lost` is where values cannot be told from each other, "" for nowhere."""
    node = _Node(schema, problems, total, count, lost, new)
    for index, rule in enumerate(schema.rules):
        node.rule(rule, f"{path}.x-kubernetes-validations[{index}]")


class _Node:
    def __init__(
        self, schema: Structural, problems: Problems, total: Total, count: Count, lost: str, new: NewExpressions
    ) -> None:
        self._problems = problems
        self._new = new
        self._total = total
        self._count = count
        self._lost = lost
        self._compiler = Compiler(schema, root=count.root)

    def rule(self, rule: Object, path: str) -> None:
        problems, optional, source = self._problems, rule.get("optionalOldSelf"), rule["rule"]
        try:
            release = self._new.release_of(source)
            expression = self._compiler.rule(source, optional=bool(optional), release=release)
        except CompileError as error:
            problems.invalid(f"{path}.rule", internal_rule(rule), str(error))
            expression = None
        if expression is not None:
            self._cost(expression.cost * self._most(), f"{path}.rule", "estimated rule cost")
            if rule.get("messageExpression"):
                self._message(rule, f"{path}.messageExpression")
        if expression is not None and expression.uses_old:
            if self._lost:
                text = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {self._lost}"
                problems.invalid(f"{path}.rule", rule["rule"], text)
        elif optional is not None:
            problems.invalid(f"{path}.optionalOldSelf", optional, "may not be set if oldSelf is not used in rule")

    def _message(self, rule: Object, path: str) -> None:
        source, optional = rule["messageExpression"], bool(rule.get("optionalOldSelf"))
        try:
            expression = self._compiler.message(source, optional=optional, release=self._new.release_of(source))
        except CompileError as error:
            self._problems.invalid(path, internal_rule(rule), str(error))
            return
        self._cost(expression.cost, path, "estimated messageExpression cost")

    def _most(self) -> int:
        declaration = self._compiler.declaration
        assert declaration is not None
        return self._count.most if self._count.most is not None else declaration.cardinality

    def _cost(self, cost: int, path: str, what: str) -> None:
        cost = min(cost, MAX)
        if self._total.named and cost > _EXPRESSION_LIMIT:
            self._problems.forbidden(path, over_budget(what, cost, _EXPRESSION_LIMIT))
        self._total.add(path, cost)
