"""Topology spread constraints, parsed (upstream's plugins/podtopologyspread/common.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import orjson
from numpy.typing import NDArray

from engine.api.types import GVR, REPLICA_SETS, SERVICES, Object
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.framework.handle import Handle
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.node_affinity import affinity_key
from engine.scheduler.pod_info import LabelGroup, PodInfo
from engine.scheduler.selecting import (
    PodSelector,
    canonical,
    node_matches_pod,
    pod_selector,
    required_node_affinity,
    with_match_labels,
)
from engine.scheduler.tolerating import untolerated_taint

DO_NOT_SCHEDULE = "DoNotSchedule"
SCHEDULE_ANYWAY = "ScheduleAnyway"
HOSTNAME = "kubernetes.io/hostname"
STATEFUL_SETS = GVR("apps", "v1", "statefulsets")
REPLICATION_CONTROLLERS = GVR("", "v1", "replicationcontrollers")

# The controllers whose selectors are asked for, by apiVersion and kind: others may have kinds of the same names.
_OWNERS = {
    ("apps/v1", "ReplicaSet"): REPLICA_SETS,
    ("apps/v1", "StatefulSet"): STATEFUL_SETS,
    ("v1", "ReplicationController"): REPLICATION_CONTROLLERS,
}

# What pods are spread by that say nothing of it themselves.
SYSTEM_DEFAULTS: list[Object] = [
    {"topologyKey": HOSTNAME, "whenUnsatisfiable": SCHEDULE_ANYWAY, "maxSkew": 3},
    {"topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": SCHEDULE_ANYWAY, "maxSkew": 5},
]


@dataclass(frozen=True, slots=True)
class Constraint:
    max_skew: int
    topology_key: str
    selector: PodSelector
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False

    def includes(self, pod: PodInfo, node: NodeInfo) -> bool:
        """Whether the node counts under nodeAffinityPolicy and nodeTaintsPolicy."""
        if self.honor_affinity and (node.node is None or not node_matches_pod(pod.pod, node.node)):
            return False
        return not self.honor_taints or untolerated_taint(node.taints, pod.tolerations) is None

    def included(self, pod: PodInfo, snapshot: Snapshot) -> NDArray[np.bool_]:
        """`includes` for all nodes."""
        included = np.ones(len(snapshot), np.bool_)
        if self.honor_affinity and (pod.spec.get("nodeSelector") or required_node_affinity(pod.pod)):
            key = ("matches pod", affinity_key(pod))
            included &= snapshot.static(key, lambda n: int(node_matches_pod(pod.pod, n.node or {}))) > 0
        if self.honor_taints:
            key = ("taints", canonical(pod.tolerations))
            closed = snapshot.static(key, lambda n: int(untolerated_taint(n.taints, pod.tolerations) is not None))
            included &= closed == 0
        return included

    def matching(self, pod: PodInfo, snapshot: Snapshot) -> NDArray[np.int64]:
        """Per node, the pods of the pod's namespace that the selector matches and that are not terminating. A selector
        that asks for nothing counts none (countPodsMatchSelector), though it matches the pod itself."""
        namespace, selector = pod.namespace, self.selector
        if selector.empty:
            return np.zeros(len(snapshot), np.int64)

        def accepts(group: LabelGroup) -> bool:
            return group.namespace == namespace and not group.terminating and selector.matches(dict(group.labels))

        return snapshot.pod_groups.sum(("spread", namespace, selector.key), accepts)


def _constraint(obj: Object, labels: Mapping[str, str]) -> Constraint:
    wanted = {key: labels[key] for key in obj.get("matchLabelKeys") or () if key in labels}
    return Constraint(
        max_skew=obj.get("maxSkew", 1),
        topology_key=obj.get("topologyKey", ""),
        selector=pod_selector(with_match_labels(obj.get("labelSelector"), wanted)),
        min_domains=obj.get("minDomains") or 1,
        honor_affinity=(obj.get("nodeAffinityPolicy") or "Honor") == "Honor",
        honor_taints=obj.get("nodeTaintsPolicy") == "Honor",
    )


@lru_cache(maxsize=4096)
def _parsed(key: bytes) -> tuple[Constraint, ...]:
    listed, labels, action = orjson.loads(key)
    return tuple(_constraint(obj, labels) for obj in listed if obj.get("whenUnsatisfiable") == action)


def parse(listed: Sequence[Object], labels: Mapping[str, str], action: str) -> tuple[Constraint, ...]:
    """The constraints of one whenUnsatisfiable."""
    keyed = any(obj.get("matchLabelKeys") for obj in listed)
    return _parsed(canonical([listed, labels if keyed else {}, action]))


def _owner_selector(pod: PodInfo, handle: Handle) -> Object | None:
    """The label selector of the controller that owns the pod."""
    owners = pod.pod["metadata"].get("ownerReferences") or ()
    owner = next((o for o in owners if o.get("controller")), None)
    resource = _OWNERS.get((owner.get("apiVersion", ""), owner["kind"])) if owner is not None else None
    if owner is None or resource is None:
        return None
    found = handle.lister(resource).get(owner["name"], pod.namespace)
    if found is None:
        return None
    selector: Object | None = found["spec"].get("selector")
    return {"matchLabels": selector} if resource is REPLICATION_CONTROLLERS else selector


def default_selector(pod: PodInfo, handle: Handle) -> PodSelector:
    """Pods of the same services and controller (plugins/helper DefaultSelector)."""
    labels: dict[str, str] = {}
    for service in handle.lister(SERVICES).list(pod.namespace):
        wanted = (service.get("spec") or {}).get("selector")
        if wanted and all(pod.labels.get(key) == value for key, value in wanted.items()):
            labels.update(wanted)
    owner = _owner_selector(pod, handle) or {}
    selector: Object = {}
    if matched := {**labels, **(owner.get("matchLabels") or {})}:
        selector["matchLabels"] = matched
    if expressions := owner.get("matchExpressions"):
        selector["matchExpressions"] = expressions
    return pod_selector(selector)


def default_constraints(
    listed: Sequence[Object], pod: PodInfo, action: str, *, handle: Handle
) -> tuple[Constraint, ...]:
    """The profile's constraints with the selector that the pod's services and controller give."""
    parsed = parse(listed, pod.labels, action)
    if not parsed:
        return ()
    selector = default_selector(pod, handle)
    if selector.empty:
        return ()
    return tuple(replace(constraint, selector=selector) for constraint in parsed)
