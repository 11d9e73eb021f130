"""What a StatefulSet's next step is: pure (updateStatefulSet in stateful_set_control.go).

Ordered: one Pod at a time, and only when all before it run and are available. Parallel: all at once. Scaling comes
before updating; an update goes from the highest ordinal down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from engine.api.types import Object
from engine.controllers.deployment.limits import scaled_value
from engine.controllers.pods import is_available, is_ready, is_terminal, phase
from engine.controllers.statefulset.identity import (
    first_ordinal,
    has_identity,
    has_storage,
    in_range,
    make_pod,
    ordinal_of,
    revision_of_pod,
)


class Revisions(NamedTuple):
    """Names of the revision that was rolled out last and the one to roll out, and the set with the template of each."""

    current: str
    update: str
    current_set: Object
    update_set: Object


@dataclass(slots=True)
class Plan:
    """Acts: those on the Pods that should be, then those on the others. `delete` has both, first those that ended."""

    create: list[Object] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    correct: list[Object] = field(default_factory=list)  # Pods that lack a part of their identity
    pending: list[Object] = field(default_factory=list)  # Pods that may lack claims
    settle: list[Object] = field(default_factory=list)  # Pods whose claims' owners are to be looked at
    condemned: list[Object] = field(default_factory=list)  # Pods beyond the range, whose claims' owners are too
    ended: list[Object] = field(default_factory=list)  # Pods that are over, which no replica should be


def is_created(pod: Object) -> bool:
    return bool(phase(pod))


def is_terminating(pod: Object) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def runs_and_is_ready(pod: Object) -> bool:
    return phase(pod) == "Running" and is_ready(pod)


def is_ordered(set_: Object) -> bool:
    """Whether Pods wait for one another."""
    return bool(set_["spec"].get("podManagementPolicy", "OrderedReady") != "Parallel")


def plan(set_: Object, revisions: Revisions, pods: Sequence[Object], now: datetime) -> Plan:
    result = Plan()
    if set_["metadata"].get("deletionTimestamp"):
        return result
    beyond = [pod for pod in pods if not in_range(set_, pod) and ordinal_of(pod) >= 0]
    ordered = is_ordered(set_)
    step = _Step(
        set_, _replicas(set_, revisions, pods), sorted(beyond, key=lambda pod: -ordinal_of(pod)), ordered, now, result
    )
    if step.keep(revisions.update_set) and step.condemn():
        step.update(revisions.update)
    return result


def _replicas(set_: Object, revisions: Revisions, pods: Sequence[Object]) -> list[Object]:
    there = {ordinal_of(pod): pod for pod in pods if in_range(set_, pod)}
    start = first_ordinal(set_)
    return [
        there.get(ordinal) or _missing(set_, revisions, ordinal)
        for ordinal in range(start, start + int(set_["spec"].get("replicas", 1)))
    ]


def _missing(set_: Object, revisions: Revisions, ordinal: int) -> Object:
    """A Pod to create, below the partition of the revision that is rolled out already."""
    strategy = set_["spec"].get("updateStrategy") or {}
    rolling = strategy.get("rollingUpdate")
    if rolling is None:
        status = set_.get("status") or {}
        is_rolling = strategy.get("type", "RollingUpdate") == "RollingUpdate"
        old = is_rolling and ordinal < first_ordinal(set_) + status.get("currentReplicas", 0)
    else:
        old = ordinal < first_ordinal(set_) + int(rolling.get("partition", 0))
    if old:
        return make_pod(revisions.current_set, ordinal, revisions.current)
    return make_pod(revisions.update_set, ordinal, revisions.update)


class _Step:
    """One sync's way through the Pods; each part says whether the next may follow. `replicas` are all that should be,
    there or not; `condemned` those beyond the range, highest ordinal first."""

    def __init__(
        self,
        set_: Object,
        replicas: list[Object],
        condemned: list[Object],
        ordered: bool,
        now: datetime,
        result: Plan,
    ) -> None:
        self._set = set_
        self._replicas = replicas
        self._condemned = condemned
        self._ordered = ordered
        self._now = now
        self._result = result
        self._min_ready = int(set_["spec"].get("minReadySeconds", 0))

    def _is_unavailable(self, pod: Object) -> bool:
        available = runs_and_is_ready(pod) and is_available(pod, self._min_ready, self._now)
        return not available or is_terminating(pod)

    def keep(self, update_set: Object) -> bool:
        """Ordered, it ends at the first Pod that is not as it should be."""
        return all(self._keep_one(pod, update_set) or not self._ordered for pod in self._replicas)

    def _keep_one(self, pod: Object, update_set: Object) -> bool:
        """Whether the Pod is as it should be."""
        if is_terminal(pod):
            self._result.ended.append(pod)
            if not is_terminating(pod):
                self._result.delete.append(pod)
            return False
        if not is_created(pod):
            self._result.create.append(pod)
            return False
        if phase(pod) == "Pending":
            self._result.pending.append(pod)
        if self._ordered and self._is_unavailable(pod):
            return False
        if not has_identity(pod) or not has_storage(update_set, pod):
            self._result.correct.append(pod)
        else:
            self._result.settle.append(pod)
        return True

    def condemn(self) -> bool:
        """Delete what is beyond the range; ordered, only the highest, and only when all others are healthy."""
        unhealthy = [pod for pod in self._replicas if self._is_unavailable(pod)]
        unhealthy += [pod for pod in reversed(self._condemned) if self._is_unavailable(pod)]
        self._result.condemned += self._condemned
        for pod in self._condemned:
            if is_terminating(pod):
                if self._ordered:
                    return False
                continue
            if self._ordered and self._is_unavailable(pod) and pod is not unhealthy[0]:
                return False
            self._result.delete.append(pod)
            if self._ordered:
                return False
        return True

    def update(self, revision: str) -> None:
        """Delete Pods of an older template, so that they come back with the new one."""
        strategy = self._set["spec"].get("updateStrategy") or {}
        if strategy.get("type", "RollingUpdate") == "OnDelete":
            return
        rolling = strategy.get("rollingUpdate") or {}
        replicas = self._replicas
        allowed = max(1, scaled_value(rolling.get("maxUnavailable", 1), len(replicas), round_up=False))
        allowed -= sum(self._is_unavailable(pod) and not self._is_broken(pod, revision) for pod in replicas)
        for pod in reversed(replicas[int(rolling.get("partition", 0)) :]):
            if revision_of_pod(pod) == revision or is_terminating(pod) or not is_created(pod):
                continue
            if allowed <= 0:
                return
            self._result.delete.append(pod)
            allowed -= 1

    def _is_broken(self, pod: Object, revision: str) -> bool:
        """An old Pod that does not come up holds up nothing, where Pods need not wait for one another (1.37)."""
        old = is_created(pod) and revision_of_pod(pod) != revision
        return not self._ordered and old and not is_terminating(pod)


def stateful_set_status(
    set_: Object,
    revisions: Revisions,
    pods: Sequence[Object],
    *,
    collisions: int,
    now: datetime,
    promotes_on_delete: bool = True,
) -> Object:
    """The status from the Pods as the cache has them; a rollout that is through moves the current revision on.

    Before 1.37 it does not where somebody deletes the Pods: `promotes_on_delete` is off.
    """
    min_ready = int(set_["spec"].get("minReadySeconds", 0))
    created = [pod for pod in pods if is_created(pod)]
    staying = [pod for pod in created if not is_terminating(pod)]
    ready = [pod for pod in created if runs_and_is_ready(pod)]
    status: Object = {
        "observedGeneration": set_["metadata"].get("generation", 0),
        "replicas": len(created),
        "readyReplicas": len(ready),
        "availableReplicas": sum(is_available(pod, min_ready, now) for pod in ready),
        "currentReplicas": sum(revision_of_pod(pod) == revisions.current for pod in staying),
        "updatedReplicas": sum(revision_of_pod(pod) == revisions.update for pod in staying),
        "currentRevision": revisions.current,
        "updateRevision": revisions.update,
        "collisionCount": collisions,
    }
    strategy = (set_["spec"].get("updateStrategy") or {}).get("type", "RollingUpdate")
    wanted = int(set_["spec"].get("replicas", 1))
    promotes = promotes_on_delete or strategy == "RollingUpdate"
    if promotes and status["updatedReplicas"] == status["readyReplicas"] == len(created) == wanted:
        status["currentReplicas"] = status["updatedReplicas"]
        status["currentRevision"] = status["updateRevision"]
    always = ("replicas", "availableReplicas", "collisionCount")
    kept = {name: value for name, value in status.items() if value or name in always}
    if conditions := (set_.get("status") or {}).get("conditions"):
        kept["conditions"] = conditions
    return kept
