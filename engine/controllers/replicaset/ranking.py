"""Which Pods a scale-down deletes first (ActivePodsWithRanks in pkg/controller/controller_utils.go)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import cmp_to_key

from engine.api.types import Object
from engine.controllers.pods import is_active, is_ready, parse_time, phase, ready_since

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def pods_to_delete(pods: Sequence[Object], related: Sequence[Object], *, count: int, now: datetime) -> list[Object]:
    """The `count` Pods to delete. `related` are all Pods of ReplicaSets with the same owner: a node that holds many of
    them gives up one sooner."""
    if count >= len(pods):
        return list(pods)
    on_node = Counter(pod["spec"].get("nodeName", "") for pod in related if is_active(pod))

    def compare(a: Object, b: Object) -> int:
        rank = on_node[a["spec"].get("nodeName", "")], on_node[b["spec"].get("nodeName", "")]
        return _compare(a, b, rank=rank, now=now)

    return sorted(pods, key=cmp_to_key(compare))[:count]


def _compare(a: Object, b: Object, *, rank: tuple[int, int], now: datetime) -> int:
    """Below zero if `a` goes first."""
    node_a, node_b = a["spec"].get("nodeName", ""), b["spec"].get("nodeName", "")
    if node_a != node_b and not (node_a and node_b):
        return -1 if not node_a else 1  # unassigned before assigned
    if difference := _PHASES.get(phase(a), 0) - _PHASES.get(phase(b), 0):
        return difference
    if is_ready(a) != is_ready(b):
        return 1 if is_ready(a) else -1
    if difference := _cost(a) - _cost(b):
        return difference
    if rank[0] != rank[1]:
        return rank[1] - rank[0]  # doubled up before alone
    if is_ready(a) and is_ready(b):
        since_a, since_b = ready_since(a), ready_since(b)
        if since_a != since_b:
            return _compare_times(a, b, times=(since_a, since_b), now=now)
    if _restarts(a) != _restarts(b):
        return -1 if _restarts(a) > _restarts(b) else 1
    created_a, created_b = _created(a), _created(b)
    if created_a != created_b:
        return _compare_times(a, b, times=(created_a, created_b), now=now)
    return 0


def _compare_times(a: Object, b: Object, *, times: tuple[datetime | None, datetime | None], now: datetime) -> int:
    """Younger before older, where the ages differ by a power of two; else at random, by uid (KEP-2185)."""
    time_a, time_b = times
    if time_a is None or time_b is None:
        return -1 if time_a is None else 1
    if difference := _age_rank(time_a, now) - _age_rank(time_b, now):
        return difference
    return -1 if a["metadata"]["uid"] < b["metadata"]["uid"] else 1


def _age_rank(time: datetime, now: datetime) -> int:
    nanoseconds = (now - time).total_seconds() * 1e9
    return int(math.log2(nanoseconds)) if nanoseconds > 0 else -1


def _cost(pod: Object) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(DELETION_COST, "")
    try:
        return int(text)
    except ValueError:
        return 0


def _restarts(pod: Object) -> tuple[int, int]:
    """The most restarts of a container, and where those are equal of a sidecar (maxContainerRestarts)."""
    status = pod.get("status") or {}
    sidecars = {
        each["name"] for each in pod["spec"].get("initContainers") or () if each.get("restartPolicy") == "Always"
    }
    inits = [each for each in status.get("initContainerStatuses") or () if each["name"] in sidecars]
    return _most_restarts(status.get("containerStatuses") or ()), _most_restarts(inits)


def _most_restarts(statuses: Sequence[Object]) -> int:
    return max((status.get("restartCount", 0) for status in statuses), default=0)


def _created(pod: Object) -> datetime | None:
    created = pod["metadata"].get("creationTimestamp")
    return parse_time(created) if created else None
