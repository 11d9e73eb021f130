"""Who has to go so that a pod fits (upstream's plugins/defaultpreemption/default_preemption_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.diagnosis import NodeToStatus
from engine.scheduler.framework.measuring import Durations
from engine.scheduler.framework.status import Code, unschedulable
from engine.scheduler.plugins.default_preemption import DefaultPreemption
from engine.scheduler.pod_info import PodInfo
from tests.scheduler.harness import Bench
from tests.scheduler.objects import affinity, near, node, pod, spread

LOW, MID, HIGH = 0, 100, 1000


def running(name: str, where: str, *, priority: int = LOW, cpu: str = "1", start: str = "", **fields: Any) -> Object:
    status = {"startTime": start} if start else None
    return pod(name, node_name=where, priority=priority, cpu=cpu, status=status, **fields)


def budget(allowed: int, **labels: str) -> Object:
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "pdb", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed},
    }


def preempt(bench: Bench, wanted: Object) -> tuple[str, list[str]]:
    """The node that is nominated, and the victims."""
    placement = bench.schedule(wanted)
    chosen = bench.notes.get("preemption")
    victims = [key.removeprefix("default/") for key in chosen["victims"]] if chosen else []
    return placement.nominated or "", victims


def test_the_only_victim_that_helps() -> None:
    bench = Bench([node("n", cpu="2")], [running("a", "n"), running("b", "n", priority=HIGH)])
    assert preempt(bench, pod("p", cpu="1", priority=MID)) == ("n", ["a"])
    assert bench.spawned == ["preempt for default/p"]


def test_no_more_victims_than_needed_and_the_important_are_spared() -> None:
    there = [running("a", "n", priority=1), running("b", "n", priority=2), running("c", "n", priority=3)]
    bench = Bench([node("n", cpu="3")], there)
    assert preempt(bench, pod("p", cpu="2", priority=MID)) == ("n", ["b", "a"])


def test_pods_of_the_same_priority_stay() -> None:
    bench = Bench([node("n", cpu="1")], [running("a", "n", priority=MID)])
    assert preempt(bench, pod("p", cpu="1", priority=MID)) == ("", [])


PICKS: dict[str, tuple[list[Object], list[Object], str]] = {
    "fewer budget violations": (
        [running("a", "n1", labels={"app": "x"}), running("b", "n2")],
        [budget(0, app="x")],
        "n2",
    ),
    "the lower highest priority": ([running("a", "n1", priority=5), running("b", "n2", priority=1)], [], "n2"),
    "the lower sum of priorities": (
        [
            running("a", "n1", priority=5, cpu="500m"),
            running("b", "n1", priority=4, cpu="500m"),
            running("c", "n2", priority=5, cpu="500m"),
            running("d", "n2", priority=1, cpu="500m"),
        ],
        [],
        "n2",
    ),
    "the later start": (
        [running("a", "n1", start="2026-01-01T00:00:00Z"), running("b", "n2", start="2026-01-01T00:00:01Z")],
        [],
        "n2",
    ),
}


@pytest.mark.parametrize(("there", "others", "expected"), PICKS.values(), ids=PICKS)
def test_the_node_that_costs_the_least(there: list[Object], others: list[Object], expected: str) -> None:
    bench = Bench([node("n1", cpu="1"), node("n2", cpu="1")], there, others=others)
    assert preempt(bench, pod("p", cpu="1", priority=MID))[0] == expected


def test_pods_under_a_budget_are_spared_first() -> None:
    there = [running("a", "n", labels={"app": "x"}), running("b", "n", priority=5)]
    bench = Bench([node("n", cpu="2")], there, others=[budget(0, app="x")])
    assert preempt(bench, pod("p", cpu="1", priority=MID)) == ("n", ["b"])


def test_a_budget_that_allows_it_protects_nobody() -> None:
    there = [running("a", "n", labels={"app": "x"}), running("b", "n", priority=5)]
    bench = Bench([node("n", cpu="2")], there, others=[budget(1, app="x")])
    assert preempt(bench, pod("p", cpu="1", priority=MID)) == ("n", ["a"])


def test_anti_affinity_makes_victims() -> None:
    foe = running("foe", "n", cpu="100m", affinity=affinity(far=[near("kubernetes.io/hostname", {"app": "p"})]))
    bench = Bench([node("n")], [foe, running("friend", "n")])
    assert preempt(bench, pod("p", priority=MID, labels={"app": "p"})) == ("n", ["foe"])


def test_spreading_makes_victims() -> None:
    labels = {"app": "p"}
    nodes = [node("a", labels={"zone": "1"}), node("b", labels={"zone": "2"}, cpu="100m")]
    there = [running("one", "a", labels=labels)]
    bench = Bench(nodes, there)
    wanted = pod("p", cpu="1", priority=MID, labels=labels, topologySpreadConstraints=[spread("zone", labels)])
    assert preempt(bench, wanted) == ("a", ["one"])


MESSAGES: dict[str, tuple[Object, str]] = {
    "never": (
        pod("p", cpu="2", priority=MID, preemptionPolicy="Never"),
        "not eligible due to preemptionPolicy=Never.",
    ),
    "no victims": (
        pod("p", cpu="2", priority=LOW),
        "0/2 nodes are available: 2 No preemption victims found for incoming pod.",
    ),
    "nothing to gain": (
        pod("p", cpu="20", priority=MID),
        "0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    ),
    "even without them": (
        pod("p", cpu="2", priority=MID),
        "0/2 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod.",
    ),
}


@pytest.mark.parametrize(("wanted", "expected"), MESSAGES.values(), ids=MESSAGES)
def test_messages(wanted: Object, expected: str) -> None:
    there = [
        running("big", "n1", priority=HIGH),
        running("small", "n1", priority=LOW, cpu="500m"),
        running("other", "n2", priority=HIGH),
    ]
    bench = Bench([node("n1", cpu="2"), node("n2", cpu="2")], there)
    reason = "0/2 nodes are available: 2 Insufficient cpu."
    assert bench.message(wanted) == f"{reason} preemption: {expected}"


def test_a_pod_whose_victims_are_going_waits() -> None:
    going = running("going", "n")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    going["status"] = {
        "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
    }
    bench = Bench([node("n", cpu="1")], [going])
    message = bench.message(pod("p", cpu="1", priority=MID, status={"nominatedNodeName": "n"}))
    assert message.endswith("preemption: not eligible due to a terminating pod on the nominated node.")


def test_nominated_pods_hold_their_place_against_lower_priorities() -> None:
    bench = Bench([node("n", cpu="1")])
    bench.nominator.add(PodInfo(pod("vip", cpu="1", priority=HIGH)), "n")
    assert bench.message(pod("p", cpu="1", priority=MID)).startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert bench.schedule(pod("boss", cpu="1", priority=HIGH + 1)).node_name == "n"


async def test_a_node_that_has_room_is_an_error() -> None:
    """Who says that the pod does not fit is none of the plugins: an extender."""
    bench = Bench([node("n1"), node("n2")], [running("a", "n1"), running("b", "n2")])
    statuses = NodeToStatus(absent=unschedulable("the extender says no"))
    wanted = PodInfo(pod("p", cpu="1", priority=MID))
    state = CycleState()
    bench.framework.run_pre_filter(state, wanted, bench.snapshot, Durations())
    result = await bench.plugin(DefaultPreemption).post_filter(state, wanted, statuses)
    told = sorted(result.status.message.removeprefix("preemption: [").removesuffix("]").split(", "))
    assert told == [f'expected at least one victim pod on node "{name}"' for name in ("n1", "n2")]
    assert (result.status.code, result.nominated_node) == (Code.ERROR, None)
