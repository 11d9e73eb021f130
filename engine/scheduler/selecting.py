"""Label selectors and node selectors, parsed once and shared by all pods that carry the same one.

Source: apimachinery metav1.LabelSelectorAsSelector and component-helpers/scheduling/corev1/nodeaffinity.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from engine.api.errors import ApiError, Cause
from engine.api.kept_json import kept_json
from engine.api.selectors import LabelSelector
from engine.api.types import Object
from engine.scheduler.node_selector_terms import term_problems

_SORTED = orjson.OPT_SORT_KEYS


def canonical(value: Any) -> bytes:
    """A JSON value as a hashable key: equal values give equal keys."""
    return kept_json(value, option=_SORTED)


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


_INTEGER = re.compile(r"[+-]?[0-9]+")


def integer(text: str | None) -> int | None:
    """A whole number as Go's ParseInt reads it: without underscores and spaces, in 64 bits."""
    if text is None or not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


class _Requirement:
    """One expression over labels, or over the one field that there is."""

    __slots__ = ("_bound", "_key", "_operator", "_values")

    def __init__(self, obj: Object) -> None:
        self._key: str = obj.get("key", "")
        self._operator: str = obj.get("operator", "")
        self._values: list[str] = obj.get("values") or []
        self._bound = integer(self._values[0]) if len(self._values) == 1 else None

    def matches(self, values: Mapping[str, str]) -> bool:
        present = self._key in values
        match self._operator:
            case "In":
                return present and values[self._key] in self._values
            case "NotIn":
                return not present or values[self._key] not in self._values
            case "Exists":
                return present
            case "DoesNotExist":
                return not present
        actual = integer(values.get(self._key))
        if actual is None or self._bound is None:
            return False
        return actual > self._bound if self._operator == "Gt" else actual < self._bound


def is_empty_term(term: Object) -> bool:
    return not term.get("matchExpressions") and not term.get("matchFields")


class _Term:
    """A nodeSelectorTerm: all its expressions and fields. One that is empty, or not sound, matches no node."""

    __slots__ = ("_expressions", "_fields", "_sound")

    def __init__(self, obj: Object) -> None:
        self._expressions = [_Requirement(expression) for expression in obj.get("matchExpressions") or ()]
        self._fields = [_Requirement(field) for field in obj.get("matchFields") or ()]
        self._sound = not is_empty_term(obj) and not term_problems(obj, "")

    def matches(self, node: Object) -> bool:
        if not self._sound:
            return False
        metadata = node["metadata"]
        labels = metadata.get("labels") or {}
        if not all(requirement.matches(labels) for requirement in self._expressions):
            return False
        name = metadata.get("name")
        return not name or all(requirement.matches({"metadata.name": name}) for requirement in self._fields)


@lru_cache(maxsize=8192)
def _term(key: bytes) -> _Term:
    return _Term(orjson.loads(key))


def node_term_matches(term: Object, node: Object) -> bool:
    return _term(canonical(term)).matches(node)


def node_selector_matches(selector: Object, node: Object) -> bool:
    """A v1.NodeSelector: any of its terms."""
    return any(node_term_matches(term, node) for term in selector.get("nodeSelectorTerms") or ())


def is_readable(selector: Object) -> bool:
    """Whether all terms of a v1.NodeSelector can be read; those that cannot match no node."""
    terms = selector.get("nodeSelectorTerms") or ()
    return not any(term_problems(term, "") for term in terms if not is_empty_term(term))


def required_node_affinity(pod: Object) -> Object | None:
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required: Object | None = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required


def preferred_node_affinity(pod: Object) -> list[Object]:
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    return affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or []


def node_matches_pod(pod: Object, node: Object) -> bool:
    """nodeaffinity.GetRequiredNodeAffinity(pod).Match(node): spec.nodeSelector and required node affinity."""
    if not has_selected_labels(pod, node):
        return False
    required = required_node_affinity(pod)
    return required is None or node_selector_matches(required, node)


def has_selected_labels(pod: Object, node: Object) -> bool:
    """spec.nodeSelector alone."""
    wanted = pod["spec"].get("nodeSelector")
    if not wanted:
        return True
    labels = node["metadata"].get("labels") or {}
    return all(labels.get(key) == value for key, value in wanted.items())


def preferred_problems(terms: list[Object]) -> list[Cause]:
    """What is wrong with preferred terms; those that count for nothing are not looked at."""
    return [
        cause
        for i, term in enumerate(terms)
        if term.get("weight") and not is_empty_term(term["preference"])
        for cause in term_problems(term["preference"], f"[{i}]")
    ]


def preferred_score(terms: list[Object], node: Object) -> int:
    """The summed weights of the preferred terms that match; an empty term adds nothing."""
    return sum(
        term.get("weight", 0) for term in terms if term.get("weight") and node_term_matches(term["preference"], node)
    )
