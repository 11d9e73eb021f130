"""DefaultPreemption: where no node is feasible, lower-priority pods may be deleted to make room.

The decision is taken in the cycle, the deletions go on beside it (KEP 4832): until they are sent, PreEnqueue keeps the
pod out of the queue.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.api.errors import ApiError
from engine.api.types import GVR, PODS, Object
from engine.client import NORMAL
from engine.scheduler.extenders import ExtenderError
from engine.scheduler.extenders.preempting import ask_about_victims
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.diagnosis import Diagnosis, FitError, NodeToStatus
from engine.scheduler.framework.events import (
    ASSIGNED_POD_DELETE,
    EventWithHint,
    QueueingHint,
)
from engine.scheduler.framework.plugin import PostFilterPlugin, PostFilterResult, PreEnqueuePlugin
from engine.scheduler.framework.profile import at_least
from engine.scheduler.framework.status import SUCCESS, Code, Status, error, unresolvable, unschedulable
from engine.scheduler.plugins.candidates import Candidate, Candidates, Listed, Memo
from engine.scheduler.plugins.nominated_kinds import NominatedKinds
from engine.scheduler.plugins.preemption import DryRun
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.pod_status import patch_pod_status, with_condition

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

log = logging.getLogger(__name__)

POD_DISRUPTION_BUDGETS = GVR("policy", "v1", "poddisruptionbudgets")
NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")


class DefaultPreemption(PostFilterPlugin, PreEnqueuePlugin):
    name = "DefaultPreemption"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._min_percentage: int = args.get("minCandidateNodesPercentage", 10)
        self._min_absolute: int = args.get("minCandidateNodesAbsolute", 100)
        self._rng = handle.rng.stream("preemption")
        # From 1.36 on a victim that is not bound yet is tried again, and not rejected or deleted.
        self._calls_off = at_least(handle.version, 36)
        # From 1.37 on the preemptor is told of what was found.
        self._tells = at_least(handle.version, 37)
        self._memo: Memo = {}
        self._nominated = NominatedKinds()
        # Pods whose victims are being deleted, with the last victim once its turn has come.
        self._preempting: dict[str, PodInfo | None] = {}

    def pre_enqueue(self, pod: PodInfo) -> Status:
        if self._is_preempting(pod):
            return unresolvable("waiting for the preemption for this pod to be finished")
        return SUCCESS

    def _is_preempting(self, pod: PodInfo) -> bool:
        """Whether a deletion is still to be sent. The last one may show before its call has returned: then it is
        done, and the pod must not find itself locked out."""
        if pod.uid not in self._preempting:
            return False
        last = self._preempting[pod.uid]
        if last is None:
            return True
        now = self.handle.lister(PODS).get(last.name, last.namespace)
        return now is not None and not now["metadata"].get("deletionTimestamp")

    def events_to_register(self) -> list[EventWithHint]:
        # Ends the wait of a pod whose victims go; whether it fits then is for the plugins to say that rejected it.
        return [EventWithHint(ASSIGNED_POD_DELETE, lambda pod, old, new: QueueingHint.SKIP)]

    async def post_filter(self, state: CycleState, pod: PodInfo, statuses: NodeToStatus) -> PostFilterResult:
        self.handle.metrics.preemption_attempts.add()
        result = await self._preempt(state, pod, statuses)
        if result.status.message:
            return PostFilterResult(
                Status(result.status.code, f"preemption: {result.status.message}"), result.nominated_node
            )
        return result

    async def _preempt(self, state: CycleState, pod: PodInfo, statuses: NodeToStatus) -> PostFilterResult:
        current = self.handle.lister(PODS).get(pod.name, pod.namespace)
        if current is not None:
            pod = PodInfo(current)
        if reason := self._not_eligible(pod, statuses):
            return PostFilterResult(unschedulable(reason))
        dry_run, candidates = self._candidates(state, pod, statuses)
        if not len(candidates):
            if broken := _errors(dry_run.statuses):
                return PostFilterResult(error(broken[0] if len(broken) == 1 else f"[{', '.join(broken)}]"))
            return PostFilterResult(unschedulable(self._fit_error(dry_run)), "")
        if self.handle.extenders:
            try:
                left = await ask_about_victims(self.handle.extenders, pod, candidates.listed(), self.handle.snapshot)
            except ExtenderError as failure:
                return PostFilterResult(error(str(failure)))
            if not left:
                return PostFilterResult(unschedulable("no candidate node for preemption"))
            candidates = Listed(left)
        best = candidates.pick()
        # Told when somebody looks: there may be hundreds.
        self.handle.note("candidates", lambda: [candidate.to_json() for candidate in candidates.listed()])
        self.handle.note("preemption", best.to_json())
        self._start(best, pod)
        return PostFilterResult(self._found(best), best.node)

    def _found(self, best: Candidate) -> Status:
        if not self._tells:
            return SUCCESS
        text = f"found a potential placement for pod on node {best.node}, preempting {len(best.victims)} victims"
        return Status(Code.SUCCESS, text)

    def _not_eligible(self, pod: PodInfo, statuses: NodeToStatus) -> str:
        """Why the pod may not preempt others now; "" if it may."""
        if pod.spec.get("preemptionPolicy") == "Never":
            return "not eligible due to preemptionPolicy=Never."
        nominated = pod.nominated_node_name
        if not nominated or statuses.get(nominated).code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        node = self.handle.snapshot.get(nominated)
        going = node is not None and any(
            other.priority < pod.priority and _going_by_preemption(other) for other in node.pods.values()
        )
        return "not eligible due to a terminating pod on the nominated node." if going else ""

    def _candidates(self, state: CycleState, pod: PodInfo, statuses: NodeToStatus) -> tuple[DryRun, Candidates]:
        budgets = self.handle.lister(POD_DISRUPTION_BUDGETS).list()
        snapshot = self.handle.snapshot
        nominated = self._nominated.of(pod, self.handle.nominator, snapshot)
        dry_run = DryRun(self.handle.filters, state, pod, budgets, memo=self._memo, nominated=nominated)
        rows = statuses.rows_with(Code.UNSCHEDULABLE, snapshot.rows)
        if not len(rows):
            return dry_run, Listed([])
        offset = self._rng.randrange(len(rows))
        return dry_run, dry_run.run(snapshot, rows, offset=offset, wanted=self._wanted(len(rows)))

    def _wanted(self, nodes: int) -> int:
        """How many candidates to look for among so many nodes."""
        return min(max(nodes * self._min_percentage // 100, self._min_absolute), nodes)

    def _fit_error(self, dry_run: DryRun) -> str:
        dry_run.statuses.absent = NOT_HELPFUL
        return FitError(len(self.handle.snapshot), Diagnosis(dry_run.statuses)).message

    # -- acting

    def _start(self, best: Candidate, pod: PodInfo) -> None:
        victims = [victim for victim in best.victims if not victim.terminating]
        if not victims:
            return
        self.handle.metrics.preemption_victims.observe(len(best.victims))
        self._preempting[pod.uid] = None
        self.handle.spawn(self._evict(best.node, victims, pod), f"preempt for {pod.key}")

    async def _evict(self, node: str, victims: list[PodInfo], pod: PodInfo) -> None:
        clock = self.handle.clock
        began, done = clock.monotonic(), await self._clear_nominations(node, pod)
        in_memory = gone = False
        try:
            for i, victim in enumerate(victims):
                if i == len(victims) - 1:
                    self._preempting[pod.uid] = victim
                in_memory = self._call_off(victim)
                gone = not in_memory and not await self._delete(victim, pod)
                if gone:
                    continue
                self._tell(node, victim, pod, in_memory=in_memory)
        except (ApiError, ConnectionError) as failure:
            done = False
            log.warning("preemption for %s: %s", pod.key, failure)
        finally:
            self._preempting.pop(pod.uid, None)
            self.handle.metrics.preempted(ok=done, seconds=clock.monotonic() - began)
            if not done or in_memory or gone:
                # No deletion may come to wake the pod, or it came while the pod was locked out.
                self.handle.activate(pod)

    async def _clear_nominations(self, node: str, pod: PodInfo) -> bool:
        """Lower-priority pods that are nominated to the node look for another. Says whether all were told: where one
        cannot be, the victims go all the same."""
        done = True
        for other in self.handle.nominator.nominated_on(node):
            if other.priority < pod.priority and other.nominated_node_name:
                status = {**other.status, "nominatedNodeName": ""}
                try:
                    await patch_pod_status(self.handle.client, other.pod, status, self.handle.clock)
                except (ApiError, ConnectionError) as failure:
                    done = False
                    log.warning("nominated node name of pod %s: %s", other.key, failure)
        return done

    def _call_off(self, victim: PodInfo) -> bool:
        """A victim that is only on its way to the node goes back into the queue; False if it has to be deleted."""
        if (waiting := self.handle.waiting.get(victim.uid)) is not None:
            if self._calls_off:
                return waiting.preempt(self.name)
            waiting.reject(self.name, "preempted")
            return True
        return self._calls_off and self.handle.in_pre_bind.cancel(victim.uid, f"preempted by {self.name}")

    async def _delete(self, victim: PodInfo, pod: PodInfo) -> bool:
        """False if it has gone by itself. Raises what a request raises."""
        status = with_condition(
            victim.pod,
            {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "PreemptionByScheduler",
                "message": f"{pod.scheduler_name}: preempting to accommodate a higher priority pod",
            },
            self.handle.clock,
        )
        try:
            await patch_pod_status(self.handle.client, victim.pod, status, self.handle.clock)
            await self.handle.client.delete(PODS, victim.name, namespace=victim.namespace)
        except ApiError as failure:
            if failure.code == 404:
                return False
            raise
        return True

    def _tell(self, node: str, victim: PodInfo, pod: PodInfo, *, in_memory: bool) -> None:
        note = f"Preempted by pod {pod.uid} on node {node}"
        if in_memory and self._calls_off:
            note += " (in kube-scheduler memory)."
        self.handle.recorder.event(victim.pod, NORMAL, "Preempted", "Preempting", note, related=pod.pod)


def _errors(statuses: NodeToStatus) -> list[str]:
    """What broke on nodes in a dry run, each thing once."""
    return list(dict.fromkeys(status.message for status, _ in statuses.counted() if status.code is Code.ERROR))


def _going_by_preemption(pod: PodInfo) -> bool:
    if not pod.terminating:
        return False
    conditions = pod.status.get("conditions") or ()
    found: Object = next((c for c in conditions if c.get("type") == "DisruptionTarget"), {})
    return found.get("status") == "True" and found.get("reason") == "PreemptionByScheduler"
