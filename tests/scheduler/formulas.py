"""The scoring formulas, written down plainly from upstream's documentation, to be held against the columns."""

from __future__ import annotations

import math

from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from tests.scheduler.random_cluster import HOST


def least_allocated(pod: PodInfo, node: NodeInfo) -> int:
    """The mean of the free shares of cpu and memory, pods without requests counted with the defaults."""
    points = []
    for wanted, used, capacity in (
        (pod.non_zero_cpu, node.non_zero_cpu, node.allocatable.milli_cpu),
        (pod.non_zero_memory, node.non_zero_memory, node.allocatable.memory),
    ):
        free = capacity - used - wanted
        points.append(0 if free < 0 else free * 100 // capacity)
    return sum(points) // 2


def balanced(pod: PodInfo, node: NodeInfo) -> int:
    """How the pod changes the balance, which is 100 less the deviation between the used shares of cpu and memory."""

    def balance(milli_cpu: int, amount: int) -> int:
        cpu = min(1.0, (node.requested.milli_cpu + milli_cpu) / node.allocatable.milli_cpu)
        memory = min(1.0, (node.requested.memory + amount) / node.allocatable.memory)
        return int((1 - abs((cpu - memory) / 2)) * 100)

    return 50 + (50 + balance(pod.request.milli_cpu, pod.request.memory) - balance(0, 0)) // 2


def spread_raw(pod: PodInfo, node: NodeInfo, *, nodes: list[NodeInfo], candidates: list[NodeInfo]) -> int:
    """What the soft constraints charge a node for the matching pods of its domains; 0 without their labels."""
    total = 0.0
    soft = [c for c in pod.spec["topologySpreadConstraints"] if c["whenUnsatisfiable"] == "ScheduleAnyway"]
    if any(c["topologyKey"] not in node.labels for c in soft):
        return 0
    labelled = [c for c in candidates if all(s["topologyKey"] in c.labels for s in soft)]
    for constraint in soft:
        key = constraint["topologyKey"]
        wanted = constraint["labelSelector"]["matchLabels"].items()
        selector = (pod.spec.get("nodeSelector") or {}).items()
        counted = [
            other
            for other in nodes
            if other.labels.get(key) == node.labels[key]
            and (key == HOST or selector <= other.labels.items())
            and all(s["topologyKey"] in other.labels for s in soft)
        ]
        matching = sum(wanted <= p.labels.items() for other in counted for p in other.pods.values())
        size = len(labelled) if key == HOST else len({c.labels[key] for c in labelled})
        total += matching * math.log(size + 2) + constraint["maxSkew"] - 1
    return math.floor(total + 0.5)


def wishes_raw(pod: PodInfo, node: NodeInfo, *, nodes: list[NodeInfo]) -> int:
    """The weights of all preferences, the pod's own and those of pods there, that meet in the node's domains."""

    def same(key: str, other: NodeInfo) -> bool:
        return key in node.labels and node.labels[key] == other.labels.get(key)

    def matches(selector: dict[str, str], labels: dict[str, str]) -> bool:
        return selector.items() <= labels.items()

    def terms(p: PodInfo) -> list[tuple[int, str, dict[str, str]]]:
        rules = p.spec.get("affinity") or {}
        found = []
        for side, sign in (("podAffinity", 1), ("podAntiAffinity", -1)):
            for term in (rules.get(side) or {}).get("preferredDuringSchedulingIgnoredDuringExecution") or ():
                inner = term["podAffinityTerm"]
                found.append((sign * term["weight"], inner["topologyKey"], inner["labelSelector"]["matchLabels"]))
        return found

    def required(p: PodInfo) -> list[tuple[int, str, dict[str, str]]]:
        rules = (p.spec.get("affinity") or {}).get("podAffinity") or {}
        listed = rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        return [(1, t["topologyKey"], t["labelSelector"]["matchLabels"]) for t in listed]

    total = 0
    for other in nodes:
        for there in other.pods.values():
            total += sum(w for w, key, wanted in terms(pod) if same(key, other) and matches(wanted, there.labels))
            total += sum(
                w
                for w, key, wanted in (*terms(there), *required(there))
                if same(key, other) and matches(wanted, pod.labels)
            )
    return total
