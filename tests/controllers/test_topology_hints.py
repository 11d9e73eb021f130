"""Topology Aware Routing (upstream's endpointslice/topologycache tests)."""

from __future__ import annotations

import pytest

from engine.api.types import ENDPOINT_SLICES, NODES, PODS, SERVICES, Object
from engine.controllers.endpointslice.planning import Plan
from engine.controllers.endpointslice.topology import MODE, Allocation, add_hints, allocations, cpu_ratios, exchange
from engine.world import World
from tests.controllers.cluster import PodHands, running

NO_INFO = "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"


def node(zone: str, cpu: str = "1", *, ready: str = "True", **labels: str) -> Object:
    found = {"topology.kubernetes.io/zone": zone} if zone else {}
    status = {"allocatable": {"cpu": cpu}, "conditions": [{"type": "Ready", "status": ready}]}
    return {"metadata": {"name": f"node-{zone}", "labels": {**found, **labels}}, "status": status}


CONTROL_PLANE = {"node-role.kubernetes.io/control-plane": ""}


@pytest.mark.parametrize(
    ("nodes", "ratios"),
    [
        pytest.param([node("a"), node("b", "3")], {"a": 0.25, "b": 0.75}, id="by CPU"),
        pytest.param([node("a"), node("b"), node("b")], {"a": 1 / 3, "b": 2 / 3}, id="several in a zone"),
        pytest.param([node("a"), node("b"), node("c", ready="False")], {"a": 0.5, "b": 0.5}, id="only ready ones"),
        pytest.param([node("a"), node("b"), node("c", **CONTROL_PLANE)], {"a": 0.5, "b": 0.5}, id="no control plane"),
        pytest.param([node("a"), node("b"), node("")], {}, id="one without a zone"),
        pytest.param([node("a"), node("b", "0")], {}, id="one without CPU"),
        pytest.param([node("a"), node("a")], {}, id="one zone alone"),
    ],
)
def test_shares_of_the_cpu(nodes: list[Object], ratios: dict[str, float]) -> None:
    assert cpu_ratios(nodes) == pytest.approx(ratios)


@pytest.mark.parametrize(
    ("ratios", "endpoints", "expected", "problem"),
    [
        pytest.param({}, 5, {}, NO_INFO, id="nothing known"),
        pytest.param({"a": 0.5, "b": 0.5}, 1, {}, "Insufficient number of endpoints (1 endpoints, 2 zones)", id="few"),
        pytest.param(
            {"a": 0.33, "b": 0.33, "c": 0.34}, 3,
            {"a": Allocation(1, 1, 1.0), "b": Allocation(1, 1, 1.0), "c": Allocation(1, 1, 1.02)}, "", id="one each",
        ),
        pytest.param(
            {"a": 0.7, "b": 0.3}, 10, {"a": Allocation(6, 7, 7.0), "b": Allocation(3, 4, 3.0)}, "", id="by share"
        ),
        pytest.param(
            {"a": 0.5, "b": 0.25, "c": 0.25}, 3, {},
            "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold "
            "(3 endpoints, 3 zones)", id="too uneven",
        ),
    ],
)  # fmt: skip
def test_allocations(ratios: dict[str, float], endpoints: int, expected: dict[str, Allocation], problem: str) -> None:
    assert allocations(ratios, endpoints) == (expected, problem)


def test_zones_give_what_they_have_too_much() -> None:
    wanted = {"a": Allocation(4, 5, 4.0), "b": Allocation(4, 5, 4.0)}
    assert exchange(wanted, {"a": 6, "b": 2}) == ({"a": 2}, {"b": 2})
    assert exchange(wanted, {"a": 4, "b": 4}) == ({}, {})
    uneven = {"a": Allocation(1, 2, 1.6), "b": Allocation(1, 2, 1.4)}
    assert exchange(uneven, {"a": 2, "b": 1}) == ({}, {}), "less than half an endpoint is not worth it"


def piece(*zones: str, ready: bool = True) -> Object:
    listed = [
        {"addresses": [f"10.0.0.{number}"], "zone": zone, "conditions": {"ready": ready}}
        for number, zone in enumerate(zones)
    ]
    return {"metadata": {"name": "web-1"}, "endpoints": listed}


def hints(each: Object) -> list[str]:
    """The zone that each endpoint is hinted to."""
    given = [endpoint.get("hints") or {} for endpoint in each.get("endpoints") or ()]
    return [hint.get("forZones", [{"name": ""}])[0]["name"] for hint in given]


HALVES = {"a": 0.5, "b": 0.5}


def test_endpoints_are_hinted_to_their_zone_and_some_to_another() -> None:
    changes = Plan(create=[piece("a", "a", "a", "b")])
    given, told = add_hints(changes, HALVES, "IPv4", hinted_before=False)
    assert given
    assert told is not None
    assert told.message == "Topology Aware Hints has been enabled, addressType: IPv4"
    assert sorted(hints(changes.create[0])) == ["a", "a", "b", "b"]


def test_hints_that_still_fit_stay() -> None:
    changes = Plan(create=[piece("a", "b")])
    add_hints(changes, HALVES, "IPv4", hinted_before=False)
    again = Plan(unchanged=[changes.create[0]])
    assert add_hints(again, HALVES, "IPv4", hinted_before=True) == (True, None)
    assert (again.update, len(again.unchanged)) == ([], 1)


def test_hints_go_where_they_cannot_be() -> None:
    changes = Plan(create=[piece("a", "b")])
    add_hints(changes, HALVES, "IPv4", hinted_before=False)
    again = Plan(unchanged=[changes.create[0]])
    given, told = add_hints(again, {}, "IPv4", hinted_before=True)
    assert not given
    assert told is not None
    assert told.message == f"{NO_INFO}, addressType: IPv4"
    assert hints(again.update[0]) == ["", ""]


async def test_a_service_asks_for_hints(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster, node="node-1"):
        await cluster.eventually_service_account("default")
        await cluster.admin.create(NODES, {"kind": "Node", **node("zone-b")})
        for name in ("node-1", "node-zone-b"):
            status = node("zone-a")["status"]
            await cluster.admin.patch(NODES, name, {"status": status}, subresource="status")
        metadata = {"name": "web", "annotations": {MODE: "Auto"}}
        spec = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
        await cluster.admin.create(
            SERVICES, {"kind": "Service", "metadata": metadata, "spec": spec}, namespace="default"
        )
        for number in range(4):
            pod = {"name": f"p{number}", "labels": {"app": "web"}}
            made = {"kind": "Pod", "metadata": pod, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
            await cluster.admin.create(PODS, made, namespace="default")

        async def hinted() -> bool:
            found = [hints(each) for each in await cluster.objects(ENDPOINT_SLICES, namespace="default")]
            return ["zone-a", "zone-a", "zone-b", "zone-b"] in [sorted(each) for each in found]

        await cluster.eventually("two are for the other zone", hinted)
        assert await cluster.events("TopologyAwareHintsEnabled") == [
            "Topology Aware Hints has been enabled, addressType: IPv4"
        ]
