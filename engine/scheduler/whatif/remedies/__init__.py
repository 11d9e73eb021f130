"""What would make a Pod fit: for every node the smallest change for each filter that rejects it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.measuring import Durations
from engine.scheduler.framework.plugin import FilterPlugin
from engine.scheduler.framework.runtime import Framework
from engine.scheduler.framework.status import Code, Status
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.whatif.remedies import devices, nodes, resources, topology, volumes
from engine.scheduler.whatif.remedies.remedy import ANOTHER, EDIT_POD, NodeRemedies, Question, Remedy

__all__ = ["NodeRemedies", "Remedy", "remedies_for"]

ASKED_NODES = 64

_BY_PLUGIN: dict[str, Callable[[Question], list[Remedy]]] = {
    "NodeUnschedulable": nodes.of_unschedulable,
    "NodeName": nodes.of_node_name,
    "TaintToleration": nodes.of_taints,
    "NodeAffinity": nodes.of_affinity,
    "NodePorts": resources.of_ports,
    "NodeResourcesFit": resources.of_resources,
    "VolumeRestrictions": volumes.of_restrictions,
    "NodeVolumeLimits": volumes.of_limits,
    "VolumeBinding": volumes.of_binding,
    "VolumeZone": volumes.of_zone,
    "PodTopologySpread": topology.of_spread,
    "InterPodAffinity": topology.of_pod_affinity,
    "DynamicResources": devices.of_claims,
    "NodeDeclaredFeatures": devices.of_features,
}

# What these plugins reject may be mended by the remedy for another: a cordon's taint goes with the cordon.
_MAY_GO_WITH_ANOTHER = frozenset(("TaintToleration",))


def remedies_for(framework: Framework, pod: PodInfo, snapshot: Snapshot) -> list[NodeRemedies]:
    """For each node what would let the Pod run there, the smallest change first; of a large cluster for the nodes
    that the fewest filters reject. A node "" stands for all of them."""
    state = CycleState()
    outcome = framework.run_pre_filter(state, pod, snapshot, Durations())
    if not outcome.status.ok:
        return [NodeRemedies("", _of_pre_filter(framework, pod, outcome.status))]
    rejected = _rejections(framework, state, pod, snapshot)
    order = sorted(rejected, key=lambda row: (len(rejected[row]), row))[:ASKED_NODES]
    found = []
    for row in order:
        made = NodeRemedies(snapshot.names[row])
        for plugin, status in rejected[row]:
            question = Question(plugin, pod, snapshot.nodes[row], status, state, snapshot)
            made.remedies.extend(_of_plugin(question))
        found.append(made)
    return sorted(found, key=lambda each: each.cost)


def _rejections(
    framework: Framework, state: CycleState, pod: PodInfo, snapshot: Snapshot
) -> dict[int, list[tuple[FilterPlugin, Status]]]:
    """By row, every filter that rejects the node, where the scheduler stops at the first."""
    rejected: dict[int, list[tuple[FilterPlugin, Status]]] = {}
    rows = np.arange(len(snapshot), dtype=np.intp)
    for plugin in framework.active_filters(state):
        verdicts = plugin.filter_all(state, pod, snapshot, rows)
        for row in np.flatnonzero(verdicts.codes).tolist():
            rejected.setdefault(row, []).append((plugin, verdicts.statuses[verdicts.codes[row]]))
    return rejected


def _of_plugin(question: Question) -> list[Remedy]:
    name = question.plugin.name
    found = _BY_PLUGIN.get(name, nodes.of_other)(question)
    return found if found or name in _MAY_GO_WITH_ANOTHER else nodes.of_other(question)


def _of_pre_filter(framework: Framework, pod: PodInfo, status: Status) -> list[Remedy]:
    """What one plugin says of all nodes at once."""
    if found := volumes.of_claims(pod, framework.handle, status.plugin):
        return found
    cost = EDIT_POD if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE else ANOTHER
    return [Remedy(status.plugin, f"mend what {status.plugin or 'the Pod'} says: {status.message}", {}, cost)]
