"""ValidatingAdmissionPolicy: what its expressions refuse, warn of and leave in the audit log.

Source: apiserver pkg/admission/plugin/policy/validating (dispatcher.go, validator.go).
"""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.apiserver.admission.attributes import Attributes, denied
from engine.apiserver.admission.expression_errors import ExpressionError, OutOfBudget
from engine.apiserver.admission.policies import Bound, Policies, Undecided

_CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413, "Invalid": 422}
_MAX_MESSAGE, _MAX_ANNOTATION = 5 * 1024, 10 * 1024


class ValidatingAdmissionPolicy(Policies):
    name = "ValidatingAdmissionPolicy"
    kind = "validatingadmission"

    async def validate(self, attributes: Attributes) -> None:
        if self._idle():
            return
        verdicts = _Verdicts(attributes)
        async for bound in self._bound(attributes):
            if isinstance(bound, Undecided):
                verdicts.refuse(bound.named, bound.why)
            else:
                await _decide(bound, verdicts)
        verdicts.publish()
        if verdicts.refusals:
            raise verdicts.refusals[0]


class _Verdicts:
    """What all policies say of one request."""

    def __init__(self, attributes: Attributes) -> None:
        self._attributes = attributes
        self.refusals: list[ApiError] = []
        self.failures: list[Object] = []
        self._annotations: dict[str, list[str]] = {}

    def refuse(self, named: str, why: str, reason: str = "") -> None:
        text = f"ValidatingAdmissionPolicy {named} denied request: {why}"
        reason = reason or "Invalid"
        error = denied(self._attributes, text)
        details = {**(error.details or {}), "causes": [{"message": text}]}
        self.refusals.append(ApiError(_CODES.get(reason, 422), reason, error.message, details=details))

    def warn(self, named: str, why: str) -> None:
        self._attributes.warnings.append(f"Validation failed for ValidatingAdmissionPolicy {named}: {why}")

    def annotate(self, key: str, value: str) -> None:
        values = self._annotations.setdefault(key, [])
        if value not in values:
            values.append(value[:_MAX_ANNOTATION])

    def publish(self) -> None:
        """Into the audit log."""
        if self.failures:
            key = "validation.policy.admission.k8s.io/validation_failure"
            self._attributes.annotations[key] = orjson.dumps(self.failures).decode()
        for key, values in self._annotations.items():
            self._attributes.annotations[key] = ", ".join(values)


async def _decide(bound: Bound, verdicts: _Verdicts) -> None:
    actions = bound.binding["spec"].get("validationActions") or ()
    for index, validation in enumerate(bound.policy["spec"].get("validations") or ()):
        try:
            message = await _broken(validation, bound)
            reason = str(validation.get("reason") or "Invalid")
        except OutOfBudget as error:
            message, reason = (None if bound.ignores_failures else str(error)), ""
        if message is None:
            continue
        if "Deny" in actions:
            verdicts.refuse(bound.named, message, reason)
        if "Warn" in actions:
            verdicts.warn(bound.named, message)
        if "Audit" in actions:
            verdicts.failures.append(
                {
                    "message": message,
                    "policy": bound.policy["metadata"]["name"],
                    "binding": bound.binding["metadata"]["name"],
                    "expressionIndex": index,
                    "validationActions": list(actions),
                }
            )
        if not reason:
            return
    await _annotate(bound, verdicts)


async def _annotate(bound: Bound, verdicts: _Verdicts) -> None:
    for annotation in bound.policy["spec"].get("auditAnnotations") or ():
        expression = annotation["valueExpression"]
        try:
            value: Any = await bound.expressions.evaluate(expression)
            if value is not None and not isinstance(value, str):
                raise ExpressionError(
                    f"valueExpression '{expression}' resulted in unsupported return type: {type(value).__name__}. "
                    "Return type must be either string or null."
                )
        except ExpressionError as error:
            if not bound.ignores_failures:
                verdicts.refuse(bound.named, str(error))
            continue
        if value and value.strip():
            verdicts.annotate(f"{bound.policy['metadata']['name']}/{annotation['key']}", value.strip())


async def _broken(validation: Object, bound: Bound) -> str | None:
    """What a validation says of a request that it does not let pass; None for one that it does."""
    expression = validation["expression"]
    try:
        if await bound.expressions.evaluate(expression) is True:
            return None
    except OutOfBudget:
        raise
    except ExpressionError as error:
        return None if bound.ignores_failures else str(error)
    if validation.get("messageExpression"):
        try:
            text: Any = await bound.expressions.evaluate(validation["messageExpression"])
        except OutOfBudget as error:
            return f"failed messageExpression: {error}"
        except ExpressionError:
            text = None
        text = text.strip() if isinstance(text, str) else ""
        if text and "\n" not in text and len(text.encode()) <= _MAX_MESSAGE:
            return str(text)
    return str(validation.get("message") or "").strip() or f"failed expression: {expression.strip()}"
