"""Why a pod fits nowhere (framework.Diagnosis, framework.FitError), in upstream's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.scheduler.framework.status import Code, Status, unresolvable

NO_NODES = "no nodes available to schedule pods"


class NodeToStatus:
    """A status for each rejected node, and one for all nodes that are not listed."""

    def __init__(self, statuses: Mapping[str, Status] | None = None, absent: Status | None = None) -> None:
        self.statuses: dict[str, Status] = dict(statuses or {})
        self.absent = absent or unresolvable()

    def get(self, node: str) -> Status:
        return self.statuses.get(node, self.absent)

    def set(self, node: str, status: Status) -> None:
        self.statuses[node] = status

    def __len__(self) -> int:
        return len(self.statuses)


@dataclass(slots=True)
class Diagnosis:
    node_to_status: NodeToStatus = field(default_factory=NodeToStatus)
    # Names as keys: a dict keeps its order, a set of strings would not.
    unschedulable_plugins: dict[str, None] = field(default_factory=dict)
    pending_plugins: dict[str, None] = field(default_factory=dict)
    pre_filter_message: str = ""
    post_filter_message: str = ""

    def add_plugin_status(self, status: Status) -> None:
        if not status.plugin:
            return
        if status.rejected:
            self.unschedulable_plugins[status.plugin] = None
        if status.code is Code.PENDING:
            self.pending_plugins[status.plugin] = None


def _histogram(node_to_status: NodeToStatus, total: int) -> list[str]:
    """`3 Insufficient cpu` for every reason, sorted as strings."""
    counts: dict[str, int] = {}
    for status in node_to_status.statuses.values():
        for reason in status.reasons:
            counts[reason] = counts.get(reason, 0) + 1
    absent = total - len(node_to_status)
    if absent > 0:
        for reason in node_to_status.absent.reasons:
            counts[reason] = counts.get(reason, 0) + absent
    return sorted(f"{count} {reason}" for reason, count in counts.items())


@dataclass(slots=True)
class FitError:
    all_nodes: int
    diagnosis: Diagnosis

    @property
    def message(self) -> str:
        """`0/3 nodes are available: 1 Insufficient cpu, 2 ... . preemption: ...`"""
        text = f"0/{self.all_nodes} nodes are available:"
        if self.diagnosis.pre_filter_message:
            text += f" {self.diagnosis.pre_filter_message}."
        elif reasons := _histogram(self.diagnosis.node_to_status, self.all_nodes):
            text += f" {', '.join(reasons)}."
        if self.diagnosis.post_filter_message:
            text += f" {self.diagnosis.post_filter_message}"
        return text
