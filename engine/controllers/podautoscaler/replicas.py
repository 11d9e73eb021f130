"""How many replicas a resource metric asks for (pkg/controller/podautoscaler/replica_calculator.go)."""

from __future__ import annotations

import math
from typing import NamedTuple

from engine.api.types import Object
from engine.controllers.podautoscaler.metrics import request_of
from engine.controllers.pods import is_ready

TOLERANCE = 0.1


class MetricError(Exception):
    """The metric cannot be had."""


class Proposal(NamedTuple):
    """`utilization` is in percent of the requests, None for a target of an average value; `value` in thousandths."""

    replicas: int
    utilization: int | None
    value: int


class _Groups(NamedTuple):
    """The Pods of a target: `ready` ones count as they are, `ignored` ones (pending, or not ready yet) do not."""

    ready: dict[str, int]
    ignored: list[str]


def propose(
    pods: list[Object],
    used: dict[str, dict[str, int]],
    *,
    resource: str,
    container: str,
    current: int,
    utilization: int | None,
    average: int | None,
) -> Proposal:
    """For a target utilisation in percent, or a target average value in thousandths. Raises MetricError."""
    if not pods:
        raise MetricError("no pods returned by selector while calculating replica count")
    groups = _group(pods, used, container)
    if not groups.ready:
        raise MetricError("did not receive metrics for targeted pods (pods might be unready)")
    if utilization is None:
        assert average is not None
        return _by_value(groups, current, average)
    requests = _requests(pods, resource, container)
    return _by_utilization(groups, requests, current, utilization)


def _group(pods: list[Object], used: dict[str, dict[str, int]], container: str) -> _Groups:
    ready: dict[str, int] = {}
    ignored: list[str] = []
    for pod in pods:
        name, phase = pod["metadata"]["name"], (pod.get("status") or {}).get("phase")
        if pod["metadata"].get("deletionTimestamp") or phase == "Failed":
            continue
        if phase == "Pending" or name not in used or not is_ready(pod):
            ignored.append(name)
        else:
            containers = used[name]
            ready[name] = containers.get(container, 0) if container else sum(containers.values())
    return _Groups(ready, ignored)


def _requests(pods: list[Object], resource: str, container: str) -> dict[str, int]:
    found = {}
    for pod in pods:
        total = 0
        for each in pod["spec"]["containers"]:
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


def _by_utilization(groups: _Groups, requests: dict[str, int], current: int, target: int) -> Proposal:
    used, asked = sum(groups.ready.values()), sum(requests[name] for name in groups.ready)
    if not asked:
        raise MetricError("no metrics returned matched known pods")
    percent = used * 100 // asked
    value = used // len(groups.ready)
    ratio = percent / target

    def with_zeros() -> float:
        whole = asked + sum(requests[name] for name in groups.ignored)
        return (used * 100 // whole) / target

    replicas = _count(groups, ratio, current, with_zeros())
    return Proposal(replicas, percent, value)


def _by_value(groups: _Groups, current: int, target: int) -> Proposal:
    used = sum(groups.ready.values())
    value = used // len(groups.ready)
    zeros = used // (len(groups.ready) + len(groups.ignored)) / target
    return Proposal(_count(groups, value / target, current, zeros), None, value)


def _count(groups: _Groups, ratio: float, current: int, ratio_with_zeros: float) -> int:
    """Pods that are not ready yet count as idle ones, but only when there are to be more."""
    if not (groups.ignored and ratio > 1.0):
        if abs(1.0 - ratio) <= TOLERANCE:
            return current
        return math.ceil(ratio * len(groups.ready))
    if abs(1.0 - ratio_with_zeros) <= TOLERANCE or ratio_with_zeros < 1.0:
        return current
    wanted = math.ceil(ratio_with_zeros * (len(groups.ready) + len(groups.ignored)))
    return max(wanted, current)
