"""The pool of pods that were tried and fit nowhere, or that are gated, found by the plugins that keep them there."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from engine.scheduler.queue.queued_pod import QueuedPod


class UnschedulablePods:
    """By key, and by rejecting plugin: most events concern few plugins, and so few of the pods."""

    def __init__(self) -> None:
        self._pods: dict[str, QueuedPod] = {}
        self._by_plugin: dict[str, dict[str, QueuedPod]] = {}
        self._plugins_of: dict[str, tuple[str, ...]] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def __contains__(self, key: str) -> bool:
        return key in self._pods

    def get(self, key: str) -> QueuedPod | None:
        return self._pods.get(key)

    def add(self, queued: QueuedPod) -> None:
        key = queued.pod.key
        self.remove(key)
        self._pods[key] = queued
        # "" stands for no plugin: such a pod may be moved by anything.
        plugins = tuple(dict.fromkeys((*queued.rejectors, queued.gating_plugin) if queued.gated else queued.rejectors))
        self._plugins_of[key] = plugins or ("",)
        for plugin in self._plugins_of[key]:
            self._by_plugin.setdefault(plugin, {})[key] = queued

    def remove(self, key: str) -> QueuedPod | None:
        queued = self._pods.pop(key, None)
        if queued is None:
            return None
        for plugin in self._plugins_of.pop(key):
            pods = self._by_plugin[plugin]
            pods.pop(key, None)
            if not pods:
                del self._by_plugin[plugin]
        return queued

    def rejected_by(self, plugins: Iterable[str]) -> list[QueuedPod]:
        """The pods that any of these plugins rejected, and those that none did."""
        found: dict[str, QueuedPod] = {}
        for plugin in (*plugins, ""):
            found.update(self._by_plugin.get(plugin, {}))
        return list(found.values())

    def items(self, limit: int | None = None) -> list[QueuedPod]:
        return list(islice(self._pods.values(), limit))
