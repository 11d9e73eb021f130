"""The range of node ports, which all servers of a store share (after pkg/registry/core/service/allocator and
portallocator: operation_test.go, controller/repair_test.go)."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections.abc import AsyncIterator

import pytest

from engine.api.errors import ApiError
from engine.api.types import EVENTS, SERVICES, Object
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.store import DeleteRange, Put, Range
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN

RANGE = b"/registry/ranges/servicenodeports"
A_LOOK = 181


def service(name: str, *numbers: int, **spec: object) -> Object:
    ports = [{"name": f"p{port}", "port": port} | ({"nodePort": number} if number else {}) for port, number in
             enumerate(numbers, 80)]  # fmt: skip
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"type": "NodePort", "ports": ports, **spec}}


async def make(client: Client, obj: Object, *, dry_run: bool = False) -> Object:
    return await client.create(SERVICES, obj, namespace="default", dry_run=dry_run)


def of(made: Object) -> list[int]:
    return [port["nodePort"] for port in made["spec"]["ports"]]


async def taken(store: SqliteStore) -> list[int]:
    """As big.Int's Bytes has them."""
    kept = json.loads((await store.range(Range(RANGE))).kvs[0].value)
    assert (kept["kind"], kept["apiVersion"], kept["range"]) == ("RangeAllocation", "v1", "30000-32767")
    bits = int.from_bytes(b64decode(kept["data"]), "big")
    return [30000 + number for number in range(bits.bit_length()) if bits >> number & 1]


@pytest.fixture
async def second(world: World, store: SqliteStore, server: ApiServer) -> AsyncIterator[Client]:
    """Another server of the same store, which draws the same numbers as the first."""
    other = ApiServer(world, store)
    await other.start()
    yield Client(InProcessTransport(other, ADMIN), user_agent="test")
    await other.stop()


async def test_two_servers_give_no_port_twice(client: Client, second: Client, store: SqliteStore) -> None:
    both = [(client, f"a{number}") for number in range(20)] + [(second, f"b{number}") for number in range(20)]
    made = await asyncio.gather(*(make(each, service(name, 0)) for each, name in both))
    ports = sorted(port for each in made for port in of(each))
    assert (len(set(ports)), await taken(store)) == (40, ports)


async def test_a_port_that_is_asked_for_goes_to_one_of_two(client: Client, second: Client) -> None:
    answers = await asyncio.gather(
        *(make(each, service(name, 30080)) for each, name in ((client, "a"), (second, "b"))),
        return_exceptions=True,
    )
    (refused,) = [answer for answer in answers if isinstance(answer, ApiError)]
    assert refused.message.endswith("spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated")
    (made,) = [answer for answer in answers if not isinstance(answer, BaseException)]
    await second.delete(SERVICES, made["metadata"]["name"], namespace="default")
    assert of(await make(client, service("c", 30080))) == [30080]


async def test_the_range_follows_what_services_have(client: Client, store: SqliteStore) -> None:
    assert await taken(store) == []
    local = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30500}
    await make(client, service("a", 30080, 32767, **local))
    assert await taken(store) == [30080, 30500, 32767]
    await client.patch(SERVICES, "a", {"spec": {"externalTrafficPolicy": "Cluster"}}, namespace="default")
    assert await taken(store) == [30080, 32767]
    await client.patch(SERVICES, "a", {"spec": {"type": "ClusterIP"}}, namespace="default")
    assert await taken(store) == []


async def test_a_refused_service_keeps_no_port(client: Client, store: SqliteStore) -> None:
    with pytest.raises(ApiError, match=r"spec\.ports\[1\]\.nodePort: Invalid value: 80: provided port is not in the"):
        await make(client, service("a", 30080, 80))
    assert await taken(store) == []


# Taken before, asked of a dry run (0: any) -> what it shows, or what is wrong.
DRY: dict[str, tuple[list[int], list[int], list[int] | str]] = {
    "any": ([], [0], [32769]),
    "any two": ([], [0, 0], [32769, 32770]),
    "one, and any after it": ([], [30030, 0], [30030, 30031]),
    "the one after it is somebody's": ([30031], [30030, 0], [30030, 30031]),
    "one that is somebody's": ([30010], [30010], "provided port is already allocated"),
    "one twice": ([], [30030, 30030], "provided port is already allocated"),
    "one that the range has not": ([], [80], [80]),
}


