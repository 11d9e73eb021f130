"""Asking about all nodes at once must give what asking node by node gives, and what plain rules give."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from engine.scheduler.cycle.scheduling import Placement
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from tests.scheduler.formulas import balanced, least_allocated, spread_raw, wishes_raw
from tests.scheduler.harness import Bench
from tests.scheduler.objects import node, pod, taint
from tests.scheduler.random_cluster import Cluster
from tests.scheduler.rules import fits


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


@pytest.mark.parametrize("seed", range(100, 125))
def test_what_is_feasible_is_what_the_rules_say(seed: int) -> None:
    cluster = Cluster(seed)
    bench = Bench(cluster.nodes, cluster.pods, seed=seed)
    for i in range(15):
        wanted = cluster.pod(f"new-{i}")
        nodes = cluster.nodes
        pods = [
            {**p.pod, "spec": {**p.spec, "nodeName": n.name}} for n in bench.snapshot.nodes for p in n.pods.values()
        ]
        expected = {n["metadata"]["name"] for n in nodes if fits(wanted, n, nodes=nodes, pods=pods)}
        bench.schedule(wanted)
        assert bench.last is not None
        assert {bench.snapshot.names[row] for row in bench.last.feasible} == expected
        bench.snapshot.update(bench.cache)


@pytest.mark.parametrize("seed", range(200, 220))
def test_raw_scores_are_what_the_formulas_say(seed: int) -> None:
    cluster = Cluster(seed)
    bench = Bench(cluster.nodes, cluster.pods, seed=seed)
    for i in range(15):
        wanted = PodInfo(cluster.pod(f"new-{i}"))
        bench.schedule(wanted.pod)
        assert bench.last is not None
        nodes = bench.snapshot.nodes
        candidates = [nodes[row] for row in bench.last.feasible]
        formulas: dict[str, Callable[[NodeInfo], int]] = {
            "NodeResourcesFit": partial(least_allocated, wanted),
            "NodeResourcesBalancedAllocation": partial(balanced, wanted),
            "PodTopologySpread": partial(spread_raw, wanted, nodes=nodes, candidates=candidates),
            "InterPodAffinity": partial(wishes_raw, wanted, nodes=nodes),
        }
        for column in bench.last.scores:
            if column.plugin in formulas:
                assert column.raw.tolist() == [formulas[column.plugin](node) for node in candidates], column.plugin
        bench.snapshot.update(bench.cache)


@pytest.mark.parametrize("seed", range(400, 415))
def test_both_ways_agree_beside_nominated_pods_and_on_victims(seed: int) -> None:
    """Pods that ask for nothing but room, on full nodes to which others are nominated."""
    cluster = Cluster(seed, nodes=14, pods=90)
    fast, plain = (Bench(cluster.nodes, cluster.pods, seed=seed) for _ in range(2))
    plain.framework.vectorised = False
    for i, there in enumerate(cluster.nodes[:10]):
        waiting = PodInfo(pod(f"waiting-{i}", cpu=f"{i * 300}m", priority=10))
        for bench in (fast, plain):
            bench.nominator.add(waiting, there["metadata"]["name"])
    seen = set()
    for i in range(12):
        wanted = pod(f"new-{i}", cpu=f"{500 * (i % 5)}m", memory="1Gi", priority=5 * (i % 3))
        found = outcome(fast.schedule(wanted), fast)
        assert found == outcome(plain.schedule(wanted), plain)
        assert fast.candidates == plain.candidates
        seen.add(bool(found[0]))
    assert seen


def test_both_ways_agree_on_nodes_that_are_alike() -> None:
    nodes = [node(f"n{i:02}", taints=[taint("k")] if i % 5 == 4 else []) for i in range(20)]
    pods = [
        pod(f"there-{i}", cpu=f"{500 + 500 * (i % 3)}m", node_name=f"n{i % 20:02}", priority=i % 2) for i in range(100)
    ]
    fast, plain = (Bench(nodes, pods) for _ in range(2))
    plain.framework.vectorised = False
    for i in range(10):
        wanted = pod(f"new-{i}", cpu=f"{1000 + 500 * (i % 4)}m", priority=5)
        assert outcome(fast.schedule(wanted), fast) == outcome(plain.schedule(wanted), plain)
        assert fast.candidates == plain.candidates != []
        for bench in (fast, plain):
            bench.nominator.add(PodInfo(wanted), bench.notes["preemption"]["node"])
