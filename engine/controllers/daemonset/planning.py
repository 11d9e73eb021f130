"""Which daemon Pods to create and delete, and the status: pure (daemon_controller.go, update.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from engine.api.strategies.daemon_generation import TEMPLATE_GENERATION
from engine.api.types import Object
from engine.controllers.daemonset.fitting import fit
from engine.controllers.deployment.limits import scaled_value
from engine.controllers.history import POD_REVISION
from engine.controllers.pods import is_available, is_ready, is_terminal, phase

POD_GENERATION = "pod-template-generation"
PodsByNode = Mapping[str, Sequence[Object]]


@dataclass(slots=True)
class Plan:
    create: list[str] = field(default_factory=list)  # names of Nodes
    delete: list[Object] = field(default_factory=list)
    failed: list[Object] = field(default_factory=list)  # Pods that failed: deleted, with an event and a back-off
    succeeded: list[Object] = field(default_factory=list)  # Pods that ended: deleted, with an event


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
    """Without those that are over and deleted: only a finalizer or the kubelet holds them still."""
    found: dict[str, list[Object]] = {}
    for pod in pods:
        if is_terminal(pod) and _leaves(pod):
            continue
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


def plan_nodes(daemon_set: Object, nodes: Sequence[Object], pods: PodsByNode, *, hashed: str, now: datetime) -> Plan:
    """One Pod on each Node where one should run, none where none may stay (podsShouldBeOnNode)."""
    result = Plan()
    for node in nodes:
        name = node["metadata"]["name"]
        here = pods.get(name, ())
        should_run, may_stay = fit(daemon_set, node)
        if should_run and not here:
            result.create.append(name)
        elif not may_stay:
            result.delete += [pod for pod in here if not _leaves(pod)]
        else:
            running = _end_what_ended(here, result)
            if not _surge(daemon_set):
                result.delete += running[1:]
            elif should_run and not running:
                result.create.append(name)
            else:
                result.delete += _beside_each_other(daemon_set, running, hashed=hashed, now=now)
    known = {node["metadata"]["name"] for node in nodes}
    for name, stranded in pods.items():
        if name not in known:
            result.delete += [pod for pod in stranded if not pod["spec"].get("nodeName") and not _leaves(pod)]
    return result


def _end_what_ended(here: Sequence[Object], result: Plan) -> list[Object]:
    """The Pods of a Node that run, the oldest first."""
    staying = [pod for pod in here if not _leaves(pod)]
    result.failed += [pod for pod in staying if phase(pod) == "Failed"]
    result.succeeded += [pod for pod in staying if phase(pod) == "Succeeded"]
    return _oldest_first([pod for pod in staying if not is_terminal(pod)])


def _beside_each_other(daemon_set: Object, running: list[Object], *, hashed: str, now: datetime) -> list[Object]:
    """Of several Pods in a surge, those to delete: a new one may be beside an old one that is ready until it is
    available itself."""
    new = [pod for pod in running if has_hash(pod, hashed)]
    old = [pod for pod in running if not has_hash(pod, hashed)]
    surplus = [*new[1:], *old[1:]]
    min_ready = int(daemon_set["spec"].get("minReadySeconds", 0))
    if new and old and (not is_ready(old[0]) or is_available(new[0], min_ready, now)):
        surplus.append(old[0])
    return surplus


def _leaves(pod: Object) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


# -- updates


def _rolling(daemon_set: Object) -> Object:
    rolling: Object = (daemon_set["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    return rolling


def _surge(daemon_set: Object) -> int:
    value = _rolling(daemon_set).get("maxSurge", 0)
    return scaled_value(value, 100, round_up=True)


def has_hash(pod: Object, hashed: str) -> bool:
    return bool((pod["metadata"].get("labels") or {}).get(POD_REVISION) == hashed)


def is_updated(daemon_set: Object, pod: Object, hashed: str) -> bool:
    """Made from the template of now, by the hash of it or by how often it was changed (util.IsPodUpdated)."""
    generation = (daemon_set["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION)
    labels = pod["metadata"].get("labels") or {}
    return has_hash(pod, hashed) or (bool(generation) and labels.get(POD_GENERATION) == generation)


def plan_update(daemon_set: Object, nodes: Sequence[Object], pods: PodsByNode, *, hashed: str, now: datetime) -> Plan:
    """Delete old Pods as far as maxUnavailable allows, or put new ones beside them as far as maxSurge does."""
    fitting = {node["metadata"]["name"] for node in nodes if fit(daemon_set, node).should_run}
    rolling = _rolling(daemon_set)
    surge = scaled_value(rolling.get("maxSurge", 0), len(fitting), round_up=True)
    unavailable = scaled_value(rolling.get("maxUnavailable", 0 if surge else 1), len(fitting), round_up=True)
    update = _Update(daemon_set, [node["metadata"]["name"] for node in nodes], fitting, pods, hashed, now)
    return update.surging(surge) if surge else update.replacing(unavailable or 1)


class _Update:
    """One step of a rolling update (update.go rollingUpdate). What `manage` puts right is left to it."""

    def __init__(
        self,
        daemon_set: Object,
        nodes: list[str],
        fitting: set[str],
        pods: PodsByNode,
        hashed: str,
        now: datetime,
    ) -> None:
        self._daemon_set = daemon_set
        self._min_ready = int(daemon_set["spec"].get("minReadySeconds", 0))
        # In the order of the Nodes; of Nodes that are gone after those.
        names = [name for name in nodes if name in fitting or pods.get(name)]
        self._names = [*names, *(name for name in pods if name not in nodes)]
        self._fitting = fitting
        self._pods = pods
        self._hashed = hashed
        self._now = now

    def _is_available(self, pod: Object) -> bool:
        return is_available(pod, self._min_ready, self._now)

    def _on(self, name: str) -> tuple[Object | None, Object | None] | None:
        """The old and the new Pod of a Node; None where there are too many."""
        staying = [pod for pod in self._pods.get(name, ()) if not _leaves(pod)]
        new = [pod for pod in staying if is_updated(self._daemon_set, pod, self._hashed)]
        old = [pod for pod in staying if pod not in new]
        if len(old) > 1 or len(new) > 1:
            return None
        return (old[0] if old else None), (new[0] if new else None)

    def replacing(self, most_unavailable: int) -> Plan:
        result, candidates, unavailable = Plan(), list[Object](), 0
        for name in self._names:
            old, new = self._on(name) or (None, None)
            if new is not None and old is None:
                unavailable += not self._is_available(new)
            elif old is None or new is not None:
                unavailable += 1
            elif not self._is_available(old):
                result.delete.append(old)  # it takes nothing away
                unavailable += 1
            else:
                candidates.append(old)
        result.delete += candidates[: max(0, most_unavailable - unavailable)]
        return result

    def surging(self, most: int) -> Plan:
        """A Pod on a Node where none should run any more gives way only to one that is available elsewhere."""
        result, candidates, leaving = Plan(), list[str](), list[Object]()
        surging = available = 0
        for name in self._names:
            found = self._on(name)
            if found is None:
                surging += 1
                continue
            old, new = found
            here = old or new
            available += here is not None and self._is_available(here)
            if old is None:
                continue
            if new is not None:
                if self._is_available(new):
                    result.delete.append(old)
                else:
                    surging += 1
            elif name in self._fitting:
                (candidates if self._is_available(old) else result.create).append(name)
            else:
                (leaving if self._is_available(old) else result.delete).append(old)
        result.delete += leaving[: max(0, available - len(self._fitting))]
        result.create += candidates[: max(0, most - surging)]
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
        counts["updated"] += is_updated(daemon_set, pod, hashed)
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
