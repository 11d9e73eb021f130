"""The scheduler's live view of nodes and bound pods, with pods that it assumes bound before the API server says so.

Source: upstream's pkg/scheduler/backend/cache/cache.go. A pod goes through: assumed (a node was chosen), binding
finished, confirmed (a watch event shows it bound), or forgotten (binding failed). An assumed pod never expires.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from engine.api.types import Object
from engine.scheduler.cache.node_tree import NodeTree
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo

log = logging.getLogger(__name__)


@dataclass(slots=True)
class ImageState:
    """An image and the nodes that have it."""

    size: int = 0
    nodes: dict[str, None] = field(default_factory=dict)


class Cache:
    def __init__(self) -> None:
        self.nodes: dict[str, NodeInfo] = {}
        self.images: dict[str, ImageState] = {}
        self.images_version = 0
        self.tree = NodeTree()
        self.order_version = 0  # bumped when a node comes, goes or changes its zone
        self.dirty: dict[str, None] = {}  # nodes that changed since the last snapshot
        self._pods: dict[str, PodInfo] = {}  # all that count on a node, by uid
        self._assumed: dict[str, bool] = {}  # uid to whether its binding has finished

    # -- pods

    def is_assumed(self, uid: str) -> bool:
        return uid in self._assumed

    @property
    def assumed_pods(self) -> list[PodInfo]:
        return [self._pods[uid] for uid in self._assumed]

    def pod(self, uid: str) -> PodInfo | None:
        return self._pods.get(uid)

    def __len__(self) -> int:
        return len(self._pods)

    def assume(self, pod: PodInfo) -> None:
        """Count a pod on the node that was chosen for it. Raises ValueError if it counts somewhere already."""
        if pod.uid in self._pods:
            raise ValueError(f"pod {pod.key}({pod.uid}) is in the cache, so can't be assumed")
        self._place(pod)
        self._assumed[pod.uid] = False

    def finish_binding(self, uid: str) -> None:
        if uid in self._assumed:
            self._assumed[uid] = True

    def forget(self, uid: str) -> bool:
        """Take an assumed pod away again; False if it is not assumed (any more)."""
        if uid not in self._assumed:
            return False
        del self._assumed[uid]
        self._unplace(self._pods[uid])
        return True

    def add_pod(self, pod: PodInfo) -> None:
        """A watch event shows the pod bound: confirms an assumed pod, also where it was bound to another node."""
        present = self._pods.get(pod.uid)
        if present is not None:
            if present.node_name != pod.node_name:
                log.warning("pod %s was assumed on %s but is on %s", pod.key, present.node_name, pod.node_name)
            self._unplace(present)
        self._assumed.pop(pod.uid, None)
        self._place(pod)

    def update_pod(self, new: PodInfo) -> None:
        self.add_pod(new)

    def remove_pod(self, uid: str) -> None:
        present = self._pods.get(uid)
        if present is not None:
            self._assumed.pop(uid, None)
            self._unplace(present)

    def _place(self, pod: PodInfo) -> None:
        self._pods[pod.uid] = pod
        info = self.nodes.get(pod.node_name)
        if info is None:
            info = self.nodes[pod.node_name] = NodeInfo(pod.node_name)
        info.add_pod(pod)
        self.dirty[pod.node_name] = None

    def _unplace(self, pod: PodInfo) -> None:
        del self._pods[pod.uid]
        info = self.nodes[pod.node_name]
        info.remove_pod(pod)
        self.dirty[pod.node_name] = None
        if info.node is None and not info.pods:
            del self.nodes[pod.node_name]

    # -- nodes

    def add_node(self, node: Object) -> NodeInfo:
        """Add a node, or take over its new version."""
        name = node["metadata"]["name"]
        info = self.nodes.get(name)
        if info is None:
            info = self.nodes[name] = NodeInfo(name)
        if info.node is None:
            self.order_version += 1
        info.set_node(node)
        if self.tree.add(name, info.labels):
            self.order_version += 1
        self._set_images(info, node)
        self.dirty[name] = None
        return info

    def remove_node(self, name: str) -> None:
        """Forget a node; its pods stay counted until their own deletions come."""
        info = self.nodes.get(name)
        if info is None or info.node is None:
            return
        info.remove_node()
        self.tree.remove(name)
        self.order_version += 1
        self._drop_images(info, tuple(info.images))
        info.images = {}
        self.dirty[name] = None
        if not info.pods:
            del self.nodes[name]

    def _set_images(self, info: NodeInfo, node: Object) -> None:
        listed = (node.get("status") or {}).get("images") or ()
        present: dict[str, int] = {}
        for image in listed:
            for name in image.get("names") or ():
                present.setdefault(name, image.get("sizeBytes", 0))
        if present == info.images:
            return
        self._drop_images(info, tuple(info.images))
        for name, size in present.items():
            # An image is as big as the first node says that has it.
            state = self.images.setdefault(name, ImageState(size))
            state.nodes[info.name] = None
        info.images = present
        self.images_version += 1

    def _drop_images(self, info: NodeInfo, names: tuple[str, ...]) -> None:
        for name in names:
            state = self.images[name]
            state.nodes.pop(info.name, None)
            if not state.nodes:
                del self.images[name]
        self.images_version += bool(names)
