"""A trace as text."""

from __future__ import annotations

import pytest

from ktui.trace_tree import in_tree_order, mermaid, milliseconds, table
from tests.ktui.spans import span

STORY = [
    span(
        "store", 7, parent="root", verb="put", component="etcd", start=2, revision=31, object="deployment/default/web"
    ),
    span("root", 1, verb="apply", object="deployment/default/web", start=1),
    span("watch", 8, parent="store", verb="ADDED", component="kube-apiserver", start=3),
    span("orphan", 9, parent="not kept", verb="reconcile", component="x-controller", start=4, outcome="Conflict"),
]


def test_parents_come_before_their_children_and_orphans_are_roots() -> None:
    assert [(depth, item["id"]) for depth, item in in_tree_order(STORY)] == [
        (0, "root"), (1, "store"), (2, "watch"), (0, "orphan"),
    ]  # fmt: skip


def test_the_table_aligns_its_columns_and_indents_by_cause() -> None:
    head, *lines = table(STORY)
    assert head.split() == ["HOP", "STEP", "OBJECT", "REVISION", "WALL", "MODEL", "OUTCOME"]
    assert lines[0][head.index("STEP") :].startswith("kubectl apply ")
    assert "    kube-apiserver ADDED" in lines[2]
    assert lines[1].split()[:5] == ["⑦", "etcd", "put", "deployment/default/web", "31"]
    assert lines[3].endswith("Conflict")
    assert len({line.index("ms", head.index("WALL")) for line in lines}) == 1


def test_mermaid_draws_each_span_from_its_parents_lane() -> None:
    lines = mermaid(STORY).splitlines()
    assert lines[0] == "sequenceDiagram"
    assert "    client->>etcd: 7 etcd put deployment/default/web" in lines
    assert "    client-xcontrollers: 9 x-controller reconcile pod/default/web" in lines


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "-"), (0.04, "0.0 ms"), (12.34, "12.3 ms"), (1500, "1.50 s"), (61_000, "1m01s"), (600_000, "10m00s")],
)
def test_durations(value: float, text: str) -> None:
    assert milliseconds(value) == text


def test_the_links_of_one_requests_chain_share_a_row() -> None:
    spans = [
        span("root", 1, start=1),
        span("b", 2, parent="root", start=2),
        span("c", 3, parent="root", start=3),
        span("d", 4, parent="root", start=4, outcome="Forbidden"),
        span("e", 2, parent="root", start=5),
    ]
    _, _, chain, second = table(spans)
    assert chain.split() == ["②③④", "kubectl", "create", "pod/default/web", "-", "3.0", "ms", "6.0", "ms", "Forbidden"]
    assert second.split()[0] == "②"


def test_a_chain_never_takes_in_another_requests_links() -> None:
    spans = [span("a", 2, parent="x", start=1), span("b", 3, parent="y", start=2)]
    assert [line.split()[0] for line in table(spans)[1:]] == ["②", "③"]


def test_a_watch_event_is_told_by_its_type() -> None:
    event = span("w", 8, verb="watch", component="kube-apiserver", detail={"event": "ADDED"})
    assert table([event])[1].split()[:3] == ["⑧", "kube-apiserver", "ADDED"]
    assert "kube-apiserver ADDED pod/default/web" in mermaid([event])
