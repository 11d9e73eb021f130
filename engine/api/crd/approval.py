"""Groups of the Kubernetes community need its approval (KEP-1111).

Source of the texts: apiextensions-apiserver pkg/apihelpers (helpers.go, GetAPIApprovalState) and
pkg/controller/apiapproval.
"""

from __future__ import annotations

from enum import Enum

from engine.api.crd.naming import condition, find_condition, with_condition
from engine.api.golang import url as go_url
from engine.api.types import Object
from engine.api.validation.problems import Problems

ANNOTATION = "api-approved.kubernetes.io"
_PROTECTED = ("k8s.io", "kubernetes.io")
_KEP = "https://github.com/kubernetes/enhancements/pull/1111"
_NEEDED = f'protected groups must have approval annotation "{ANNOTATION}"'
_CONDITION = "KubernetesAPIApprovalPolicyConformant"


class Approval(Enum):
    """What the annotation says; the value is the reason that the condition has."""

    INVALID = "InvalidAnnotation"
    MISSING = "MissingAnnotation"
    APPROVED = "ApprovedAnnotation"
    BYPASSED = "UnapprovedAnnotation"


def _protected(definition: Object) -> bool:
    group = definition.get("spec", {}).get("group", "")
    return any(group == each or group.endswith(f".{each}") for each in _PROTECTED)


def _annotation(definition: Object) -> str:
    return str((definition["metadata"].get("annotations") or {}).get(ANNOTATION, ""))


def _approval(definition: Object) -> tuple[Approval, str]:
    value = _annotation(definition)
    if not value:
        return Approval.MISSING, f"{_NEEDED}, see {_KEP}"
    if value.startswith("unapproved"):
        return Approval.BYPASSED, f'not approved: "{value}"'
    if _is_url(value):
        return Approval.APPROVED, f"approved in {value}"
    return Approval.INVALID, f'{_NEEDED} with either a URL or a reason starting with "unapproved", see {_KEP}'


def _is_url(value: str) -> bool:
    try:
        parts = go_url.parse(value)
    except ValueError:
        return False
    return bool(parts.scheme and parts.host)


def check_approval(new: Object, old: Object | None, problems: Problems) -> None:
    """What has not changed is let be, so that who changes only the spec is not stopped by it."""
    if not _protected(new):
        return
    state, why = _approval(new)
    if old is not None and _approval(old)[0] is state:
        return
    at = f"metadata.annotations[{ANNOTATION}]"
    if state is Approval.MISSING:
        problems.required(at, why)
    elif state is Approval.INVALID:
        problems.invalid(at, _annotation(new), why)


def approval_condition(definition: Object, status: Object | None, *, now: str) -> Object | None:
    """`status` (None for one that does not change) with the condition where the definition needs it."""
    if not _protected(definition):
        return status
    state, why = _approval(definition)
    wanted = condition(_CONDITION, "True" if state is Approval.APPROVED else "False", state.value, why)
    current = {**definition, "status": status} if status is not None else definition
    before = find_condition(current, _CONDITION)
    if before is not None and all(before.get(name) == wanted[name] for name in ("status", "reason", "message")):
        return status
    return with_condition(current.get("status") or {}, wanted, now=now)
