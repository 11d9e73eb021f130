"""ImageLocality: nodes that have the pod's images already, the bigger the better, spread images counting more."""

from __future__ import annotations

import numpy as np

from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.plugin import MAX_NODE_SCORE, ScorePlugin, Scores
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo

_MIB = 1024 * 1024
MIN_THRESHOLD = 23 * _MIB
MAX_CONTAINER_THRESHOLD = 1000 * _MIB


def normalized_image_name(name: str) -> str:
    """With the tag that an untagged name stands for."""
    return f"{name}:latest" if name.rfind(":") <= name.rfind("/") else name


def pod_images(pod: PodInfo) -> list[str]:
    """The images of all containers and of image volumes, repetitions included."""
    spec = pod.spec
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    volumes = [volume["image"] for volume in spec.get("volumes") or () if volume.get("image")]
    named = [c.get("image") or "" for c in containers] + [v.get("reference") or "" for v in volumes]
    return [normalized_image_name(name) for name in named]


def _scaled(size: int, having: int, total: int) -> int:
    """An image on few nodes counts for less, so that not all pods of an image heat one node."""
    return int(float(size) * (float(having) / float(total)))


def _priority(total: int, images: int) -> int:
    ceiling = MAX_CONTAINER_THRESHOLD * images
    clamped = min(max(total, MIN_THRESHOLD), ceiling)
    return MAX_NODE_SCORE * (clamped - MIN_THRESHOLD) // (ceiling - MIN_THRESHOLD)


class ImageLocality(ScorePlugin):
    name = "ImageLocality"

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        snapshot, images = self.handle.snapshot, pod_images(pod)
        if not images:
            return 0
        total = sum(
            _scaled(found.size, len(found.nodes), len(snapshot))
            for name in images
            if name in node.images and (found := snapshot.images.get(name)) is not None
        )
        return _priority(total, len(images))

    def score_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Scores:
        images = pod_images(pod)
        if not any(name in snapshot.images for name in images):
            return np.zeros(len(rows), np.int64)
        sums = np.zeros(len(snapshot), np.int64)
        for name in images:
            if (found := snapshot.images.get(name)) is not None:
                scaled = _scaled(found.size, len(found.nodes), len(snapshot))
                having = [snapshot.rows[node] for node in found.nodes if node in snapshot.rows]
                sums[having] += scaled
        ceiling = MAX_CONTAINER_THRESHOLD * len(images)
        clamped = np.clip(sums[rows], MIN_THRESHOLD, ceiling)
        return MAX_NODE_SCORE * (clamped - MIN_THRESHOLD) // (ceiling - MIN_THRESHOLD)
