"""What is made of what plugins answer (upstream's framework/runtime/framework_test.go and schedule_one_test.go)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.diagnosis import NodeToStatus
from engine.scheduler.framework.plugin import (
    FilterPlugin,
    PermitPlugin,
    PermitResult,
    Plugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from engine.scheduler.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable, unschedulable
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from tests.scheduler.harness import Bench
from tests.scheduler.objects import node, pod

NODES = [node("n1"), node("n2")]
BROKEN, PENDING, WAIT = error("it broke"), Status(Code.PENDING, "not yet"), Status(Code.WAIT, "later")
NO, NEVER = unschedulable("no"), unresolvable("never")


class Answering(Plugin):
    """One that says what its arguments tell it to."""

    @property
    def status(self) -> Status:
        status: Status = self.args.get("status", SUCCESS)
        return status


class First(Answering, PreFilterPlugin):
    name = "First"

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        return PreFilterResult(self.status, self.args.get("nodes"))


class Second(First):
    name = "Second"


class Filtering(Answering, FilterPlugin):
    name = "Filtering"

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        return self.status


class Scoring(Answering, PreScorePlugin, ScorePlugin):
    name = "Scoring"

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        return self.status

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        return int(self.args.get("score", 0))


class Reserving(Answering, ReservePlugin):
    name = "Reserving"

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        return self.status


class Permitting(Answering, PermitPlugin):
    name = "Permitting"

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        return PermitResult(self.status)


class Nominating(Answering, PostFilterPlugin):
    name = "Nominating"

    async def post_filter(self, state: CycleState, pod: PodInfo, statuses: NodeToStatus) -> PostFilterResult:
        return PostFilterResult(self.status, self.args.get("node"))


class AlsoNominating(Nominating):
    name = "AlsoNominating"


class Binding(Answering, PreBindPlugin):
    name = "Binding"

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        return self.status


def says(**args: Any) -> dict[str, Any]:
    return args


UNSCHEDULABLE, UNRESOLVABLE, ERROR = Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.ERROR
HELPLESS = " preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."

# What single plugins say; the code of the attempt, its message, and who counts as having rejected the pod.
ROWS: dict[str, tuple[dict[str, dict[str, Any]], Code, str, list[str]]] = {
    "PreFilter breaks": (
        {"First": says(status=BROKEN)}, ERROR, 'running PreFilter plugin "First": it broke', [],
    ),
    "PreFilter may not leave it pending": (
        {"First": says(status=PENDING)}, ERROR, 'running PreFilter plugin "First": not yet', [],
    ),
    "of two that reject the last is told": (
        {"First": says(status=NO), "Second": says(status=unschedulable("no either"))},
        UNSCHEDULABLE, "0/2 nodes are available: no either. preemption: "
        "0/2 nodes are available: 2 No preemption victims found for incoming pod.", ["Second"],
    ),
    "one that nothing can help ends it": (
        {"First": says(status=NEVER), "Second": says(status=BROKEN)},
        UNSCHEDULABLE, f"0/2 nodes are available: never.{HELPLESS}", ["First"],
    ),
    "one that nothing can help comes before one that rejects": (
        {"First": says(status=NO), "Second": says(status=NEVER)},
        UNSCHEDULABLE, f"0/2 nodes are available: never.{HELPLESS}", ["Second"],
    ),
    "no node is left": (
        {"First": says(nodes=frozenset())},
        UNSCHEDULABLE, f"0/2 nodes are available: node(s) didn't satisfy plugin First.{HELPLESS}", ["First"],
    ),
    "no node is left by two": (
        {"First": says(nodes=frozenset(["n1"])), "Second": says(nodes=frozenset(["n2"]))},
        UNSCHEDULABLE,
        f"0/2 nodes are available: node(s) didn't satisfy plugin(s) [First Second] simultaneously.{HELPLESS}",
        ["First", "Second"],
    ),
    "the nodes that are left do not pass": (
        {"First": says(nodes=frozenset(["n1", "gone"])), "Filtering": says(status=NEVER)},
        UNSCHEDULABLE,
        "0/2 nodes are available: 1 never, 1 node(s) didn't satisfy plugin(s) [First]." + HELPLESS,
        ["Filtering", "First"],
    ),
    "a filter breaks": (
        {"Filtering": says(status=BROKEN)}, ERROR, 'running "Filtering" filter plugin: it broke', [],
    ),
    "a filter may not wait": (
        {"Filtering": says(status=WAIT)}, ERROR, 'running "Filtering" filter plugin: later', [],
    ),
    "PreScore breaks": (
        {"Scoring": says(status=BROKEN)}, ERROR, 'running PreScore plugin "Scoring": it broke', [],
    ),
    "a score out of range": (
        {"Scoring": says(score=101)}, ERROR,
        'applying score defaultWeights on Score plugins: plugin "Scoring" returns an invalid score 101, it should in '
        "the range of [0, 100] after normalizing", [],
    ),
    "PreScore skips": ({"Scoring": says(status=SKIP, score=101)}, Code.SUCCESS, "", []),
    "Reserve breaks": (
        {"Reserving": says(status=BROKEN)}, ERROR, 'running Reserve plugin "Reserving": it broke', [],
    ),
    "Reserve rejects": (
        {"Reserving": says(status=NO)}, UNSCHEDULABLE, "0/1 nodes are available: 1 no.", ["Reserving"],
    ),
    "Permit breaks": (
        {"Permitting": says(status=BROKEN)}, ERROR, 'running Permit plugin "Permitting": it broke', [],
    ),
    "Permit rejects for good": (
        {"Permitting": says(status=NEVER)}, UNRESOLVABLE, "0/1 nodes are available: 1 never.", ["Permitting"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("args", "code", "message", "rejectors"), ROWS.values(), ids=ROWS)
def test_how_an_attempt_ends(args: dict[str, dict[str, Any]], code: Code, message: str, rejectors: list[str]) -> None:
    bench = Bench(NODES, args=args, plugins=(First, Second, Filtering, Scoring, Reserving, Permitting))
    placement = bench.schedule(pod("p"))
    status, diagnosis = placement.status or SUCCESS, placement.diagnosis
    assert (status.code, status.message) == (code, message)
    assert sorted(diagnosis.unschedulable_plugins if diagnosis is not None else ()) == rejectors
    assert len(bench.cache.assumed_pods) == (code is Code.SUCCESS)


@pytest.mark.parametrize(
    ("first", "second", "nominated", "told"),
    [
        (says(status=NO, node="n1"), says(status=NO, node="n2"), "n2", "no, no"),
        (says(status=NO, node="n1"), says(status=NO), "n1", "no, no"),
        (says(node="n1"), says(status=BROKEN), "n1", ""),
        (says(status=NEVER, node="n1"), says(node="n2"), "n1", "never"),
        (says(status=NO, node="n1"), says(status=BROKEN), None, "it broke"),
    ],
    ids=["the last counts", "nothing is no last", "the first success", "for good", "an error"],
)
def test_which_nomination_of_several_counts(
    first: dict[str, Any], second: dict[str, Any], nominated: str | None, told: str
) -> None:
    bench = Bench(NODES, args={"Nominating": first, "AlsoNominating": second}, plugins=(Nominating, AlsoNominating))
    framework = bench.framework
    framework.post_filter = [p for p in framework.post_filter if isinstance(p, Nominating)]

    async def run() -> PostFilterResult:
        return await framework.run_post_filter(CycleState(), PodInfo(pod("p")), NodeToStatus())

    result = asyncio.run(run())
    assert (result.nominated_node, result.status.message) == (nominated, told)


@pytest.mark.parametrize(
    ("said", "code", "message"),
    [
        (SUCCESS, Code.SUCCESS, ""),
        (SKIP, Code.SKIP, ""),
        (BROKEN, ERROR, 'running PreBindPreFlight "Binding": it broke'),
        (
            NO,
            ERROR,
            'PreBindPreFlight Binding returned "Unschedulable", which is unsupported. It is supposed to return '
            "Success, Skip, or Error status",
        ),
    ],
    ids=["something to do", "nothing to do", "breaks", "too late to refuse"],
)
def test_what_a_pre_flight_may_say(said: Status, code: Code, message: str) -> None:
    bench = Bench(NODES, args={"Binding": says(status=said)}, plugins=(Binding,))
    framework, state = bench.framework, CycleState()
    framework.pre_bind = [bench.plugin(Binding)]
    status = framework.run_pre_bind_pre_flights(state, PodInfo(pod("p")), "n1")
    assert (status.code, status.message) == (code, message)
    assert state.skip_pre_bind == ({"Binding"} if said is SKIP else set())
