"""The flow schemas and priority levels that every cluster has, as they must be (apiserver bootstrap, Mandatory...)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.types import Object
from engine.api.validation.go_values import internal
from engine.api.validation.problems import Problems

EXEMPT, _CATCH_ALL = "exempt", "catch-all"


def _for_all(*groups: str) -> Object:
    return {
        "subjects": [{"kind": "Group", "group": {"name": f"system:{group}"}} for group in groups],
        "resourceRules": [
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
        ],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    }


_SCHEMAS: Mapping[str, Object] = {
    EXEMPT: {
        "priorityLevelConfiguration": {"name": EXEMPT},
        "matchingPrecedence": 1,
        "rules": [_for_all("masters")],
    },
    _CATCH_ALL: {
        "priorityLevelConfiguration": {"name": _CATCH_ALL},
        "matchingPrecedence": 10000,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [_for_all("unauthenticated", "authenticated")],
    },
}
_LEVELS: Mapping[str, Object] = {
    EXEMPT: {"type": "Exempt"},
    _CATCH_ALL: {
        "type": "Limited",
        "limited": {"nominalConcurrencyShares": 5, "lendablePercent": 0, "limitResponse": {"type": "Reject"}},
    },
}


def mandatory_schema(name: str, spec: Object, problems: Problems) -> None:
    if name in _SCHEMAS and _given(spec) != _SCHEMAS[name]:
        problems.invalid("spec", internal("FlowSchemaSpec", spec), f"spec of '{name}' must equal the fixed value")


def mandatory_level(name: str, spec: Object, problems: Problems) -> None:
    """Of the level that is exempt an administrator may say how much of it is lent."""
    if name not in _LEVELS:
        return
    given, detail = _given(spec), f"spec of '{name}' must equal the fixed value"
    if name == EXEMPT:
        given.pop("exempt", None)
        detail = f"spec of '{name}' except the 'spec.exempt' field must equal the fixed value"
    if given != _LEVELS[name]:
        problems.invalid("spec", internal("PriorityLevelConfigurationSpec", spec), detail)


def _given(value: Any) -> Any:
    """Without what is as good as not given."""
    if isinstance(value, list):
        return [_given(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: _given(each) for name, each in value.items() if each not in (None, []) and each is not False}
