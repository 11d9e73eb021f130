"""Labels of nodes that have newer names, wherever they select nodes (pkg/api/node/util.go)."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.types import Object
from engine.api.validation.text import label_value
from engine.api.warnings.addresses import cidr_warnings

DEPRECATED_LABELS: Mapping[str, str] = {
    label: f'deprecated since {since}; use "{instead}" instead'
    for label, since, instead in (
        ("beta.kubernetes.io/arch", "v1.14", "kubernetes.io/arch"),
        ("beta.kubernetes.io/os", "v1.14", "kubernetes.io/os"),
        ("failure-domain.beta.kubernetes.io/region", "v1.17", "topology.kubernetes.io/region"),
        ("failure-domain.beta.kubernetes.io/zone", "v1.17", "topology.kubernetes.io/zone"),
        ("beta.kubernetes.io/instance-type", "v1.17", "node.kubernetes.io/instance-type"),
    )
}


def expressions(term: Object, path: str, *, check_values: bool = False) -> list[str]:
    """Of the expressions of a node selector term, or of a label selector; with `check_values` also of values that no
    label can have, which validation lets pass where a term is only preferred."""
    found = []
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        at, key = f"{path}.matchExpressions[{index}]", expression.get("key", "")
        if key in DEPRECATED_LABELS:
            found.append(f"{at}.key: {key} is {DEPRECATED_LABELS[key]}")
        for place, value in enumerate(expression.get("values") or () if check_values else ()):
            found += [f"{at}.values[{place}]: {value} is invalid, {wrong}" for wrong in label_value(value)]
    return found


def label_selector(selector: Object, path: str) -> list[str]:
    labels = [
        f"{path}.matchLabels.{label}: {text}"
        for label, text in DEPRECATED_LABELS.items()
        if label in (selector.get("matchLabels") or {})
    ]
    return expressions(selector, path) + labels


def runtime_class(obj: Object) -> list[str]:
    selector = (obj.get("scheduling") or {}).get("nodeSelector") or {}
    return [f"scheduling.nodeSelector: {text}" for label, text in DEPRECATED_LABELS.items() if label in selector]


def node(obj: Object) -> list[str]:
    """Fields that nothing reads any more."""
    spec = obj.get("spec") or {}
    found = []
    if spec.get("configSource") is not None:
        found.append("spec.configSource: the feature is removed")
    if spec.get("externalID"):
        found.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")
    for index, cidr in enumerate(spec.get("podCIDRs") or ()):
        found += cidr_warnings(cidr, f"spec.podCIDRs[{index}]")
    return found
