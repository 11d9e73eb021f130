"""The taint eviction controller: deletes Pods that do not tolerate a NoExecute taint of their Node, or no longer
(pkg/controller/tainteviction/taint_eviction.go)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from engine.api.errors import ApiError
from engine.api.types import NODES, PODS, Object
from engine.client import NORMAL, object_key
from engine.controllers.conditions import conditions_of, without_condition
from engine.controllers.controller import Controller
from engine.controllers.nodelifecycle.controller import NODE_INDEX, by_node_name
from engine.controllers.taints import NO_EXECUTE, find_toleration, taints_of

DISRUPTION_TARGET = "DisruptionTarget"


def no_execute(node: Object | None) -> list[Object]:
    return [taint for taint in taints_of(node or {}) if taint["effect"] == NO_EXECUTE]


def evict_at(pod: Object, taints: list[Object], now: datetime, *, since: datetime) -> datetime | None:
    """When the Pod has to go: now for a taint that it does not tolerate; else the shortest of its tolerations' times
    after `since`, when it was first seen with such taints; None if it may stay."""
    if not taints:
        return None
    tolerations = pod["spec"].get("tolerations") or []
    used = [(taint, find_toleration(tolerations, taint)) for taint in taints]
    if any(toleration is None for _, toleration in used):
        return now
    seconds = [
        max(0, toleration["tolerationSeconds"])
        for _, toleration in used
        if toleration is not None and toleration.get("tolerationSeconds") is not None
    ]
    if not seconds:
        return None
    return since + timedelta(seconds=min(seconds))


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
        self._marked: dict[str, tuple[str, datetime]] = {}  # Pods whose time runs, by key: their uid, and since when
        self.watch(NODES, self._node_changed)
        self.watch(PODS, self._pod_changed)

    def _node_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None or no_execute(old) == no_execute(new):
            return []
        return [object_key(pod) for pod in self._pods.by_index(NODE_INDEX, new["metadata"]["name"])]

    def _pod_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None:
            self._marked.pop(object_key(old or {}), None)
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
        uid, since = self._marked.get(key, ("", now))
        since = since if uid == pod["metadata"]["uid"] else now
        due = evict_at(pod, taints, now, since=since)
        self.note(desired={"evictAt": due.isoformat() if due else None}, actual={"taints": taints})
        if due is None:
            if self._marked.pop(key, None) is not None:
                self.recorder.event(pod, NORMAL, "TaintManagerEviction", f"Cancelling deletion of Pod {key}")
            return
        if due > now:
            self._marked[key] = pod["metadata"]["uid"], since
            self.queue.add_after(key, (due - now).total_seconds())
            return
        await self._evict(key, pod)

    async def _evict(self, key: str, pod: Object) -> None:
        self.recorder.event(pod, NORMAL, "TaintManagerEviction", f"Marking for deletion Pod {key}")
        metadata = pod["metadata"]
        condition = {
            "type": DISRUPTION_TARGET,
            "status": "True",
            "reason": "DeletionByTaintManager",
            "message": "Taint manager: deleting due to NoExecute taint",
            "lastTransitionTime": self.clock.timestamp(),
        }
        conditions = [*without_condition(conditions_of(pod.get("status") or {}), DISRUPTION_TARGET), condition]
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
