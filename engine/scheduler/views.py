"""What can be seen of the scheduler: its queue, its decisions, its nodes (design, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.views import Views

if TYPE_CHECKING:
    from engine.scheduler.scheduler import Scheduler

DEFAULT_LIMIT = 50


class SchedulerViews:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def offer(self, views: Views) -> None:
        views.offer("scheduler/queue", self._queue)
        views.offer("scheduler/decisions", self._decisions)
        views.offer("scheduler/decision", self._decision)
        views.offer("scheduler/nodes", self._nodes)

    def withdraw(self, views: Views) -> None:
        for name in ("queue", "decisions", "decision", "nodes"):
            views.withdraw(f"scheduler/{name}")

    def _queue(self, parameters: Mapping[str, str]) -> Any:
        return self._scheduler.queue.to_json()

    def _decisions(self, parameters: Mapping[str, str]) -> Any:
        """The newest attempts in one line each; `limit` says how many."""
        limit = parameters.get("limit", "")
        decisions = self._scheduler.decisions
        newest = decisions.newest(int(limit) if limit.isdigit() else DEFAULT_LIMIT)
        return {"total": decisions.total, "decisions": [decision.summary() for decision in newest]}

    def _decision(self, parameters: Mapping[str, str]) -> Any:
        """The attempts on `pod` (namespace/name), the newest first and in full; and where it waits now."""
        key = parameters.get("pod", "")
        waiting = self._scheduler.queue.find(key)
        return {
            "pod": key,
            "decisions": [decision.to_json() for decision in self._scheduler.decisions.of_pod(key)],
            "queue": {"in": waiting[1], **waiting[0].to_json()} if waiting is not None else None,
        }

    def _nodes(self, parameters: Mapping[str, str]) -> Any:
        return self._scheduler.look_nodes()
