"""What is wrong with the texts of `x-kubernetes-validations`, before they are compiled.

Source of the texts: apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.crd.cel.field_paths import FieldPathError, normalized
from engine.api.crd.structural import Structural
from engine.api.crd.unreadable import why_unreadable
from engine.api.types import Object
from engine.api.validation.problems import Problems

_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def check_texts(raw: Mapping[str, Any], path: str, problems: Problems) -> None:
    for index, rule in enumerate(raw.get("x-kubernetes-validations") or ()):
        at = f"{path}.x-kubernetes-validations[{index}]"
        _rule(rule, at, problems)
        computed, reason = rule.get("messageExpression", ""), rule.get("reason")
        if computed and not computed.strip():
            problems.required(f"{at}.messageExpression", "messageExpression must be non-empty if specified")
        if reason is not None and reason not in _REASONS:
            problems.not_supported(f"{at}.reason", reason, _REASONS)
        if rule.get("fieldPath"):
            _field_path(raw, rule["fieldPath"], f"{at}.fieldPath", problems)


def _rule(rule: Object, path: str, problems: Problems) -> None:
    text, message = rule.get("rule", "").strip(), rule.get("message", "")
    if not text:
        problems.required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        problems.invalid(f"{path}.message", message, "must be non-empty if specified")
    elif _broken(message.strip()):
        problems.invalid(f"{path}.message", message, "must not contain line breaks")
    elif _broken(text) and not message.strip():
        problems.required(f"{path}.message", "message must be specified if rule contains line breaks")


def _field_path(raw: Mapping[str, Any], field: str, path: str, problems: Problems) -> None:
    if not field.strip():
        problems.invalid(path, field, "must be non-empty if specified")
    if _broken(field):
        problems.invalid(path, field, "must not contain line breaks")
    if why_unreadable(raw):
        return  # what the path leads to cannot be told
    try:
        normalized(field, Structural(raw))
    except FieldPathError:
        problems.invalid(path, field, "must be a valid path")


def _broken(text: str) -> bool:
    return "\n" in text or "\r" in text
