"""What can be seen of the scheduler: its queue, its decisions, its nodes (design, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.clock import Clock
from engine.scheduler.cache.capacity import look_capacity
from engine.scheduler.configuration import SchedulerConfiguration
from engine.scheduler.configuration.encoding import encode
from engine.scheduler.queue.looking import look_queue
from engine.views import Views

if TYPE_CHECKING:
    from engine.scheduler.scheduler import Scheduler

DEFAULT_LIMIT = 50


class SchedulerViews:
    def __init__(self, scheduler: Scheduler, clock: Clock, configuration: SchedulerConfiguration) -> None:
        self._scheduler = scheduler
        self._clock = clock
        self._configuration = configuration

    def offer(self, views: Views) -> None:
        views.offer("scheduler/queue", self._queue)
        views.offer("scheduler/decisions", self._decisions)
        views.offer("scheduler/decision", self._decision)
        views.offer("scheduler/nodes", self._nodes)
        views.offer("scheduler/capacity", self._capacity)
        views.offer("scheduler/configuration", self._running)
        views.offer("scheduler/metrics", self._metrics)

    def withdraw(self, views: Views) -> None:
        for name in ("queue", "decisions", "decision", "nodes", "capacity", "configuration", "metrics"):
            views.withdraw(f"scheduler/{name}")

    def _queue(self, parameters: Mapping[str, str]) -> Any:
        """The pods that wait; `limit` says how many of each place."""
        return look_queue(self._scheduler.queue, self._clock.monotonic(), _limit(parameters, None))

    def _decisions(self, parameters: Mapping[str, str]) -> Any:
        """The newest attempts in one line each; `limit` says how many."""
        decisions = self._scheduler.decisions
        newest = decisions.newest(_limit(parameters, DEFAULT_LIMIT) or DEFAULT_LIMIT)
        return {"total": decisions.total, "decisions": [{**each.summary(), "labels": each.labels} for each in newest]}

    def _decision(self, parameters: Mapping[str, str]) -> Any:
        """The attempts on `pod` (namespace/name), the newest first; and where it waits now. `nodes` says of how many
        nodes scores and rejections are told, `attempts` of how many attempts."""
        key = parameters.get("pod", "")
        waiting = self._scheduler.queue.find(key)
        decisions = self._scheduler.decisions.of_pod(key)[: _limit(parameters, None, "attempts")]
        return {
            "pod": key,
            "decisions": [decision.to_json(nodes=_limit(parameters, None, "nodes")) for decision in decisions],
            "queue": {"in": waiting[1], **waiting[0].to_json()} if waiting is not None else None,
        }

    def _nodes(self, parameters: Mapping[str, str]) -> Any:
        return self._scheduler.look_nodes()

    def _capacity(self, parameters: Mapping[str, str]) -> Any:
        """What all nodes hold together, and the fullest of them; `limit` says how many."""
        return look_capacity(self._scheduler.cache, _limit(parameters, DEFAULT_LIMIT) or DEFAULT_LIMIT)

    def _running(self, parameters: Mapping[str, str]) -> Any:
        """The KubeSchedulerConfiguration that it decides by."""
        return encode(self._configuration)

    def _metrics(self, parameters: Mapping[str, str]) -> Any:
        """What /metrics tells: what is kept, and sizes as they are now."""
        scheduler = self._scheduler
        metrics, cache, counts = scheduler.metrics, scheduler.cache, scheduler.queue.counts()
        counts["unschedulable"] -= counts["gated"]
        for place, count in counts.items():
            metrics.pending.set(place, to=count)
            metrics.queued_entities.set(place, "pod", to=count)
        sizes = {"assumed_pods": len(cache.assumed_pods), "nodes": len(cache.nodes), "pods": len(cache)}
        for kind, size in sizes.items():
            metrics.cache_size.set(kind, to=size)
        metrics.in_flight_events.replace(scheduler.queue.in_flight.counts())
        return [family.to_json() for family in metrics.families()]


def _limit(parameters: Mapping[str, str], default: int | None, name: str = "limit") -> int | None:
    text = parameters.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else default
