"""What Services are allocated when they are made and changed, in clusters of one and of two IP families
(after pkg/registry/core/service/storage/storage_test.go)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

import pytest
from pydantic import ValidationError

from engine.api.errors import ApiError
from engine.api.types import SERVICES, Object
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN

RANGES = {"4": "10.0.0.0/16", "6": "2000::/108", "46": "10.0.0.0/16,2000::/108", "64": "2000::/108,10.0.0.0/16"}
V4, V6 = "IPv4", "IPv6"
_HEADLESS: Object = {"clusterIP": "None"}
_NOT_DUAL = 'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack'

# The cluster's families, what is asked for -> policy and families, or what is wrong.
CREATED: dict[str, tuple[str, Object, tuple[str, list[str]] | str]] = {
    "one family, nothing asked": ("4", {}, ("SingleStack", [V4])),
    "the other family, nothing asked": ("6", {}, ("SingleStack", [V6])),
    "two families, nothing asked": ("46", {}, ("SingleStack", [V4])),
    "two families the other way round": ("64", {}, ("SingleStack", [V6])),
    "the second family": ("46", {"ipFamilies": [V6]}, ("SingleStack", [V6])),
    "preferred, and there is one": ("4", {"ipFamilyPolicy": "PreferDualStack"}, ("PreferDualStack", [V4])),
    "preferred, and there are two": ("46", {"ipFamilyPolicy": "PreferDualStack"}, ("PreferDualStack", [V4, V6])),
    "preferred, the second first": (
        "46", {"ipFamilyPolicy": "PreferDualStack", "ipFamilies": [V6]}, ("PreferDualStack", [V6, V4]),
    ),
    "required, and there is one": ("4", {"ipFamilyPolicy": "RequireDualStack"}, _NOT_DUAL),
    "required, and there are two": ("64", {"ipFamilyPolicy": "RequireDualStack"}, ("RequireDualStack", [V6, V4])),
    "an address of the second family": ("46", {"clusterIP": "2000::5"}, ("SingleStack", [V6])),
    "an address of a family that there is not": (
        "4", {"clusterIP": "2000::5"},
        'spec.clusterIPs[0]: Invalid value: ["2000::5"]: IPv6 is not configured on this cluster',
    ),
    "an address that is not of its family": (
        "46", {"clusterIP": "2000::5", "ipFamilies": [V4]}, "expected an IPv4 value as indicated by `ipFamilies[0]`",
    ),
    "two addresses without a policy": (
        "46", {"clusterIP": "10.0.0.5", "clusterIPs": ["10.0.0.5", "2000::5"]},
        'spec.ipFamilyPolicy: Invalid value: "SingleStack": must be \'RequireDualStack\' or \'PreferDualStack\' when '
        "multiple cluster IPs are specified",
    ),
    "two families without a policy": (
        "46", {"ipFamilies": [V4, V6]},
        "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
    ),
    "two addresses": (
        "46", {"clusterIP": "10.0.0.5", "clusterIPs": ["10.0.0.5", "2000::5"], "ipFamilyPolicy": "PreferDualStack"},
        ("PreferDualStack", [V4, V6]),
    ),
    "a family that there is not": (
        "4", {"ipFamilies": [V6]}, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ),
    "headless": ("46", _HEADLESS, ("SingleStack", [V4])),
    "headless and preferred": (
        "46", {**_HEADLESS, "ipFamilyPolicy": "PreferDualStack"}, ("PreferDualStack", [V4, V6]),
    ),
    "headless and required, and there is one": ("4", {**_HEADLESS, "ipFamilyPolicy": "RequireDualStack"}, _NOT_DUAL),
    "headless without a selector": ("4", {**_HEADLESS, "selector": None}, ("RequireDualStack", [V4, V6])),
    "headless without a selector, of one": (
        "4", {**_HEADLESS, "selector": None, "ipFamilyPolicy": "SingleStack"}, ("SingleStack", [V4]),
    ),
    "headless without a selector, of the other": (
        "4", {**_HEADLESS, "selector": None, "ipFamilies": [V6]}, ("RequireDualStack", [V6, V4]),
    ),
}  # fmt: skip


def service(name: str = "web", **spec: Any) -> Object:
    fields = {"selector": {"app": name}, "ports": [{"port": 80}], **spec}
    return {"metadata": {"name": name}, "spec": {field: value for field, value in fields.items() if value is not None}}


async def make(client: Client, name: str = "web", **spec: Any) -> Object:
    made: Object = (await client.create(SERVICES, service(name, **spec), namespace="default"))["spec"]
    return made


async def change(client: Client, **spec: Any) -> Object:
    changed: Object = (await client.patch(SERVICES, "web", {"spec": spec}, namespace="default"))["spec"]
    return changed


class Clusters:
    """A server for each choice of families, made when it is asked for."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._made: list[tuple[ApiServer, SqliteStore]] = []

    async def __call__(self, families: str) -> Client:
        store = await SqliteStore.open(None, clock=self._world.clock)
        server = ApiServer(self._world, store, config=ClusterConfig(service_cidr=RANGES[families]))
        self._made.append((server, store))
        await server.start()
        return Client(InProcessTransport(server, ADMIN), user_agent="test")

    async def stop(self) -> None:
        for server, store in self._made:
            await server.stop()
            await store.close()


