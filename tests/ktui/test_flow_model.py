"""What spans look like between the lanes."""

from __future__ import annotations

from ktui.models.flow import API_SERVER, CLIENT, CONTROLLERS, ETCD, NODES, ROWS_KEPT, FlowModel
from tests.ktui.spans import span


def rows_of(*spans: dict[str, object]) -> list[tuple[str, int, int, str]]:
    model = FlowModel()
    model.add(spans)
    return [(row.lamps, row.source, row.target, row.text) for row in model.rows]


def test_a_request_goes_from_the_client_to_the_api_server_and_on_to_etcd() -> None:
    assert rows_of(
        span("a", 1, verb="apply", object="deployment/default/web"),
        span("b", 2, parent="a", start=1),
        span("c", 3, parent="a", start=2),
        span("d", 7, parent="a", start=3, verb="put", object="deployment/default/web", revision=31),
    ) == [
        ("①", CLIENT, API_SERVER, "apply deployment/web"),
        ("②③", API_SERVER, API_SERVER, "x509 ✓ RBAC ✓"),
        ("⑦", API_SERVER, ETCD, "put deployment/web rev 31"),
    ]


def test_a_refusal_ends_the_chain_with_its_reason() -> None:
    model = FlowModel()
    model.add([span("b", 2), span("c", 3, start=1, outcome="Forbidden"), span("d", 4, start=2)])
    assert [(row.lamps, row.text, row.ok) for row in model.rows] == [
        ("②③", "x509 ✓ RBAC ✖ Forbidden", False),
        ("④", "mutate", True),
    ]


def test_a_watch_event_wakes_a_component_and_its_requests_start_from_its_lane() -> None:
    assert rows_of(
        span("w", 8, verb="ADDED", object="pod/default/web"),
        span("k", 11, parent="w", start=1, component="kubelet node-1", verb="sync"),
        span("r", 2, parent="k", start=2, component="kubelet node-1"),
        span("s", 9, parent="w", start=3, component="replicaset-controller", verb="reconcile"),
    ) == [
        ("⑧", ETCD, API_SERVER, "ADDED pod/web"),
        ("⑪", API_SERVER, NODES, "sync pod/web"),
        ("②", NODES, API_SERVER, "x509"),
        ("⑨", API_SERVER, CONTROLLERS, "replicaset reconcile pod/web"),
    ]


def test_a_burst_of_equal_lines_folds_into_one_with_a_count() -> None:
    model = FlowModel()
    model.add([span(str(n), 7, verb="put", object=f"pod/default/web-{n}", start=n) for n in range(5)])
    (row,) = model.rows
    assert (row.text, row.count, row.wall_ms, len(row.spans)) == ("put pod", 5, 5.0, 5)


def test_different_outcomes_and_traces_do_not_fold() -> None:
    model = FlowModel()
    model.add(
        [
            span("a", 7, verb="put"),
            span("b", 7, verb="put", start=1, outcome="Conflict"),
            span("c", 7, verb="put", start=2, trace="t2", outcome="Conflict"),
        ]
    )
    assert [row.count for row in model.rows] == [1, 1, 1]


def test_heartbeats_are_left_out_unless_they_fail() -> None:
    model = FlowModel()
    model.add(
        [
            span("a", 7, object="lease/kube-node-lease/node-1"),
            span("b", 7, object="lease/kube-node-lease/node-1", outcome="Conflict"),
        ]
    )
    assert [row.outcome for row in model.rows] == ["Conflict"]
    assert model.seen == 2


def test_rows_are_bounded_and_what_went_is_counted() -> None:
    model = FlowModel()
    for number in range(ROWS_KEPT + 10):
        model.add([span(str(number), 7, trace=str(number))])
    assert (len(model.rows), model.dropped) == (ROWS_KEPT, 10)
