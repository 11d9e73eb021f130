"""Remedies done to a copy of a node and of the Pod, so that the filters can be asked again.

A remedy may bring up what no filter saw before: a node that is labelled otherwise is in another domain, one whose taint
is tolerated may begin to count for spreading. Only the snapshot of the what-if changes, and is put back afterwards.
"""

from __future__ import annotations

from engine.api.types import Object, copy_object
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.resource import CPU, milli, whole
from engine.scheduler.selecting import required_node_affinity
from engine.scheduler.tolerating import is_of_cordon
from engine.scheduler.whatif.remedies.remedy import Remedy

# The value of a label that a node lacks: a domain of its own.
OWN_DOMAIN = "new"


class Trial:
    """One node and one Pod with remedies done. `undo` puts the snapshot back."""

    def __init__(self, pod: PodInfo, row: int, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._row = row
        self._before: dict[int, NodeInfo] = {}
        self._pod: Object = {**pod.pod, "spec": copy_object(pod.spec)}
        self._node: Object = copy_object(snapshot.nodes[row].node or {"metadata": {"name": snapshot.names[row]}})

    def do(self, remedies: list[Remedy]) -> None:
        """What remedies say, as far as a node and a Pod can show it: no volume or device is made."""
        for remedy in remedies:
            self._edit_pod(remedy.change)
            self._edit_node(remedy.change)
            if keys := remedy.change.get("removePods"):
                self._remove(set(keys))
        twin = self._snapshot.nodes[self._row].copy()
        twin.set_node(self._node)
        self._replace(self._row, twin)

    @property
    def pod(self) -> PodInfo:
        return PodInfo(self._pod)

    def undo(self) -> None:
        for row, info in self._before.items():
            self._snapshot.replace(row, info)

    def _replace(self, row: int, info: NodeInfo) -> None:
        self._before.setdefault(row, self._snapshot.nodes[row])
        self._snapshot.replace(row, info)

    def _edit_pod(self, change: Object) -> None:
        spec = self._pod["spec"]
        if toleration := change.get("tolerate"):
            spec["tolerations"] = [*(spec.get("tolerations") or ()), toleration]
        if selected := change.get("nodeSelector"):
            spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **selected}
        if (name := change.get("nodeAffinity")) and (required := required_node_affinity(self._pod)) is not None:
            named = [{"key": "metadata.name", "operator": "In", "values": [name]}]
            required["nodeSelectorTerms"] = [*(required.get("nodeSelectorTerms") or ()), {"matchFields": named}]
        if skew := change.get("maxSkew"):
            for constraint in spec.get("topologySpreadConstraints") or ():
                if constraint["topologyKey"] == change["topologyKey"]:
                    constraint["maxSkew"] = max(constraint["maxSkew"], skew)

    def _edit_node(self, change: Object) -> None:
        node, metadata = self._node, self._node["metadata"]
        if change.get("uncordon"):
            taints = [taint for taint in node["spec"].get("taints") or () if not is_of_cordon(taint)]
            node["spec"] = {**node["spec"], "unschedulable": False, "taints": taints}
        if labels := change.get("label"):
            merged = {**(metadata.get("labels") or {}), **labels}
            metadata["labels"] = {key: value for key, value in merged.items() if value is not None}
        if key := change.get("labelKey"):
            metadata["labels"] = {**(metadata.get("labels") or {}), key: OWN_DOMAIN}
        for resource, amount in (change.get("lacking") or {}).items():
            status = node.setdefault("status", {})
            status["allocatable"] = _grown(status.get("allocatable") or {}, resource, amount)

    def _remove(self, keys: set[str]) -> None:
        for row, info in enumerate(self._snapshot.nodes):
            if gone := [other for other in info.pods.values() if other.key in keys]:
                twin = info.copy()
                for other in gone:
                    twin.remove_pod(other)
                self._replace(row, twin)


def _grown(allocatable: Object, resource: str, amount: int) -> Object:
    present = str(allocatable.get(resource, "0"))
    if resource == CPU:
        return {**allocatable, resource: f"{milli(present) + amount}m"}
    return {**allocatable, resource: str(whole(present) + amount)}