@pytest.fixture
async def clusters(world: World) -> AsyncIterator[Clusters]:
    made = Clusters(world)
    yield made
    await made.stop()


@pytest.mark.parametrize("name", CREATED)
async def test_a_new_service_has_families(name: str, clusters: Clusters) -> None:
    families, asked, expected = CREATED[name]
    client = await clusters(families)
    if isinstance(expected, str):
        with pytest.raises(ApiError) as caught:
            await make(client, **asked)
        assert caught.value.code == 422
        assert expected in caught.value.message
        return
    made = await make(client, **asked)
    assert (made["ipFamilyPolicy"], made["ipFamilies"]) == expected
    if asked.get("clusterIP") == "None":
        assert made["clusterIPs"] == ["None"]
    else:
        assert made["clusterIP"] == made["clusterIPs"][0]
        assert [V6 if ":" in address else V4 for address in made["clusterIPs"]] == expected[1]
        assert made["clusterIPs"][: len(asked.get("clusterIPs", ()))] == asked.get("clusterIPs", [])


def test_there_is_one_range_of_a_family() -> None:
    with pytest.raises(ValidationError, match="there can be one range for each IP family"):
        ClusterConfig(service_cidr="10.0.0.0/16,10.1.0.0/16")


async def test_a_service_gets_a_second_family_and_lets_it_go(clusters: Clusters) -> None:
    client = await clusters("46")
    first = (await make(client))["clusterIP"]
    both = await change(client, ipFamilyPolicy="PreferDualStack")
    assert (both["clusterIPs"][0], both["ipFamilies"]) == (first, [V4, V6])
    second = both["clusterIPs"][1]
    with pytest.raises(ApiError, match="must be 'SingleStack' to release the secondary cluster IP"):
        await change(client, clusterIPs=[first])
    with pytest.raises(ApiError, match="must be 'SingleStack' to release the secondary IP family"):
        await change(client, ipFamilies=[V4])
    with pytest.raises(ApiError, match="provided IP is already allocated"):
        await make(client, "other", clusterIP=second)
    one = await change(client, ipFamilyPolicy="SingleStack")
    assert (one["clusterIPs"], one["ipFamilies"]) == ([first], [V4])
    assert (await make(client, "other", clusterIP=second))["ipFamilies"] == [V6]


async def test_a_second_address_may_be_asked_for(clusters: Clusters) -> None:
    client = await clusters("46")
    first = (await make(client))["clusterIP"]
    both = await change(client, ipFamilyPolicy="RequireDualStack", clusterIPs=[first, "2000::77"])
    assert both["clusterIPs"] == [first, "2000::77"]


