"""The binding cycle: what makes a chosen node the pod's own. Runs beside the scheduling of further pods."""

from __future__ import annotations

import logging

from engine.api.errors import ApiError
from engine.client import NORMAL, Client, SeriesRecorder
from engine.clock import Clock
from engine.scheduler.cache.cache import Cache
from engine.scheduler.cycle.scheduling import Placement, rejected_on
from engine.scheduler.extenders.consulting import bind_by_extender
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import ASSIGNED_POD_DELETE
from engine.scheduler.framework.runtime import Framework
from engine.scheduler.framework.status import SUCCESS, Code, Status
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.pod_status import patch_pod_status
from engine.scheduler.queue.scheduling_queue import SchedulingQueue

log = logging.getLogger(__name__)


class BindingCycle:
    def __init__(
        self, cache: Cache, queue: SchedulingQueue, recorder: SeriesRecorder, announcing: Client | None = None
    ) -> None:
        """`announcing` is the client of a scheduler that says beforehand which node it expects a pod to get."""
        self._announcing = announcing
        self._cache = cache
        self._queue = queue
        self._recorder = recorder
        self._left: PodInfo | None = None

    async def run(self, framework: Framework, state: CycleState, pod: PodInfo) -> Placement:
        """Bind an assumed pod; the placement has a status where that failed."""
        node = pod.node_name
        status = await self._prepare(framework, state, pod)
        if not status.ok:
            self.give_back(framework, state, pod, status)
            return rejected_on(node, status)
        # From here on nothing can make the pod unschedulable: what happens now need not be remembered for it.
        self._queue.done(pod.uid)
        status = await framework.run_pre_bind(state, pod, node)
        if status.ok:
            bound = await bind_by_extender(framework.handle.extenders, pod, node)
            status = bound if bound is not None else await framework.run_bind(state, pod, node)
            self._cache.finish_binding(pod.uid)
        if not status.ok:
            # Whoever says no now is too late to be waited for: the pod is tried again after its back-off.
            self.give_back(framework, state, pod, status)
            return Placement(status=status)
        message = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
        self._recorder.event(pod.pod, NORMAL, "Scheduled", "Binding", message)
        framework.run_post_bind(state, pod, node)
        return Placement(node, pod, SUCCESS)

    async def _prepare(self, framework: Framework, state: CycleState, pod: PodInfo) -> Status:
        """Ask whether binding will take a while, say so, and wait at Permit."""
        flight = framework.run_pre_bind_pre_flights(state, pod, pod.node_name)
        if flight.code is Code.ERROR:
            return flight
        if (flight.ok or framework.handle.waiting.get(pod.uid) is not None) and self._announcing is not None:
            await self._announce(self._announcing, pod, framework.handle.clock)
        return await framework.wait_on_permit(pod)

    async def _announce(self, client: Client, pod: PodInfo, clock: Clock) -> None:
        """Binding will take a while: tell others, such as an autoscaler, that the pod is about to go to its node."""
        try:
            await patch_pod_status(client, pod.pod, {**pod.status, "nominatedNodeName": pod.node_name}, clock)
        except (ApiError, ConnectionError) as failure:
            # Not worth giving up the binding for.
            log.warning("nominated node name of pod %s: %s", pod.key, failure)

    def give_back(self, framework: Framework, state: CycleState, pod: PodInfo, status: Status) -> None:
        """Give the node back: to the others it is as if a pod had been deleted there."""
        framework.run_unreserve(state, pod, pod.node_name)
        if not self._cache.forget(pod.uid):
            return
        if status.rejected:
            self._left = pod
        else:
            self._queue.move_all(ASSIGNED_POD_DELETE, pod, None)

    def tell_of_room(self) -> None:
        """To be called when a rejected pod is back in the queue: the room that it left is not for the pod itself, which
        did not fit for another reason, nor an event that happened while it was in flight."""
        if (pod := self._left) is not None:
            self._queue.move_all(ASSIGNED_POD_DELETE, pod, None, pre_check=lambda other: other.uid != pod.uid)
