"""The Scheduler screen's rows and tables, from what a real scheduler told once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ktui.models.remedies import remedies
from ktui.models.scheduler import SchedulerModel, filter_columns, filter_rows, result_words, verdict, why_ahead
from ktui.whatif.decisions import sections, summary, waiting
from ktui.widgets.attempt_details import attempt_parts, waiting_parts
from ktui.widgets.fill_bars import fill_line
from ktui.widgets.verdict_tables import filters, short
from tests.ktui import recorded

VIEWS = "GET /debug/ktui/views/scheduler"
SPREAD = "default/web-7b78f5cdd-8p5pb"  # one of a Deployment: its Pods are spread
NOW = datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC)


@pytest.fixture
def model() -> SchedulerModel:
    answers, model = recorded.inside_answers(), SchedulerModel()
    model.take(
        {
            "queue": answers[f"{VIEWS}/queue?limit=300"],
            "attempts": answers[f"{VIEWS}/decisions?limit=300"],
            "capacity": answers[f"{VIEWS}/capacity?limit=60"],
        }
    )
    return model


def attempts_on(pod: str) -> Any:
    return recorded.inside_answers()[f"{VIEWS}/decision?nodes=60&pod={pod}"]


def text_of(pod: str, which: int = 0, *, width: int = 90, raw: bool = True) -> str:
    return "\n".join(part.plain for part in attempt_parts(attempts_on(pod), which, width=width, colours={}, raw=raw))


def test_pods_that_wait_come_first_and_each_pod_once(model: SchedulerModel) -> None:
    rows = {row.key: row.cells for row in model.rows(now=NOW)}
    assert list(rows)[:2] == ["default/gated", "default/gpu-0"]
    assert rows["default/gated"] == ("gated", "◷ gated", "", "0", "22s")
    assert rows["default/gpu-0"] == ("gpu-0", "✖ fits 0/3 nodes", "", "2", "2s")
    assert rows["default/urgent-0"] == ("urgent-0", "✓ bound", "node-2", "2", "6s")
    assert len(model.rows()) == len({row.key for row in model.rows()})


def test_gated_pods_are_counted_apart_from_unschedulable_ones(model: SchedulerModel) -> None:
    assert {queue.name: queue.pods for queue in model.queues} == {
        "active": 0,
        "back-off": 0,
        "unschedulable": 1,
        "gated": 1,
    }


@pytest.mark.parametrize(
    ("place", "changes", "words"),
    [
        pytest.param("active", {}, "◐ in line", id="in line"),
        pytest.param("backoff", {"backoffUntil": 34.4}, "◐ back-off 4 s", id="backing off"),
        pytest.param("backoff", {"backoffUntil": 29.0}, "◐ back-off 0 s", id="due"),
        pytest.param("unschedulable", {}, "✖ unschedulable", id="its attempts are kept no longer"),
        pytest.param("unschedulable", {"gatedBy": "SchedulingGates"}, "◷ gated", id="gated"),
    ],
)
def test_words_for_a_pod_that_waits(place: str, changes: dict[str, Any], words: str) -> None:
    waiting = {"pod": "default/p", "attempts": 1, "timestamp": 20.0, "gatedBy": "", **changes}
    model = SchedulerModel(queue={"counts": {place: 1}, "now": 30.0, place: [waiting]})
    assert model.rows()[0].cells[:2] == ("p", words)


def test_a_pod_that_preempts_shows_the_node_it_is_nominated_to(model: SchedulerModel) -> None:
    attempt = attempts_on("default/urgent-0")["decisions"][1]
    waiting = {"pod": "default/urgent-0", "attempts": 1, "timestamp": 20.0, "gatedBy": ""}
    model.attempts = {"decisions": [attempt]}
    model.queue = {"now": 21.0, "unschedulable": [waiting]}
    assert model.rows()[0].cells[1:3] == ("◐ preempts", "→ node-2")


def test_a_node_is_asked_until_the_first_filter_rejects_it() -> None:
    attempt = attempts_on("default/urgent-0")["decisions"][1]
    assert filter_columns(attempt)[-2:] == ["NodeAffinity", "NodeResourcesFit"]
    rows = {row.node: row for row in filter_rows(attempt)}
    assert rows["node-1"].verdicts[-2:] == ("rejected", "unasked")
    assert rows["node-2"].verdicts[-2:] == ("passed", "rejected")
    assert rows["node-2"].reason == "Insufficient cpu"


def test_a_rejection_by_a_plugin_that_filters_no_node_has_its_column() -> None:
    attempt = {
        "node": "",
        "filters": ["NodeName"],
        "scores": [],
        "rejected": [{"node": "n", "plugin": "VolumeBinding", "code": "", "reasons": ["pvc not found"]}],
    }
    assert filter_columns(attempt) == ["NodeName", "VolumeBinding"]
    assert next(filter_rows(attempt)).verdicts == ("passed", "rejected")


@pytest.mark.parametrize(
    ("pod", "which", "sentence"),
    [
        pytest.param(SPREAD, 0, "node-2 with 672 points, 5 more than node-3", id="a lead"),
        pytest.param("default/urgent-0", 0, "node-2 is the one node of 3 that fits", id="no choice"),
        pytest.param("default/urgent-0", 1, "0/3 nodes are available: 1 Insufficient cpu", id="none"),
        pytest.param("default/probed", 0, "one of 2 equals with", id="a tie"),
    ],
)
def test_the_verdict_in_a_sentence(pod: str, which: int, sentence: str) -> None:
    assert sentence in verdict(attempts_on(pod)["decisions"][which])


@pytest.mark.parametrize(
    ("binding", "point", "words", "why"),
    [
        ("waiting", "Permit", "◐ waits, Permit", "waits at Permit for Coscheduling"),
        ("waiting", "PreBind", "◐ waits, PreBind", "waits at PreBind for VolumeBinding"),
        ("failed", "", "✖ not bound", "0/1 nodes are available: 1 preempted."),
        ("bound", "", "✓ bound", ""),
    ],
)
def test_a_chosen_node_is_not_a_bound_pod(binding: str, point: str, words: str, why: str) -> None:
    attempt = attempts_on(SPREAD)["decisions"][0] | {"binding": binding, "bindingMessage": why, "waitsAt": point}
    assert result_words(attempt)[0] == words
    assert why in verdict(attempt)
    assert summary(attempt)[2] == {"waiting": "waiting", "failed": "not bound", "bound": "scheduled"}[binding]
    assert summary(attempt)[-1] == why


def test_what_put_the_winner_ahead() -> None:
    attempt = attempts_on(SPREAD)["decisions"][0]
    scores = {row["node"]: row["total"] for row in attempt["scores"]}
    assert sum(points for _, points in why_ahead(attempt)) >= max(scores.values()) - sorted(scores.values())[-2]


def test_the_tables_of_an_attempt() -> None:
    text = text_of(SPREAD)
    assert "node-2 ◄" in text
    assert "Spread ×2" in text
    assert "→100" in text
    assert "Σ" in text
    assert "→100" not in text_of(SPREAD, raw=False)


EIGHT = (
    "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
    "PodTopologySpread", "InterPodAffinity",
)  # fmt: skip


@pytest.mark.parametrize("width", [50, 60, 67, 90])
@pytest.mark.parametrize("reason", ["", "Insufficient cpu"])
def test_many_filters_stand_in_one_line_each_node(width: int, reason: str) -> None:
    names = ["node-1", "node-2", "node-3"]
    rejected = [{"node": name, "plugin": EIGHT[-1], "reasons": [reason]} for name in names if reason]
    told = attempts_on(SPREAD)["decisions"][0]
    attempt = {**told, "filters": EIGHT, "rejected": rejected, "scores": [] if reason else told["scores"]}
    lines = [part.plain for part in filters(attempt, width, 12, {})]
    assert max(map(len, lines)) <= width
    heads = lines[2].split()
    assert [short(name).startswith(head) for name, head in zip(EIGHT, heads[1:], strict=True)] == [True] * 8
    rows = [line for line in lines if line.startswith("node-")]
    assert all(line.count("✓") >= 7 for line in rows)
    if width >= 67:
        assert all(line.endswith(reason) for line in rows)


def test_plugins_that_find_no_room_side_by_side_stand_below() -> None:
    narrow = text_of(SPREAD, width=44).splitlines()
    assert sum(line.startswith("node ") for line in narrow) >= 3
    assert max(len(line) for line in narrow if line.startswith("node-")) <= 44


def test_preemption_names_the_victims() -> None:
    text = text_of("default/urgent-0", 1)
    assert "preemption" in text
    assert "1 victim" in text
    assert "team-a/batch-" in text
    assert "AssignedPodDelete → backoff  by the hint of Fit" in text_of("default/urgent-0", 0)


def test_a_pod_that_was_never_tried_says_what_it_waits_for() -> None:
    text = "\n".join(part.plain for part in waiting_parts(attempts_on("default/gated"), {}))
    assert "◷ gated" in text
    assert "by the hint of SchedulingGates" in text


def test_a_pod_that_is_gated_by_another_plugin_says_why() -> None:
    found = attempts_on("default/gated")
    missing = 'could not find ResourceClaim "default/gpu"'
    gated = {**found, "queue": {**found["queue"], "gatedBy": "DynamicResources", "gatedMessage": missing}}
    told = f"gated by DynamicResources: {missing}"
    assert f"◷ {told}" in [part.plain for part in waiting_parts(gated, {})]
    (section,) = waiting(gated)
    assert section.lines == [f"default/gated waits in the unschedulable queue after 0 attempts, {told}"]
    assert len(section.rows) == len(found["queue"]["moves"])


def test_where_the_time_went_is_told_last_and_only_in_detail() -> None:
    attempt = attempts_on(SPREAD)["decisions"][0]
    titles = [section.title for section in sections(attempt)][1:]
    assert titles == ["FILTER", "SCORE", "QUEUE"]
    assert [section.title for section in sections(attempt, details=True)][1:] == [*titles, "DURATIONS"]


def test_of_many_nodes_the_fullest_are_shown_and_the_rest_is_counted(model: SchedulerModel) -> None:
    shown, more = model.fills(10)
    assert ([fill.node for fill in shown], more) == (["node-1", "node-2", "node-3"], 0)
    shown, more = model.fills(2)
    assert (len(shown), more) == (1, 2)
    assert model.total is not None
    assert model.total.node == "3 nodes"


@pytest.mark.parametrize("width", [30, 46, 60, 80, 120])
def test_a_fill_bar_keeps_to_its_width(model: SchedulerModel, width: int) -> None:
    for fill in model.fills(10)[0]:
        line = fill_line(fill, 6, width, {})
        assert line.cell_len <= max(width, 32)
        assert f"{fill.cpu * 100:.0f} %" in line.plain


def test_pods_that_are_not_among_the_rows_are_counted() -> None:
    model = SchedulerModel(
        queue={"counts": {"active": 9, "gated": 1, "unschedulable": 2}, "active": [{}] * 3},
        attempts={"total": 10, "decisions": [{}] * 4},
    )
    assert model.left_out == "not shown: 8 more wait, 6 older attempts"
    assert SchedulerModel().left_out == ""


def rejected(plugin: str, *reasons: str, nodes: int = 1, code: str = "Unschedulable") -> dict[str, Any]:
    return {
        "result": "unschedulable",
        "rejectedBy": [{"plugin": plugin, "reasons": list(reasons), "nodes": nodes}],
        "rejected": [{"node": "n", "plugin": plugin, "code": code, "reasons": list(reasons)}],
    }


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        pytest.param(
            rejected("NodeResourcesFit", "Insufficient cpu", "Insufficient memory", nodes=3),
            [(3, "less cpu and memory requested, or more of it free")],
            id="too little is free",
        ),
        pytest.param(
            rejected("NodeResourcesFit", "Insufficient cpu", code="UnschedulableAndUnresolvable"),
            [(1, "less cpu requested, or a larger node")],
            id="more than there is",
        ),
        pytest.param(rejected("NodeResourcesFit", "Too many pods"), [(1, "fewer Pods there")], id="pods"),
        pytest.param(
            rejected("TaintToleration", "node(s) had untolerated taint(s)"),
            [(1, "a toleration, or the taint taken away")],
            id="a taint",
        ),
        pytest.param(rejected("Mine", "no"), [], id="a plugin of one's own"),
        pytest.param({**rejected("NodeName", "x"), "result": "scheduled"}, [], id="scheduled elsewhere"),
    ],
)
def test_what_would_make_it_fit(attempt: dict[str, Any], words: list[tuple[int, str]]) -> None:
    assert list(remedies(attempt)) == words


def test_what_would_make_it_fit_stands_below_the_filters() -> None:
    text = text_of("default/gpu-0")
    assert text.index("which nodes may run it") < text.index("what would make it fit")
    assert "3 nodes  less cpu requested, or a larger node" in text
    assert "what would make it fit" not in text_of(SPREAD)


TEN = (*EIGHT[:6], "NodeVolumeLimits", "VolumeBinding", *EIGHT[6:])


def test_a_reason_that_would_be_cut_to_a_word_leaves_the_heads_their_room() -> None:
    rejected = [{"node": "node-1", "plugin": TEN[-1], "reasons": ["node(s) didn't match pod anti-affinity rules"]}]
    told = attempts_on(SPREAD)["decisions"][0]
    attempt = {**told, "nodes": 1, "filters": TEN, "rejected": rejected, "scores": []}
    heads = next(line.plain.split() for line in filters(attempt, 70, 12, {}) if line.plain.startswith("node "))
    assert heads[-4:] == ["VolLi", "VolBi", "Spread", "PodAff"]


@pytest.mark.parametrize(
    ("nodes", "unlooked", "words"),
    [
        (5, 2, "2 nodes not looked at: enough had been found"),
        (6, 2, "and 3 nodes more, 2 of them not looked at: enough had been found"),
        (4, 0, "and 1 node more"),
    ],
)
def test_nodes_that_are_left_out_are_counted(nodes: int, unlooked: int, words: str) -> None:
    attempt = {**attempts_on(SPREAD)["decisions"][0], "nodes": nodes, "notEvaluated": unlooked}
    assert list(filters(attempt, 70, 12, {}))[-1].plain == words
