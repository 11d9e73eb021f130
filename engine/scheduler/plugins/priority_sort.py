"""PrioritySort: the highest priority first, and of one priority the one that waits the longest."""

from __future__ import annotations

from engine.scheduler.framework.plugin import Queued, QueueSortPlugin


class PrioritySort(QueueSortPlugin):
    name = "PrioritySort"

    def less(self, first: Queued, second: Queued) -> bool:
        if first.pod.priority != second.pod.priority:
            return first.pod.priority > second.pod.priority
        return first.timestamp < second.timestamp
