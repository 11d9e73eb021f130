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
from engine.controllers.pod_conditions import DISRUPTION_TARGET, pod_conditions
from engine.controllers.pods import is_terminal, parse_time

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
        # Why it was to be disrupted goes with it.
        conditions = pod_conditions(pod, DISRUPTION_TARGET, "False", now=self.clock.timestamp())
        try:
            await self.client.update_status(PODS, {**pod, "status": {**pod["status"], "conditions": conditions}})
        except ApiError as error:
            if error.code != 404:
                raise


def goes_stale_at(pod: Object) -> datetime | None:
    """When a Pod's disruption will be stale; None if it has none, or none that can be."""
    if is_terminal(pod) or pod["metadata"].get("deletionTimestamp"):
        return None
    condition = find_condition(conditions_of(pod.get("status") or {}), DISRUPTION_TARGET)
    if condition is None or condition.get("status") != "True" or not condition.get("lastTransitionTime"):
        return None
    return parse_time(condition["lastTransitionTime"]) + TIMEOUT
