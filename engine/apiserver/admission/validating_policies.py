"""ValidatingAdmissionPolicy: what its expressions refuse, warn of and leave in the audit log.

Source: apiserver pkg/admission/plugin/policy/validating (dispatcher.go, validator.go).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.api.errors import ApiError
from engine.api.golang.json import written_in_order
from engine.api.types import Object
from engine.apiserver.admission.attributes import Attributes, denied
from engine.apiserver.admission.expression_errors import ExpressionError, OutOfBudget
from engine.apiserver.admission.metrics import PolicyMetrics, error_type
from engine.apiserver.admission.policies import Bound, Policies, Undecided
from engine.clock import wall

_CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413, "Invalid": 422}
_MAX_MESSAGE, _MAX_ANNOTATION = 5 * 1024, 10 * 1024
_ALL_FAILURES_SINCE = (1, 37)  # before, an annotation that was there was not written again


class ValidatingAdmissionPolicy(Policies):
    name = "ValidatingAdmissionPolicy"
    kind = "validatingadmission"

    async def validate(self, attributes: Attributes) -> None:
        if self._idle():
            return
        verdicts = _Verdicts(attributes, self._sources.metrics.validations)
        async for concerned in self._concerned(attributes):
            bound = concerned if isinstance(concerned, Undecided) else await self._bound(attributes, concerned)
            if isinstance(bound, Bound):
                await _decide(bound, verdicts)
            elif bound is not None and bound.binding is not None and bound.asked:
                verdicts.act(bound.policy, bound.binding, 0, _Broken(bound.why))
            elif bound is not None:
                verdicts.refuse(_named(bound.policy, bound.binding), bound.why)
        verdicts.publish()
        if verdicts.refusals:
            raise verdicts.refusals[0]


class _Broken(NamedTuple):
    """A validation that does not let a request pass; without a reason where it has failed."""

    message: str
    reason: str = ""
    seconds: float = 0.0

    @property
    def error_type(self) -> str:
        return "no_error" if self.reason else error_type(self.message)


class _Verdicts:
    """What all policies say of one request."""

    def __init__(self, attributes: Attributes, figures: PolicyMetrics) -> None:
        self._attributes = attributes
        self._figures = figures
        self.refusals: list[ApiError] = []
        self._failures: list[Object] = []
        self._annotations: dict[str, list[str]] = {}

    def act(self, policy: Object, binding: Object, index: int, broken: _Broken) -> None:
        """As the binding says."""
        actions, named = binding["spec"].get("validationActions") or (), _named(policy, binding)
        for action in actions:
            self.count(policy, binding, broken, action.lower())
        if "Deny" in actions:
            self.refuse(named, broken.message, broken.reason)
        if "Warn" in actions:
            self._attributes.warnings.append(
                f"Validation failed for ValidatingAdmissionPolicy {named}: {broken.message}"
            )
        if "Audit" in actions:
            failure = {
                "message": broken.message,
                "policy": policy["metadata"]["name"],
                "binding": binding["metadata"]["name"],
                "expressionIndex": index,
                "validationActions": list(actions),
            }
            self._failures.append(failure)

    def count(self, policy: Object, binding: Object, broken: _Broken, what: str) -> None:
        names = policy["metadata"]["name"], binding["metadata"]["name"]
        self._figures.checked(broken.seconds, *names, broken.error_type, what)

    def refuse(self, named: str, why: str, reason: str = "") -> None:
        text = f"ValidatingAdmissionPolicy {named} denied request: {why}"
        reason = reason or "Invalid"
        error = denied(self._attributes, text)
        details = {**(error.details or {}), "causes": [{"message": text}]}
        self.refusals.append(ApiError(_CODES.get(reason, 422), reason, error.message, details=details))

    def annotate(self, key: str, value: str) -> None:
        values = self._annotations.setdefault(key, [])
        value = value.encode()[:_MAX_ANNOTATION].decode(errors="replace")
        if value not in values:
            values.append(value)

    def publish(self) -> None:
        """Into the audit log."""
        if self._failures:
            key = "validation.policy.admission.k8s.io/validation_failure"
            told = self._failures if self._attributes.resource.release >= _ALL_FAILURES_SINCE else self._failures[:1]
            self._attributes.annotations[key] = written_in_order(told)
        for key, values in self._annotations.items():
            self._attributes.annotate(key, ", ".join(values))


def _named(policy: Object, binding: Object | None) -> str:
    name = f"'{policy['metadata']['name']}'"
    return name if binding is None else f"{name} with binding '{binding['metadata']['name']}'"


async def _decide(bound: Bound, verdicts: _Verdicts) -> None:
    """First all validations are asked, then all messages worked out, with what is left of the budget."""
    validations, messages, failure = bound.policy["spec"].get("validations") or (), [], ""
    try:
        results = [await _holds(each["expression"], bound) for each in validations]
        bound.expressions.forget_authorizer()
        try:
            messages = [await _message(each.get("messageExpression"), bound) for each in validations]
        except OutOfBudget as error:
            messages, failure = [""] * len(results), f"failed messageExpression: {error}"
        annotations = await _annotations(bound)
    except OutOfBudget as error:
        _tell(bound, verdicts, 0, _Broken(str(error)))
        return
    for index, (validation, holds, message) in enumerate(zip(validations, results, messages, strict=True)):
        broken = _broken(validation, holds.verdict, message, failure)
        if broken is not None:
            _tell(bound, verdicts, index, broken._replace(seconds=holds.seconds))
    for key, value in annotations:
        if not isinstance(value, ExpressionError):
            verdicts.annotate(f"{bound.policy['metadata']['name']}/{key}", value)
        elif not bound.ignores_failures:
            verdicts.count(bound.policy, bound.binding, _Broken(str(value)), "deny")
            verdicts.refuse(_named(bound.policy, bound.binding), str(value))


def _tell(bound: Bound, verdicts: _Verdicts, index: int, broken: _Broken) -> None:
    if broken.reason or not bound.ignores_failures:
        verdicts.act(bound.policy, bound.binding, index, broken)
    else:
        verdicts.count(bound.policy, bound.binding, broken, "allow")


class _Holds(NamedTuple):
    """Whether a validation is true, or how it has failed; and how long that took to find out."""

    verdict: bool | ExpressionError
    seconds: float


async def _holds(expression: str, bound: Bound) -> _Holds:
    """Raises OutOfBudget."""
    began = wall()
    try:
        verdict: bool | ExpressionError = await bound.expressions.evaluate(expression) is True
    except OutOfBudget:
        raise
    except ExpressionError as error:
        verdict = error
    return _Holds(verdict, wall() - began)


async def _message(expression: str | None, bound: Bound) -> str:
    """What a message expression comes to; "" where that is of no use. Raises OutOfBudget."""
    if not expression:
        return ""
    try:
        made: Any = await bound.expressions.evaluate(expression)
    except OutOfBudget:
        raise
    except ExpressionError:
        return ""
    text = made.strip() if isinstance(made, str) else ""
    return "" if "\n" in text or len(text.encode()) > _MAX_MESSAGE else text


def _broken(validation: Object, holds: bool | ExpressionError, message: str, failure: str) -> _Broken | None:
    """What is told of a validation; None if it holds. Its own failure goes before that of the messages."""
    if isinstance(holds, ExpressionError):
        return _Broken(str(holds))
    if failure:
        return _Broken(failure)
    if holds:
        return None
    told = message or str(validation.get("message") or "").strip()
    told = told or f"failed expression: {validation['expression'].strip()}"
    return _Broken(told, str(validation.get("reason") or "Invalid"))


async def _annotations(bound: Bound) -> list[tuple[str, str | ExpressionError]]:
    """What is to be annotated, by key, with a budget of its own; empty ones are left out. Raises OutOfBudget."""
    found: list[tuple[str, str | ExpressionError]] = []
    annotations = bound.policy["spec"].get("auditAnnotations") or ()
    bound.expressions.change()  # variables too are worked out anew
    bound.expressions.renew()
    for annotation in annotations:
        expression = annotation["valueExpression"]
        try:
            value: Any = await bound.expressions.evaluate(expression)
            if value is not None and not isinstance(value, str):
                raise ExpressionError(
                    f"valueExpression '{expression}' resulted in unsupported return type: {type(value).__name__}. "
                    "Return type must be either string or null."
                )
        except OutOfBudget:
            raise
        except ExpressionError as error:
            found.append((annotation["key"], error))
            continue
        if value and value.strip():
            found.append((annotation["key"], value.strip()))
    return found
