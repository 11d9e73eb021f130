"""Queueing hints: what an event is worth to a waiting pod, by the plugins that rejected it (KEP 4247)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

from engine.clock import wall
from engine.scheduler.framework.events import ClusterEvent, HintFunction, QueueingHint
from engine.scheduler.metrics import SAMPLED, SchedulerMetrics
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.queue.in_flight import Happened
from engine.scheduler.queue.queued_pod import QueuedPod

log = logging.getLogger(__name__)

# Of one profile: which plugins wait for an event, and whom to ask whether it helps a pod.
Hints = list[tuple[ClusterEvent, str, HintFunction]]


class Strategy(IntEnum):
    """What an event is worth to a pod; the greater wins."""

    SKIP = 0
    AFTER_BACKOFF = 1
    IMMEDIATELY = 2


class QueueingHints:
    def __init__(self, hints: Mapping[str, Hints], metrics: SchedulerMetrics) -> None:
        """Those of each profile, by schedulerName."""
        self._hints = hints
        self._metrics = metrics
        self._unmeasured = 0  # how many more are asked before one is measured
        self._interested: dict[ClusterEvent, list[str]] = {}
        self._asked: dict[tuple[ClusterEvent, str], list[tuple[str, HintFunction]]] = {}

    def events_of(self, plugin: str, profile: str) -> list[ClusterEvent]:
        """What a plugin waits for."""
        return [asked for asked, name, _ in self._hints.get(profile, ()) if name == plugin]

    def interested(self, event: ClusterEvent) -> list[str]:
        """The plugins of all profiles that wait for an event."""
        known = self._interested.get(event)
        if known is None:
            known = self._interested[event] = list(
                dict.fromkeys(
                    plugin for hints in self._hints.values() for asked, plugin, _ in hints if asked.matches(event)
                )
            )
        return known

    def _asked_about(self, event: ClusterEvent, profile: str) -> list[tuple[str, HintFunction]]:
        """The plugins of a profile that wait for an event, with their hints."""
        known = self._asked.get((event, profile))
        if known is None:
            hints = self._hints.get(profile, ())
            known = [(plugin, hint) for asked, plugin, hint in hints if asked.matches(event)]
            self._asked[event, profile] = known
        return known

    def worth(self, queued: QueuedPod, event: ClusterEvent, old: Any, new: Any) -> tuple[Strategy, str]:
        """What the event is worth to the pod by the hints of the plugins that rejected it, and by whose hint."""
        rejectors = queued.rejectors
        if not rejectors:
            return Strategy.AFTER_BACKOFF, ""
        if event.wildcard:
            meant = not isinstance(new, PodInfo) or new.uid == queued.pod.uid
            return (Strategy.AFTER_BACKOFF if meant else Strategy.SKIP), ""
        best, by = Strategy.SKIP, ""
        for plugin, hint in self._asked_about(event, queued.pod.scheduler_name):
            if plugin not in rejectors:
                continue
            if self._unmeasured:
                self._unmeasured -= 1
                answer = _ask(hint, plugin, queued.pod, old, new)
            else:
                answer = self._measured(hint, plugin, queued.pod, event, old, new)
            if answer is QueueingHint.SKIP:
                continue
            if plugin in queued.pending_plugins:
                return Strategy.IMMEDIATELY, plugin
            if best is Strategy.SKIP:
                best, by = Strategy.AFTER_BACKOFF, plugin
            if not queued.pending_plugins:
                break
        return best, by

    def _measured(
        self, hint: HintFunction, plugin: str, pod: PodInfo, event: ClusterEvent, old: Any, new: Any
    ) -> QueueingHint | None:
        self._unmeasured = SAMPLED - 1
        began = wall()
        answer = _ask(hint, plugin, pod, old, new)
        said = "Error" if answer is None else answer.value
        self._metrics.hint_duration.observe(wall() - began, plugin, event.label, said)
        return answer

    def worth_of_all(self, queued: QueuedPod, happened: Iterable[Happened]) -> tuple[Strategy, str]:
        """The same for all that happened while the pod was in flight."""
        if not queued.rejectors:
            return Strategy.AFTER_BACKOFF, ""
        best, by = Strategy.SKIP, ""
        for _, event, old, new in happened:
            strategy, plugin = self.worth(queued, event, old, new)
            if strategy > best:
                best, by = strategy, plugin
            if best is Strategy.IMMEDIATELY or (best and not queued.pending_plugins):
                break
        return best, by


def _ask(hint: HintFunction, plugin: str, pod: PodInfo, old: Any, new: Any) -> QueueingHint | None:
    """A hint that fails (None) must neither keep the pod waiting nor stop what told of the event."""
    try:
        return hint(pod, old, new)
    except Exception:
        log.exception("queueing hint of %s for pod %s", plugin, pod.key)
        return None
