"""Which daemon Pods to create and delete, and the status: pure (daemon_controller.go, update.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from engine.api.types import Object
from engine.controllers.daemonset.fitting import fit
from engine.controllers.deployment.limits import scaled_value
from engine.controllers.history import POD_REVISION
from engine.controllers.pods import is_available, is_ready, phase

PodsByNode = Mapping[str, Sequence[Object]]


@dataclass(slots=True)
class Plan:
    create: list[str] = field(default_factory=list)  # names of Nodes
    delete: list[Object] = field(default_factory=list)
    failed: list[Object] = field(default_factory=list)  # Pods that failed: deleted, with an event and a back-off


def target_node(pod: Object) -> str:
    """The Node that a daemon's Pod is on, or is meant for by its affinity while it waits for the scheduler."""
    if pod["spec"].get("nodeName"):
        return str(pod["spec"]["nodeName"])
    affinity = ((pod["spec"].get("affinity") or {}).get("nodeAffinity")) or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for each in term.get("matchFields") or ():
            if each["key"] == "metadata.name" and each["operator"] == "In" and len(each["values"]) == 1:
                return str(each["values"][0])
    return ""


def by_node(pods: Sequence[Object]) -> dict[str, list[Object]]:
    found: dict[str, list[Object]] = {}
    for pod in pods:
        found.setdefault(target_node(pod), []).append(pod)
    return found


def _oldest_first(pods: Sequence[Object]) -> list[Object]:
    """Bound before unbound, then by age."""
    return sorted(
        pods,
        key=lambda pod: (
            not pod["spec"].get("nodeName"),
            pod["metadata"].get("creationTimestamp", ""),
            pod["metadata"]["name"],
        ),
    )


def plan_nodes(daemon_set: Object, nodes: Sequence[Object], pods: PodsByNode) -> Plan:
    """One Pod on each Node where one should run, none where none may stay (podsShouldBeOnNode)."""
    result = Plan()
    for node in nodes:
        here = pods.get(node["metadata"]["name"], ())
        should_run, may_stay = fit(daemon_set, node)
        if should_run and not here:
            result.create.append(node["metadata"]["name"])
        elif may_stay:
            _keep_one(here, result, surge=_surge(daemon_set) > 0)
        else:
            result.delete += [pod for pod in here if not _leaves(pod)]
    known = {node["metadata"]["name"] for node in nodes}
    for name, stranded in pods.items():
        if name not in known:
            result.delete += [pod for pod in stranded if not pod["spec"].get("nodeName") and not _leaves(pod)]
    return result


def _keep_one(here: Sequence[Object], result: Plan, *, surge: bool) -> None:
    running = []
    for pod in here:
        if _leaves(pod):
            continue
        if phase(pod) == "Failed":
            result.failed.append(pod)
        elif phase(pod) == "Succeeded":
            result.delete.append(pod)
        else:
            running.append(pod)
    if not surge:
        result.delete += _oldest_first(running)[1:]


def _leaves(pod: Object) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


# -- updates


def _rolling(daemon_set: Object) -> Object:
    rolling: Object = (daemon_set["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    return rolling


def _surge(daemon_set: Object) -> int:
    value = _rolling(daemon_set).get("maxSurge", 0)
    return scaled_value(value, 100, round_up=True)


def is_updated(pod: Object, hashed: str) -> bool:
    return bool((pod["metadata"].get("labels") or {}).get(POD_REVISION) == hashed)


def plan_update(daemon_set: Object, nodes: Sequence[Object], pods: PodsByNode, *, hashed: str, now: datetime) -> Plan:
    """Delete old Pods as far as maxUnavailable allows, or put new ones beside them as far as maxSurge does."""
    wanted = [node for node in nodes if fit(daemon_set, node).should_run]
    rolling = _rolling(daemon_set)
    surge = scaled_value(rolling.get("maxSurge", 0), len(wanted), round_up=True)
    unavailable = scaled_value(rolling.get("maxUnavailable", 0 if surge else 1), len(wanted), round_up=True)
    if surge:
        return _plan_surge(daemon_set, nodes, pods, hashed=hashed, now=now, surge=surge)
    min_ready = int(daemon_set["spec"].get("minReadySeconds", 0))
    result, candidates = Plan(), []
    missing = 0
    for node in nodes:
        old, new = _newest(pods.get(node["metadata"]["name"], ()), hashed)
        if new is not None or old is None:
            there = new if new is not None and not _leaves(new) else None
            if node in wanted and (there is None or not is_available(there, min_ready, now)):
                missing += 1
        elif _leaves(old):
            missing += 1
        elif not is_available(old, min_ready, now):
            result.delete.append(old)  # it takes nothing away
            missing += 1
        else:
            candidates.append(old)
    result.delete += candidates[: max(0, unavailable - missing)]
    return result


def _newest(here: Sequence[Object], hashed: str) -> tuple[Object | None, Object | None]:
    """The old and the new Pod of a Node; what fails or leaves counts only if there is nothing else."""
    old = [pod for pod in here if not is_updated(pod, hashed)]
    new = [pod for pod in here if is_updated(pod, hashed)]

    def pick(pods: list[Object]) -> Object | None:
        return next((pod for pod in pods if not _leaves(pod)), pods[0] if pods else None)

    return pick(old), pick(new)


def _plan_surge(
    daemon_set: Object, nodes: Sequence[Object], pods: PodsByNode, *, hashed: str, now: datetime, surge: int
) -> Plan:
    min_ready = int(daemon_set["spec"].get("minReadySeconds", 0))
    result, candidates, surging = Plan(), [], 0
    for node in nodes:
        name = node["metadata"]["name"]
        old, new = _newest(pods.get(name, ()), hashed)
        if old is None:
            continue
        if new is None:
            if not is_available(old, min_ready, now):
                result.create.append(name)
                surging += 1
            else:
                candidates.append(name)
        elif is_available(new, min_ready, now):
            if not _leaves(old):
                result.delete.append(old)
        else:
            surging += 1
    result.create += candidates[: max(0, surge - surging)]
    return result


# -- status


def daemon_set_status(
    daemon_set: Object,
    nodes: Sequence[Object],
    pods: PodsByNode,
    *,
    hashed: str,
    collisions: int | None,
    observed: int,
    now: datetime,
) -> Object:
    min_ready = int(daemon_set["spec"].get("minReadySeconds", 0))
    counts = dict.fromkeys(("desired", "current", "misscheduled", "ready", "updated", "available"), 0)
    for node in nodes:
        here = pods.get(node["metadata"]["name"], ())
        if not fit(daemon_set, node).should_run:
            counts["misscheduled"] += bool(here)
            continue
        counts["desired"] += 1
        if not here:
            continue
        pod = _oldest_first(here)[0]
        counts["current"] += 1
        counts["ready"] += is_ready(pod)
        counts["available"] += is_available(pod, min_ready, now)
        counts["updated"] += is_updated(pod, hashed)
    status: Object = {
        "currentNumberScheduled": counts["current"],
        "desiredNumberScheduled": counts["desired"],
        "numberMisscheduled": counts["misscheduled"],
        "numberReady": counts["ready"],
    }
    optional = {
        "observedGeneration": observed,
        "updatedNumberScheduled": counts["updated"],
        "numberAvailable": counts["available"],
        "numberUnavailable": counts["desired"] - counts["available"],
    }
    status |= {name: value for name, value in optional.items() if value}
    if collisions is not None:
        status["collisionCount"] = collisions
    return status
