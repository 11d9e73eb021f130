"""The scheduling cycle over whole profiles: how many nodes are looked at, ties, and the words for what fails."""

from __future__ import annotations

import pytest

from engine.scheduler.cycle.feasible import feasible_nodes_to_find
from engine.scheduler.framework.status import Code
from tests.scheduler.harness import Bench
from tests.scheduler.objects import node, pod, taint

COUNTS = {
    "few nodes: all": (10, 0, 10),
    "below the minimum with a percentage": (10, 40, 10),
    "at least a hundred": (100, 0, 100),
    "a thousand, adaptive": (1000, 0, 420),
    "a thousand at 40 %": (1000, 40, 400),
    "five thousand, adaptive": (5000, 0, 500),
    "six thousand: never below 5 %": (6000, 0, 300),
    "ten thousand": (10000, 0, 500),
    "a small percentage still finds a hundred": (1000, 1, 100),
    "all of them": (5000, 100, 5000),
}


@pytest.mark.parametrize(("nodes", "percentage", "expected"), COUNTS.values(), ids=COUNTS)
def test_feasible_nodes_to_find(nodes: int, percentage: int, expected: int) -> None:
    assert feasible_nodes_to_find(nodes, percentage) == expected


def test_no_nodes() -> None:
    placement = Bench().schedule(pod("p"))
    assert placement.status is not None
    assert placement.status.message == "no nodes available to schedule pods"
    assert placement.status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def test_reasons_are_counted_and_sorted() -> None:
    nodes = [node("a", cpu="1"), node("b", taints=[taint("k")]), node("c", taints=[taint("k")])]
    assert Bench(nodes, [pod("x", node_name="a", cpu="1")]).message(pod("p", cpu="1")) == (
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). "
        "preemption: 0/3 nodes are available: "
        "1 No preemption victims found for incoming pod, "
        "2 Preemption is not helpful for scheduling."
    )


def test_the_first_filter_that_rejects_names_the_reason() -> None:
    bench = Bench([node("a", unschedulable=True, taints=[taint("k")])])
    assert bench.message(pod("p")).startswith("0/1 nodes are available: 1 node(s) were unschedulable. ")


def test_the_search_goes_round_so_that_all_nodes_get_their_chance() -> None:
    bench = Bench([node(f"n{i:03}") for i in range(150)])
    seen = []
    for i in range(3):
        bench.schedule(pod(f"p{i}"))
        assert bench.last is not None
        seen.append([bench.snapshot.names[row] for row in bench.last.feasible[:1]])
        assert len(bench.last.feasible) == 100
    assert seen == [["n000"], ["n100"], ["n050"]]


def test_nodes_of_all_zones_are_looked_at_in_turn() -> None:
    zones = {"a": 3, "b": 1}
    nodes = [
        node(f"{zone}{i}", labels={"topology.kubernetes.io/zone": zone})
        for zone, count in zones.items()
        for i in range(count)
    ]
    assert Bench(nodes).snapshot.names == ["a0", "b0", "a1", "a2"]


def test_of_two_labels_for_the_zone_the_older_counts() -> None:
    both = {"topology.kubernetes.io/zone": "new", "failure-domain.beta.kubernetes.io/zone": "old"}
    nodes = [
        node("n1", labels=both),
        node("n2", labels=both),
        node("n3", labels={"topology.kubernetes.io/zone": "new"}),
    ]
    assert Bench(nodes).snapshot.names == ["n1", "n3", "n2"]


def test_ties_are_broken_by_the_seed() -> None:
    nodes = [node(f"n{i}") for i in range(20)]
    winners = {seed: Bench(nodes, seed=seed).schedule(pod("p")).node_name for seed in range(30)}
    assert winners == {seed: Bench(nodes, seed=seed).schedule(pod("p")).node_name for seed in range(30)}
    assert len(set(winners.values())) > 5


def test_pods_fill_nodes_evenly_and_assumed_pods_count() -> None:
    bench = Bench([node("a", cpu="2"), node("b", cpu="2")])
    placed = [bench.schedule(pod(f"p{i}", cpu="1")).node_name for i in range(4)]
    assert sorted(placed) == ["a", "a", "b", "b"]
    assert bench.message(pod("p5", cpu="1")).startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_the_nominated_node_is_tried_first_and_alone() -> None:
    bench = Bench([node("a"), node("b", cpu="3")])
    placement = bench.schedule(pod("p", cpu="1", status={"nominatedNodeName": "b"}))
    assert placement.node_name == "b"
    assert bench.last is not None
    assert len(bench.last.feasible) == 1


def test_the_record_says_who_gave_what() -> None:
    nodes = [node("a"), node("b", cpu="8"), node("c", taints=[taint("k")])]
    bench = Bench(nodes)
    bench.schedule(pod("p", cpu="1", memory="1Gi"))
    assert bench.last is not None
    shown = bench.last.to_json()
    assert [row["node"] for row in shown["scores"]] == ["b", "a"]
    best = shown["scores"][0]
    assert best["total"] == sum(entry["weighted"] for entry in best["plugins"])
    fit = next(entry for entry in best["plugins"] if entry["plugin"] == "NodeResourcesFit")
    assert fit == {"plugin": "NodeResourcesFit", "raw": 87, "normalized": 87, "weight": 1, "weighted": 87}
    assert shown["rejected"] == [
        {
            "node": "c",
            "plugin": "TaintToleration",
            "code": "UnschedulableAndUnresolvable",
            "reasons": ["node(s) had untolerated taint(s)"],
        }
    ]
