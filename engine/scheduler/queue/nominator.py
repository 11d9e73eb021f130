"""Pods that preemption has nominated to a node and that still wait for it (upstream's backend/queue/nominator.go)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from engine.scheduler.pod_info import PodInfo

KEPT_CHANGES = 4096


class Nomination(NamedTuple):
    """A change: a pod is nominated to a node (`sign` 1) or is no longer (-1). `version` is the nominator's after it."""

    version: int
    node: str
    pod: PodInfo
    sign: int


class Nominator:
    def __init__(self) -> None:
        self._on: dict[str, dict[str, PodInfo]] = {}
        self._node_of: dict[str, str] = {}
        self._changes: deque[Nomination] = deque(maxlen=KEPT_CHANGES)
        self.version = 0  # bumped with every change

    def nominated_on(self, node_name: str) -> list[PodInfo]:
        pods = self._on.get(node_name)
        return list(pods.values()) if pods else []

    def nominated_nodes(self) -> Iterable[str]:
        return self._on.keys()

    def node_of(self, uid: str) -> str:
        """The node that a pod is nominated to, "" for none."""
        return self._node_of.get(uid, "")

    def changes_since(self, version: int) -> list[Nomination] | None:
        """What has changed since a version, the oldest first; None if that is not known any more."""
        if version == self.version:
            return []
        if not self._changes or self._changes[0].version > version + 1:
            return None
        changes = []
        for change in reversed(self._changes):
            if change.version <= version:
                break
            changes.append(change)
        return changes[::-1]

    def add(self, pod: PodInfo, node_name: str | None = None) -> None:
        """Nominate a pod to a node ("" to none); without one, to the node that its status names."""
        self.remove(pod.uid)
        node = pod.nominated_node_name if node_name is None else node_name
        if node:
            self._on.setdefault(node, {})[pod.uid] = pod
            self._node_of[pod.uid] = node
            self._changed(node, pod, 1)

    def update(self, old: PodInfo, new: PodInfo) -> None:
        """A pod has changed; a nomination that its status does not show yet is kept."""
        node = None
        if not old.nominated_node_name and not new.nominated_node_name:
            node = self.node_of(old.uid) or None
        self.remove(old.uid)
        self.add(new, node)

    def remove(self, uid: str) -> None:
        node = self._node_of.pop(uid, None)
        if node is None:
            return
        pods = self._on[node]
        self._changed(node, pods.pop(uid), -1)
        if not pods:
            del self._on[node]

    def _changed(self, node: str, pod: PodInfo, sign: int) -> None:
        self.version += 1
        self._changes.append(Nomination(self.version, node, pod, sign))
