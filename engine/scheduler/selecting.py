"""Label selectors and node selectors, parsed once and shared by all pods that carry the same one.

Source: apimachinery metav1.LabelSelectorAsSelector and component-helpers/scheduling/corev1/nodeaffinity.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.api.types import Object

_SORTED = orjson.OPT_SORT_KEYS


def canonical(value: Any) -> bytes:
    """A JSON value as a hashable key: equal values give equal keys."""
    return orjson.dumps(value, option=_SORTED)


class PodSelector:
    """A selector over pod labels. A nil selector matches nothing, an empty one everything."""

    __slots__ = ("_selector", "empty", "key")

    def __init__(self, key: bytes) -> None:
        self.key = key
        obj = orjson.loads(key)
        self.empty = obj is not None and not obj.get("matchLabels") and not obj.get("matchExpressions")
        try:
            self._selector = LabelSelector.from_object(obj)
        except (ApiError, ValueError):
            # Upstream skips what it cannot parse: older objects may carry what validation refuses today.
            self._selector = LabelSelector(nothing=True)

    def matches(self, labels: Mapping[str, str]) -> bool:
        return self._selector.matches(labels)


@lru_cache(maxsize=8192)
def _pod_selector(key: bytes) -> PodSelector:
    return PodSelector(key)


def pod_selector(obj: Object | None) -> PodSelector:
    return _pod_selector(canonical(obj))


def with_match_labels(obj: Object | None, labels: Mapping[str, str]) -> Object | None:
    """A label selector that also asks for these labels (matchLabelKeys)."""
    if obj is None or not labels:
        return obj
    added = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
    return {**obj, "matchExpressions": [*(obj.get("matchExpressions") or ()), *added]}


# -- node selectors


def _compare(operator: str, actual: str | None, bound: str) -> bool:
    try:
        left, right = int(actual or ""), int(bound)
    except ValueError:
        return False
    return left > right if operator == "Gt" else left < right


def _requirement_matches(requirement: Object, values: Mapping[str, str]) -> bool:
    key, operator = requirement.get("key", ""), requirement.get("operator", "")
    listed = requirement.get("values") or []
    if operator == "In":
        return key in values and values[key] in listed
    if operator == "NotIn":
        return key not in values or values[key] not in listed
    if operator == "Exists":
        return key in values
    if operator == "DoesNotExist":
        return key not in values
    if operator in ("Gt", "Lt"):
        return len(listed) == 1 and key in values and _compare(operator, values[key], listed[0])
    return False


def node_term_matches(term: Object, node: Object) -> bool:
    """One nodeSelectorTerm: all its expressions and fields; an empty one matches no node."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    labels = node["metadata"].get("labels") or {}
    if not all(_requirement_matches(e, labels) for e in expressions):
        return False
    names = {"metadata.name": node["metadata"]["name"]}
    return all(_requirement_matches(f, names) for f in fields)


def node_selector_matches(selector: Object, node: Object) -> bool:
    """A v1.NodeSelector: any of its terms."""
    return any(node_term_matches(term, node) for term in selector.get("nodeSelectorTerms") or ())


def required_node_affinity(pod: Object) -> Object | None:
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required: Object | None = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required


def preferred_node_affinity(pod: Object) -> list[Object]:
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    return affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or []


def node_matches_pod(pod: Object, node: Object) -> bool:
    """nodeaffinity.GetRequiredNodeAffinity(pod).Match(node): spec.nodeSelector and required node affinity."""
    wanted = pod["spec"].get("nodeSelector")
    if wanted:
        labels = node["metadata"].get("labels") or {}
        if any(labels.get(key) != value for key, value in wanted.items()):
            return False
    required = required_node_affinity(pod)
    return required is None or node_selector_matches(required, node)


def preferred_score(terms: list[Object], node: Object) -> int:
    """The summed weights of the preferred terms that match; an empty term adds nothing."""
    return sum(
        term.get("weight", 0) for term in terms if term.get("weight") and node_term_matches(term["preference"], node)
    )