@pytest.mark.parametrize("name", DRY)
async def test_a_dry_run_draws_nothing(name: str, client: Client, store: SqliteStore) -> None:
    before, asked, expected = DRY[name]
    if before:
        await make(client, service("before", *before))
    revision = store.revision
    if isinstance(expected, str):
        with pytest.raises(ApiError, match=expected):
            await make(client, service("a", *asked), dry_run=True)
    else:
        assert of(await make(client, service("a", *asked), dry_run=True)) == expected
    assert (await taken(store), store.revision) == (before, revision)


async def test_a_range_that_there_is_not_gives_nothing_until_it_is_repaired(
    client: Client, store: SqliteStore, world: World
) -> None:
    await make(client, service("kept", 30080, 30081))
    await store.txn([], [DeleteRange(RANGE)])
    why = "cannot allocate resources of type servicenodeportallocations at this time"
    with pytest.raises(ApiError) as any_port:
        await make(client, service("a", 0))
    with pytest.raises(ApiError) as one:
        await make(client, service("a", 30090))
    assert (any_port.value.code, any_port.value.message, one.value.code, one.value.message) == (
        500, f"Internal error occurred: failed to allocate a nodePort: {why}",
        422, f'Service "a" is invalid: spec.ports[0].nodePort: Invalid value: 30090: {why}',
    )  # fmt: skip
    await client.delete(SERVICES, "kept", namespace="default")
    await make(client, service("c", 0, type="ClusterIP"))
    await world.clock.sleep(A_LOOK)
    assert of(await make(client, service("a", 30090))) == [30090]


def kept_service(name: str, *numbers: int) -> Put:
    ports = [{"port": port, "protocol": "TCP", "nodePort": number} for port, number in enumerate(numbers, 80)]
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default", "uid": name, "creationTimestamp": "2030-01-01T00:00:00Z"},
        "spec": {"type": "NodePort", "ports": ports, "clusterIP": "None", "clusterIPs": ["None"]},
    }
    return Put(f"/registry/services/specs/default/{name}".encode(), json.dumps(body).encode())


async def test_what_services_have_that_the_range_has_not_is_repaired(
    client: Client, store: SqliteStore, world: World
) -> None:
    """TestRepairWithExisting."""
    stored = {"a": [30111], "b": [30122, 30133], "c": [40201], "d": [0], "e": [30111]}
    await store.txn([], [kept_service(name, *numbers) for name, numbers in stored.items()])
    await world.clock.sleep(A_LOOK)
    assert await taken(store) == [30111, 30122, 30133]
    said = sorted(
        (event["involvedObject"]["name"], event["reason"], event["message"], event["action"], event["type"])
        for event in (await client.list(EVENTS)).items
        if event["reportingComponent"] == "portallocator-repair-controller"
    )
    assert said == [
        (name, reason, text, "PortAllocation", "Warning")
        for name, reason, text in (
            ("a", "PortNotAllocated", "Port 30111 is not allocated; repairing"),
            ("b", "PortNotAllocated", "Port 30122 is not allocated; repairing"),
            ("b", "PortNotAllocated", "Port 30133 is not allocated; repairing"),
            ("c", "PortOutOfRange", "Port 40201 is not within the port range 30000-32767; please recreate service"),
            ("e", "PortAlreadyAllocated", "Port 30111 was assigned to multiple services; please recreate service"),
        )
    ]


async def test_a_port_that_nobody_has_goes_at_the_third_look(client: Client, store: SqliteStore, world: World) -> None:
    """TestRepairLeak."""
    await make(client, service("a", 30111))
    await make(client, service("b", 30222))
    await store.txn([], [DeleteRange(b"/registry/services/specs/default/a")])
    found = []
    for _ in range(3):
        await world.clock.sleep(A_LOOK)
        found.append(await taken(store))
    assert found == [[30111, 30222], [30111, 30222], [30222]]


async def test_a_restart_writes_nothing_to_the_range(world: World, server: ApiServer, store: SqliteStore) -> None:
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    await make(client, service("a", 30111))
    before = (await store.range(Range(RANGE))).kvs
    await server.stop()
    await server.start()
    assert (await store.range(Range(RANGE))).kvs == before


