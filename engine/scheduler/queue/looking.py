"""What can be seen of the scheduling queue."""

from __future__ import annotations

from engine.api.types import Object
from engine.scheduler.queue.scheduling_queue import ACTIVE, BACKOFF, UNSCHEDULABLE, SchedulingQueue


def look_queue(queue: SchedulingQueue, now: float, limit: int | None = None) -> Object:
    """The pods of each place, the first `limit` of them; `counts` tells of all."""
    nominator = queue.nominator
    return {
        ACTIVE: [queued.to_json() for queued in queue.active.items(limit)],
        BACKOFF: [queued.to_json() for queued in queue.backoff.items(limit)],
        UNSCHEDULABLE: [queued.to_json() for queued in queue.unschedulable.items(limit)],
        "counts": queue.counts(),
        "now": now,
        "inFlight": len(queue.in_flight),
        "nominated": {node: [pod.key for pod in nominator.nominated_on(node)] for node in nominator.nominated_nodes()},
    }
