"""On which Nodes a DaemonSet's Pods belong: pure (NodeShouldRunDaemonPod in daemon_controller.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engine.api.selectors import LabelSelector
from engine.api.types import Object, copy_object
from engine.controllers.taints import (
    DISK_PRESSURE,
    MEMORY_PRESSURE,
    NETWORK_UNAVAILABLE,
    NO_EXECUTE,
    NO_SCHEDULE,
    NOT_READY,
    PID_PRESSURE,
    UNREACHABLE,
    UNSCHEDULABLE,
    find_toleration,
    taints_of,
)


class Fit(NamedTuple):
    """Whether a Pod should be on the Node, and whether one that is there may stay."""

    should_run: bool
    may_stay: bool


def daemon_tolerations(spec: Object) -> list[Object]:
    """What daemons put up with besides what their template says (util.AddOrUpdateDaemonPodTolerations)."""
    added = [(NOT_READY, NO_EXECUTE), (UNREACHABLE, NO_EXECUTE)]
    added += [(key, NO_SCHEDULE) for key in (DISK_PRESSURE, MEMORY_PRESSURE, PID_PRESSURE, UNSCHEDULABLE)]
    if spec.get("hostNetwork"):
        added.append((NETWORK_UNAVAILABLE, NO_SCHEDULE))
    tolerations: list[Object] = list(spec.get("tolerations") or [])
    for key, effect in added:
        toleration = {"key": key, "operator": "Exists", "effect": effect}
        # What the template says of the same taint is put in its place: a daemon's Pod stays for as long as it likes.
        if not (same := [each for each in tolerations if _is_of_same_taint(each, toleration)]):
            tolerations.append(toleration)
        tolerations = [toleration if each in same else each for each in tolerations]
    return tolerations


def _is_of_same_taint(a: Object, b: Object) -> bool:
    """In everything but for how long (Toleration.MatchToleration)."""
    return all(a.get(name, "") == b.get(name, "") for name in ("key", "effect", "operator", "value"))


def pinned_to(affinity: Object | None, node: str) -> Object:
    """The affinity that lets the scheduler bind a daemon's Pod to its Node and no other."""
    result: Object = copy_object(affinity) if affinity else {}
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    result.setdefault("nodeAffinity", {})["requiredDuringSchedulingIgnoredDuringExecution"] = {
        "nodeSelectorTerms": [term]
    }
    return result


def fit(daemon_set: Object, node: Object) -> Fit:
    spec = daemon_set["spec"]["template"]["spec"]
    name = node["metadata"]["name"]
    if spec.get("nodeName") and spec["nodeName"] != name:
        return Fit(False, False)
    if not matches_node(spec, node):
        return Fit(False, False)
    tolerations = daemon_tolerations(spec)
    bothering = [taint for taint in taints_of(node) if find_toleration(tolerations, taint) is None]
    if any(taint["effect"] in (NO_SCHEDULE, NO_EXECUTE) for taint in bothering):
        return Fit(False, not any(taint["effect"] == NO_EXECUTE for taint in bothering))
    return Fit(True, True)


def matches_node(spec: Object, node: Object) -> bool:
    """Node selector and required node affinity."""
    labels: Mapping[str, str] = node["metadata"].get("labels") or {}
    if not (spec.get("nodeSelector") or {}).items() <= labels.items():
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(_matches_term(term, node, labels) for term in required.get("nodeSelectorTerms") or ())


def _matches_term(term: Object, node: Object, labels: Mapping[str, str]) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    on_fields = {"metadata.name": str(node["metadata"]["name"])}
    return all(_matches(each, labels) for each in expressions) and all(_matches(each, on_fields) for each in fields)


def _matches(requirement: Object, labels: Mapping[str, str]) -> bool:
    key, operator, values = requirement["key"], requirement["operator"], requirement.get("values") or []
    if operator in ("Gt", "Lt"):
        try:
            here, there = int(labels[key]), int(values[0])
        except (KeyError, ValueError, IndexError):
            return False
        return here > there if operator == "Gt" else here < there
    expression = {"key": key, "operator": operator, "values": values}
    return LabelSelector.from_object({"matchExpressions": [expression]}).matches(labels)
