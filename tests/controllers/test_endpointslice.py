"""Endpoints of Pods, and how they are laid out in slices (after upstream's reconciler_test.go and utils_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.controllers.endpointslice.endpoints import (
    address_types,
    belongs_in_endpoints,
    endpoint_of,
    endpoint_ports,
    with_hints,
)
from engine.controllers.endpointslice.planning import Plan, plan
from engine.controllers.endpointslice.tracking import SliceTracker, TriggerTimes
from tests.controllers.objects import pod

NODES: dict[str, Object] = {
    "node-1": {"metadata": {"name": "node-1", "labels": {"topology.kubernetes.io/zone": "zone-a"}}}
}


def service(**spec: Any) -> Object:
    return {
        "metadata": {
            "name": "web",
            "namespace": "default",
            "uid": "service-uid",
            "labels": {"tier": "front"},
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "clusterIP": "10.96.0.10",
            "ipFamilies": ["IPv4"],
            "selector": {"app": "web"},
            "ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}],
            **spec,
        },
    }


def conditions(target: Object, of: Object) -> dict[str, bool]:
    found: dict[str, bool] = endpoint_of(of, NODES["node-1"], target, "IPv4")["conditions"]
    return found


LEAVING = {"deletionTimestamp": "2026-01-01T00:00:30Z"}


@pytest.mark.parametrize(
    ("fields", "publish", "expected"),
    [
        pytest.param({}, False, (True, True, False), id="ready"),
        pytest.param({"ready": False}, False, (False, False, False), id="not ready"),
        pytest.param({"metadata": LEAVING}, False, (False, True, True), id="terminating and still serving"),
        pytest.param({"metadata": LEAVING, "ready": False}, False, (False, False, True), id="terminating"),
        pytest.param({"ready": False}, True, (True, False, False), id="published although not ready"),
    ],
)
def test_conditions(fields: dict[str, Any], publish: bool, expected: tuple[bool, bool, bool]) -> None:
    found = conditions(service(publishNotReadyAddresses=publish), pod("a", **fields))
    assert (found["ready"], found["serving"], found["terminating"]) == expected


def test_an_endpoint_says_where_it_is() -> None:
    named = pod("a", hostname="db-0", subdomain="web")
    endpoint = endpoint_of(named, NODES["node-1"], service(), "IPv4")
    assert endpoint["addresses"] == ["10.244.0.2"]
    assert (endpoint["nodeName"], endpoint["zone"], endpoint["hostname"]) == ("node-1", "zone-a", "db-0")
    assert endpoint["targetRef"] == {"kind": "Pod", "namespace": "default", "name": "a", "uid": "a-uid"}
    assert endpoint_of(named, None, service(), "IPv6")["addresses"] == []


@pytest.mark.parametrize(
    ("preference", "hints"),
    [
        pytest.param("", None, id="none"),
        pytest.param("PreferClose", {"forZones": [{"name": "zone-a"}]}, id="close"),
        pytest.param("PreferSameZone", {"forZones": [{"name": "zone-a"}]}, id="same zone"),
        pytest.param(
            "PreferSameNode", {"forZones": [{"name": "zone-a"}], "forNodes": [{"name": "node-1"}]}, id="same node"
        ),
    ],
)
def test_traffic_distribution(preference: str, hints: Object | None) -> None:
    target = service(trafficDistribution=preference)
    assert with_hints(target, endpoint_of(pod("a"), NODES["node-1"], target, "IPv4")).get("hints") == hints


def test_a_node_without_a_zone_is_hinted_by_itself() -> None:
    nowhere = {"metadata": {"name": "node-1", "labels": {}}}
    target = service(trafficDistribution="PreferSameNode")
    found = with_hints(target, endpoint_of(pod("a"), nowhere, target, "IPv4"))
    assert found["hints"] == {"forNodes": [{"name": "node-1"}]}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, True, id="running"),
        pytest.param({"ip": ""}, False, id="no address yet"),
        pytest.param({"phase": "Succeeded"}, False, id="over"),
        pytest.param({"phase": "Failed"}, False, id="failed"),
        pytest.param({"metadata": LEAVING}, True, id="terminating"),
    ],
)
def test_which_pods_are_endpoints(fields: dict[str, Any], expected: bool) -> None:
    assert belongs_in_endpoints(pod("a", **fields)) is expected


@pytest.mark.parametrize(
    ("spec", "types"),
    [
        pytest.param({}, ["IPv4"], id="as it says"),
        pytest.param({"ipFamilies": ["IPv6", "IPv4"]}, ["IPv4", "IPv6"], id="dual stack"),
        pytest.param({"ipFamilies": [], "clusterIP": "fd00::1"}, ["IPv6"], id="by its address"),
        pytest.param({"ipFamilies": [], "clusterIP": "None"}, ["IPv4", "IPv6"], id="headless may be both"),
    ],
)
def test_address_types(spec: dict[str, Any], types: list[str]) -> None:
    assert address_types(service(**spec)) == types


def test_named_ports_are_those_of_each_pod() -> None:
    target = service(
        ports=[
            {"name": "http", "port": 80, "protocol": "TCP", "targetPort": "web", "appProtocol": "http"},
            {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": "web"},
        ]
    )
    found = endpoint_ports(target, pod("a", ports=[{"name": "web", "containerPort": 8080, "protocol": "TCP"}]))
    assert found == [{"name": "http", "port": 8080, "protocol": "TCP", "appProtocol": "http"}]
    sidecar = {"restartPolicy": "Always", "ports": [{"name": "web", "containerPort": 9090, "protocol": "UDP"}]}
    found = endpoint_ports(target, pod("b", initContainers=[sidecar]))
    assert found == [{"name": "dns", "port": 9090, "protocol": "UDP"}]


# -- slices


def many(count: int, start: int = 0, **fields: Any) -> list[Object]:
    return [pod(f"p{n}", ip=f"10.244.{n // 250}.{n % 250 + 1}", **fields) for n in range(start, start + count)]


def planned(pods: list[Object], slices: list[Object], target: Object | None = None) -> Plan:
    return plan(target or service(), pods, slices=slices, nodes=NODES, address_type="IPv4")


def existing(changes: Plan) -> list[Object]:
    """What the server would have after the creations of a plan."""
    return [
        {**each, "metadata": {**each["metadata"], "name": f"web-{n}", "uid": f"slice-{n}", "resourceVersion": "1"}}
        for n, each in enumerate(changes.create)
    ]


def test_the_first_slice() -> None:
    changes = planned([pod("a")], [])
    assert (changes.update, changes.delete) == ([], [])
    created = changes.create[0]
    assert created["metadata"]["generateName"] == "web-"
    assert created["metadata"]["labels"] == {
        "tier": "front",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    assert created["ports"] == [{"name": "", "port": 8080, "protocol": "TCP"}]
    assert [each["targetRef"]["name"] for each in created["endpoints"]] == ["a"]


def test_a_headless_service_says_so_on_its_slices() -> None:
    labels = planned([pod("a")], [], service(clusterIP="None")).create[0]["metadata"]["labels"]
    assert labels["service.kubernetes.io/headless"] == ""


def test_slices_hold_a_hundred() -> None:
    changes = planned(many(250), [])
    assert [len(each["endpoints"]) for each in changes.create] == [100, 100, 50]


def test_nothing_changed_is_nothing_written() -> None:
    slices = existing(planned(many(3), []))
    assert planned(many(3), slices) == Plan(unchanged=slices)


def test_one_more_goes_into_the_slice_that_has_room() -> None:
    slices = existing(planned(many(150), []))
    changes = planned(many(151), slices)
    assert (changes.create, changes.delete) == ([], [])
    assert [(each["metadata"]["name"], len(each["endpoints"])) for each in changes.update] == [("web-1", 51)]
    assert len(slices[1]["endpoints"]) == 50, "the cache is not written to"


def test_one_that_changed_is_updated_in_place() -> None:
    slices = existing(planned(many(3), []))
    changes = planned([*many(2), pod("p2", ip="10.244.0.3", ready=False)], slices)
    assert [each["conditions"]["ready"] for each in changes.update[0]["endpoints"]] == [True, True, False]


def test_a_pod_that_was_made_anew_with_its_address_is_updated_in_place() -> None:
    slices = existing(planned(many(3), []))
    [again, *others] = many(3)
    again = {**again, "metadata": {**again["metadata"], "uid": "another"}}
    changes = planned([*others, again], slices)
    assert changes.update[0]["endpoints"][0]["targetRef"]["uid"] == "another"
    assert [each["targetRef"]["name"] for each in changes.update[0]["endpoints"]] == ["p0", "p1", "p2"]


def test_the_last_pod_gone_leaves_a_placeholder_in_place() -> None:
    slices = existing(planned(many(1), []))
    changes = planned([], slices)
    assert (changes.create, changes.delete) == ([], [])
    assert changes.update[0]["metadata"]["name"] == "web-0"
    assert (changes.update[0]["endpoints"], changes.update[0]["ports"]) == ([], [])
    assert planned([], changes.update) == Plan(), "and it stays"


def test_different_numbers_of_a_named_port_are_different_slices() -> None:
    target = service(ports=[{"name": "http", "port": 80, "protocol": "TCP", "targetPort": "web"}])
    pods = [
        pod(name, ip=ip, ports=[{"name": "web", "containerPort": number, "protocol": "TCP"}])
        for name, ip, number in (("a", "10.244.0.2", 80), ("b", "10.244.0.3", 8080))
    ]
    changes = planned(pods, [], target)
    assert [each["ports"][0]["port"] for each in changes.create] == [80, 8080]


def test_changed_labels_of_the_service_reach_its_slices() -> None:
    slices = existing(planned(many(1), []))
    target = service()
    target["metadata"]["labels"] = {"tier": "back"}
    changes = planned(many(1), slices, target)
    assert changes.update[0]["metadata"]["labels"]["tier"] == "back"


def test_slices_of_an_earlier_service_of_the_name_are_not_reused() -> None:
    slices = existing(planned(many(1), []))
    target = service()
    target["metadata"]["uid"] = "another"
    changes = planned(many(1), slices, target)
    assert changes.delete == slices
    assert len(changes.create) == 1


def test_a_pod_on_a_node_that_is_not_there_is_left_out_and_told() -> None:
    changes = planned([pod("a", node="gone")], [])
    assert changes.skipped == ["skipping Pod a for Service default/web: Node gone Not Found"]
    assert changes.create[0]["endpoints"] == []


def versioned(uid: str, revision: int) -> Object:
    return {"metadata": {"uid": uid, "resourceVersion": str(revision)}}


def test_own_writes_are_told_from_those_of_others_and_from_a_cache_that_lags() -> None:
    tracker = SliceTracker()
    tracker.wrote("default/web", versioned("s", 5))
    assert not tracker.is_news("default/web", versioned("s", 5))
    assert tracker.is_news("default/web", versioned("s", 6))
    assert tracker.is_stale("default/web", [])
    assert tracker.is_stale("default/web", [versioned("s", 4)])
    assert not tracker.is_stale("default/web", [versioned("s", 5)])
    tracker.deleted("default/web", versioned("s", 5))
    assert tracker.is_stale("default/web", [versioned("s", 5)])
    assert not tracker.is_unexpected_deletion("default/web", versioned("s", 5))
    tracker.wrote("default/web", versioned("t", 9))
    assert tracker.is_unexpected_deletion("default/web", versioned("t", 9))


def test_the_trigger_time_is_the_oldest_change_not_yet_answered() -> None:
    times = TriggerTimes()
    first = times.compute("default/web", service(), [pod("a", since="2026-01-01T00:00:10Z")])
    assert first is not None
    assert first.second == 0, "the Service is the oldest"
    pods = [pod("a", since="2026-01-01T00:00:30Z"), pod("b", since="2026-01-01T00:00:20Z")]
    second = times.compute("default/web", service(), pods)
    assert second is not None
    assert second.second == 20
    assert times.compute("default/web", service(), pods) is None
