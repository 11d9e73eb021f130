"""Pods near and far from pods (upstream's plugins/interpodaffinity/*_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.scheduler.framework.status import Code
from engine.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from tests.scheduler.harness import Bench
from tests.scheduler.objects import affinity, near, node, pod

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
NO_AFFINITY = "node(s) didn't match pod affinity rules"
NO_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"

# a1 and a2 in zone a, b1 in zone b, x in none.
NODES = [
    node("a1", labels={ZONE: "a"}),
    node("a2", labels={ZONE: "a"}),
    node("b1", labels={ZONE: "b"}),
    node("x"),
]
WEB = pod("web", node_name="a1", labels={"app": "web"})


def reasons(wanted: Any, *there: Any, others: list[Any] | None = None) -> list[str]:
    bench = Bench(NODES, list(there), others=others or [])
    found = bench.reasons(InterPodAffinity, wanted)
    return [found[name] for name in ("a1", "a2", "b1", "x")]


def test_affinity_to_a_zone() -> None:
    wanted = pod("p", affinity=affinity(near=[near(ZONE, {"app": "web"})]))
    assert reasons(wanted, WEB) == ["", "", NO_AFFINITY, NO_AFFINITY]


def test_affinity_to_a_host() -> None:
    wanted = pod("p", affinity=affinity(near=[near(HOST, {"app": "web"})]))
    assert reasons(wanted, WEB) == ["", NO_AFFINITY, NO_AFFINITY, NO_AFFINITY]


def test_unanswered_affinity_is_not_resolved_by_preemption() -> None:
    wanted = pod("p", affinity=affinity(near=[near(ZONE, {"app": "web"})]))
    status = Bench(NODES, [WEB]).filter(InterPodAffinity, wanted)["b1"]
    assert status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def test_the_first_of_a_group_may_go_where_the_label_is() -> None:
    wanted = pod("p", labels={"app": "web"}, affinity=affinity(near=[near(ZONE, {"app": "web"})]))
    assert reasons(wanted) == ["", "", "", NO_AFFINITY]
    assert reasons(wanted, WEB) == ["", "", NO_AFFINITY, NO_AFFINITY]


def test_all_terms_must_be_answered_by_one_pod() -> None:
    both = affinity(near=[near(ZONE, {"app": "web"}), near(ZONE, {"tier": "front"})])
    apart = [WEB, pod("front", node_name="a2", labels={"tier": "front"})]
    assert reasons(pod("p", affinity=both), *apart) == [NO_AFFINITY] * 4
    one = pod("one", node_name="a2", labels={"app": "web", "tier": "front"})
    assert reasons(pod("p", affinity=both), one) == ["", "", NO_AFFINITY, NO_AFFINITY]


def test_anti_affinity() -> None:
    wanted = pod("p", affinity=affinity(far=[near(ZONE, {"app": "web"})]))
    assert reasons(wanted, WEB) == [NO_ANTI_AFFINITY, NO_ANTI_AFFINITY, "", ""]


def test_existing_pods_keep_others_away() -> None:
    lonely = pod("lonely", node_name="b1", affinity=affinity(far=[near(ZONE, {"app": "web"})]))
    assert reasons(pod("p", labels={"app": "web"}), lonely) == ["", "", EXISTING, ""]
    assert reasons(pod("p", labels={"app": "db"}), lonely) == ["", "", "", ""]


def test_own_anti_affinity_is_told_before_that_of_others() -> None:
    term = near(HOST, {"app": "web"})
    there = pod("there", node_name="a1", labels={"app": "web"}, affinity=affinity(far=[term]))
    wanted = pod("p", labels={"app": "web"}, affinity=affinity(far=[term]))
    assert reasons(wanted, there) == [NO_ANTI_AFFINITY, "", "", ""]


NAMESPACES = [
    {"kind": "Namespace", "metadata": {"name": "default", "labels": {"team": "one"}}},
    {"kind": "Namespace", "metadata": {"name": "other", "labels": {"team": "two"}}},
]
ELSEWHERE = pod("web", namespace="other", node_name="a1", labels={"app": "web"})
NAMESPACE_CASES: dict[str, tuple[dict[str, Any], bool]] = {
    "its own namespace by default": ({}, False),
    "named": ({"namespaces": ["other"]}, True),
    "selected": ({"namespaceSelector": {"matchLabels": {"team": "two"}}}, True),
    "selected others": ({"namespaceSelector": {"matchLabels": {"team": "three"}}}, False),
    "all": ({"namespaceSelector": {}}, True),
    "named or selected": ({"namespaces": ["x"], "namespaceSelector": {"matchLabels": {"team": "two"}}}, True),
}


@pytest.mark.parametrize(("fields", "kept_away"), NAMESPACE_CASES.values(), ids=NAMESPACE_CASES)
def test_namespaces_of_a_term(fields: dict[str, Any], kept_away: bool) -> None:
    wanted = pod("p", affinity=affinity(far=[near(HOST, {"app": "web"}, **fields)]))
    found = reasons(wanted, ELSEWHERE, others=NAMESPACES)
    assert found == [NO_ANTI_AFFINITY if kept_away else "", "", "", ""]


def test_match_label_keys_narrow_a_term_to_the_pods_own_generation() -> None:
    old = pod("old", node_name="a1", labels={"app": "web", "hash": "1"})
    term = near(HOST, {"app": "web"}, matchLabelKeys=["hash"])
    wanted = pod("p", labels={"app": "web", "hash": "2"}, affinity=affinity(far=[term]))
    assert reasons(wanted, old) == ["", "", "", ""]
    mismatch = near(HOST, {"app": "web"}, mismatchLabelKeys=["hash"])
    wanted = pod("p", labels={"app": "web", "hash": "2"}, affinity=affinity(far=[mismatch]))
    assert reasons(wanted, old) == [NO_ANTI_AFFINITY, "", "", ""]


def scores(wanted: Any, *there: Any, args: dict[str, Any] | None = None) -> list[int] | None:
    bench = Bench(NODES, list(there), args={"InterPodAffinity": args or {}})
    found = bench.scores(InterPodAffinity, wanted)
    return None if found is None else [found[name] for name in ("a1", "a2", "b1", "x")]


def test_preferred_affinity_and_anti_affinity() -> None:
    there = [WEB, pod("db", node_name="b1", labels={"app": "db"})]
    drawn = pod("p", affinity=affinity(prefer_near=[(5, near(ZONE, {"app": "web"}))]))
    assert scores(drawn, *there) == [100, 100, 0, 0]
    repelled = pod("p", affinity=affinity(prefer_far=[(5, near(ZONE, {"app": "web"}))]))
    assert scores(repelled, *there) == [0, 0, 100, 100]
    both = pod(
        "p",
        affinity=affinity(prefer_near=[(8, near(ZONE, {"app": "web"}))], prefer_far=[(2, near(ZONE, {"app": "db"}))]),
    )
    # a: 8, b: -2, x: 0
    assert scores(both, *there) == [100, 100, 0, 20]


def test_what_existing_pods_prefer_counts_too() -> None:
    fan = pod("fan", node_name="b1", affinity=affinity(prefer_near=[(3, near(ZONE, {"app": "web"}))]))
    foe = pod("foe", node_name="a1", affinity=affinity(prefer_far=[(3, near(HOST, {"app": "web"}))]))
    wanted = pod("p", labels={"app": "web"})
    # a1: -3, b1: 3
    assert scores(wanted, fan, foe) == [0, 50, 100, 50]
    assert scores(wanted, fan, foe, args={"ignorePreferredTermsOfExistingPods": True}) is None


def test_required_affinity_of_existing_pods_counts_with_the_hard_weight() -> None:
    bound = pod("bound", node_name="b1", affinity=affinity(near=[near(ZONE, {"app": "web"})]))
    wanted = pod("p", labels={"app": "web"})
    assert scores(wanted, bound) == [0, 0, 100, 0]
    assert scores(wanted, bound, args={"hardPodAffinityWeight": 0}) is None


def test_nothing_to_prefer_is_skipped() -> None:
    assert scores(pod("p"), WEB) is None
