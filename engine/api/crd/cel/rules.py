"""Asking the rules of a schema about an object.

Source of the behaviour: apiextensions-apiserver pkg/apiserver/schema/cel/validation.go. A rule that speaks of `oldSelf`
is asked only where there is an old value; one that fails for a value that has not changed is let pass. An object may
cost seconds, so that asking is work in turns: others go on after a few milliseconds' worth of cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import orjson

from engine.api.cel.environment import PER_CALL_LIMIT
from engine.api.cel.interpreter import EXCEEDED, Outcome
from engine.api.cel.syntax import CompileError
from engine.api.cel.values import NONE, Optional
from engine.api.crd.cel.compiling import Compiler, Expression
from engine.api.crd.cel.field_paths import FieldPathError, normalized
from engine.api.crd.cel.values import to_cel
from engine.api.crd.correlation import correlated, unchanged
from engine.api.crd.structural import MISSING, Structural
from engine.api.errors import OMITTED, Cause, field_duplicate, field_forbidden, field_invalid, field_required
from engine.api.turns import Work
from engine.api.types import Object
from engine.api.validation.problems import Problems

BUDGET = 10 * PER_CALL_LIMIT  # of all the rules that are asked about one object
_TURN = 8_000  # what is spent before others go on; a rule that costs more by itself is a task of its own
_MAX_MESSAGE = 5 * 1024
_SPENT = "validation failed due to running out of cost budget, no further validation rules will be run"
_SPENT_BY_MESSAGE = (
    "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run"
)
_COSTLY_MESSAGE = "no further validation rules will be run due to call cost exceeds limit for messageExpression: "


class Rule:
    """One rule, compiled. `broken` is what is wrong with one that does not compile."""

    def __init__(self, rule: Object, compiler: Compiler, schema: Structural) -> None:
        self.rule = rule
        self.told = str(rule.get("message") or rule["rule"]).strip()
        self.optional = bool(rule.get("optionalOldSelf"))
        self.broken = ""
        self.expression: Expression | None = None
        self.message: Expression | None = None
        self.field = _field(rule, schema)
        if not rule["rule"].strip():
            return
        try:
            self.expression = compiler.rule(rule["rule"], optional=self.optional)
            if rule.get("messageExpression"):
                self.message = compiler.message(rule["messageExpression"], optional=self.optional)
        except CompileError as error:
            self.broken = str(error)

    @property
    def default_message(self) -> str:
        return self.told if self.rule.get("message") else f"failed rule: {self.told}"


def _field(rule: Object, schema: Structural) -> str:
    try:
        return normalized(rule["fieldPath"], schema)[0] if rule.get("fieldPath") else ""
    except FieldPathError:
        return ""


class Spent(Exception):
    """No rule is asked any more."""


class Walk:
    """What is found, and what may still be spent, while the rules of one object are asked."""

    def __init__(self, problems: Problems, *, ratcheting: bool, budget: int = BUDGET) -> None:
        self.problems = problems
        self.ratcheting = ratcheting
        self.ratcheted: list[Cause] = []
        self.budget = budget  # below zero once no rule is asked any more
        self._turn = 0

    def run(self, expression: Expression, variables: Object) -> Work[Outcome]:
        outcome = expression.run(variables, limit=_TURN)
        if outcome.error == EXCEEDED:
            outcome = yield partial(expression.run, variables)
        self._turn += outcome.cost
        if self._turn > _TURN:
            self._turn = 0
            yield None
        return outcome

    def spend(self, cost: int, path: str, kind: str, text: str = _SPENT) -> None:
        if cost > self.budget:
            self.stop(path, kind, text)
        self.budget -= cost

    def stop(self, path: str, kind: str, text: str) -> None:
        self.problems.invalid(path or "<nil>", kind, text)
        raise Spent


class Before:
    """What was there before a value: MISSING where nothing is known to have been. `around` is the nearest value around
    it of which that is known."""

    def __init__(self, schema: Structural, old: Any, new: Any, around: Before | None = None) -> None:
        self.old = old
        self.around = around
        self._schema = schema
        self._new = new

    @property
    def there(self) -> bool:
        return self.old is not MISSING and self.old is not None

    @cached_property
    def unchanged(self) -> bool:
        """Whether the value is what it was; else whether the one around it is, of which it is then a part."""
        if self.old is not MISSING:
            return unchanged(self._schema, self.old, self._new)
        return self.around is not None and self.around.unchanged

    def below(self, schema: Structural, old: Any, new: Any) -> Before:
        return Before(schema, old, new, self if self.old is not MISSING else self.around)


class Validator:
    """The rules of a node and of those below it."""

    def __init__(self, schema: Structural, *, root: bool) -> None:
        self.schema = schema
        self.root = root
        compiler = Compiler(schema, root=root) if schema.rules else None
        self.rules = [Rule(each, compiler, schema) for each in schema.rules] if compiler is not None else []
        below = {name: Validator.of(node, root=node.embedded) for name, node in schema.properties.items()}
        self.properties = {name: each for name, each in below.items() if each is not None}
        self.items = Validator.of(schema.items, root=schema.items.embedded) if schema.items is not None else None
        self.values = Validator.of(schema.values, root=schema.values.embedded) if schema.values is not None else None

    @classmethod
    def of(cls, schema: Structural, *, root: bool = True) -> Validator | None:
        """None for a schema without rules."""
        return cls(schema, root=root) if schema.has_rules else None

    def check(self, value: Any, old: Any, path: str, problems: Problems) -> Work[list[Cause]]:
        """`old` is MISSING where there is nothing to compare with. What is let pass though it fails is handed back."""
        walk = Walk(problems, ratcheting=True)
        yield from self.ask(value, old, path, walk)
        return walk.ratcheted

    def ask(self, value: Any, old: Any, path: str, walk: Walk) -> Work[None]:
        try:
            yield from self._check(value, Before(self.schema, old, value), path, walk)
        except Spent:
            walk.budget = -1

    def _check(self, value: Any, before: Before, path: str, walk: Walk) -> Work[None]:
        if value is None:
            return
        if self.rules:
            yield from self._ask(value, before, path, walk)
        if isinstance(value, list) and self.items is not None:
            yield from self._check_items(value, before, path, walk, self.items)
        elif isinstance(value, dict):
            yield from self._check_fields(value, before, path, walk)

    def _check_items(self, value: list[Any], before: Before, path: str, walk: Walk, items: Validator) -> Work[None]:
        olds = correlated(self.schema, value, before.old)
        for index, item in enumerate(value):
            below = before.below(items.schema, olds[index], item)
            yield from items._check(item, below, f"{path}[{index}]", walk)

    def _check_fields(self, value: dict[str, Any], before: Before, path: str, walk: Walk) -> Work[None]:
        olds: Mapping[str, Any] = before.old if isinstance(before.old, dict) else {}
        for key, item in value.items():
            if key in self.properties:
                validator, at = self.properties[key], f"{path}.{key}" if path else key
            elif self.values is not None and key not in self.schema.properties:
                validator, at = self.values, f"{path}[{key}]"
            else:
                continue
            if before.around is None and key in ("apiVersion", "kind"):
                below = Before(validator.schema, MISSING, item)  # both objects have been made to be of one version
            else:
                below = before.below(validator.schema, olds.get(key, MISSING), item)
            yield from validator._check(item, below, at, walk)

    # -- the rules of this node

    def _ask(self, value: Any, before: Before, path: str, walk: Walk) -> Work[None]:
        kind = self.schema.type
        if walk.budget <= 0:
            walk.stop(path, kind, _SPENT)
        own = to_cel(self.schema, value, resource=self.root)
        old = to_cel(self.schema, before.old, resource=self.root) if before.there else None
        for rule in self.rules:
            if rule.broken:
                walk.problems.invalid(path or "<nil>", kind, f"rule compile error: {rule.broken}")
                continue
            expression = rule.expression
            if expression is None or (expression.uses_old and not before.there and not rule.optional):
                continue
            variables = _variables(own, old, there=before.there, optional=rule.optional)
            outcome = yield from walk.run(expression, variables)
            walk.spend(outcome.cost, path, kind)
            if outcome.error:
                walk.problems.append(self._error(rule, outcome, path))
                if outcome.error == EXCEEDED:
                    raise Spent
            elif outcome.value is not True:
                # Upstream hands a message the plain old value, even where it was checked with an optional one.
                variables = _variables(own, old, there=before.there, optional=False)
                words = yield from self._words(rule, variables, path, walk)
                cause = _cause(rule.rule.get("reason"), _at(path, rule.field), self._shown(value), words)
                let_be = walk.ratcheting and not expression.uses_old and before.unchanged
                (walk.ratcheted if let_be else walk.problems).append(cause)

    def _shown(self, value: Any) -> Any:
        return OMITTED if self.schema.type in ("object", "array") else value

    def _error(self, rule: Rule, outcome: Outcome, path: str) -> Cause:
        why = outcome.error
        if why.startswith("no such overload"):
            detail = (
                f"'{why}': call arguments did not match a supported operator, function or macro signature for "
                f"rule: {rule.told}"
            )
        elif why == EXCEEDED:
            detail = (
                f"'{why}': no further validation rules will be run due to call cost exceeds limit for rule: {rule.told}"
            )
        else:
            detail = f"{why} evaluating rule: {rule.told}"
        return field_invalid(path or "<nil>", self.schema.type, detail)

    def _words(self, rule: Rule, variables: Object, path: str, walk: Walk) -> Work[str]:
        """What a failure is told in."""
        if rule.message is None:
            return rule.default_message
        at, kind = _at(path, rule.field), self.schema.type
        outcome = yield from walk.run(rule.message, variables)
        walk.spend(outcome.cost, at, kind, _SPENT_BY_MESSAGE)
        if outcome.error == EXCEEDED:
            walk.stop(at, kind, _COSTLY_MESSAGE + orjson.dumps(rule.rule["messageExpression"]).decode())
        text = outcome.value.strip() if isinstance(outcome.value, str) else ""
        fits = text and "\n" not in text and len(text.encode()) <= _MAX_MESSAGE
        return text if fits else rule.default_message


def _variables(own: Any, old: Any, *, there: bool, optional: bool) -> Object:
    if optional:
        return {"self": own, "oldSelf": Optional(True, old) if there else NONE}
    return {"self": own, "oldSelf": old} if there else {"self": own}


def _at(path: str, field: str) -> str:
    return (f"{path}.{field}" if path and field else path or field) or "<nil>"


def _cause(reason: str | None, path: str, value: Any, detail: str) -> Cause:
    match reason:
        case "FieldValueForbidden":
            return field_forbidden(path, detail)
        case "FieldValueRequired":
            return field_required(path, detail)
        case "FieldValueDuplicate":
            return field_duplicate(path, value)
    return field_invalid(path, value, detail)
