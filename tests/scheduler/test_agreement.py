"""Asking about all nodes at once must give what asking node by node gives, and what plain rules written down here give.

Random clusters: labels, taints, cordons, pods with affinity of all kinds, spreading, ports, gpus.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.cycle.scheduling import Placement
from tests.scheduler.harness import Bench
from tests.scheduler.objects import affinity, container, near, node, pod, spread, taint

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
APPS = ("web", "db", "cache")
GPU = "example.com/gpu"


class Cluster:
    """A random cluster and random pods for it."""

    def __init__(self, seed: int, nodes: int = 12, pods: int = 40) -> None:
        self.chance = random.Random(seed)
        self.nodes = [self.node(i) for i in range(nodes)]
        self.pods = [self.pod(f"there-{i}", where=self.chance.choice(self.nodes)) for i in range(pods)]

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def node(self, i: int) -> Object:
        labels = {"disk": self.chance.choice(("ssd", "hdd"))}
        if self.maybe(0.9):
            labels[ZONE] = self.chance.choice(("a", "b", "c"))
        taints = [taint("dedicated", self.chance.choice(("NoSchedule", "PreferNoSchedule")))] if self.maybe(0.3) else []
        extra = {GPU: "2"} if self.maybe(0.3) else {}
        return node(
            f"n{i:02}",
            cpu=self.chance.choice(("2", "4", "8")),
            memory=self.chance.choice(("4Gi", "8Gi")),
            pods=self.chance.choice((4, 110)),
            labels=labels,
            taints=taints,
            unschedulable=self.maybe(0.1),
            images=[{"names": ["nginx:1.27"], "sizeBytes": 300_000_000}] if self.maybe(0.5) else None,
            allocatable=extra,
        )

    def term(self) -> Object:
        return near(self.chance.choice((ZONE, HOST)), {"app": self.chance.choice(APPS)})

    def pod(self, name: str, where: Object | None = None) -> Object:
        requests = {
            "cpu": f"{self.chance.choice((0, 100, 500, 1000))}m",
            "memory": self.chance.choice(("0", "256Mi", "1Gi")),
        }
        if self.maybe(0.1):
            requests[GPU] = "1"
        ports = [{"hostPort": self.chance.choice((80, 81)), "protocol": "TCP"}] if self.maybe(0.15) else []
        spec: dict[str, Any] = {}
        if self.maybe(0.3):
            spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
        if self.maybe(0.2):
            spec["nodeSelector"] = {"disk": "ssd"}
        wishes = affinity(
            near=[self.term()] if self.maybe(0.1) else None,
            far=[self.term()] if self.maybe(0.15) else None,
            prefer_near=[(self.chance.randint(1, 100), self.term())] if self.maybe(0.2) else None,
            prefer_far=[(self.chance.randint(1, 100), self.term())] if self.maybe(0.2) else None,
        )
        if wishes:
            spec["affinity"] = wishes
        app = self.chance.choice(APPS)
        if self.maybe(0.3):
            key = self.chance.choice((ZONE, HOST))
            spec["topologySpreadConstraints"] = [spread(key, {"app": app}, max_skew=2, hard=self.maybe(0.5))]
        return pod(
            name,
            labels={"app": app},
            node_name=where["metadata"]["name"] if where is not None else "",
            containers=[container(requests=requests, ports=ports)],
            priority=self.chance.choice((0, 10)),
            **spec,
        )


def outcome(placement: Placement, bench: Bench) -> tuple[Any, ...]:
    assert bench.last is not None
    message = placement.status.message if placement.status is not None else ""
    totals = [int(total) for total in bench.last.totals]
    verdicts = {name: repr(status) for name, status in bench.last.node_verdicts().items()}
    return placement.node_name, placement.nominated, message, totals, verdicts


@pytest.mark.parametrize("seed", range(25))
def test_both_ways_of_asking_agree(seed: int) -> None:
    cluster = Cluster(seed)
    fast, plain = (Bench(cluster.nodes, cluster.pods, seed=seed) for _ in range(2))
    plain.framework.vectorised = False
    for i in range(15):
        wanted = cluster.pod(f"new-{i}")
        assert outcome(fast.schedule(wanted), fast) == outcome(plain.schedule(wanted), plain)


# -- the rules, written down plainly


def fits(bench: Snapshot, wanted: Object, where: Object) -> bool:
    """Whether a pod may go to a node by the documentation of each rule, from the objects alone."""
    there = [p.pod for n in bench.nodes if n.name == where["metadata"]["name"] for p in n.pods.values()]
    everywhere = [(p.pod, n.node or {}) for n in bench.nodes for p in n.pods.values()]
    nodes = [n.node or {} for n in bench.nodes]
    return (
        not where["spec"].get("unschedulable")
        and _tolerated(wanted, where)
        and _selected(wanted, where)
        and _has_room(wanted, where, there)
        and _ports_free(wanted, there)
        and _spread_holds(wanted, where, everywhere, nodes)
        and _affinity_holds(wanted, where, everywhere)
    )


def _labels(obj: Object) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def _tolerated(wanted: Object, where: Object) -> bool:
    hard = [t for t in where["spec"].get("taints") or () if t["effect"] == "NoSchedule"]
    return not hard or bool(wanted["spec"].get("tolerations"))


def _selected(wanted: Object, where: Object) -> bool:
    return all(_labels(where).get(k) == v for k, v in (wanted["spec"].get("nodeSelector") or {}).items())


_UNITS = {"m": 0.001, "Mi": 2**20, "Gi": 2**30}


def _amount(text: str) -> float:
    return next((float(text[: -len(u)]) * f for u, f in _UNITS.items() if text.endswith(u)), None) or float(
        text.rstrip("mMGi") or 0
    )


def _requested(obj: Object, resource: str) -> float:
    return sum(
        _amount(str((c.get("resources") or {}).get("requests", {}).get(resource, "0")))
        for c in obj["spec"]["containers"]
    )


def _has_room(wanted: Object, where: Object, there: list[Object]) -> bool:
    capacity = where["status"]["allocatable"]
    if len(there) + 1 > int(capacity["pods"]):
        return False
    for resource in ("cpu", "memory", GPU):
        asked = _requested(wanted, resource)
        used = sum(_requested(p, resource) for p in there)
        if asked > 0 and round(asked + used, 6) > _amount(capacity.get(resource, "0")):
            return False
    return True


def _host_ports(obj: Object) -> set[int]:
    return {p["hostPort"] for c in obj["spec"]["containers"] for p in c.get("ports") or ()}


def _ports_free(wanted: Object, there: list[Object]) -> bool:
    return not any(_host_ports(wanted) & _host_ports(p) for p in there)


def _matches(term: Object, obj: Object) -> bool:
    return all(_labels(obj).get(k) == v for k, v in term["labelSelector"]["matchLabels"].items())


def _spread_holds(wanted: Object, where: Object, everywhere: list[tuple[Object, Object]], nodes: list[Object]) -> bool:
    hard = [
        c for c in wanted["spec"].get("topologySpreadConstraints") or () if c["whenUnsatisfiable"] == "DoNotSchedule"
    ]
    for constraint in hard:
        key = constraint["topologyKey"]
        if key not in _labels(where):
            return False
        counts = {_labels(n)[key]: 0 for n in nodes if key in _labels(n) and _selected(wanted, n)}
        for other, on in everywhere:
            if key in _labels(on) and _selected(wanted, on) and _matches(constraint, other):
                counts[_labels(on)[key]] += 1
        skew = counts.get(_labels(where)[key], 0) + 1 - (min(counts.values()) if counts else 0)
        if skew > constraint["maxSkew"]:
            return False
    return True


def _terms(obj: Object, side: str) -> list[Object]:
    rules = (obj["spec"].get("affinity") or {}).get(side) or {}
    return rules.get("requiredDuringSchedulingIgnoredDuringExecution") or []


def _same_domain(key: str, one: Object, other: Object) -> bool:
    return key in _labels(one) and _labels(one)[key] == _labels(other).get(key)


def _affinity_holds(wanted: Object, where: Object, everywhere: list[tuple[Object, Object]]) -> bool:
    for term in _terms(wanted, "podAffinity"):
        key = term["topologyKey"]
        if key not in _labels(where):
            return False
        answered = any(_matches(term, p) and _same_domain(key, where, n) for p, n in everywhere)
        answers_itself = _matches(term, wanted) and not any(
            _matches(term, p) and key in _labels(n) for p, n in everywhere
        )
        if not answered and not answers_itself:
            return False
    for term in _terms(wanted, "podAntiAffinity"):
        if any(_matches(term, p) and _same_domain(term["topologyKey"], where, n) for p, n in everywhere):
            return False
    return not any(
        _matches(term, wanted) and _same_domain(term["topologyKey"], where, n)
        for p, n in everywhere
        for term in _terms(p, "podAntiAffinity")
    )


@pytest.mark.parametrize("seed", range(100, 125))
def test_what_is_feasible_is_what_the_rules_say(seed: int) -> None:
    cluster = Cluster(seed)
    bench = Bench(cluster.nodes, cluster.pods, seed=seed)
    for i in range(15):
        wanted = cluster.pod(f"new-{i}")
        expected = {n["metadata"]["name"] for n in cluster.nodes if fits(bench.snapshot, wanted, n)}
        bench.schedule(wanted)
        assert bench.last is not None
        assert {bench.snapshot.names[row] for row in bench.last.feasible} == expected
        bench.snapshot.update(bench.cache)
