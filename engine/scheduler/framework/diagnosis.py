"""Why a pod fits nowhere (framework.Diagnosis, framework.FitError), in upstream's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.scheduler.framework.status import Code, Status, unresolvable
from engine.scheduler.framework.verdicts import Rejection, Rows

NO_NODES = "no nodes available to schedule pods"


class NodeToStatus:
    """A status for each rejected node, and one for all nodes that are not listed.

    Rejections of many nodes stay arrays; they are spread out by name when a single node is asked for.
    """

    def __init__(
        self,
        statuses: Mapping[str, Status] | None = None,
        absent: Status | None = None,
        *,
        rejections: Sequence[Rejection] = (),
        names: Sequence[str] = (),
    ) -> None:
        self.absent = absent or unresolvable()
        self._single: dict[str, Status] = dict(statuses or {})
        self._rejections = rejections
        self._names = names
        self._by_name: dict[str, Status] | None = None

    def get(self, node: str) -> Status:
        if self._by_name is None:
            self._by_name = {}
            for rejection in self._rejections:
                self._by_name.update(rejection.by_name(self._names))
        return self._single.get(node) or self._by_name.get(node, self.absent)

    def set(self, node: str, status: Status) -> None:
        self._single[node] = status

    def counted(self) -> Iterator[tuple[Status, int]]:
        """Statuses with the number of nodes that have them; one status may come several times."""
        for rejection in self._rejections:
            yield from rejection.counted()
        for status in self._single.values():
            yield status, 1

    def rows_with(self, code: Code, rows: Mapping[str, int]) -> Rows:
        """The rows of all nodes whose status has this code, in order; `rows` are those of all names."""
        chosen = np.full(len(rows), self.absent.code is code, np.bool_)
        for rejection in self._rejections:
            has = np.array([status.code is code for status in rejection.verdicts.statuses], np.bool_)
            chosen[rejection.rows] = has[rejection.verdicts.codes]
        for name, status in self._single.items():
            chosen[rows[name]] = status.code is code
        return np.flatnonzero(chosen)

    def __len__(self) -> int:
        return len(self._single) + sum(len(rejection.rows) for rejection in self._rejections)


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
    absent = max(total - len(node_to_status), 0)
    for status, nodes in (*node_to_status.counted(), (node_to_status.absent, absent)):
        for reason in status.reasons if nodes else ():
            counts[reason] = counts.get(reason, 0) + nodes
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
