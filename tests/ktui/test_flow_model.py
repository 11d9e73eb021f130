"""What ended spans look like as lines between the lanes."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.models.exchange import started
from ktui.models.flow import BLOCKS_KEPT, TRACES_KEPT, FlowModel
from ktui.models.flow_filter import FlowFilter
from ktui.models.flow_rows import FlowRow, Kind
from ktui.models.words import API_SERVER, CLIENT, CONTROLLERS, ETCD, NODES, SCHEDULER
from tests.ktui import recorded
from tests.ktui.spans import request, span

Span = dict[str, Any]
REPLICASET = "system:serviceaccount:kube-system:replicaset-controller"


def model_of(*spans: Span) -> FlowModel:
    model = FlowModel()
    model.add(spans)
    return model


def lines(model: FlowModel) -> list[tuple[str, str]]:
    return [(row.lamps, row.text) for row in model.rows]


def only(model: FlowModel, kind: Kind) -> FlowRow:
    (row,) = [row for row in model.rows if row.kind is kind]
    return row


def test_a_client_s_request_is_four_lines_whatever_ends_first() -> None:
    web = "deployment/default/web"
    root = span("root", 1, object=web, start=0, detail={"status": 201}, revision=31)
    model = model_of(*request("a", parent="root", object=web, start=0.001), root)
    assert lines(model) == [
        ("①", "POST deployments/web"),
        ("②-⑥", "x509 ✓ RBAC ✓ 4 mutating ✓ schema ✓ 2 validating ✓"),
        ("⑦", "txn put"),
        ("", "201"),
    ]
    sent, chain, store, answer = model.rows
    assert [(row.source, row.target) for row in model.rows] == [
        (CLIENT, API_SERVER),
        (API_SERVER, API_SERVER),
        (API_SERVER, ETCD),
        (API_SERVER, CLIENT),
    ]
    assert store.note == "rev 31"
    assert (chain.wall_ms, chain.model_ms, answer.model_ms) == (5.0, 10.0, 2.0)
    assert sent.spans[0] == "root"


def test_the_name_that_a_create_is_given_on_the_way_is_shown() -> None:
    spans = request("a", object="pod/default", user=REPLICASET)
    assert model_of(*spans[:2]).rows[0].text == "POST pods"
    for link in spans[4:]:
        link["object"] = "pod/default/web-x4"
    assert model_of(*spans).rows[0].text == "POST pods/web-x4"


def test_requests_that_run_at_once_do_not_mix() -> None:
    one = request("a", parent="p", object="pod/default/one", user="alice", start=0.0, revision=31)
    two = request("b", parent="q", object="pod/default/two", user="bob", start=0.0005, revision=32)
    mixed = [link for pair in zip(one, two, strict=True) for link in pair]
    model = model_of(*mixed)
    assert [row.text for row in model.rows if row.kind is Kind.REQUEST] == ["POST pods/one", "POST pods/two"]
    assert [row.note for row in model.rows if row.kind is Kind.STORE] == ["rev 31", "rev 32"]
    assert all(row.lamps == "②-⑥" for row in model.rows if row.kind is Kind.CHAIN)


def test_of_equal_requests_each_link_goes_where_the_last_one_ended() -> None:
    """Three creates of one reconcile have the same parent, verb and object until they get names."""
    early = request("a", parent="p", object="pod/default", user="alice", start=0.000)
    late = request("b", parent="p", object="pod/default", user="alice", start=0.010)
    model = model_of(early[0], early[1], late[0], early[2], late[1], early[3], late[2], *early[4:], *late[3:])
    chains = [[int(id[1:]) for id in row.spans] for row in model.rows if row.kind is Kind.CHAIN]
    owners = [{id[0] for id in row.spans} for row in model.rows if row.kind is Kind.CHAIN]
    assert chains == [[2, 3, 4, 5, 6], [2, 3, 4, 5, 6]]
    assert owners == [{"a"}, {"b"}]


@pytest.mark.parametrize(
    ("user", "lane", "who"),
    [
        pytest.param(REPLICASET, CONTROLLERS, "replicaset", id="a controller"),
        pytest.param("system:kube-scheduler", SCHEDULER, "scheduler", id="the scheduler"),
        pytest.param("system:node:node-1", NODES, "node-1", id="a kubelet"),
        pytest.param("system:kube-proxy", NODES, "kube-proxy", id="the proxy"),
        pytest.param("jane", CLIENT, "", id="a person"),
        pytest.param("system:serviceaccount:default:mine", CLIENT, "", id="a service account of one's own"),
    ],
)
def test_a_request_starts_in_the_lane_of_who_asks(user: str, lane: int, who: str) -> None:
    row = only(model_of(*request("a", user=user)), Kind.REQUEST)
    assert (row.source, row.target, row.note) == (lane, API_SERVER, who)


@pytest.mark.parametrize(
    ("words", "found"),
    [("jane", {"one"}), ("HELM", {"two"}), ("!jane", {"two"}), ("jane helm", set())],
)
def test_the_filter_knows_who_asked_and_with_what(words: str, found: set[str]) -> None:
    """Of the whole request, which no line has room for."""
    model = model_of(
        *request("a", user="jane", object="pod/default/one", trace="t1"),
        *request("b", user="bob", agent="Helm/4.1", object="pod/default/two", trace="t2", start=1.0),
    )
    model.filter = FlowFilter.parse(words)
    assert {row.trace_id for row in model.rows} == {{"one": "t1", "two": "t2"}[name] for name in found}
    assert len(model.rows) == 3 * len(found)


def test_the_chain_of_a_component_is_in_its_arrow_until_it_is_asked_for() -> None:
    model = model_of(*request("a", user=REPLICASET))
    assert [(row.kind, row.lamps) for row in model.rows] == [(Kind.REQUEST, "②-⑥"), (Kind.STORE, "⑦")]
    assert model.toggle_chains()
    assert [row.kind for row in model.rows] == [Kind.REQUEST, Kind.CHAIN, Kind.STORE]


def test_a_refusal_ends_the_chain_with_its_reason() -> None:
    links = request("a", hops=(2, 3), parent="root")
    links[1]["outcome"] = "Forbidden"
    model = model_of(*links, span("root", 1, outcome="Forbidden", detail={"status": 403}))
    assert [row.text for row in model.rows] == ["POST pods/web", "RBAC ✖ x509 ✓", "403 Forbidden"]
    assert not any(row.ok for row in model.rows)


def test_a_reconcile_s_creates_fold_into_one_line_with_a_count() -> None:
    spans = [
        link
        for number in range(3)
        for link in request(
            f"{number}", parent="r", user=REPLICASET, object=f"pod/default/{number}", start=number, revision=40 + number
        )
    ]
    model = model_of(*spans)
    assert lines(model) == [("②-⑥", "POST pods ×3"), ("⑦", "txn put ×3")]
    assert model.rows[1].note == "rev 40-42"


def test_other_traces_verbs_and_failures_do_not_fold() -> None:
    failed = request("c", parent="r", user=REPLICASET, start=3)
    failed[-1]["outcome"] = "Conflict"
    model = model_of(
        *request("a", parent="r", user=REPLICASET, start=1),
        *request("b", parent="r", user=REPLICASET, verb="delete", start=2),
        *failed,
        *request("d", parent="r", user=REPLICASET, start=4, trace="t2"),
    )
    assert [row.text for row in model.rows if row.kind is Kind.REQUEST] == [
        "POST pods/web ×2",
        "DELETE pods/web",
        "POST pods/web",
    ]
    assert [row.outcome for row in model.rows if row.kind is Kind.STORE] == ["Conflict", "ok", "ok"]


def test_an_event_points_at_all_whom_it_wakes() -> None:
    model = model_of(
        span("store", 7, component="etcd", revision=31),
        span("w", 8, parent="store", verb="watch", start=1, detail={"event": "ADDED", "watchers": 3}),
    )
    event = only(model, Kind.WATCH)
    assert (event.text, event.note, event.woken) == ("ADDED pods/web", "3 watching", {})
    model.add(
        [
            span("s", 10, parent="store", component="default-scheduler", verb="schedule", start=2),
            span("r", 9, parent="store", component="replicaset-controller", verb="reconcile", start=2),
            span("k", 12, parent="store", component="kube-proxy node-1", verb="sync-proxy-rules", start=3),
            span("l", 12, parent="store", component="kube-proxy node-2", verb="sync-proxy-rules", start=3),
        ]
    )
    assert sorted(event.woken) == [CONTROLLERS, SCHEDULER, NODES]
    assert event.note == "replicaset, scheduler, kube-proxy ×2"


def test_a_reconcile_stands_before_the_requests_that_it_made() -> None:
    reconcile = span("r", 9, verb="reconcile", component="deployment-controller", object="deployment/default/web")
    model = model_of(*request("a", parent="r", user=REPLICASET, start=0.5), reconcile)
    assert [row.text for row in model.rows] == ["deployment reconciles web", "POST pods/web", "txn put"]


def test_what_runs_on_a_node_stands_where_it_ended() -> None:
    model = model_of(
        span("a", 9, verb="reconcile", component="x-controller", start=1, parent="?"),
        *request("w", parent="a", user=REPLICASET, start=1.001),
        span("p", 11, verb="PullImage", component="kubelet node-1", object="image/nginx", start=0, model_ms=5000.0),
    )
    assert model.rows[-1].text == "node-1 PullImage nginx"


@pytest.mark.parametrize(
    ("spans", "noise"),
    [
        pytest.param(request("a", verb="list", hops=(2, 3), user="system:kube-scheduler"), "reads", id="informers"),
        pytest.param(request("a", verb="get", hops=(2,), agent="ktui", parent="p"), "reads", id="the screen's own"),
        pytest.param(
            request("a", verb="get", hops=(2,), agent="kube-apiserver", parent="p"), "reads", id="the server's own"
        ),
        pytest.param(request("a", verb="get", hops=(2,), object="/api", parent="p"), "reads", id="discovery"),
        pytest.param(request("a", object="event/default/web.1", user=REPLICASET), "events", id="events"),
        pytest.param(
            request("a", object="lease/kube-node-lease/node-1", verb="update", user="system:node:node-1"),
            "heartbeats",
            id="leases",
        ),
        pytest.param(
            request("a", object="node/node-1", verb="patch", user="system:node:node-1"), "heartbeats", id="node status"
        ),
        pytest.param(
            [span("a", 9, verb="reconcile", component="deployment-controller")], "idle reconciles", id="nothing to do"
        ),
    ],
)
def test_noise_is_hidden_counted_and_shown_when_asked_for(spans: list[Span], noise: str) -> None:
    model = model_of(*spans)
    assert (model.rows, model.hidden) == ([], {noise: 1})
    assert model.toggle(noise)
    assert model.rows
    assert not model.toggle(noise)
    assert not model.rows


def test_a_client_s_reads_are_shown() -> None:
    model = model_of(*request("a", verb="list", hops=(2,), object="pod/default", parent="p"), span("p", 1, verb="list"))
    assert model.rows[0].text == "GET pods"


def test_noise_that_fails_is_shown() -> None:
    links = request("a", object="lease/kube-node-lease/node-1", verb="update", user="system:node:node-1")
    links[-1]["outcome"] = "Conflict"
    assert [row.outcome for row in model_of(*links).rows if row.kind is Kind.STORE] == ["Conflict"]


@pytest.mark.parametrize("order", [("store", "watch"), ("watch", "store")])
def test_the_events_of_heartbeats_are_heartbeats_in_either_order(order: tuple[str, str]) -> None:
    links = request("a", object="node/node-1", verb="patch", user="system:node:node-1")
    event = span("w", 8, parent="a7", object="node/node-1", verb="watch", start=1, detail={"event": "MODIFIED"})
    last = {"store": links[-1], "watch": event}
    assert model_of(*links[:-1], *(last[name] for name in order)).rows == []


def test_a_span_that_is_told_twice_counts_once_and_what_was_dropped_is_known() -> None:
    model = model_of(*request("a", user=REPLICASET))
    model.add([*request("a", user=REPLICASET), {"dropped": 7}])
    assert (model.seen, model.rows[0].count, model.lost) == (6, 1, 7)


def test_the_story_is_the_newest_write_and_of_one_apply_the_busiest() -> None:
    model = model_of(span("a", 1, trace="deployment", start=1), span("b", 1, trace="service", start=1.2))
    model.add([span(str(number), 9, trace="deployment", start=2) for number in range(3)])
    assert model.story == "deployment"
    model.add([span("c", 1, trace="later", start=9), span("d", 1, trace="read", verb="get", start=10)])
    assert model.story == "later"
    asked = span("q", 1, trace="asked", verb="create", object="selfsubjectaccessreview/", start=9)
    model.add([*request("q", parent="q", trace="asked", object="selfsubjectaccessreview/"), asked])
    assert model.story == "later"  # `auth can-i` writes nothing
    model.add([span("k", 1, trace="addon", component="kubeadm", object="service/kube-system/kube-dns", start=11)])
    assert model.story == "later"  # what a new cluster comes with is nobody's story


def test_the_newest_write_may_have_been_refused() -> None:
    model = model_of(span("a", 1, trace="made", start=1), span("r", 9, trace="made", start=1.1))
    refused = request("b", parent="b", trace="refused", hops=(2, 3, 4, 5), start=1.2)
    refused[-1]["outcome"] = "Invalid"
    model.add([*refused, span("b", 1, trace="refused", start=1.2, outcome="Invalid")])
    assert model.story == "refused"


def test_a_graceful_deletion_is_a_put() -> None:
    """What is written is the time of the deletion; what removes the key comes later, with whoever was waited for."""
    marked, gone = request("a", verb="delete"), request("b", verb="patch")
    gone[-1]["detail"]["deletes"] = True
    written = [row.label for row in model_of(*marked, *gone).rows if row.kind is Kind.STORE]
    assert written == ["txn put", "txn delete"]


def test_who_may_not_read_is_known_all_the_same() -> None:
    """Both links of a read are one span."""
    links = request("a", verb="get", hops=(2,))
    links[0]["outcome"] = "Forbidden"
    links[0]["detail"] |= {"authenticator": "x509", "authorizer": "", "verdict": "deny"}
    chains = [row.label for row in model_of(*links).rows if row.kind is Kind.CHAIN]
    assert chains == ["RBAC ✖ x509 ✓"]


def test_who_refused_a_write_comes_first() -> None:
    links = request("a", hops=(2, 3, 4, 5, 6))
    links[-1]["outcome"] = "Forbidden"
    links[-1]["detail"]["plugins"] = [
        {"name": "PodSecurity", "verdict": "accepted"}, {"name": "ResourceQuota", "verdict": "refused"},
    ]  # fmt: skip
    chains = [row.label for row in model_of(*links).rows if row.kind is Kind.CHAIN]
    assert chains[0].startswith("ResourceQuota ✖ ")


def test_the_newest_time_is_that_of_what_ended_last() -> None:
    model = model_of(span("late", 9, start=40), span("early", 9, start=5, wall_ms=500.0, model_ms=0.0))
    assert model.newest == pytest.approx(started(span("", 9, start=40)) + 0.003)


def test_a_delete_is_another_story_than_the_apply_after_it() -> None:
    """`kubectl delete` and `kubectl create` in one line of a script: what was deleted moves more, for a while."""
    model = model_of(span("a", 1, trace="gone", verb="delete", start=1), span("b", 1, trace="made", start=1.4))
    model.add([span(str(number), 9, trace="gone", start=2) for number in range(9)])
    assert model.story == "made"


def test_what_goes_on_all_the_time_pushes_no_client_s_trace_out() -> None:
    """Rows stay for hours: the trace of one can be pinned for about as long."""
    model = model_of(*request("a", parent="root", start=0), span("root", 1, start=0))
    for number in range(TRACES_KEPT):
        lease = f"lease/kube-node-lease/node-{number % 3}"
        model.add(request(f"l{number}", verb="update", object=lease, trace=f"l{number}", start=number % 59))
    assert len(model.traces["t1"]) == 7
    assert len(model.traces) < TRACES_KEPT
    assert model.traces.keys() == model.stories.keys()


def test_rows_are_bounded_noise_goes_first_and_what_went_is_counted() -> None:
    model = model_of(span("first", 10, trace="kept", verb="schedule"))
    for number in range(BLOCKS_KEPT):
        model.add([span(f"n{number}", 9, trace=str(number), verb="reconcile", start=number % 59)])
    assert model.rows[0].text == "schedule web"
    assert model.dropped == 0
    for number in range(2 * BLOCKS_KEPT):
        model.add([span(f"s{number}", 10, trace=f"s{number}", verb="schedule", start=number % 59)])
    assert len(model.rows) <= BLOCKS_KEPT
    assert model.dropped > 0


def test_the_recorded_apply_tells_its_story_from_post_to_proxy() -> None:
    model = model_of(*recorded.spans())
    seen = [row.text for row in model.rows]
    story = ["POST deployments/web", "POST pods ×3", "POST bindings ×3", "PullImage nginx:1.27 ×3"]
    places = [seen.index(text) for text in story]
    assert places == sorted(places)
    assert {hop for row in model.rows for hop in row.hops} == set(range(1, 13))


def test_a_request_whose_beginning_was_skipped_is_nobody_s() -> None:
    """Its later links do not say who asked: it must not look like a client's."""
    assert model_of(*request("a", user=REPLICASET)[3:]).rows == []


def test_the_revisions_of_a_row_are_the_first_and_the_last() -> None:
    spans = [link for number in (33, 31, 35) for link in request(f"r{number}", user=REPLICASET, revision=number)]
    assert only(model_of(*spans), Kind.STORE).note == "rev 31-35"
