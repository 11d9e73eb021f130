"""CEL in admission: match conditions, validations, variables, messages, patches, run about one request.

Source: apiserver pkg/admission/plugin/cel (condition.go, composition.go, activation.go). An expression that asks the
authorizer is broken off until the answer is there, and run again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from engine.api.cel import admission
from engine.api.cel.admission import Scope
from engine.api.cel.environment import PER_CALL_LIMIT, Program
from engine.api.cel.library.authorization import RESOURCE_CHECK, Answer, Asked, Check, Question
from engine.api.cel.operators import shown_key
from engine.api.cel.syntax import CompileError
from engine.api.cel.types import Type
from engine.api.cel.values import EvaluationError, Optional, Struct, of_key
from engine.api.crd.cel.escaping import unescaped
from engine.api.types import Object
from engine.apiserver.admission.expression_errors import ExpressionError, OutOfBudget
from engine.apiserver.admission.metrics import ConditionMetrics
from engine.clock import wall

BUDGET, CONDITIONS_BUDGET = 10_000_000, 2_500_000
_SPENT = "validation failed due to running out of cost budget, no further validation rules will be run"

Ask = Callable[[Asked], Awaitable[Answer]]


class Expressions:
    """Those of one policy or webhook about one request. `ask` answers for the authorizer."""

    def __init__(self, values: Object, scope: Scope, ask: Ask, *, budget: int = BUDGET) -> None:
        self._scope = scope
        self._ask = ask
        self._answers: dict[Asked, Answer] = {}
        self._values = {**values, **self._authorizers(values)}
        self.budget = budget

    def _authorizers(self, values: Object) -> Object:
        if not self._scope.authorizer:
            return {}
        authorizer, request = Check(answers=self._answers), values["request"]
        of_resource = authorizer.of(
            RESOURCE_CHECK,
            group=request["resource"]["group"],
            resource=request["resource"]["resource"],
            subresource=request.get("subResource", ""),
            namespace=request.get("namespace", ""),
            name=request.get("name", ""),
        )
        return {"authorizer": authorizer, "authorizer.requestResource": of_resource}

    def declare(self, variables: Iterable[Object]) -> None:
        """Make a policy's variables known; each is worked out when it is first asked for."""
        pairs = [(each["name"], each["expression"].strip()) for each in variables]
        self._scope, programs, wrong = admission.with_variables(self._scope, pairs)
        self._values["variables"] = _Variables(self, programs, wrong)

    def change(self, **values: Any) -> None:
        """Other values from now on, of which variables are worked out anew."""
        self._values.update(values)
        known = self._values.get("variables")
        if isinstance(known, _Variables):
            known.clear()

    def forget_authorizer(self) -> None:
        """Messages and annotations have none: what asks it fails, variables too, which are worked out anew."""
        for name in ("authorizer", "authorizer.requestResource"):
            self._values.pop(name, None)
        self.change()

    async def evaluate(self, source: str, wanted: Sequence[Type] = ()) -> Any:
        """Raises ExpressionError."""
        try:
            program = admission.compiled(source.strip(), self._scope, tuple(wanted))
        except CompileError as error:
            raise ExpressionError(f"compilation error: {error}") from None
        outcome = await self._run(program)
        if outcome.error:
            raise ExpressionError(f"expression '{source}' resulted in error: {outcome.error}")
        return outcome.value

    async def _run(self, program: Program) -> Any:
        while True:
            try:
                outcome = program.run(self._values, limit=PER_CALL_LIMIT)
                break
            except Question as question:
                self._answers[question.asked] = await self._ask(question.asked)
        self.spend(outcome.cost)
        return outcome

    def renew(self) -> None:
        """Start with a whole budget again, for what is evaluated for itself."""
        self.budget = BUDGET

    def spend(self, cost: int) -> None:
        if cost > self.budget:
            raise OutOfBudget(_SPENT)
        self.budget -= cost

    def value_of(self, program: Program) -> Any:
        """Of a variable. Raises EvaluationError."""
        outcome = program.run(self._values, limit=PER_CALL_LIMIT)
        self.spend(outcome.cost)
        if outcome.error:
            raise EvaluationError(outcome.error)
        return outcome.value

    async def unmet(self, conditions: Iterable[Object], figures: ConditionMetrics, labels: tuple[str, ...]) -> bool:
        """Whether a match condition says no. One that fails counts only if none says no. Raises ExpressionError."""
        failures: list[str] = []
        began = wall()
        try:
            for condition in conditions:
                try:
                    if await self.evaluate(condition["expression"]) is not True:
                        return True
                except OutOfBudget:
                    raise
                except ExpressionError as error:
                    figures.errors.add(*labels)
                    failures.append(str(error))
        finally:
            figures.durations.observe(wall() - began, *labels)
        if failures:
            told = list(dict.fromkeys(failures))  # as an aggregate of errors says each text once
            raise ExpressionError(told[0] if len(told) == 1 else f"[{', '.join(told)}]")
        return False


class _Variables(dict[str, Any]):
    """A policy's variables, each worked out when it is first asked for."""

    def __init__(self, expressions: Expressions, programs: dict[str, Program], wrong: dict[str, str]) -> None:
        super().__init__()
        self._expressions = expressions
        self._programs = programs
        self._wrong = wrong

    def __contains__(self, key: object) -> bool:
        return key in self._programs or key in self._wrong

    def __missing__(self, key: str) -> Any:
        if key in self._wrong:
            raise EvaluationError(f'composited variable "{key}" fails to compile: {self._wrong[key]}')
        try:
            self[key] = self._expressions.value_of(self._programs[key])
        except EvaluationError as error:
            raise EvaluationError(f'composited variable "{key}" fails to evaluate: {error}') from None
        return self[key]


def values_of(*, obj: Object | None, old: Object | None, request: Object) -> Object:
    """What expressions know of a request; policies add parameters, the namespace and variables."""
    return {"object": obj, "oldObject": old, "request": request, "namespaceObject": None}


def plain(value: Any) -> Any:
    """What an expression made, as JSON. Raises ExpressionError."""
    if isinstance(value, Optional):
        return plain(value.value) if value.there else None
    if isinstance(value, Struct):
        return {unescaped(key): plain(item) for key, item in value.items()}
    if isinstance(value, dict):
        return {shown_key(of_key(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | str | float):
        return value
    if isinstance(value, int):
        return int(value)
    raise ExpressionError(f"unsupported value of type {type(value).__name__.lower()}")


def check_object(value: Any, path: str = "Object") -> None:
    """Whether the types of literals are those of the fields that they stand in. Raises ExpressionError."""
    if isinstance(value, Struct):
        if value.name != path:
            raise ExpressionError(
                f'type mismatch: unexpected type name "{value.name}", expected "{path}", which matches field name path '
                "from root Object type"
            )
        for name, item in value.items():
            check_object(item, f"{path}.{name}")
    elif isinstance(value, list):
        for item in value:
            check_object(item, path)
    elif isinstance(value, dict):
        for item in value.values():
            check_object(item, path)
