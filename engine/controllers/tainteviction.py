"""The taint eviction controller: deletes Pods that do not tolerate a NoExecute taint of their Node, or no longer
(pkg/controller/tainteviction/taint_eviction.go)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from engine.api.errors import ApiError
from engine.api.types import NODES, PODS, Object
from engine.client import NORMAL, object_key
from engine.controllers.controller import Controller
from engine.controllers.nodelifecycle.controller import NODE_INDEX, by_node_name
from engine.controllers.pod_conditions import DISRUPTION_TARGET, pod_conditions
from engine.controllers.taints import NO_EXECUTE, find_toleration, taints_of


def no_execute(node: Object | None) -> list[Object]:
    return [taint for taint in taints_of(node or {}) if taint["effect"] == NO_EXECUTE]


def patience(pod: Object, taints: list[Object]) -> float | None:
    """Seconds that the Pod has: none for a taint that it does not tolerate, else the shortest of its tolerations'
    times; None if it may stay."""
    tolerations = pod["spec"].get("tolerations") or []
    used = [find_toleration(tolerations, taint) for taint in taints]
    if None in used:
        return 0.0
    times = (toleration.get("tolerationSeconds") for toleration in used if toleration is not None)
    return min((max(0.0, float(seconds)) for seconds in times if seconds is not None), default=None)


class TaintEvictionController(Controller):
    name = "node-controller"
    kind = "pod"
    view = "taint-eviction-controller"
    event_source = "taint-eviction-controller"
    workers = 8

    def set_up(self) -> None:
        self._nodes = self.lister(NODES)
        self._pods = self.lister(PODS)
        self.index(PODS, NODE_INDEX, by_node_name)
        self._marked: dict[str, tuple[str, datetime]] = {}  # Pods whose time runs, by key: their uid, and until when
        self.watch(NODES, self._node_changed)
        self.watch(PODS, self._pod_changed)

    def _node_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None or no_execute(old) == no_execute(new):
            return []
        return [object_key(pod) for pod in self._pods.by_index(NODE_INDEX, new["metadata"]["name"])]

    def _pod_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None:
            _, due = self._marked.pop(key := object_key(old or {}), ("", self.clock.now()))
            if old is not None and due > self.clock.now():
                self._tell_cancelled(key, old)  # somebody else was faster
            return []
        same_node = old is not None and old["spec"].get("nodeName") == new["spec"].get("nodeName")
        if same_node and old is not None and old["spec"].get("tolerations") == new["spec"].get("tolerations"):
            return []
        return [object_key(new)] if no_execute(self._nodes.get(new["spec"].get("nodeName", ""))) else []

    async def reconcile(self, key: str) -> None:
        pod = self._pods.by_key(key)
        if pod is None or pod["metadata"].get("deletionTimestamp"):
            return
        now = self.clock.now()
        taints = no_execute(self._nodes.get(pod["spec"].get("nodeName", "")))
        uid, marked = self._marked.get(key, ("", now))
        runs = uid == pod["metadata"]["uid"]
        left = patience(pod, taints)
        # A time that runs is not changed by other taints or tolerations, as long as the Pod has any time.
        due = marked if runs and left else now + timedelta(seconds=left or 0.0)
        self.note(desired={"evictAt": due.isoformat() if left is not None else None}, actual={"taints": taints})
        if left is None:
            if self._marked.pop(key, None) is not None:
                self._tell_cancelled(key, pod)
            return
        self._marked[key] = pod["metadata"]["uid"], due
        if due > now:
            self.queue.add_after(key, (due - now).total_seconds())
            return
        if runs and marked > now:
            self._tell_cancelled(key, pod)  # the later deletion, for one at once
        await self._evict(key, pod)

    def _tell_cancelled(self, key: str, pod: Object) -> None:
        self.recorder.event(pod, NORMAL, "TaintManagerEviction", f"Cancelling deletion of Pod {key}")

    async def _evict(self, key: str, pod: Object) -> None:
        self.recorder.event(pod, NORMAL, "TaintManagerEviction", f"Marking for deletion Pod {key}")
        metadata = pod["metadata"]
        conditions = pod_conditions(
            pod,
            DISRUPTION_TARGET,
            "True",
            now=self.clock.timestamp(),
            reason="DeletionByTaintManager",
            message="Taint manager: deleting due to NoExecute taint",
        )
        try:
            await self.client.patch(
                PODS,
                metadata["name"],
                {"metadata": {"uid": metadata["uid"]}, "status": {"conditions": conditions}},
                namespace=metadata["namespace"],
                subresource="status",
            )
            await self.client.delete(PODS, metadata["name"], namespace=metadata["namespace"])
        except ApiError as error:
            if error.code != 404:
                raise
        self._marked.pop(key, None)