async def test_a_name_becomes_a_service_of_two_families(clusters: Clusters) -> None:
    client = await clusters("46")
    made = await make(client, type="ExternalName", externalName="a.example", ports=None)
    assert not {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} & made.keys()
    changed = await change(
        client, type="ClusterIP", externalName=None, ports=[{"port": 80}], ipFamilyPolicy="RequireDualStack"
    )
    assert changed["ipFamilies"] == [V4, V6]
    assert len(changed["clusterIPs"]) == 2


async def test_an_address_that_is_another_s_stays_so_after_a_refused_change(client: Client) -> None:
    await make(client)
    taken = (await make(client, "other"))["clusterIP"]
    with pytest.raises(ApiError, match="may not change once set"):
        await change(client, clusterIP=taken)
    with pytest.raises(ApiError, match="provided IP is already allocated"):
        await make(client, "third", clusterIP=taken)


async def test_a_dry_run_takes_nothing(client: Client) -> None:
    sent = service(clusterIP="10.96.0.20", type="NodePort", ports=[{"port": 80, "nodePort": 30080}])
    await client.create(SERVICES, sent, namespace="default", dry_run=True)
    made = await make(client, clusterIP="10.96.0.20", type="NodePort", ports=[{"port": 80, "nodePort": 30080}])
    assert made["ports"][0]["nodePort"] == 30080


# -- node ports


def node_ports(spec: Object) -> list[int]:
    return [port.get("nodePort", 0) for port in spec["ports"]]


async def test_protocols_of_one_port_share_a_node_port(client: Client) -> None:
    dns = [{"name": "tcp", "port": 53, "protocol": "TCP"}, {"name": "udp", "port": 53, "protocol": "UDP"}]
    first, second = node_ports(await make(client, type="NodePort", ports=dns))
    assert first == second


async def test_what_one_protocol_asks_for_the_other_gets(client: Client) -> None:
    dns = [
        {"name": "tcp", "port": 53, "protocol": "TCP"},
        {"name": "udp", "port": 53, "protocol": "UDP", "nodePort": 30053},
    ]
    assert node_ports(await make(client, type="NodePort", ports=dns)) == [30053, 30053]


async def test_a_port_without_a_number_is_refused_after_its_node_port_was_drawn(client: Client) -> None:
    with pytest.raises(ApiError, match=r"spec.ports\[0\].port: Invalid value: 0"):
        await make(client, type="NodePort", ports=[{"name": "a"}])


async def test_protocols_may_ask_for_different_node_ports(client: Client) -> None:
    dns = [
        {"name": "tcp", "port": 53, "protocol": "TCP", "nodePort": 30053},
        {"name": "udp", "port": 53, "protocol": "UDP", "nodePort": 30054},
    ]
    assert node_ports(await make(client, type="NodePort", ports=dns)) == [30053, 30054]


async def test_a_changed_service_has_no_node_port_twice(client: Client) -> None:
    ports = [{"name": "a", "port": 80, "nodePort": 30080}, {"name": "b", "port": 81}]
    await make(client, type="NodePort", ports=ports)
    with pytest.raises(ApiError, match=r"^duplicate nodePort: \{TCP 30080\}$") as refused:
        await change(client, ports=[{**port, "nodePort": 30080} for port in ports])
    assert (refused.value.code, refused.value.reason) == (500, "")


async def test_a_load_balancer_may_do_without_node_ports(client: Client) -> None:
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81, "nodePort": 30081}]
    made = await make(client, type="LoadBalancer", allocateLoadBalancerNodePorts=False, ports=ports)
    assert node_ports(made) == [0, 30081]
    with pytest.raises(ApiError, match="provided port is already allocated"):
        await make(client, "other", type="NodePort", ports=[{"port": 80, "nodePort": 30081}])
    assert all(node_ports(await change(client, allocateLoadBalancerNodePorts=True)))


