"""Endpoints: what they show of Pods (upstream's endpoints_controller_test.go and api/v1/endpoints/util_test.go), and
what becomes of those without a Service."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import ENDPOINTS, SERVICES, Object
from engine.client import Client
from engine.controllers.endpoints import EndpointsController
from engine.controllers.endpoints.ordering import port_order, subset_order
from engine.controllers.endpoints.subsets import subsets_of
from engine.world import World
from tests.controllers.cluster import running

WEB, ADMIN = {"name": "web", "port": 80, "targetPort": 8080}, {"name": "admin", "port": 81, "targetPort": "adm"}


def service(*ports: Object, **spec: Any) -> Object:
    return {"metadata": {"name": "s"}, "spec": {"clusterIP": "10.0.0.1", "ports": list(ports), **spec}}


def pod(name: str, ip: str, *, ready: bool = True, adm: int = 0, phase: str = "Running", **metadata: Any) -> Object:
    ports = [{"name": "adm", "containerPort": adm, "protocol": "TCP"}] if adm else []
    conditions = [{"type": "Ready", "status": str(ready)}]
    return {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", **metadata},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "ports": ports}]},
        "status": {"phase": phase, "conditions": conditions, "podIPs": [{"ip": ip}] if ip else []},
    }


GOING: dict[str, Any] = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
A, B, C = pod("a", "10.1.0.1"), pod("b", "10.1.0.2", adm=9000), pod("c", "10.1.0.3", ready=False)
HEADLESS = service(clusterIP="None")

# By row: the Service, its Pods, and the subsets: who is ready, who is not, and the ports.
ROWS: dict[str, tuple[Object, list[Object], list[str]]] = {
    "none": (service(WEB), [], []),
    "ready and not": (service(WEB), [A, C], ["a / c : web=8080"]),
    "all are published": (service(WEB, publishNotReadyAddresses=True), [A, C], ["a c / : web=8080"]),
    "one that goes": (service(WEB), [A, pod("d", "10.1.0.4", **GOING)], ["a / : web=8080"]),
    "one that goes, published": (
        service(WEB, publishNotReadyAddresses=True), [A, pod("d", "10.1.0.4", **GOING)], ["a d / : web=8080"]
    ),
    "over, or without an address": (
        service(WEB), [pod("d", "10.1.0.4", phase="Failed"), pod("e", "10.1.0.5", phase="Succeeded"), pod("f", "")], []
    ),
    "several ports": (service(WEB, ADMIN), [B], ["b / : web=8080 admin=9000"]),
    "a named port that only one has": (service(WEB, ADMIN), [A, B], ["a b / : web=8080", "b / : admin=9000"]),
    "a named port of several numbers": (
        service(WEB, ADMIN), [B, pod("d", "10.1.0.4", adm=9001)],
        ["b / : admin=9000", "b d / : web=8080", "d / : admin=9001"],
    ),
    "nobody has the named port": (service(ADMIN), [A], []),
    "two of one address": (service(WEB), [A, pod("d", "10.1.0.1", ready=False)], ["a / d : web=8080"]),
    "headless without ports": (HEADLESS, [A, C], ["a / c :"]),
    "of another family": (service(WEB, ipFamilies=["IPv6"]), [A, pod("d", "fd00::1")], ["d / : web=8080"]),
}  # fmt: skip


def shown(subset: Object) -> str:
    lists = [[each["targetRef"]["name"] for each in subset.get(field, ())] for field in FIELDS]
    ports = [f"{port['name']}={port['port']}" for port in subset.get("ports", ())]
    return " ".join([*lists[0], "/", *lists[1], ":", *ports])


FIELDS = ("addresses", "notReadyAddresses")


def test_ports_and_subsets_come_in_the_order_of_their_hashes() -> None:
    """As SortSubsets puts these."""
    target = {"kind": "Pod", "namespace": "default", "name": "b", "uid": "uid-b"}
    ports = [
        {"name": "web", "port": 8080, "protocol": "TCP"},
        {"name": "admin", "port": 9000, "protocol": "TCP"},
        {"name": "dns", "port": 53, "protocol": "UDP"},
        {"name": "x", "port": 443, "protocol": "TCP", "appProtocol": "tls"},
    ]
    assert [port["name"] for port in sorted(ports, key=port_order)] == ["web", "x", "dns", "admin"]
    subsets: list[Object] = [
        {
            "addresses": [{"ip": "10.0.0.1", "nodeName": "n", "targetRef": target}],
            "ports": sorted(ports, key=port_order),
        },
        {
            "addresses": [{"ip": "10.0.0.2", "hostname": "h"}],
            "notReadyAddresses": [{"ip": "10.0.0.3"}],
            "ports": [{"name": "web", "port": 8081, "protocol": "TCP"}],
        },
        {"addresses": [{"ip": "10.0.0.4"}]},
    ]
    found = [subset["addresses"][0]["ip"] for subset in sorted(subsets, key=subset_order)]
    assert found == ["10.0.0.2", "10.0.0.4", "10.0.0.1"]


@pytest.mark.parametrize("name", ROWS)
def test_subsets(name: str) -> None:
    of, pods, wanted = ROWS[name]
    subsets, over = subsets_of(of, pods)
    assert (sorted(map(shown, subsets)), over) == (wanted, False)


@pytest.mark.parametrize(
    ("counts", "left"),
    [
        pytest.param([(1000, 0)], [(1000, 0)], id="as many as there may be"),
        pytest.param([(1001, 5)], [(1000, 0)], id="too many that are ready"),
        pytest.param([(990, 20)], [(990, 10)], id="too many that are not"),
        pytest.param([(600, 300), (300, 100)], [(600, 75), (300, 25)], id="each its share"),
        pytest.param([(800, 1), (800, 1)], [(500, 0), (500, 0)], id="each its share of the ready ones"),
    ],
)
def test_at_most_a_thousand_addresses(counts: list[tuple[int, int]], left: list[tuple[int, int]]) -> None:
    pods = [
        pod(f"{group}-{number}", f"10.{group}.{number // 250}.{number % 250}", ready=number < ready, adm=9000 + group)
        for group, (ready, unready) in enumerate(counts)
        for number in range(ready + unready)
    ]
    subsets, over = subsets_of(service(ADMIN), pods)
    assert sorted([tuple(len(each.get(field, ())) for field in FIELDS) for each in subsets], reverse=True) == left
    assert over is (sum(map(sum, counts)) > 1000)


async def test_endpoints_without_a_service_go(world: World) -> None:
    leader = {"control-plane.alpha.kubernetes.io/leader": "{}"}

    async def given(admin: Client) -> None:
        for name in ("with", "later"):
            made = {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}
            await admin.create(SERVICES, made, namespace="default")
        for name in ("with", "later", "without", "leader"):
            metadata = {"name": name, "annotations": leader if name == "leader" else {}}
            await admin.create(ENDPOINTS, {"metadata": metadata}, namespace="default")

    async with running(world, controllers=(EndpointsController,), given=given) as cluster:

        async def names() -> set[str]:
            return {each["metadata"]["name"] for each in await cluster.objects(ENDPOINTS, namespace="default")}

        await cluster.gone(ENDPOINTS, "without")
        await cluster.admin.delete(SERVICES, "later", namespace="default")
        await cluster.gone(ENDPOINTS, "later")
        assert {"with", "leader"} <= await names()
