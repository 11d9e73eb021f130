"""Questions that a cluster lives by: neither policies nor, since 1.37, webhooks are asked about them.

Source: pkg/kubeapiserver/admission/exclusion; pkg/apis/admissionregistration/validation/warnings.go for webhooks whose
rules name them.
"""

from __future__ import annotations

from engine.api.resource_table import ADMISSION
from engine.api.resources import ResourceInfo
from engine.api.types import Object

EXCLUDED = frozenset(
    f"{name}reviews.{group}.k8s.io"
    for group, names in {
        "authentication": ("selfsubject", "token"),
        "authorization": ("localsubjectaccess", "selfsubjectaccess", "selfsubjectrules", "subjectaccess"),
    }.items()
    for name in names
)
_FROM_WEBHOOKS_SINCE = (1, 37)
_WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_ALL = "*"


def is_for_webhooks(info: ResourceInfo) -> bool:
    return info.release < _FROM_WEBHOOKS_SINCE or info.gvr.group_resource not in EXCLUDED


def rule_warnings(info: ResourceInfo, obj: Object) -> list[str]:
    """Of rules that are for nothing. Those that are for all groups or resources may mean others."""
    if (info.gvr.group, info.release < _FROM_WEBHOOKS_SINCE) != (ADMISSION, False) or info.kind not in _WEBHOOKS:
        return []
    return [
        f"webhooks[{place}].rules[{number}]: {name} is excluded from admission webhooks; this rule will have no effect"
        for place, webhook in enumerate(obj.get("webhooks") or ())
        for number, rule in enumerate(webhook.get("rules") or ())
        for name in _named(rule.get("apiGroups") or [], rule.get("resources") or [])
    ]


def _named(groups: list[str], resources: list[str]) -> list[str]:
    if _ALL in groups or _ALL in resources:
        return []
    names = dict.fromkeys(f"{resource}.{group}" for group in groups for resource in resources)
    return [name for name in names if name in EXCLUDED]
