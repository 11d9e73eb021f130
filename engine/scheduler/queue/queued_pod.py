"""A pod in the queue, with the history of its attempts (framework.QueuedPodInfo)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.api.types import Object
from engine.client import Origin
from engine.scheduler.framework.events import ClusterEvent
from engine.scheduler.pod_info import PodInfo

KEPT_MOVES = 20
KEPT_ORIGINS = 10


class Move(NamedTuple):
    """What took a pod from one part of the queue to another."""

    time: str
    event: str
    to: str
    plugin: str = ""

    def to_json(self) -> Object:
        shown: Object = {"time": self.time, "event": self.event, "to": self.to}
        if self.plugin:
            shown["plugin"] = self.plugin
        return shown


@dataclass(slots=True, eq=False)
class QueuedPod:
    """`timestamp` is when it last came into the queue, in model seconds; `flush_timestamp` is when it last left the
    pool because it had rested there too long, and `flushed` says that this is why it is tried. Plugin names are keys of
    dicts, which keep their order."""

    pod: PodInfo
    timestamp: float
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors: int = 0
    backoff_expiration: float = 0.0
    flush_timestamp: float = 0.0
    flushed: bool = False
    initial_attempt: float | None = None
    unschedulable_plugins: dict[str, None] = field(default_factory=dict)
    pending_plugins: dict[str, None] = field(default_factory=dict)
    gating_plugin: str = ""
    gating_message: str = ""  # of the plugin that turned the pod away last
    gating_events: list[ClusterEvent] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    moves: deque[Move] = field(default_factory=lambda: deque(maxlen=KEPT_MOVES))

    def woken(self, origin: Origin | None) -> None:
        """A further write had a part in that this pod is tried. The first one, which made the pod, is always kept."""
        if origin is not None and origin not in self.origins:
            self.origins = [*self.origins[:1], *self.origins[1:][-(KEPT_ORIGINS - 2) :], origin]

    @property
    def gated(self) -> bool:
        return bool(self.gating_plugin)

    @property
    def rejectors(self) -> dict[str, None]:
        return {**self.unschedulable_plugins, **self.pending_plugins}

    def to_json(self) -> Object:
        return {
            "pod": self.pod.key,
            "labels": self.pod.labels,
            "priority": self.pod.priority,
            "attempts": self.attempts,
            "timestamp": self.timestamp,
            "backoffUntil": self.backoff_expiration,
            "unschedulablePlugins": list(self.unschedulable_plugins),
            "pendingPlugins": list(self.pending_plugins),
            "gatedBy": self.gating_plugin,
            "gatedMessage": self.gating_message if self.gated else "",
            "moves": [move.to_json() for move in self.moves],
        }
