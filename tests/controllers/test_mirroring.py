"""Endpoints kept by hand as EndpointSlices (upstream's endpointslicemirroring reconciler_test.go), and disruptions that
never came."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import ENDPOINT_SLICES, ENDPOINTS, PODS, SERVICES, Object
from engine.controllers.endpointslicemirroring import MIRROR, plan, skipped_addresses, wanted_slices
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running


def endpoints(*subsets: Object, **metadata: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": "db", "namespace": "default", **metadata},
        "subsets": list(subsets),
    }


PORT = {"name": "sql", "port": 5432, "protocol": "TCP"}


def subset(*ips: str, unready: tuple[str, ...] = ()) -> Object:
    made: Object = {"addresses": [{"ip": ip} for ip in ips], "ports": [PORT]}
    if unready:
        made["notReadyAddresses"] = [{"ip": ip} for ip in unready]
    return made


def test_a_slice_for_each_set_of_ports_and_family() -> None:
    other = {**subset("10.0.0.3"), "ports": [{**PORT, "port": 5433}]}
    of = endpoints(subset("10.0.0.1", "2001:db8::1", unready=("10.0.0.2",)), other, subset("10.0.0.4"), uid="u")
    made = wanted_slices(of)
    assert [
        (each["addressType"], [(e["addresses"][0], e["conditions"]["ready"]) for e in each["endpoints"]])
        for each in made
    ] == [
        ("IPv4", [("10.0.0.1", True), ("10.0.0.4", True), ("10.0.0.2", False)]),
        ("IPv6", [("2001:db8::1", True)]),
        ("IPv4", [("10.0.0.3", True)]),
    ]
    assert made[0]["ports"] == [PORT]


def test_subsets_are_repacked_before() -> None:
    other = {**PORT, "name": "admin", "port": 5433}
    of = endpoints(
        subset("10.0.0.1"),
        {**subset(unready=("10.0.0.1",)), "ports": [other]},
        {**subset("10.0.0.1"), "ports": [other, {**PORT, "name": "metrics", "port": 9000}]},
        uid="u",
    )
    assert [
        ([port["name"] for port in each["ports"]], [endpoint["conditions"]["ready"] for endpoint in each["endpoints"]])
        for each in wanted_slices(of)
    ] == [(["sql", "metrics"], [True]), (["admin"], [False])]


def test_a_slice_has_all_addresses_of_a_subset_up_to_a_thousand() -> None:
    many = [f"10.0.{number // 250}.{number % 250 + 1}" for number in range(1010)]
    of = endpoints(subset(*many), uid="u")
    assert [len(each["endpoints"]) for each in wanted_slices(of)] == [1000]
    assert skipped_addresses(of) == 10


OTHER = {**PORT, "port": 5433}
SETS: dict[str, tuple[list[Object], list[Object], list[str], list[str], list[str]]] = {
    "nothing yet": ([], [subset("10.0.0.1")], ["IPv4"], [], []),
    "as it was": ([subset("10.0.0.1", "10.0.0.2")], [subset("10.0.0.2", "10.0.0.1")], [], [], []),
    "one more": ([subset("10.0.0.1")], [subset("10.0.0.1", "10.0.0.2")], [], ["s0=5432"], []),
    "another port": ([subset("10.0.0.1")], [{**subset("10.0.0.1"), "ports": [OTHER]}], [], ["s0=5433"], []),
    "another family": ([subset("10.0.0.1")], [subset("2001:db8::1")], ["IPv6"], [], ["s0"]),
    "none any more": ([subset("10.0.0.1")], [], [], [], ["s0"]),
    "each keeps its ports": (
        [subset("10.0.0.1"), {**subset("10.0.0.2"), "ports": [OTHER]}],
        [{**subset("10.0.0.3"), "ports": [OTHER]}, subset("10.0.0.4")],
        [], ["s1=5433", "s0=5432"], [],
    ),
    "too many": ([subset("10.0.0.1"), {**subset("10.0.0.2"), "ports": [OTHER]}], [subset("10.0.0.1")], [], [], ["s1"]),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_slices_are_kept_or_changed_where_they_can_be(name: str) -> None:
    before, after, made, changed, deleted = SETS[name]
    existing = wanted_slices(endpoints(*before, uid="u"))
    for number, each in enumerate(existing):
        each["metadata"]["name"] = f"s{number}"
    planned = plan(existing, wanted_slices(endpoints(*after, uid="u")))
    assert [each["addressType"] for each in planned[0]] == made
    assert [f"{each['metadata']['name']}={each['ports'][0]['port']}" for each in planned[1]] == changed
    assert [each["metadata"]["name"] for each in planned[2]] == deleted


async def mirrored(cluster: TestCluster, *addresses: str) -> list[Object]:
    async def there() -> list[Object] | None:
        slices = await cluster.objects(ENDPOINT_SLICES, namespace="default")
        mine = [each for each in slices if each["metadata"]["labels"].get("kubernetes.io/service-name") == "db"]
        shown = [ip for each in mine for endpoint in each["endpoints"] for ip in endpoint["addresses"]]
        return mine if sorted(shown) == sorted(addresses) else None

    found: list[Object] = await cluster.eventually(f"{addresses} are mirrored", there) if addresses else []
    return found


async def test_endpoints_of_a_service_without_a_selector_are_mirrored(world: World) -> None:
    async with running(world) as cluster:
        service = {"kind": "Service", "metadata": {"name": "db"}, "spec": {"ports": [{"port": 5432}]}}
        await cluster.admin.create(SERVICES, service, namespace="default")
        made = endpoints(subset("10.9.0.1", unready=("10.9.0.2",)), labels={"team": "blue"})
        await cluster.admin.create(ENDPOINTS, made, namespace="default")
        [each] = await mirrored(cluster, "10.9.0.1", "10.9.0.2")
        assert each["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] == MIRROR
        assert each["metadata"]["labels"]["team"] == "blue"
        assert each["metadata"]["ownerReferences"][0]["kind"] == "Endpoints"

        patch = {"subsets": [subset("10.9.0.3")]}
        await cluster.admin.patch(ENDPOINTS, "db", patch, namespace="default")
        [changed] = await mirrored(cluster, "10.9.0.3")
        assert changed["metadata"]["name"] == each["metadata"]["name"], "changed in place"
        await cluster.admin.delete(ENDPOINTS, "db", namespace="default")
        await cluster.gone(ENDPOINT_SLICES, each["metadata"]["name"])


async def test_a_label_says_not_to(world: World) -> None:
    async with running(world) as cluster:
        service = {"kind": "Service", "metadata": {"name": "db"}, "spec": {"ports": [{"port": 5432}]}}
        await cluster.admin.create(SERVICES, service, namespace="default")
        skipped = endpoints(subset("10.9.0.1"), labels={"endpointslice.kubernetes.io/skip-mirror": "true"})
        await cluster.admin.create(ENDPOINTS, skipped, namespace="default")
        await world.clock.sleep(10)
        slices = await cluster.objects(ENDPOINT_SLICES, namespace="default")
        assert not [each for each in slices if each["metadata"]["labels"].get("kubernetes.io/service-name") == "db"]


async def test_a_disruption_that_never_came_is_taken_back(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.eventually_service_account("default")
        pod = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
        await cluster.admin.create(PODS, pod, namespace="default")
        await world.clock.sleep(1)
        condition = {
            "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
            "lastTransitionTime": world.clock.timestamp(),
        }  # fmt: skip
        patch = {"status": {"conditions": [condition]}}
        await cluster.admin.patch(PODS, "web", patch, namespace="default", subresource="status")

        async def target() -> str:
            status = (await cluster.admin.get(PODS, "web", namespace="default"))["status"]
            return next(str(each["status"]) for each in status["conditions"] if each["type"] == "DisruptionTarget")

        await world.clock.sleep(110)
        assert await target() == "True"
        await world.clock.sleep(15)
        assert await target() == "False"
