"""Pods that preemption has nominated to a node and that still wait for it (upstream's backend/queue/nominator.go)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.scheduler.pod_info import PodInfo


class Nominator:
    def __init__(self) -> None:
        self._on: dict[str, dict[str, PodInfo]] = {}
        self._node_of: dict[str, str] = {}
        self.version = 0  # bumped with every change

    def nominated_on(self, node_name: str) -> list[PodInfo]:
        return list(self._on.get(node_name, {}).values())

    def nominated_nodes(self) -> Iterable[str]:
        return self._on.keys()

    def node_of(self, uid: str) -> str:
        """The node that a pod is nominated to, "" for none."""
        return self._node_of.get(uid, "")

    def add(self, pod: PodInfo, node_name: str | None = None) -> None:
        """Nominate a pod to a node ("" to none); without one, to the node that its status names."""
        self.remove(pod.uid)
        node = pod.nominated_node_name if node_name is None else node_name
        if node:
            self.version += 1
            self._on.setdefault(node, {})[pod.uid] = pod
            self._node_of[pod.uid] = node

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
        self.version += 1
        pods = self._on[node]
        pods.pop(uid, None)
        if not pods:
            del self._on[node]
