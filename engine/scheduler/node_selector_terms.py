"""What is wrong with the terms of a node selector (component-helpers/scheduling/corev1/nodeaffinity).

It is not the API's own validation, which lets more pass: the scheduler finds it when it turns the terms into selectors,
so the words are those of labels.NewRequirement.
"""

from __future__ import annotations

import re

from engine.api.errors import Cause, field_invalid, field_not_supported
from engine.api.label_syntax import label_key_errors, label_value_errors
from engine.api.types import Object

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS = ("In", "NotIn")
_INTEGER = re.compile(r"[+-]?[0-9]+")


def term_problems(term: Object, path: str) -> list[Cause]:
    causes: list[Cause] = []
    for i, requirement in enumerate(term.get("matchExpressions") or ()):
        causes += _expression_problems(requirement, f"{path}.matchExpressions[{i}]")
    for i, requirement in enumerate(term.get("matchFields") or ()):
        causes += _field_problems(requirement, f"{path}.matchFields[{i}]")
    return causes


def _expression_problems(requirement: Object, path: str) -> list[Cause]:
    key, operator, values = requirement.get("key") or "", requirement.get("operator") or "", requirement.get("values")
    if operator not in _OPERATORS:
        return [field_not_supported(f"{path}.operator", operator, _OPERATORS)]
    causes = []
    if problems := label_key_errors(key):
        causes.append(field_invalid(f"{path}.key", key, "; ".join(problems)))
    causes += _value_problems(operator, values, f"{path}.values")
    for i, value in enumerate(values or ()):
        if problems := label_value_errors(value):
            causes.append(field_invalid(f"{path}.values[{i}][{key}]", value, "; ".join(problems)))
    return causes


def _value_problems(operator: str, values: list[str] | None, path: str) -> list[Cause]:
    match operator:
        case "In" | "NotIn":
            bad, detail = not values, "for 'in', 'notin' operators, values set can't be empty"
        case "Exists" | "DoesNotExist":
            bad, detail = bool(values), "values set must be empty for exists and does not exist"
        case _:
            bad, detail = len(values or ()) != 1, "for 'Gt', 'Lt' operators, exactly one value is required"
    causes = [field_invalid(path, values, detail)] if bad else []
    if operator in ("Gt", "Lt"):
        causes += [
            field_invalid(f"{path}[{i}]", value, "for 'Gt', 'Lt' operators, the value must be an integer")
            for i, value in enumerate(values or ())
            if not _INTEGER.fullmatch(value)
        ]
    return causes


def _field_problems(requirement: Object, path: str) -> list[Cause]:
    operator, values = requirement.get("operator") or "", requirement.get("values")
    if operator not in _FIELD_OPERATORS:
        return [field_not_supported(f"{path}.operator", operator, _FIELD_OPERATORS)]
    if len(values or ()) != 1:
        return [field_invalid(f"{path}.values", values, "must have one element")]
    return []
