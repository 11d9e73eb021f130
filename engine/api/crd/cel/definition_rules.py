"""The rules of a definition's schema: whether they compile, and whether they cost too much.

Source of the texts: apiextensions-apiserver pkg/apis/apiextensions/validation (validation.go, cel_validation.go).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engine.api.cel.costs import MAX
from engine.api.cel.syntax import CompileError
from engine.api.crd.cel.compiling import Compiler, Expression
from engine.api.crd.cel.field_paths import FieldPathError, normalized
from engine.api.crd.structural import Structural
from engine.api.types import Object
from engine.api.validation.problems import Problems

_EXPRESSION_LIMIT = 10_000_000
_TOTAL_LIMIT = 100_000_000
_WORTH_NAMING = _TOTAL_LIMIT // 100
_NAMED = 4
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
    "declared)"
)
_CONTRIBUTED = (
    "contributed to estimated rule & messageExpression cost total exceeding cost limit for entire OpenAPIv3 schema"
)
_TOTAL = "x-kubernetes-validations estimated rule & messageExpression cost total for entire OpenAPIv3 schema"


@dataclass(slots=True)
class Total:
    """What all rules of a schema cost together, and which of them cost most."""

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
class Place:
    """`count` is how many such values an object can have, None for as many as fit; within `lost` old values cannot be
    told from each other."""

    root: bool = True
    count: int | None = 1
    lost: str = ""

    def each(self, limit: int | None, *, lost: str = "") -> Place:
        count = self.count * limit if self.count is not None and limit is not None else None
        return replace(self, count=count, lost=self.lost or lost)


def check_rules(schema: Structural, path: str, problems: Problems) -> None:
    if schema.has_rules:
        total = Total()
        _check(schema, path, problems, total, Place())
        total.report(path, problems)


def _check(schema: Structural, path: str, problems: Problems, total: Total, place: Place) -> None:
    if not schema.has_rules:
        return
    if schema.rules:
        _Node(schema, problems, total, place).check(path)
    for name, node in schema.properties.items():
        _check(node, f"{path}.properties[{name}]", problems, total, replace(place, root=node.embedded))
    if schema.values is not None:
        below = replace(place.each(schema.raw.get("maxProperties")), root=schema.values.embedded)
        _check(schema.values, f"{path}.additionalProperties", problems, total, below)
    if schema.items is not None:
        lost = "" if schema.list_type == "map" else f"{path}.items"
        below = replace(place.each(schema.raw.get("maxItems"), lost=lost), root=schema.items.embedded)
        _check(schema.items, f"{path}.items", problems, total, below)


class _Node:
    def __init__(self, schema: Structural, problems: Problems, total: Total, place: Place) -> None:
        self._schema = schema
        self._problems = problems
        self._total = total
        self._place = place
        self._compiler = Compiler(schema, root=place.root)

    def check(self, path: str) -> None:
        for index, rule in enumerate(self._schema.rules):
            self._rule(rule, f"{path}.x-kubernetes-validations[{index}]")

    def _rule(self, rule: Object, path: str) -> None:
        problems, optional = self._problems, rule.get("optionalOldSelf")
        if rule.get("fieldPath") and (wrong := self._wrong_path(rule["fieldPath"])):
            problems.invalid(f"{path}.fieldPath", rule["fieldPath"], f"fieldPath must be a valid path: {wrong}")
        if not rule["rule"].strip():
            return
        try:
            expression = self._compiler.rule(rule["rule"], optional=bool(optional))
        except CompileError as error:
            problems.invalid(f"{path}.rule", rule, str(error))
            return
        self._cost(expression, f"{path}.rule", "estimated rule cost")
        if rule.get("messageExpression"):
            self._message(rule, f"{path}.messageExpression")
        if expression.uses_old and self._place.lost:
            text = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {self._place.lost}"
            problems.invalid(f"{path}.rule", rule["rule"], text)
        elif not expression.uses_old and optional is not None:
            problems.invalid(f"{path}.optionalOldSelf", optional, "may not be set if oldSelf is not used in rule")

    def _message(self, rule: Object, path: str) -> None:
        try:
            expression = self._compiler.message(rule["messageExpression"])
        except CompileError as error:
            self._problems.invalid(path, rule, str(error))
            return
        self._cost(expression, path, "estimated messageExpression cost")

    def _cost(self, expression: Expression, path: str, what: str) -> None:
        declaration = self._compiler.declaration
        assert declaration is not None
        count = self._place.count if self._place.count is not None else declaration.cardinality
        cost = min(expression.cost * count, MAX)
        if cost > _EXPRESSION_LIMIT:
            self._problems.forbidden(path, over_budget(what, cost, _EXPRESSION_LIMIT))
        self._total.add(path, cost)

    def _wrong_path(self, path: str) -> str:
        try:
            normalized(path, self._schema)
        except FieldPathError as error:
            return str(error)
        return ""