# -- addresses, before they were objects


@pytest.fixture
async def old(world: World, store: SqliteStore) -> AsyncIterator[tuple[Client, Client]]:
    """Two servers of one store, of a release that keeps addresses as it keeps node ports."""
    servers = [ApiServer(world, store, config=ClusterConfig(kubernetes_version="1.32")) for _ in range(2)]
    for each in servers:
        await each.start()
    first, second = (Client(InProcessTransport(each, ADMIN), user_agent="test") for each in servers)
    yield first, second
    for each in servers:
        await each.stop()


async def addresses(store: SqliteStore) -> list[int]:
    kept = json.loads((await store.range(Range(b"/registry/ranges/serviceips"))).kvs[0].value)
    assert kept["range"] == "10.96.0.0/12"
    bits = int.from_bytes(b64decode(kept["data"]), "big")
    return [position for position, bit in enumerate(reversed(f"{bits:b}"), 1) if bit == "1"]


async def test_two_old_servers_give_no_address_twice(old: tuple[Client, Client], store: SqliteStore) -> None:
    both = [(each, f"{name}{number}") for number in range(20) for each, name in zip(old, "ab", strict=True)]
    made = await asyncio.gather(*(make(each, service(name, 0)) for each, name in both))
    given = {each["spec"]["clusterIP"] for each in made}
    assert (len(given), len(await addresses(store))) == (40, 41)  # and that of the API
    await asyncio.gather(*(old[0].delete(SERVICES, name, namespace="default") for _, name in both))
    assert await addresses(store) == [1]


@pytest.mark.parametrize(
    ("address", "dry_run", "expected"),
    [
        pytest.param("10.96.0.10", False, "provided IP is already allocated", id="somebody's"),
        pytest.param("10.96.0.10", True, "10.96.0.10", id="somebody's, of a dry run"),
        pytest.param("", True, "10.96.0.0", id="any, of a dry run"),
        pytest.param(
            "192.168.0.1",
            True,
            "failed to allocate IP 192.168.0.1: the provided IP (192.168.0.1) is not in the valid range. The range of "
            "valid IPs is 10.96.0.0/12",
            id="outside",
        ),
    ],
)
async def test_an_old_server_gives_an_address(
    old: tuple[Client, Client], address: str, dry_run: bool, expected: str
) -> None:
    await make(old[0], service("a", 0, clusterIP="10.96.0.10"))
    asked = service("b", 0, **({"clusterIP": address} if address else {}))
    try:
        found = (await make(old[1], asked, dry_run=dry_run))["spec"]["clusterIP"]
    except ApiError as refused:
        found = refused.message.partition("]: ")[2]
        assert found.endswith(expected)
    else:
        assert found == expected


async def test_an_old_range_is_repaired(old: tuple[Client, Client], store: SqliteStore, world: World) -> None:
    bodies = [json.loads(kept_service(name).value) for name in "abc"]
    for body, address in zip(bodies, ("10.96.0.20", "10.96.0.20", "10.1.0.1"), strict=True):
        body["spec"] = {"type": "ClusterIP", "ports": [{"port": 80}], "clusterIP": address, "clusterIPs": [address]}
        key = f"/registry/services/specs/default/{body['metadata']['name']}"
        await store.txn([], [Put(key.encode(), json.dumps(body).encode())])
    await world.clock.sleep(A_LOOK)
    assert await addresses(store) == [1, 20]
    said = {
        (event["involvedObject"]["name"], event["reason"], event["message"], event["action"])
        for event in (await old[0].list(EVENTS)).items
        if event["reportingComponent"] == "ipallocator-repair-controller"
    }
    action = "ClusterIPAllocation"
    again = "Cluster IP [IPv4]: 10.96.0.20 was assigned to multiple services; please recreate service"
    missing = "Cluster IP [IPv4]: 10.96.0.20 is not allocated; repairing"
    out = "Cluster IP [IPv4]: 10.1.0.1 is not within the service CIDR 10.96.0.0/12; please recreate service"
    assert said == {
        ("a", "ClusterIPNotAllocated", missing, action),
        ("b", "ClusterIPAlreadyAllocated", again, action),
        ("c", "ClusterIPOutOfRange", out, action),
    }
