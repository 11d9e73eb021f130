"""A Pod that was to be disrupted and two minutes later is not being deleted will not be: its condition DisruptionTarget
is taken back (pkg/controller/disruption disruption.go, syncStalePodDisruption)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from engine.api.errors import ApiError
from engine.api.types import PODS, Object
from engine.client import object_key
from engine.controllers.conditions import conditions_of, find_condition
from engine.controllers.controller import Controller
from engine.controllers.pods import is_terminal, parse_time
from engine.controllers.tainteviction import DISRUPTION_TARGET

TIMEOUT = timedelta(minutes=2)


class StaleDisruptionController(Controller):
    name = "disruption-controller"
    kind = "pod"
    view = "stale-pod-disruption-controller"
    workers = 1

    def set_up(self) -> None:
        self._pods = self.lister(PODS)
        self.watch(PODS, self._changed)

    def _changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        return [object_key(new)] if new is not None and goes_stale_at(new) is not None else []

    async def reconcile(self, key: str) -> None:
        pod = self._pods.by_key(key)
        due = goes_stale_at(pod) if pod is not None else None
        if pod is None or due is None:
            return
        left = (due - self.clock.now()).total_seconds()
        self.note(desired={"staleIn": max(0.0, left)}, actual={})
        if left > 0:
            self.queue.add_after(key, left)
            return
        metadata = pod["metadata"]
        condition = {"type": DISRUPTION_TARGET, "status": "False", "lastTransitionTime": self.clock.timestamp()}
        patch = {"metadata": {"uid": metadata["uid"]}, "status": {"conditions": [condition]}}
        try:
            await self.client.patch(
                PODS, metadata["name"], patch, namespace=metadata["namespace"], subresource="status"
            )
        except ApiError as error:
            if error.code not in (404, 409):
                raise


def goes_stale_at(pod: Object) -> datetime | None:
    """When a Pod's disruption will be stale; None if it has none, or none that can be."""
    if is_terminal(pod) or pod["metadata"].get("deletionTimestamp"):
        return None
    condition = find_condition(conditions_of(pod.get("status") or {}), DISRUPTION_TARGET)
    if condition is None or condition.get("status") != "True" or not condition.get("lastTransitionTime"):
        return None
    return parse_time(condition["lastTransitionTime"]) + TIMEOUT
