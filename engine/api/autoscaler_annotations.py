"""What the annotations of an autoscaling/v1 HorizontalPodAutoscaler say, read as Go reads it into v1's own types.

Source: pkg/apis/autoscaling/v1/conversion.go. One that is no JSON or does not fit its type counts as none; fields that
the type does not have count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from engine.api.golang.forms import INT32, INT64, STRING, Form, Leaf, Map, Struct, UnmarshalError, check
from engine.api.quantity import Quantity, QuantityError


def _is_quantity(value: Any) -> bool:
    try:
        return isinstance(value, str | int | float) and Quantity.parse(value) is not None
    except QuantityError:
        return False


_QUANTITY = Leaf("resource.Quantity", _is_quantity)
_REFERENCE = Struct("CrossVersionObjectReference", {"kind": STRING, "name": STRING, "apiVersion": STRING})
_REQUIREMENT = Struct("LabelSelectorRequirement", {"key": STRING, "operator": STRING, "values": [STRING]})
_SELECTOR = Struct("LabelSelector", {"matchLabels": Map(STRING), "matchExpressions": [_REQUIREMENT]})
_NAMED: Mapping[str, Form] = {
    **dict.fromkeys(("name", "metricName", "container"), STRING),
    **dict.fromkeys(("selector", "metricSelector"), _SELECTOR),
    **dict.fromkeys(("targetAverageUtilization", "currentAverageUtilization"), INT32),
    "target": _REFERENCE,
}
_CONDITION = Struct(
    "HorizontalPodAutoscalerCondition",
    {
        **dict.fromkeys(("type", "status", "lastTransitionTime", "reason", "message"), STRING),
        "observedGeneration": INT64,
    },
)
_POLICY = Struct("HPAScalingPolicy", {"Type": STRING, "Value": INT32, "PeriodSeconds": INT32})
_RULES = Struct(
    "HPAScalingRules",
    {"StabilizationWindowSeconds": INT32, "SelectPolicy": STRING, "Policies": [_POLICY], "Tolerance": _QUANTITY},
)

CONDITIONS: Form = [_CONDITION]
BEHAVIOR: Form = Struct("HorizontalPodAutoscalerBehavior", {"ScaleUp": _RULES, "ScaleDown": _RULES})


def metrics_form(name: str, kinds: Mapping[str, Iterable[str]]) -> Form:
    """Of a list of metrics, by the fields of each kind; those that are nothing else are amounts."""
    sources = {
        kind: Struct(kind, {field: _NAMED.get(field, _QUANTITY) for field in fields}) for kind, fields in kinds.items()
    }
    return [Struct(name, {"type": STRING, **sources})]


def taken(annotations: Mapping[str, str], name: str, form: Form) -> Any:
    """The value of an annotation; None if there is none."""
    if name not in annotations:
        return None
    try:
        value = orjson.loads(annotations[name])
        check(value, form)
    except (orjson.JSONDecodeError, UnmarshalError):
        return None
    return _fitted(value, form)


def _fitted(value: Any, form: Form) -> Any:
    """Without what is not set or nobody knows."""
    if isinstance(form, Struct):
        found = value or {}
        return {name: _fitted(found[name], of) for name, of in form.fields.items() if found.get(name) is not None}
    if isinstance(form, list):
        return [_fitted(each, form[0]) for each in value or ()]
    return str(Quantity.parse(value)) if form is _QUANTITY else value
