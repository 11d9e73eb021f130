"""Pods spread over domains (upstream's plugins/podtopologyspread/*_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.framework.status import Code
from engine.scheduler.plugins.pod_topology_spread import PodTopologySpread
from tests.scheduler.harness import Bench
from tests.scheduler.objects import node, pod, spread, taint

ZONE = "zone"
HOST = "kubernetes.io/hostname"
FOO = {"foo": ""}
SKEWED = "node(s) didn't match pod topology spread constraints"
MISSING = SKEWED + " (missing required label)"

NODES = [
    node("a", labels={ZONE: "zone1"}),
    node("b", labels={ZONE: "zone1"}),
    node("x", labels={ZONE: "zone2"}),
    node("y", labels={ZONE: "zone2"}),
]


def placed(**counts: int) -> list[Object]:
    return [pod(f"{name}-{i}", node_name=name, labels=FOO) for name, count in counts.items() for i in range(count)]


def reasons(*constraints: Object, there: list[Object], nodes: list[Object] | None = None, **spec: Any) -> list[str]:
    nodes = nodes or NODES
    wanted = pod("p", labels=FOO, topologySpreadConstraints=list(constraints), **spec)
    found = Bench(nodes, there).reasons(PodTopologySpread, wanted)
    return [found[n["metadata"]["name"]] for n in nodes]


def test_zones_of_equal_count_are_both_open() -> None:
    assert reasons(spread(ZONE, FOO), there=placed(a=1, b=1, x=1, y=1)) == ["", "", "", ""]


def test_a_zone_that_is_ahead_is_closed() -> None:
    assert reasons(spread(ZONE, FOO), there=placed(a=2, b=1, x=1, y=1)) == [SKEWED, SKEWED, "", ""]


def test_max_skew_allows_more() -> None:
    assert reasons(spread(ZONE, FOO, max_skew=2), there=placed(a=2, b=1, x=1, y=1)) == ["", "", "", ""]


def test_a_pod_that_does_not_match_itself_adds_nothing() -> None:
    constraint = spread(ZONE, {"bar": ""})
    there = [pod("q", node_name="a", labels={"bar": ""})]
    wanted = pod("p", labels=FOO, topologySpreadConstraints=[constraint])
    assert Bench(NODES, there).reasons(PodTopologySpread, wanted) == dict.fromkeys("abxy", "")


def test_two_constraints_must_both_hold() -> None:
    found = reasons(spread(ZONE, FOO), spread(HOST, FOO), there=placed(a=1, x=1, y=1))
    assert found == [SKEWED, "", SKEWED, SKEWED]


def test_a_node_without_the_label_is_out_and_preemption_does_not_help() -> None:
    nodes = [*NODES, node("none")]
    wanted = pod("p", labels=FOO, topologySpreadConstraints=[spread(ZONE, FOO)])
    status = Bench(nodes).filter(PodTopologySpread, wanted)["none"]
    assert (status.message, status.code) == (MISSING, Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


def test_terminating_pods_and_other_namespaces_do_not_count() -> None:
    going = pod("going", node_name="a", labels=FOO)
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    foreign = pod("foreign", node_name="a", labels=FOO, namespace="other")
    assert reasons(spread(ZONE, FOO), there=[going, foreign]) == ["", "", "", ""]


@pytest.mark.parametrize("selector", [{}, None])
def test_a_selector_that_names_nothing_counts_nobody(selector: Object | None) -> None:
    there = placed(a=3)
    assert reasons({**spread(ZONE, FOO), "labelSelector": selector}, there=there) == ["", "", "", ""]


def test_min_domains_treats_the_minimum_as_zero() -> None:
    there = placed(a=1, x=1)
    assert reasons(spread(ZONE, FOO, minDomains=2), there=there) == ["", "", "", ""]
    assert reasons(spread(ZONE, FOO, minDomains=3), there=there) == [SKEWED] * 4


def test_nodes_outside_the_pods_node_affinity_do_not_count() -> None:
    # zone2 is empty but out of reach, so that zone1 alone is the world.
    there = placed(a=2)
    assert reasons(spread(ZONE, FOO), there=there, nodeSelector={ZONE: "zone1"})[:2] == ["", ""]
    ignoring = spread(ZONE, FOO, nodeAffinityPolicy="Ignore")
    assert reasons(ignoring, there=there, nodeSelector={ZONE: "zone1"})[:2] == [SKEWED, SKEWED]


def test_tainted_nodes_count_unless_the_policy_honors_taints() -> None:
    nodes = [node("a", labels={ZONE: "zone1"}), node("x", labels={ZONE: "zone2"}, taints=[taint("k")])]
    there = placed(a=1)
    assert reasons(spread(ZONE, FOO), there=there, nodes=nodes) == [SKEWED, ""]
    honoring = spread(ZONE, FOO, nodeTaintsPolicy="Honor")
    assert reasons(honoring, there=there, nodes=nodes) == ["", ""]


def test_match_label_keys() -> None:
    there = [pod("old", node_name="a", labels={"foo": "", "hash": "1"})]
    wanted = pod(
        "p",
        labels={"foo": "", "hash": "2"},
        topologySpreadConstraints=[spread(ZONE, FOO, matchLabelKeys=["hash"])],
    )
    assert Bench(NODES, there).reasons(PodTopologySpread, wanted) == dict.fromkeys("abxy", "")


def scores(*constraints: Object, there: list[Object], nodes: list[Object] | None = None) -> dict[str, int] | None:
    wanted = pod("p", labels=FOO, topologySpreadConstraints=list(constraints))
    return Bench(nodes or NODES, there).scores(PodTopologySpread, wanted)


def test_emptier_nodes_score_higher() -> None:
    # One constraint on four hosts: counts 2, 1, 0, 3 weigh log(6) each: 4, 2, 0, 5 rounded.
    found = scores(spread(HOST, FOO, hard=False), there=placed(a=2, b=1, y=3))
    assert found == {"a": 20, "b": 60, "x": 100, "y": 0}


def test_zones_and_hosts_together() -> None:
    # log(4) a pod in the zone, log(6) a pod on the host, rounded: a 8, b 6, x 1, y 3.
    found = scores(spread(ZONE, FOO, hard=False), spread(HOST, FOO, hard=False), there=placed(a=2, b=1, y=1))
    assert found == {"a": 12, "b": 37, "x": 100, "y": 75}


def test_nodes_without_the_label_get_nothing() -> None:
    found = scores(spread(ZONE, FOO, hard=False), there=placed(a=1), nodes=[*NODES, node("none")])
    assert found is not None
    assert found["none"] == 0


def test_hard_constraints_do_not_score() -> None:
    assert scores(spread(ZONE, FOO), there=[]) is None


SERVICE = {
    "kind": "Service",
    "metadata": {"name": "s", "namespace": "default"},
    "spec": {"selector": {"foo": ""}},
}
REPLICA_SET = {
    "kind": "ReplicaSet",
    "metadata": {"name": "rs", "namespace": "default"},
    "spec": {"selector": {"matchLabels": {"foo": ""}}},
}


def owned(name: str, version: str = "apps/v1", **fields: Any) -> Object:
    made = pod(name, **fields)
    owner = {"apiVersion": version, "kind": "ReplicaSet", "name": "rs", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    return made


def test_system_defaults_spread_the_pods_of_a_service_or_replica_set() -> None:
    there = placed(a=2)
    for others, wanted in (([SERVICE], pod("p", labels=FOO)), ([REPLICA_SET], owned("p", labels=FOO))):
        found = Bench(NODES, there, others=others).scores(PodTopologySpread, wanted)
        assert found is not None
        # By host alone, as no node has the zone label: 2 * log(6) + 2 for a, 2 for the others, rounded to 6 and 2.
        assert found == {"a": 33, "b": 100, "x": 100, "y": 100}
    assert Bench(NODES, there).scores(PodTopologySpread, pod("p", labels=FOO)) is None
    foreign = owned("p", "apps.example.com/v1", labels=FOO)
    assert Bench(NODES, there, others=[REPLICA_SET]).scores(PodTopologySpread, foreign) is None


def test_list_defaults_take_the_place_of_the_systems() -> None:
    default = {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    args = {"PodTopologySpread": {"defaultingType": "List", "defaultConstraints": [default]}}
    bench = Bench(NODES, placed(a=1), others=[SERVICE], args=args)
    assert list(bench.reasons(PodTopologySpread, pod("p", labels=FOO)).values()).count(SKEWED) == 2
