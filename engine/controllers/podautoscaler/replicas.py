"""How many replicas a resource metric asks for (pkg/controller/podautoscaler/replica_calculator.go)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from engine.api.pod_amounts import is_pod_level, pod_amounts
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.controllers.podautoscaler.metrics import MetricError, request_of
from engine.controllers.pods import parse_time, ready_condition

TOLERANCE = 0.1
# --horizontal-pod-autoscaler-cpu-initialization-period and -initial-readiness-delay
CPU_INITIALIZATION = timedelta(minutes=5)
INITIAL_READINESS_DELAY = timedelta(seconds=30)


class Proposal(NamedTuple):
    """`utilization` is in percent of the requests, None for a target of an average value; `value` in thousandths."""

    replicas: int
    utilization: int | None
    value: int


class Tolerances(NamedTuple):
    """How far from its target a metric may be without anything being done (KEP-4951)."""

    down: float = TOLERANCE
    up: float = TOLERANCE

    @classmethod
    def of(cls, behavior: Object) -> Tolerances:
        down, up = (_tolerance(behavior.get(rules)) for rules in ("scaleDown", "scaleUp"))
        return cls(down, up)

    def holds(self, ratio: float) -> bool:
        return (1.0 - self.down) <= ratio <= (1.0 + self.up)


def _tolerance(rules: Object | None) -> float:
    given = (rules or {}).get("tolerance")
    return TOLERANCE if given is None else Quantity.parse(given).milli / 1000


class Target(NamedTuple):
    """What is wanted of a resource: a utilisation in percent, or an average in thousandths."""

    utilization: int | None
    average: int | None


@dataclass(slots=True)
class _Groups:
    """The Pods of a target: what the `ready` ones use; those that are not ready yet, and those nobody has measured."""

    ready: dict[str, int] = field(default_factory=dict)
    unready: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def propose(
    pods: list[Object],
    used: Mapping[str, Mapping[str, int]],
    target: Target,
    *,
    resource: str,
    container: str = "",
    current: int,
    tolerances: Tolerances,
    now: datetime,
    since: Mapping[str, datetime] | None = None,
) -> Proposal:
    """`used` is what each container of each measured Pod uses, in thousandths, `since` when each Pod's sample began.
    Raises MetricError."""
    if not pods:
        raise MetricError("no pods returned by selector while calculating replica count")
    groups = _group(pods, used, since or {}, resource=resource, container=container, now=now)
    if not groups.ready:
        raise MetricError("did not receive metrics for targeted pods (pods might be unready)")
    requests = _requests(pods, resource, container) if target.utilization is not None else {}
    return _Calculation(groups, requests, target, tolerances).propose(current)


def _group(
    pods: list[Object],
    used: Mapping[str, Mapping[str, int]],
    since: Mapping[str, datetime],
    *,
    resource: str,
    container: str,
    now: datetime,
) -> _Groups:
    groups = _Groups()
    for pod in pods:
        name, phase = pod["metadata"]["name"], (pod.get("status") or {}).get("phase")
        if pod["metadata"].get("deletionTimestamp") or phase == "Failed":
            continue
        if phase == "Pending":
            groups.unready.append(name)
        elif name not in used:
            groups.missing.append(name)
        elif resource == "cpu" and _is_unready(pod, since.get(name), now):
            groups.unready.append(name)
        else:
            groups.ready[name] = used[name].get(container, 0) if container else sum(used[name].values())
    return groups


def _is_unready(pod: Object, since: datetime | None, now: datetime) -> bool:
    """Whether what a Pod uses of the CPU says nothing yet: it is starting, was measured while it did, or has never been
    ready."""
    ready, started = ready_condition(pod), (pod.get("status") or {}).get("startTime")
    if ready is None or not started:
        return True
    changed = parse_time(ready["lastTransitionTime"])
    if parse_time(started) + CPU_INITIALIZATION > now:
        return ready["status"] == "False" or (since is not None and since < changed)
    return ready["status"] == "False" and parse_time(started) + INITIAL_READINESS_DELAY > changed


def _requests(pods: list[Object], resource: str, container: str) -> dict[str, int]:
    """By Pod; sidecars are asked too, and a whole Pod where it says itself what it needs (KEP-2837)."""
    found = {}
    for pod in pods:
        spec, total = pod["spec"], 0
        if not container and any(map(is_pod_level, (spec.get("resources") or {}).get("requests") or ())):
            asked = pod_amounts(pod, "requests").get(resource)
            if asked is None:
                raise MetricError(f"missing pod-level request for {resource} in Pod {pod['metadata']['name']}")
            found[pod["metadata"]["name"]] = asked.milli
            continue
        sidecars = [each for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"]
        for each in [*spec["containers"], *sidecars]:
            if container and each["name"] != container:
                continue
            request = request_of(each, resource)
            if request is None:
                raise MetricError(
                    f"missing request for {resource} in container {each['name']} of Pod {pod['metadata']['name']}"
                )
            total += request
        found[pod["metadata"]["name"]] = total
    return found


class _Calculation:
    def __init__(self, groups: _Groups, requests: dict[str, int], target: Target, tolerances: Tolerances) -> None:
        self._groups = groups
        self._requests = requests
        self._target = target
        self._tolerances = tolerances

    def propose(self, current: int) -> Proposal:
        ratio, utilization, value = self._ratio(self._groups.ready)
        return Proposal(self._count(ratio, current), utilization, value)

    def _ratio(self, used: Mapping[str, int]) -> tuple[float, int | None, int]:
        """How the use is to the target, the utilisation in percent, and the average."""
        total = sum(used.values())
        average = total // len(used)
        if self._target.utilization is None:
            return average / (self._target.average or 1), None, average
        asked = sum(self._requests[name] for name in used if name in self._requests)
        if not asked:
            raise MetricError("no metrics returned matched known pods")
        percent = total * 100 // asked
        return percent / self._target.utilization, percent, average

    def _count(self, ratio: float, current: int) -> int:
        groups = self._groups
        rebalanced = bool(groups.unready) and ratio > 1.0
        if not rebalanced and not groups.missing:
            return current if self._tolerances.holds(ratio) else math.ceil(ratio * len(groups.ready))
        used = dict(groups.ready)
        if ratio < 1.0:
            used.update({name: self._all_of(name) for name in groups.missing})
        elif ratio > 1.0:
            used.update(dict.fromkeys(groups.missing, 0))
        if rebalanced:
            used.update(dict.fromkeys(groups.unready, 0))
        return self._cautious(ratio, self._ratio(used)[0], len(used), current)

    def _all_of(self, name: str) -> int:
        """What a Pod that nobody has measured is taken to use where there are to be fewer."""
        if self._target.utilization is None:
            return self._target.average or 0
        return self._requests[name] * max(100, self._target.utilization) // 100

    def _cautious(self, ratio: float, new_ratio: float, count: int, current: int) -> int:
        """With guesses in it, a ratio decides nothing that the measured one would not have."""
        turned = (ratio < 1.0 < new_ratio) or (new_ratio < 1.0 < ratio)
        if self._tolerances.holds(new_ratio) or turned:
            return current
        wanted = math.ceil(new_ratio * count)
        if (new_ratio < 1.0 and wanted > current) or (new_ratio > 1.0 and wanted < current):
            return current
        return wanted
