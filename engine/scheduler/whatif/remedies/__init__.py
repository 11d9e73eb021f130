"""What would make a Pod fit: for every node the smallest change for each filter that rejects it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.measuring import Durations
from engine.scheduler.framework.runtime import Framework
from engine.scheduler.framework.status import Code, Status
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.whatif.remedies import devices, nodes, resources, topology, volumes
from engine.scheduler.whatif.remedies.remedy import ANOTHER, EDIT_POD, NodeRemedies, Question, Remedy
from engine.scheduler.whatif.remedies.trial import Trial

__all__ = ["NodeRemedies", "Remedy", "remedies_for"]

ASKED_NODES = 64
TRIED_NODES = 16
ROUNDS = 3

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
    rejected = _rejections(framework, pod, snapshot, np.arange(len(snapshot), dtype=np.intp))
    if isinstance(rejected, Status):
        return [NodeRemedies("", _of_pre_filter(framework, pod, rejected))]
    order = sorted(rejected, key=lambda row: (len(rejected[row]), row))[:ASKED_NODES]
    found = [NodeRemedies(snapshot.names[row], _all_of(rejected[row])) for row in order]
    found.sort(key=lambda each: each.cost)
    for each in found[:TRIED_NODES]:
        _try_out(framework, pod, snapshot, each)
    return sorted(found, key=lambda each: each.cost)


def _try_out(framework: Framework, pod: PodInfo, snapshot: Snapshot, found: NodeRemedies) -> None:
    """Do what is told for a node in the snapshot, and tell what the filters say then, too."""
    row = snapshot.rows[found.node]
    trial, new = Trial(pod, row, snapshot), found.remedies
    try:
        for _ in range(ROUNDS):
            trial.do(new)
            rejected = _rejections(framework, trial.pod, snapshot, np.array([row], np.intp))
            if isinstance(rejected, Status):
                return
            new = found.take_up(_all_of(rejected.get(row, [])))
            if not new:
                return
    finally:
        trial.undo()


def _all_of(questions: list[Question]) -> list[Remedy]:
    return [remedy for question in questions for remedy in _of_plugin(question)]


def _rejections(
    framework: Framework, pod: PodInfo, snapshot: Snapshot, rows: Rows
) -> dict[int, list[Question]] | Status:
    """By row, every filter that rejects the node, where the scheduler stops at the first; or what rejects all nodes
    before any is looked at."""
    state = CycleState()
    outcome = framework.run_pre_filter(state, pod, snapshot, Durations())
    if not outcome.status.ok:
        return outcome.status
    if outcome.node_names is not None and (meant := outcome.node_names & snapshot.rows.keys()):
        # A Pod of a DaemonSet is for one node: what would take it to another is no answer.
        rows = rows[np.isin(rows, [snapshot.rows[name] for name in meant])]
    rejected: dict[int, list[Question]] = {}
    for plugin in framework.active_filters(state):
        verdicts = plugin.filter_all(state, pod, snapshot, rows)
        for i in np.flatnonzero(verdicts.codes).tolist():
            row = int(rows[i])
            question = Question(plugin, pod, snapshot.nodes[row], verdicts.statuses[verdicts.codes[i]], state, snapshot)
            rejected.setdefault(row, []).append(question)
    for row in rows.tolist():
        if beside := _beside_nominated(framework, state, pod, snapshot, row):
            rejected[row] = _joined(rejected.get(row, []), beside)
    return rejected


def _beside_nominated(
    framework: Framework, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int
) -> list[Question]:
    """What rejects a node once the Pods are there that are nominated to it."""
    crowded = framework.crowded(state, pod, snapshot.nodes[row])
    if crowded is None:
        return []
    twin, node = crowded
    asked = ((plugin, plugin.filter(twin, pod, node)) for plugin in framework.active_filters(twin))
    return [Question(plugin, pod, node, status, twin, snapshot) for plugin, status in asked if not status.ok]


def _joined(plain: list[Question], beside: list[Question]) -> list[Question]:
    """Of each plugin one question, of those beside nominated Pods where there are any: they ask for more."""
    asked = {question.plugin.name: question for question in (*plain, *beside)}
    return list(asked.values())


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
