"""Asking the rules of a schema about an object.

Source of the behaviour: apiextensions-apiserver pkg/apiserver/schema/cel/validation.go. A rule that speaks of `oldSelf`
is asked only where there is an old value; one that fails for a value that has not changed is let pass.
"""

from __future__ import annotations

from typing import Any

from engine.api.crd.cel.alignment import aligned
from engine.api.crd.cel.compiling import CompileError, Expression, compiled, field_steps
from engine.api.crd.cel.values import to_cel
from engine.api.crd.structural import MISSING, Structural
from engine.api.crd.values import correlated
from engine.api.errors import Cause, field_duplicate, field_forbidden, field_invalid, field_required
from engine.api.types import Object
from engine.api.validation.problems import Problems

_MAX_MESSAGE = 5 * 1024
# The runtime's words for what cel-go says otherwise.
_WORDS = (
    ("Key not found in map : ", "no such key: "),
    ("divide by zero", "division by zero"),
)


class Rule:
    """One rule, compiled. `broken` is what is wrong with one that does not compile."""

    def __init__(self, rule: Object, schema: Structural, *, root: bool) -> None:
        self.rule = rule
        self.text = (rule.get("message") or rule["rule"]).strip()
        self.broken = ""
        self.expression: Expression | None = None
        self.message: Expression | None = None
        try:
            source = rule["rule"].strip()
            self.expression = compiled(source, schema, root=root, optional=bool(rule.get("optionalOldSelf")))
            if rule.get("messageExpression"):
                self.message = compiled(rule["messageExpression"].strip(), schema, root=root, wanted="STRING")
        except CompileError as error:
            self.broken = str(error)

    def words(self, own: Any, old: Any, *, there: bool) -> str:
        """What a failure is told in."""
        if self.message is not None:
            found = self.message.run(own, old, there=there)
            text = found.value().strip() if found.type().name() == "STRING" else ""
            if text and "\n" not in text and len(text) <= _MAX_MESSAGE:
                return text
        return self.text if self.rule.get("message") else f"failed rule: {self.text}"


class Validator:
    """The rules of a node and of those below it."""

    def __init__(self, schema: Structural, *, root: bool, rules: tuple[Object, ...] | None = None) -> None:
        self.schema = schema
        self.root = root
        self.rules = [Rule(each, schema, root=root) for each in (schema.rules if rules is None else rules)]
        below = {name: Validator.of(node, root=node.embedded) for name, node in schema.properties.items()}
        self.properties = {name: each for name, each in below.items() if each is not None}
        self.items = Validator.of(schema.items, root=schema.items.embedded) if schema.items is not None else None
        self.values = Validator.of(schema.values, root=schema.values.embedded) if schema.values is not None else None

    @classmethod
    def of(cls, schema: Structural, *, root: bool = True) -> Validator | None:
        """None for a schema without rules."""
        return cls(schema, root=root) if schema.has_rules else None

    def check(self, value: Any, old: Any, path: str, problems: Problems) -> None:
        """`old` is MISSING where there is nothing to compare with."""
        if value is None:
            return
        if self.rules:
            self._ask(value, old, path, problems)
        if isinstance(value, list) and self.items is not None:
            before = correlated(self.schema, value, old)
            for index, item in enumerate(value):
                self.items.check(item, before[index], f"{path}[{index}]", problems)
        elif isinstance(value, dict):
            self._check_fields(value, old, path, problems)

    def _check_fields(self, value: dict[str, Any], old: Any, path: str, problems: Problems) -> None:
        before = old if isinstance(old, dict) and self.schema.map_type != "atomic" else {}
        for key, item in value.items():
            if key in self.properties:
                at = f"{path}.{key}" if path else key
                self.properties[key].check(item, before.get(key, MISSING), at, problems)
            elif self.values is not None and key not in self.schema.properties:
                self.values.check(item, before.get(key, MISSING), f"{path}[{key}]", problems)

    def _ask(self, value: Any, old: Any, path: str, problems: Problems) -> None:
        own = to_cel(self.schema, value, resource=self.root)
        there = old is not MISSING and old is not None
        before = to_cel(self.schema, aligned(self.schema, old, value), resource=self.root) if there else None
        for rule in self.rules:
            expression = rule.expression
            if expression is None:
                problems.invalid(path or "<nil>", self.schema.type, f"rule compile error: {rule.broken}")
                continue
            if expression.uses_old and not there and not expression.optional:
                continue
            found = expression.run(own, before, there=there)
            if found.value() is True:
                continue
            if not expression.uses_old and there and old == value:
                continue
            problems.append(self._failure(rule, found, path, own=own, before=before, there=there))

    def _failure(self, rule: Rule, found: Any, path: str, *, own: Any, before: Any, there: bool) -> Cause:
        if found.value() is not False:
            why = _error_text(found)
            if why.startswith("no such overload"):
                detail = (
                    f"'{why}': call arguments did not match a supported operator, function or macro signature for "
                    f"rule: {rule.text}"
                )
            else:
                detail = f"{why} evaluating rule: {rule.text}"
            return field_invalid(path or "<nil>", self.schema.type, detail)
        at = _at(path, rule.rule.get("fieldPath", ""))
        return _cause(rule.rule.get("reason"), at, self.schema.type, rule.words(own, before, there=there))


def _at(path: str, field: str) -> str:
    for name, bracket in field_steps(field) or ():
        path = f"{path}[{name}]" if bracket else f"{path}.{name}" if path else name
    return path or "<nil>"


def _cause(reason: str | None, path: str, kind: str, detail: str) -> Cause:
    match reason:
        case "FieldValueForbidden":
            return field_forbidden(path, detail)
        case "FieldValueRequired":
            return field_required(path, detail)
        case "FieldValueDuplicate":
            return field_duplicate(path, kind)
    return field_invalid(path, kind, detail)


def _error_text(found: Any) -> str:
    text = str(found.value()).partition(": ")[2] or str(found.value())
    if text.startswith("No matching overloads found"):
        return "no such overload"
    for theirs, words in _WORDS:
        if text.startswith(theirs):
            return words + text.removeprefix(theirs).strip('"')
    return text
