"""Finding feasible nodes: how many are enough, where to begin, and who rejected the others.

Source: upstream's schedule_one.go (findNodesThatFitPod, numFeasibleNodesToFind).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

import numpy as np

from engine.clock import wall
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.cycle.nominated import NominatedLoads
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.diagnosis import Diagnosis, NodeToStatus
from engine.scheduler.framework.measuring import Durations
from engine.scheduler.framework.runtime import Framework
from engine.scheduler.framework.status import Code, PluginError, Status, unresolvable
from engine.scheduler.framework.verdicts import Rejection
from engine.scheduler.pod_info import PodInfo

log = logging.getLogger(__name__)

MIN_FEASIBLE_NODES = 100
MIN_FEASIBLE_PERCENTAGE = 5
FEW = 4  # nodes are looked at one by one

_NO_ROWS: Rows = np.zeros(0, np.intp)


def feasible_nodes_to_find(nodes: int, percentage: int = 0) -> int:
    """How many feasible nodes are enough to choose among; with percentage 0 fewer in proportion as there are more."""
    if nodes < MIN_FEASIBLE_NODES:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, MIN_FEASIBLE_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES)


def _next_chunk(needed: int, *, looked_at: int, passed: int) -> int:
    """How many nodes to ask about at once: by the share that has passed so far, what is needed and a little more."""
    if not looked_at:
        return needed + needed // 8 + 16
    return needed * looked_at * 5 // (4 * passed) + 16 if passed else 8 * looked_at


@dataclass(slots=True)
class Search:
    """What was found: feasible rows in the order of looking, and the rejections of all others that were looked at."""

    feasible: Rows = field(default_factory=lambda: _NO_ROWS)
    rejections: list[Rejection] = field(default_factory=list)
    statuses: dict[str, Status] = field(default_factory=dict)
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    nominated: bool = False  # whether the node that the pod is nominated to is all that was looked at
    error: Status | None = None

    @property
    def rejected(self) -> int:
        return len(self.statuses) + sum(len(r.rows) for r in self.rejections)

    @property
    def evaluated(self) -> int:
        return len(self.feasible) + self.rejected


class FeasibleNodes:
    """Keeps where the next search begins, so that over many pods all nodes get their chance."""

    def __init__(self, *, choosy: bool = False) -> None:
        """`choosy` where extenders choose among the nodes that are found: then one is not enough."""
        self.next_start = 0
        self._nominated = NominatedLoads()
        self._choosy = choosy

    def find(
        self,
        framework: Framework,
        state: CycleState,
        pod: PodInfo,
        *,
        snapshot: Snapshot,
        durations: Durations,
        nominated_first: bool = True,
    ) -> Search:
        outcome = framework.run_pre_filter(state, pod, snapshot, durations)
        search = Search()
        for plugin in outcome.narrowed_by:
            search.diagnosis.unschedulable_plugins[plugin] = None
        if not outcome.status.ok:
            if not outcome.status.rejected:
                search.error = outcome.status
                return search
            search.diagnosis.node_to_status = NodeToStatus(absent=outcome.status)
            search.diagnosis.pre_filter_message = outcome.status.message
            search.diagnosis.add_plugin_status(outcome.status)
            return search
        if nominated_first and (
            nominated := self._on_nominated_node(framework, state, pod, snapshot=snapshot, durations=durations)
        ):
            return nominated
        rows = np.arange(len(snapshot), dtype=np.intp)
        if outcome.node_names is not None:
            named = sorted(snapshot.rows[name] for name in outcome.node_names if name in snapshot.rows)
            rows = np.array(named, np.intp)
            narrowed = " ".join(sorted(outcome.narrowed_by))
            search.diagnosis.node_to_status.absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{narrowed}]")
        try:
            self._search(search, framework, state, pod=pod, snapshot=snapshot, rows=rows, durations=durations)
        finally:
            # Also after an error: the nodes that come next shall have their chance.
            self.next_start = (self.next_start + search.evaluated) % len(snapshot)
        if not len(search.feasible):
            self.diagnose(search, snapshot)
        return search

    def _on_nominated_node(
        self, framework: Framework, state: CycleState, pod: PodInfo, *, snapshot: Snapshot, durations: Durations
    ) -> Search | None:
        """The node that preemption made room on is tried first, and alone."""
        row = snapshot.rows.get(pod.nominated_node_name)
        if row is None:
            return None
        search = Search(nominated=True)
        rows = np.array([row], np.intp)
        try:
            self._search(search, framework, state, pod=pod, snapshot=snapshot, rows=rows, durations=durations)
        except PluginError as failure:
            # The other nodes may still do.
            log.warning("pod %s on the node that it is nominated to: %s", pod.key, failure)
            return None
        return search if len(search.feasible) else None

    def _search(
        self,
        search: Search,
        framework: Framework,
        state: CycleState,
        *,
        pod: PodInfo,
        snapshot: Snapshot,
        rows: Rows,
        durations: Durations,
    ) -> None:
        """Look at nodes from where the last search ended until enough are feasible. Raises PluginError."""
        began, code = wall(), Code.ERROR
        try:
            self._search_some(search, framework, state, pod=pod, snapshot=snapshot, rows=rows, durations=durations)
            code = Code.SUCCESS
        finally:
            framework.measuring.point("Filter", began, code)

    def _search_some(
        self,
        search: Search,
        framework: Framework,
        state: CycleState,
        *,
        pod: PodInfo,
        snapshot: Snapshot,
        rows: Rows,
        durations: Durations,
    ) -> None:
        if not len(rows):
            return
        percentage = framework.profile.percentage_of_nodes_to_score
        wanted = feasible_nodes_to_find(len(rows), percentage) if framework.score or self._choosy else 1
        start = self.next_start % len(rows)
        found: list[Rows] = []
        position = count = 0
        while position < len(rows) and count < wanted:
            size = _next_chunk(wanted - count, looked_at=position, passed=count)
            chunk = rows.take(np.arange(start + position, start + min(position + size, len(rows))), mode="wrap")
            passed = self._pass(search, framework, state, pod=pod, snapshot=snapshot, rows=chunk, durations=durations)
            if count + len(passed) > wanted:
                passed = passed[: wanted - count]
                self._forget_after(search, chunk, int(passed[-1]), snapshot)
            found.append(passed)
            count += len(passed)
            position += size
        search.feasible = np.concatenate(found) if found else _NO_ROWS

    def _pass(
        self,
        search: Search,
        framework: Framework,
        state: CycleState,
        *,
        pod: PodInfo,
        snapshot: Snapshot,
        rows: Rows,
        durations: Durations,
    ) -> Rows:
        """Those of the rows that pass all filters, in their order."""
        with self._nominated.beside(pod, framework.handle.nominator, snapshot) as load:
            special: Rows = rows[load.pods[rows] > 0]
            crowded = len(special) > FEW and framework.only_room_matters(state)
            full = snapshot.crowded(load) if crowded else snapshot
        if crowded:
            # More room only helps: who fits beside the nominated pods fits without them too.
            passed, rejections = framework.filter_rows(state, pod, full, rows=rows, durations=durations)
            search.rejections.extend(rejections)
            return passed
        plain = rows[~np.isin(rows, special)] if len(special) else rows
        passed, rejections = framework.filter_rows(state, pod, snapshot, rows=plain, durations=durations)
        search.rejections.extend(rejections)
        if not len(special):
            return passed
        fits = []
        for row in special.tolist():
            status = framework.filter_with_nominated(state, pod, snapshot.nodes[row])
            if status.ok:
                fits.append(row)
            else:
                search.statuses[snapshot.names[row]] = status
        return rows[np.isin(rows, np.concatenate([passed, np.array(fits, np.intp)]))]

    def _forget_after(self, search: Search, chunk: Rows, last: int, snapshot: Snapshot) -> None:
        """Nodes of a chunk behind the last one that was needed count as not looked at."""
        if not search.rejections and not search.statuses:
            return
        dropped = chunk[int(np.flatnonzero(chunk == last)[0]) + 1 :]
        is_dropped = np.zeros(len(snapshot), np.bool_)
        is_dropped[dropped] = True
        search.rejections = [rejection.without(is_dropped) for rejection in search.rejections]
        if search.statuses:
            names = {snapshot.names[row] for row in dropped.tolist()}
            search.statuses = {name: s for name, s in search.statuses.items() if name not in names}

    def diagnose(self, search: Search, snapshot: Snapshot) -> None:
        absent = search.diagnosis.node_to_status.absent
        found = NodeToStatus(search.statuses, absent, rejections=search.rejections, names=snapshot.names)
        search.diagnosis.node_to_status = found
        for status, _ in found.counted():
            search.diagnosis.add_plugin_status(status)
