"""metav1.Condition, which many kinds have in their status (apimachinery pkg/apis/meta/v1/validation)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.api.types import Object
from engine.api.validation.labels import label_key
from engine.api.validation.problems import Problems
from engine.api.validation.text import regex_text

_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON_TEXT = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'"
)
_REASON_EXAMPLES = ("my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB")
_REASON_LENGTH, _MESSAGE_LENGTH = 1024, 32 * 1024


def conditions(found: Sequence[Object], path: str, problems: Problems) -> None:
    seen = set()
    for index, condition in enumerate(found):
        kind = condition.get("type", "")
        if kind in seen:
            problems.duplicate(f"{path}[{index}]", kind)
        seen.add(kind)
        _condition(condition, f"{path}[{index}]", problems)


def _condition(condition: Object, path: str, problems: Problems) -> None:
    if not condition.get("type"):
        problems.required(f"{path}.type")
    else:
        label_key(condition["type"], f"{path}.type", problems)
    problems.one_of(f"{path}.status", condition.get("status"), ("False", "True", "Unknown"))
    generation = condition.get("observedGeneration", 0)
    if generation < 0:
        problems.invalid(f"{path}.observedGeneration", generation, "must be greater than or equal to zero")
    if not condition.get("lastTransitionTime"):
        problems.required(f"{path}.lastTransitionTime")
    reason = condition.get("reason", "")
    if not reason:
        problems.required(f"{path}.reason")
    else:
        if not re.fullmatch(_REASON, reason):
            problems.invalid(f"{path}.reason", reason, regex_text(_REASON_TEXT, _REASON, *_REASON_EXAMPLES))
        if len(reason) > _REASON_LENGTH:
            problems.too_long(f"{path}.reason", _REASON_LENGTH)
    if len(condition.get("message", "")) > _MESSAGE_LENGTH:
        problems.too_long(f"{path}.message", _MESSAGE_LENGTH)
