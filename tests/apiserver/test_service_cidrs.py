"""ServiceCIDRs and IPAddresses: the objects that the addresses of Services are kept in
(after pkg/registry/core/service/ipallocator, test/integration/servicecidr)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from engine.api.errors import ApiError
from engine.api.types import EVENTS, GVR, SERVICES, Object
from engine.apiserver.own_events import SERIES_EVENTS
from engine.apiserver.server import ApiServer
from engine.apiserver.services.service_cidrs import IP_ADDRESSES, SERVICE_CIDRS, ip_address_object
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN

STANDARD = {"ports": [{"port": 80}]}
SECOND = "192.168.7.0/28"  # holds 14 addresses


def service(name: str = "web", **spec: object) -> Object:
    return {"metadata": {"name": name}, "spec": {**STANDARD, **spec}}


async def make(client: Client, name: str = "web", **spec: object) -> Object:
    made: Object = (await client.create(SERVICES, service(name, **spec), namespace="default"))["spec"]
    return made


async def addresses(client: Client) -> dict[str, str]:
    """Each address with the Service that has it."""
    found = (await client.list(IP_ADDRESSES)).items
    return {each["metadata"]["name"]: each["spec"]["parentRef"]["name"] for each in found}


async def add_range(client: Client, name: str, *cidrs: str, **metadata: object) -> Object:
    return await client.create(SERVICE_CIDRS, {"metadata": {"name": name, **metadata}, "spec": {"cidrs": list(cidrs)}})


@pytest.fixture
async def small(world: World) -> AsyncIterator[Client]:
    """A cluster with 2 addresses, of which the API itself has one."""
    store = await SqliteStore.open(None, clock=world.clock)
    server = ApiServer(world, store, config=ClusterConfig(service_cidr="10.0.0.0/30"))
    await server.start()
    yield Client(InProcessTransport(server, ADMIN), user_agent="test")
    await server.stop()
    await store.close()


async def test_a_new_cluster_has_the_range_of_its_flags(client: Client, world: World) -> None:
    cidr = await client.get(SERVICE_CIDRS, "kubernetes")
    assert cidr["spec"] == {"cidrs": ["10.96.0.0/12"]}
    assert cidr["status"]["conditions"] == [
        {
            "type": "Ready",
            "status": "True",
            "reason": "",
            "message": "Kubernetes default Service CIDR is ready",
            "lastTransitionTime": world.clock.timestamp(),
        }
    ]
    managers = {(each["manager"], each["operation"]) for each in cidr["metadata"]["managedFields"]}
    assert managers == {("kube-apiserver", "Update"), ("kubernetes-service-cidr-controller", "Apply")}
    assert await addresses(client) == {"10.96.0.1": "kubernetes"}


async def test_an_address_has_an_object_as_long_as_its_service_has_it(client: Client) -> None:
    address = (await make(client))["clusterIP"]
    found = await client.get(IP_ADDRESSES, address)
    assert found["metadata"]["labels"] == {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    }
    assert found["spec"] == {"parentRef": {"resource": "services", "namespace": "default", "name": "web"}}
    stored = await client.get(SERVICES, "web", namespace="default")
    assert int(found["metadata"]["resourceVersion"]) < int(stored["metadata"]["resourceVersion"])
    await client.delete(SERVICES, "web", namespace="default")
    assert await addresses(client) == {"10.96.0.1": "kubernetes"}


async def test_a_service_that_becomes_a_name_lets_its_address_go(client: Client) -> None:
    await make(client)
    named = {"type": "ExternalName", "externalName": "a.example", "clusterIP": None, "clusterIPs": None}
    await client.patch(SERVICES, "web", {"spec": named}, namespace="default")
    assert await addresses(client) == {"10.96.0.1": "kubernetes"}


# What a Service asks for that comes to nothing, and what is said.
REFUSED: dict[str, tuple[Object, str]] = {
    "an address that is taken": ({"clusterIP": "10.96.0.1"}, "provided IP is already allocated"),
    "the address of the network": (
        {"clusterIP": "10.96.0.0"}, "the provided network does not match the current range",
    ),
    "the broadcast address": (
        {"clusterIP": "10.111.255.255"}, "the provided network does not match the current range",
    ),
    "an address of no range": (
        {"clusterIP": "192.168.7.1"}, "the provided network does not match the current range",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
async def test_an_address_that_there_is_not(name: str, client: Client) -> None:
    asked, why = REFUSED[name]
    with pytest.raises(ApiError) as caught:
        await make(client, **asked)
    address, where = asked["clusterIP"], 'Service "web" is invalid: spec.clusterIPs: Invalid value: '
    assert caught.value.message == f'{where}["{address}"]: failed to allocate IP {address}: {why}'


async def test_a_service_that_is_refused_keeps_no_address(client: Client) -> None:
    with pytest.raises(ApiError, match=r"spec.ports\[0\].port"):
        await make(client, clusterIP="10.96.0.10", ports=[{"port": 0}])
    await make(client, "present")
    with pytest.raises(ApiError, match="already exists"):
        await make(client, "present", clusterIP="10.96.0.10")
    assert "10.96.0.10" not in await addresses(client)


async def test_a_dry_run_shows_the_network_and_keeps_nothing(client: Client) -> None:
    answer = await client.create(SERVICES, service(), namespace="default", dry_run=True)
    assert answer["spec"]["clusterIP"] == "10.96.0.0"
    assert await addresses(client) == {"10.96.0.1": "kubernetes"}


async def test_an_address_that_somebody_else_keeps_is_not_given(client: Client) -> None:
    gateway = {"group": "gateway.example", "resource": "gateways", "namespace": "default", "name": "edge"}
    await client.create(IP_ADDRESSES, {"metadata": {"name": "10.96.0.10"}, "spec": {"parentRef": gateway}})
    with pytest.raises(ApiError, match="provided IP is already allocated"):
        await make(client, clusterIP="10.96.0.10")


async def test_a_second_range_serves_when_the_first_is_full(small: Client) -> None:
    assert (await make(small, "one"))["clusterIP"] == "10.0.0.2"
    with pytest.raises(ApiError) as caught:
        await make(small, "two")
    assert (caught.value.code, caught.value.message) == (
        500, "Internal error occurred: failed to allocate a serviceIP: range is full",
    )  # fmt: skip
    await add_range(small, "second", SECOND)
    assert (await make(small, "two"))["clusterIP"].startswith("192.168.7.")
    assert (await make(small, "three", clusterIP="192.168.7.14"))["clusterIP"] == "192.168.7.14"
    for number in range(12):
        await make(small, f"more-{number}")
    assert len(await addresses(small)) == 2 + 14
    with pytest.raises(ApiError, match="range is full"):
        await make(small, "last")


async def test_a_range_that_is_not_ready_or_goes_serves_nobody(small: Client) -> None:
    await make(small, "one")
    await add_range(small, "second", SECOND, finalizers=["example.com/kept"])
    condition = {"type": "Ready", "reason": "Closed", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    for status, clusters in (("False", None), ("True", "192.168.7.")):
        conditions = {"conditions": [{**condition, "status": status}]}
        await small.patch(SERVICE_CIDRS, "second", {"status": conditions}, subresource="status")
        if clusters is None:
            with pytest.raises(ApiError, match="the provided network does not match the current range"):
                await make(small, "two", clusterIP="192.168.7.3")
            with pytest.raises(ApiError, match="range is full"):
                await make(small, "two")
        else:
            assert (await make(small, "two"))["clusterIP"].startswith(clusters)
    await small.delete(SERVICE_CIDRS, "second")
    with pytest.raises(ApiError, match="range is full"):
        await make(small, "three")


async def test_what_is_left_over_is_put_right(client: Client, world: World) -> None:
    """A Service without its address gets it back, an address without its Service goes."""
    await make(client, "web", clusterIP="10.96.0.10")
    await world.clock.sleep(1)  # the repair has looked at it, and found it well
    await client.delete(IP_ADDRESSES, "10.96.0.10")
    lost = ip_address_object("10.96.0.11", {"metadata": {"namespace": "default", "name": "nobody"}})
    await client.create(IP_ADDRESSES, lost)
    wrong = ip_address_object("10.96.0.12", {"metadata": {"namespace": "default", "name": "web"}})
    await client.create(IP_ADDRESSES, wrong)
    await world.clock.sleep(30)
    assert set(await addresses(client)) == {"10.96.0.1", "10.96.0.11", "10.96.0.12"}, "it may be on its way"
    await world.clock.sleep(60)
    assert set(await addresses(client)) == {"10.96.0.1"}
    await world.clock.sleep(180)
    assert await addresses(client) == {"10.96.0.1": "kubernetes", "10.96.0.10": "web"}
    said = {(each["reason"], each["note"]) for each in (await client.list(SERIES_EVENTS)).items}
    of = "IPAddress: 10.96.0.1{} for Service default/{}"
    assert said == {
        ("ClusterIPNotAllocated", "Cluster IP [IPv4]: 10.96.0.10 is not allocated; repairing"),
        ("IPAddressNotAllocated", of.format(1, "nobody") + " appears to have leaked: cleaning up"),
        ("IPAddressWrongReference", of.format(2, "web") + " has a wrong reference; cleaning up"),
    }


async def test_an_address_that_was_given_to_somebody_else_comes_back(client: Client, world: World) -> None:
    await make(client, "web", clusterIP="10.96.0.10")
    await client.delete(IP_ADDRESSES, "10.96.0.10")
    taken = ip_address_object("10.96.0.10", {"metadata": {"namespace": "default", "name": "web"}})
    taken["spec"]["parentRef"].update(group="gateway.example", resource="gateways")
    await client.create(IP_ADDRESSES, taken)
    await world.clock.sleep(10)
    said = {(each["reason"], each["note"]) for each in (await client.list(SERIES_EVENTS)).items}
    shown = "&ParentReference{Group:gateway.example,Resource:gateways,Namespace:default,Name:web,}"
    text = f"IPAddress 10.96.0.10 appears to have been modified, not referencing a Service {shown}: cleaning up"
    assert ("IPAddressNotAllocated", text) in said


async def test_an_address_is_never_completed(client: Client) -> None:
    """generateName stands as it is, and is taken the second time."""
    parent = {"resource": "gateways", "group": "gateway.example", "name": "edge"}
    drawn = {"metadata": {"generateName": "10.96.0.10"}, "spec": {"parentRef": parent}}
    assert (await client.create(IP_ADDRESSES, drawn))["metadata"]["name"] == "10.96.0.10"
    with pytest.raises(ApiError, match=r'"10.96.0.10" already exists, the server was not able to generate a unique'):
        await client.create(IP_ADDRESSES, drawn)


async def test_the_range_of_other_flags(world: World, store: SqliteStore) -> None:
    """A second family is added, another range is told of, once."""

    async def restarted(ranges: str) -> tuple[list[str], list[str]]:
        server = ApiServer(world, store, config=ClusterConfig(service_cidr=ranges))
        await server.start()
        client = Client(InProcessTransport(server, ADMIN), user_agent="test")
        try:
            await world.clock.sleep(30)
            said = [each["message"] for each in (await client.list(EVENTS)).items]
            return (await client.get(SERVICE_CIDRS, "kubernetes"))["spec"]["cidrs"], said
        finally:
            await server.stop()

    both = ["10.96.0.0/12", "fd00:96::/108"]
    assert await restarted("10.96.0.0/12") == (["10.96.0.0/12"], [])
    assert await restarted("10.96.0.0/12,fd00:96::/108") == (both, [])
    text = "[10.96.0.0/12 fd00:96::/108] does not match the controller flag configurations [10.96.0.0/16]"
    assert await restarted("10.96.0.0/16") == (both, [f"The default ServiceCIDR {text}"])


async def test_older_versions_have_no_objects_of_it(world: World) -> None:
    store = await SqliteStore.open(None, clock=world.clock)
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version="1.32"))
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    try:
        assert (await make(client, clusterIP="10.96.0.10"))["clusterIP"] == "10.96.0.10"
        with pytest.raises(ApiError) as caught:
            await client.list(GVR("networking.k8s.io", "v1", "servicecidrs"))
        assert caught.value.code == 404
    finally:
        await server.stop()
        await store.close()
