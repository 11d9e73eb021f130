"""What happens to a pod whose attempt failed: back into the queue, an event, a condition (handleSchedulingFailure)."""

from __future__ import annotations

import logging

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.client import WARNING, Client, Lister, SeriesRecorder
from engine.clock import Clock
from engine.scheduler.cycle.scheduling import Placement
from engine.scheduler.framework.status import Status, error
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.pod_status import patch_pod_status, with_condition
from engine.scheduler.queue.queued_pod import QueuedPod
from engine.scheduler.queue.scheduling_queue import SchedulingQueue

log = logging.getLogger(__name__)

# Longest note of an event (pkg/apis/core/validation NoteLengthLimit).
NOTE_LIMIT = 1024
_CUT = " ..."


def truncated(message: str) -> str:
    return message if len(message) <= NOTE_LIMIT else message[: NOTE_LIMIT - len(_CUT)] + _CUT


class FailureHandler:
    def __init__(
        self, *, client: Client, pods: Lister, queue: SchedulingQueue, recorder: SeriesRecorder, clock: Clock
    ) -> None:
        self._client = client
        self._pods = pods
        self._queue = queue
        self._recorder = recorder
        self._clock = clock

    async def handle(self, queued: QueuedPod, placement: Placement) -> None:
        status = placement.status or error("scheduling failed without a reason")
        if placement.diagnosis is not None:
            queued.unschedulable_plugins = dict(placement.diagnosis.unschedulable_plugins)
            queued.pending_plugins = dict(placement.diagnosis.pending_plugins)
        current = self._pods.get(queued.pod.name, queued.pod.namespace)
        if current is not None and not queued.pod.is_same_as(current):
            # What became of the one before is nothing that the new pod should tell of.
            self._queue.done(queued.pod.uid)
            return
        bound = current is not None and bool(current["spec"].get("nodeName"))
        if current is None or bound:
            self._queue.done(queued.pod.uid)
        else:
            queued.pod = PodInfo(current)
            self._put_back(queued, placement)
        pod = queued.pod.pod
        self._recorder.event(pod, WARNING, "FailedScheduling", "Scheduling", truncated(status.message))
        if not bound:
            # One that is on a node after all (its binding came through, only the answer did not) is scheduled.
            await self._write_condition(pod, status, placement.nominated)

    def _put_back(self, queued: QueuedPod, placement: Placement) -> None:
        try:
            self._queue.add_unschedulable(queued)
        except ValueError as failure:
            log.warning("%s", failure)
        self._queue.nominator.add(queued.pod, placement.nominated)

    async def _write_condition(self, pod: Object, status: Status, nominated: str | None) -> None:
        condition: Object = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable" if status.rejected else "SchedulerError",
            "message": status.message,
        }
        written = with_condition(pod, condition, self._clock)
        if nominated is not None and nominated != (written.get("nominatedNodeName") or ""):
            written = {**written, "nominatedNodeName": nominated}
        try:
            await patch_pod_status(self._client, pod, written, self._clock)
        except ApiError as failure:
            # A pod that is gone needs no condition; anything else is told again by the next attempt.
            level = logging.DEBUG if failure.code == 404 else logging.WARNING
            log.log(level, "status of pod %s: %s", pod["metadata"]["name"], failure)
        except ConnectionError as failure:
            log.warning("status of pod %s: %s", pod["metadata"]["name"], failure)
