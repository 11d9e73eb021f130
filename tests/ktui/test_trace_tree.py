"""A trace as text."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.trace_diagram import mermaid
from ktui.trace_table import table
from ktui.trace_tree import LANES, milliseconds, without_events
from tests.ktui.spans import request, span

STORY = [
    span(
        "store", 7, parent="root", verb="put", component="etcd", start=2, revision=31, object="deployment/default/web"
    ),
    span("root", 1, verb="apply", object="deployment/default/web", start=1),
    span("watch", 8, parent="store", verb="ADDED", component="kube-apiserver", start=3),
    span("orphan", 9, parent="not kept", verb="reconcile", component="x-controller", start=4, outcome="Conflict"),
]


def test_the_table_aligns_its_columns_and_indents_by_cause() -> None:
    head, *lines, gap, note = table(STORY)
    assert head.split() == ["HOP", "STEP", "OBJECT", "REVISION", "WALL", "MODEL", "OUTCOME"]
    assert lines[0][head.index("STEP") :].startswith("kubectl apply ")
    assert "    kube-apiserver ADDED" in lines[2]
    assert lines[1].split()[:6] == ["⑦", "etcd", "txn", "put", "deployment/default/web", "31"]
    assert lines[3].endswith("Conflict")
    assert (gap, note) == ("", "Conflict: somebody had changed the object meanwhile: it is read and tried again")
    assert len({line.index("ms", head.index("WALL")) for line in lines}) == 1


def test_a_diagram_has_one_arrow_for_each_request_and_tells_whom_its_news_woke() -> None:
    chain = request("a", object="deployment/default/web", start=1)
    event = span(
        "a8", 8, parent="a7", component="kube-apiserver", object="deployment/default/web", start=2,
        detail={"event": "ADDED"},
    )  # fmt: skip
    woken = span(
        "a9", 9, parent="a7", verb="reconcile", component="deployment-controller", object="deployment/default/web",
        start=3,
    )  # fmt: skip
    asked = request("b", parent="a9", object="replicaset/default/web-1", start=4, revision=32)
    head, *lines = mermaid([*chain, event, woken, *asked]).splitlines()
    assert head == "sequenceDiagram"
    assert lines[:6] == [f"    participant {lane}" for lane in LANES]
    assert lines[6:] == [
        "    client->>api-server: ②-⑥ kube-apiserver create deployment/default/web",
        "    api-server->>etcd: ⑦ etcd txn put deployment/default/web",
        "    etcd--)api-server: ⑧ kube-apiserver ADDED deployment/default/web",
        "    api-server--)controllers: ⑨ deployment-controller reconcile deployment/default/web",
        "    controllers->>api-server: ②-⑥ kube-apiserver create replicaset/default/web-1",
        "    api-server->>etcd: ⑦ etcd txn put replicaset/default/web-1",
    ]


def test_a_diagram_says_what_failed_and_no_name_ends_a_message() -> None:
    told = span("x", 9, verb="reconcile", component="x-controller", object="crd/a;b#1", outcome="Conflict")
    assert mermaid([told]).splitlines()[-1] == (
        "    controllers-xcontrollers: ⑨ x-controller reconcile crd/a#59;b#35;1: Conflict"
    )


def test_the_writes_of_events_can_be_left_out() -> None:
    told = [span("a", 9), span("b", 2, parent="a", object="event/default/web.1"), span("c", 2, object="event/default")]
    assert [kept["id"] for kept in without_events(told)] == ["a"]


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


def pods(*names: str) -> list[dict[str, Any]]:
    """A reconcile that creates Pods side by side: their links end in any order."""
    spans = [span("r", 9, verb="reconcile", component="replicaset-controller", object="replicaset/default/web-1")]
    for at, name in enumerate(names):
        chain = request(name, parent="r", object=f"pod/default/web-1-{name}", start=1 + at / 1000, revision=30 + at)
        event = span(
            f"{name}8", 8, parent=f"{name}7", component="kube-apiserver", object=f"pod/default/web-1-{name}",
            start=2, detail={"event": "ADDED"},
        )  # fmt: skip
        idle = [
            span(f"{name}{who}", 9, parent=f"{name}8", verb="reconcile", component=f"{who}-controller", start=3)
            for who in ("endpoint", "endpointslice")
        ]
        spans += [*chain, event, *idle]
    by_hop = sorted(spans, key=lambda told: told["hop"])
    return [{**told, "sequence": number} for number, told in enumerate(by_hop)]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("   ") if cell.strip()]


def test_steps_that_are_alike_stand_in_one_line() -> None:
    head, reconcile, chain, store, event, idle, gap, note = table(pods("a", "b", "c"))
    assert cells(reconcile)[:3] == ["⑨", "replicaset-controller reconcile", "replicaset/default/web-1"]
    assert cells(chain)[:3] == ["②-⑥", "kube-apiserver create ×3", "pod/default/web-1-*"]
    assert cells(store)[:4] == ["⑦", "etcd txn put ×3", "pod/default/web-1-*", "30-32"]
    assert cells(event)[1] == "kube-apiserver ADDED ×3"
    assert cells(idle)[1] == "endpoint, endpointslice ×6: nothing to do"
    assert (head.split()[0], gap) == ("HOP", "")
    assert "--all prints each" in note


def test_each_step_can_be_printed() -> None:
    lines = table(pods("a", "b", "c"), fold=False)
    assert len(lines) == 1 + 1 + 3 * 5
    assert [cells(line)[2] for line in lines if line.startswith("⑦")] == [f"pod/default/web-1-{n}" for n in "abc"]


def test_a_subresource_is_named_with_the_verb() -> None:
    told = span("a", 2, component="kube-apiserver", detail={"subresource": "binding"})
    assert cells(table([told])[1])[1] == "kube-apiserver create pods/binding"
