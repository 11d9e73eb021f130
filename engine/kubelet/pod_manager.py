"""The Pods that are bound to this node, as the API has them, and what a change of one means (pkg/kubelet/config,
pkg/kubelet/pod)."""

from __future__ import annotations

from engine.api.types import Object
from engine.client import Origin
from engine.clock import Clock
from engine.kubelet import pods
from engine.kubelet.sync_loop import Operation, PodUpdate

_PREFIX = "kubernetes.io/config."


class PodManager:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pods: dict[str, Object] = {}
        self._seen: dict[str, str] = {}

    def get(self, uid: str) -> Object | None:
        return self._pods.get(uid)

    def find(self, namespace: str, name: str) -> Object | None:
        for pod in self._pods.values():
            if pods.name_of(pod) == name and pods.namespace_of(pod) == namespace:
                return pod
        return None

    def all(self) -> list[Object]:
        return list(self._pods.values())

    def take(self, old: Object | None, new: Object | None, origin: Origin) -> PodUpdate | None:
        """Note a change that the informer tells and say what it means."""
        if new is None:
            if old is None:
                return None
            self._seen.pop(pods.uid_of(old), None)
            return PodUpdate(Operation.REMOVE, self._pods.pop(pods.uid_of(old), old), origin)
        told, new = new, self._marked(new)
        self._pods[pods.uid_of(new)] = new
        if old is None:
            return PodUpdate(Operation.ADD, new, origin)
        if pods.is_deleted(new) and _deletion(old) != _deletion(new):
            return PodUpdate(Operation.DELETE, new, origin)
        if _differ(old, told):
            return PodUpdate(Operation.UPDATE, new, origin)
        return PodUpdate(Operation.RECONCILE, new, origin)

    def _marked(self, pod: Object) -> Object:
        """The Pod with the annotations that only its node knows, and shows its containers (config.go updatePodsFunc,
        recordFirstSeenTime): where it has come from, and when it was first seen."""
        uid = pods.uid_of(pod)
        if (seen := self._seen.get(uid)) is None:  # without the zeros that a fraction ends with (RFC3339Nano)
            seen = self._seen[uid] = f"{self._clock.micro_timestamp().rstrip('Z').rstrip('0').rstrip('.')}Z"
        own = {f"{_PREFIX}seen": seen, f"{_PREFIX}source": "api"}
        metadata = pod["metadata"]
        return {**pod, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **own}}}


def _deletion(pod: Object) -> tuple[object, object]:
    metadata = pod["metadata"]
    return metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")


def _differ(old: Object, new: Object) -> bool:
    """Whether more than the status differs (config.go podsDifferSemantically)."""
    if old["spec"] != new["spec"]:
        return True
    return any(old["metadata"].get(key) != new["metadata"].get(key) for key in ("labels", "annotations"))
