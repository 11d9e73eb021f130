"""NodeDeclaredFeatures: a pod goes only to nodes whose kubelets say that they can do what it needs (KEP 5328).

Source: upstream's plugins/nodedeclaredfeatures and component-helpers/nodedeclaredfeatures. What a pod needs is read
from its spec; what a node can do stands in its status.declaredFeatures. On by default from Kubernetes 1.36 on.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import Depends, FilterPlugin, PreFilterPlugin, PreFilterResult
from engine.scheduler.framework.status import SKIP, SUCCESS, Status, unresolvable
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo

NOT_DECLARED = unresolvable("node(s) didn't match Pod's required features")

RESTART_ALL_CONTAINERS = "RestartAllContainersOnContainerExits"
USER_NAMESPACES_HOST_NETWORK = "UserNamespacesHostNetworkSupport"


def required_features(pod: PodInfo) -> frozenset[str]:
    """What the nodes must have declared, inferred from the pod's spec."""
    spec, found = pod.spec, set()
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    rules = (rule for container in containers for rule in container.get("restartPolicyRules") or ())
    if any(rule.get("action") == "RestartAllContainers" for rule in rules):
        found.add(RESTART_ALL_CONTAINERS)
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        found.add(USER_NAMESPACES_HOST_NETWORK)
    return frozenset(found)


def declared_features(node: Object | None) -> list[str]:
    return ((node or {}).get("status") or {}).get("declaredFeatures") or []


@dataclass(slots=True)
class FeatureState:
    required: frozenset[str]

    def clone(self) -> FeatureState:
        return self


class NodeDeclaredFeatures(PreFilterPlugin, FilterPlugin):
    name = "NodeDeclaredFeatures"
    depends = Depends.NODE

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        required = required_features(pod)
        if not required:
            return PreFilterResult(SKIP)
        state.write(self.name, FeatureState(required))
        return PreFilterResult()

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        required = state.read(self.name, FeatureState).required
        return SUCCESS if required.issubset(declared_features(node.node)) else NOT_DECLARED

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        required = state.read(self.name, FeatureState).required
        table = snapshot.static(
            (self.name, tuple(sorted(required))), lambda node: int(required.issubset(declared_features(node.node)))
        )
        return Verdicts.where(table[rows] == 0, NOT_DECLARED)

    def events_to_register(self) -> list[EventWithHint]:
        node = ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE)
        own = ClusterEvent(EventResource.TARGET_POD, Action.UPDATE)
        return [EventWithHint(node, _after_node), EventWithHint(own, _after_own_update)]


def _after_node(pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
    same = old is not None and declared_features(old) == declared_features(new)
    return QueueingHint.SKIP if same else QueueingHint.QUEUE


def _after_own_update(pod: PodInfo, old: PodInfo, new: PodInfo) -> QueueingHint:
    changed = new.uid == pod.uid and required_features(old) != required_features(new)
    return QueueingHint.QUEUE if changed else QueueingHint.SKIP