async def test_node_ports_of_a_load_balancer_stay_until_they_are_taken_out(client: Client) -> None:
    """kubernetes/kubernetes#122381."""
    ports = [{"name": "a", "port": 80, "nodePort": 30082}]
    await make(client, type="LoadBalancer", ports=ports)
    assert node_ports(await change(client, allocateLoadBalancerNodePorts=False)) == [30082]
    sent = deepcopy(await client.get(SERVICES, "web", namespace="default"))
    del sent["spec"]["ports"][0]["nodePort"]
    assert node_ports((await client.update(SERVICES, sent))["spec"]) == [0]
    await make(client, "other", type="NodePort", ports=ports)


async def test_a_service_without_node_ports_may_lose_a_port_at_once(client: Client) -> None:
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    await make(client, type="NodePort", ports=ports)
    sent = deepcopy(await client.get(SERVICES, "web", namespace="default"))
    sent["spec"]["type"] = "ClusterIP"
    del sent["spec"]["ports"][0]
    assert node_ports((await client.update(SERVICES, sent))["spec"]) == [0]


async def test_a_node_port_follows_the_name_of_its_port(client: Client) -> None:
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    first, second = node_ports(await make(client, type="NodePort", ports=ports))
    sent = service(type="NodePort", ports=[{"name": "b", "port": 91}, {"name": "a", "port": 90}])
    sent["metadata"]["namespace"] = "default"
    assert node_ports((await client.update(SERVICES, sent))["spec"]) == [second, first]


async def test_a_node_port_that_another_port_now_has_is_not_kept(client: Client) -> None:
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    first, second = node_ports(await make(client, type="NodePort", ports=ports))
    sent = service(type="NodePort", ports=[{"name": "a", "port": 80}, {"name": "b", "port": 81, "nodePort": first}])
    sent["metadata"]["namespace"] = "default"
    changed = node_ports((await client.update(SERVICES, sent))["spec"])
    assert changed[1] == first
    assert changed[0] not in (0, first)
    if changed[0] != second:  # what was the second's is free again
        again = await make(client, "other", type="NodePort", ports=[{"port": 80, "nodePort": second}])
        assert node_ports(again) == [second]


# -- the port for health checks


async def test_a_local_load_balancer_has_a_port_for_health_checks(client: Client) -> None:
    made = await make(client, type="LoadBalancer", externalTrafficPolicy="Local")
    port = made["healthCheckNodePort"]
    assert 30000 <= port <= 32767
    with pytest.raises(ApiError, match="healthCheckNodePort: Forbidden: field is immutable"):
        await change(client, healthCheckNodePort=port + 1 if port < 32767 else port - 1)
    with pytest.raises(ApiError, match="provided port is already allocated"):
        await make(client, "other", type="NodePort", ports=[{"port": 80, "nodePort": port}])
    assert "healthCheckNodePort" not in await change(client, externalTrafficPolicy="Cluster")
    again = await make(client, "other", type="NodePort", ports=[{"port": 80, "nodePort": port}])
    assert node_ports(again) == [port]


async def test_a_port_for_health_checks_may_be_asked_for(client: Client) -> None:
    local: Any = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30500}
    assert (await make(client, **local))["healthCheckNodePort"] == 30500
    with pytest.raises(ApiError) as caught:
        await make(client, "other", **local)
    assert (caught.value.code, caught.value.message) == (
        500,
        "Internal error occurred: failed to allocate requested HealthCheck NodePort 30500: provided port is already "
        "allocated",
    )
    with pytest.raises(ApiError, match="The range of valid ports is 30000-32767"):
        await make(client, "third", **{**local, "healthCheckNodePort": 80})


async def test_a_range_that_is_full(world: World) -> None:
    store = await SqliteStore.open(None, clock=world.clock)
    server = ApiServer(world, store, config=ClusterConfig(service_cidr="10.0.0.0/30"))
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    assert (await make(client))["clusterIP"] == "10.0.0.2"
    with pytest.raises(ApiError) as caught:
        await make(client, "other")
    assert (caught.value.code, caught.value.message) == (
        500,
        "Internal error occurred: failed to allocate a serviceIP: range is full",
    )
    await server.stop()
    await store.close()
