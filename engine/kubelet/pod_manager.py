"""The Pods that are bound to this node, as the API has them, and what a change of one means (pkg/kubelet/config,
pkg/kubelet/pod)."""

from __future__ import annotations

from engine.api.types import Object
from engine.client import Origin
from engine.kubelet import pods
from engine.kubelet.sync_loop import Operation, PodUpdate


class PodManager:
    def __init__(self) -> None:
        self._pods: dict[str, Object] = {}

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
            self._pods.pop(pods.uid_of(old), None)
            return PodUpdate(Operation.REMOVE, old, origin)
        self._pods[pods.uid_of(new)] = new
        if old is None:
            return PodUpdate(Operation.ADD, new, origin)
        if pods.is_deleted(new) and _deletion(old) != _deletion(new):
            return PodUpdate(Operation.DELETE, new, origin)
        if _differ(old, new):
            return PodUpdate(Operation.UPDATE, new, origin)
        return PodUpdate(Operation.RECONCILE, new, origin)


def _deletion(pod: Object) -> tuple[object, object]:
    metadata = pod["metadata"]
    return metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")


def _differ(old: Object, new: Object) -> bool:
    """Whether more than the status differs (config.go podsDifferSemantically)."""
    if old["spec"] != new["spec"]:
        return True
    return any(old["metadata"].get(key) != new["metadata"].get(key) for key in ("labels", "annotations"))
