"""SchedulingGates: a pod with spec.schedulingGates does not enter the queue (KEP 3521)."""

from __future__ import annotations

from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint
from engine.scheduler.framework.plugin import PreEnqueuePlugin
from engine.scheduler.framework.status import SUCCESS, Status, unresolvable
from engine.scheduler.pod_info import PodInfo


class SchedulingGates(PreEnqueuePlugin):
    name = "SchedulingGates"

    def pre_enqueue(self, pod: PodInfo) -> Status:
        gates = [gate["name"] for gate in pod.spec.get("schedulingGates") or ()]
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gates)}]") if gates else SUCCESS

    def events_to_register(self) -> list[EventWithHint]:
        event = ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return [EventWithHint(event)]
