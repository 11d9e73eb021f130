"""The scheduling cycle: from a pod to the node that it shall run on (upstream's schedule_one.go).

PreFilter, Filter, PostFilter where nothing fits, PreScore, Score, choice, assume, Reserve, Permit. One pod at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.rng import Rng
from engine.scheduler.cache.cache import Cache
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.cycle.feasible import FeasibleNodes, Search
from engine.scheduler.decisions import Decision
from engine.scheduler.extenders import Extender
from engine.scheduler.extenders.consulting import filter_by_extenders, score_by_extenders
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.diagnosis import NO_NODES, Diagnosis, FitError, NodeToStatus
from engine.scheduler.framework.runtime import Framework
from engine.scheduler.framework.status import Code, PluginError, Status, error, unresolvable, unschedulable
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.queue.nominator import Nominator


@dataclass(slots=True)
class Placement:
    """The cycle's result: a node and the assumed pod, or why there is none."""

    node_name: str = ""
    assumed: PodInfo | None = None
    status: Status | None = None
    diagnosis: Diagnosis | None = None
    nominated: str | None = ""  # what to nominate the pod to: "" clears, None leaves it


class SchedulingCycle:
    def __init__(
        self, cache: Cache, snapshot: Snapshot, nominator: Nominator, rng: Rng, extenders: Sequence[Extender] = ()
    ) -> None:
        self.feasible_nodes = FeasibleNodes(choosy=any(e.filters or e.prioritizes for e in extenders))
        self._extenders = extenders
        self._cache = cache
        self._snapshot = snapshot
        self._nominator = nominator
        self._rng = rng

    async def run(self, framework: Framework, state: CycleState, pod: PodInfo, decision: Decision) -> Placement:
        self._snapshot.update(self._cache)
        snapshot = self._snapshot
        decision.names = snapshot.names
        if not len(snapshot):
            return Placement(status=unresolvable(NO_NODES))
        try:
            return await self._run(framework, state, pod, decision)
        except PluginError as failure:
            return Placement(status=error(str(failure)))

    async def _run(self, framework: Framework, state: CycleState, pod: PodInfo, decision: Decision) -> Placement:
        search = await self._find(framework, state, pod, decision)
        if search.nominated and (search.error is not None or not len(search.feasible)):
            # An extender does not want the node that the pod is nominated to, or fails: then any other will do.
            search = await self._find(framework, state, pod, decision, nominated_first=False)
        self._note_search(decision, search)
        decision.filters = [plugin.name for plugin in framework.active_filters(state)]
        if search.error is not None:
            return Placement(status=search.error)
        if not len(search.feasible):
            return await self._post_filter(framework, state, pod, search)
        node_name = await self._choose(framework, state, pod, search=search, decision=decision)
        return self._reserve(framework, state, pod, node_name)

    async def _find(
        self,
        framework: Framework,
        state: CycleState,
        pod: PodInfo,
        decision: Decision,
        *,
        nominated_first: bool = True,
    ) -> Search:
        search = self.feasible_nodes.find(
            framework,
            state,
            pod,
            snapshot=self._snapshot,
            durations=decision.durations,
            nominated_first=nominated_first,
        )
        if self._extenders and len(search.feasible):
            await self._ask_extenders(search, pod)
        return search

    def _note_search(self, decision: Decision, search: Search) -> None:
        decision.rejections, decision.statuses = search.rejections, search.statuses
        decision.feasible, decision.evaluated = search.feasible, search.evaluated

    async def _post_filter(self, framework: Framework, state: CycleState, pod: PodInfo, search: Search) -> Placement:
        fit_error = FitError(len(self._snapshot), search.diagnosis)
        if not framework.post_filter:
            return Placement(status=unschedulable(fit_error.message), diagnosis=search.diagnosis)
        result = await framework.run_post_filter(state, pod, search.diagnosis.node_to_status)
        search.diagnosis.post_filter_message = result.status.message
        return Placement(
            status=unschedulable(fit_error.message), diagnosis=search.diagnosis, nominated=result.nominated_node
        )

    async def _ask_extenders(self, search: Search, pod: PodInfo) -> None:
        search.error = await filter_by_extenders(self._extenders, search, pod, self._snapshot)
        if not len(search.feasible):
            self.feasible_nodes.diagnose(search, self._snapshot)

    async def _choose(
        self, framework: Framework, state: CycleState, pod: PodInfo, *, search: Search, decision: Decision
    ) -> str:
        """The node of the highest weighted sum; among equals one at random."""
        names, rows = self._snapshot.names, search.feasible
        if len(rows) == 1:
            return names[int(rows[0])]
        columns = framework.run_score(state, pod, self._snapshot, rows=rows, durations=decision.durations)
        columns += await score_by_extenders(self._extenders, pod, self._snapshot, rows)
        totals = np.zeros(len(rows), np.int64)
        for column in columns:
            totals += column.normalized * column.weight
        best = np.flatnonzero(totals == totals.max())
        chosen = int(best[self._rng.randrange(len(best))]) if len(best) > 1 else int(best[0])
        decision.scores, decision.totals = columns, totals
        if len(best) > 1:
            decision.ties = rows[best]
        return names[int(rows[chosen])]

    def _reserve(self, framework: Framework, state: CycleState, pod: PodInfo, node_name: str) -> Placement:
        assumed = pod.assumed_on(node_name)
        try:
            self._cache.assume(assumed)
        except ValueError as failure:
            return Placement(status=error(str(failure)))
        self._nominator.remove(pod.uid)
        status = framework.run_reserve(state, assumed, node_name)
        if status.ok:
            status = framework.run_permit(state, assumed, node_name)
            if status.ok or status.code is Code.WAIT:
                return Placement(node_name, assumed)
        framework.run_unreserve(state, assumed, node_name)
        self._cache.forget(assumed.uid)
        return rejected_on(node_name, status)


def rejected_on(node_name: str, status: Status) -> Placement:
    """A chosen node that a Reserve or Permit plugin refused after all."""
    if not status.rejected:
        return Placement(status=status)
    diagnosis = Diagnosis(NodeToStatus({node_name: status}))
    diagnosis.add_plugin_status(status)
    message = FitError(1, diagnosis).message
    return Placement(status=Status(status.code, message), diagnosis=diagnosis)
