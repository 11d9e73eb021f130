from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.types import SERVICES, Object
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN


def service(name: str = "web", **spec: object) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}], **spec},
    }


async def make(client: Client, name: str = "web", **spec: object) -> Object:
    made = await client.create(SERVICES, service(name, **spec), namespace="default")
    found: Object = made["spec"]
    return found


async def test_a_service_gets_an_address_of_the_range(client: Client) -> None:
    made = await make(client)
    assert made["clusterIP"].startswith("10.")
    assert made["clusterIPs"] == [made["clusterIP"]]
    assert (made["ipFamilies"], made["ipFamilyPolicy"], made["type"]) == (["IPv4"], "SingleStack", "ClusterIP")
    assert "nodePort" not in made["ports"][0]


async def test_a_headless_service_gets_none(client: Client) -> None:
    made = await make(client, clusterIP="None")
    assert (made["clusterIP"], made["clusterIPs"]) == ("None", ["None"])


async def test_an_address_is_given_once_and_again_when_it_is_free(client: Client) -> None:
    await make(client, "a", clusterIP="10.96.0.10")
    with pytest.raises(ApiError) as caught:
        await make(client, "b", clusterIP="10.96.0.10")
    assert caught.value.code == 422
    assert caught.value.message == (
        'Service "b" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.10"]: failed to allocate IP 10.96.0.10: '
        "provided IP is already allocated"
    )
    await client.delete(SERVICES, "a", namespace="default")
    assert (await make(client, "b", clusterIP="10.96.0.10"))["clusterIP"] == "10.96.0.10"


async def test_a_refused_service_keeps_no_address(client: Client) -> None:
    for _ in range(2):
        with pytest.raises(ApiError, match=r"spec\.ports\[0\]\.port: Invalid value: 0"):
            await make(client, "a", clusterIP="10.96.0.10", ports=[{"port": 0}])
    assert (await make(client, "a", clusterIP="10.96.0.10"))["clusterIP"] == "10.96.0.10"


async def test_the_address_of_the_api_is_taken(client: Client) -> None:
    with pytest.raises(ApiError, match="provided IP is already allocated"):
        await make(client, clusterIP="10.96.0.1")


async def test_an_address_outside_the_range(client: Client) -> None:
    with pytest.raises(ApiError, match="the provided network does not match the current range"):
        await make(client, clusterIP="192.168.0.1")


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"clusterIP": "one"}, 'spec.clusterIPs[0]: Invalid value: "one": must be a valid IP address, (e.g. 10.9.8.7'),
        ({"ipFamilies": ["IPv6"]}, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'),
        (
            {"ipFamilyPolicy": "RequireDualStack"},
            'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack',
        ),
        (
            {"ipFamilyPolicy": ""},
            'spec.ipFamilyPolicy: Unsupported value: "": supported values: "PreferDualStack", "RequireDualStack", ',
        ),
        (
            {"type": "ExternalName", "externalName": "a.example", "clusterIP": "10.96.0.10"},
            "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
        ),
    ],
    ids=["no address", "another family", "two families", "an empty policy", "an address for a name"],
)
async def test_addresses_that_cannot_be(client: Client, spec: Object, wrong: str) -> None:
    with pytest.raises(ApiError) as caught:
        await make(client, **spec)
    assert caught.value.message.startswith(f'Service "web" is invalid: {wrong}')


async def test_node_ports(client: Client) -> None:
    made = await make(client, "a", type="NodePort")
    assert 30000 <= made["ports"][0]["nodePort"] <= 32767
    fixed = {"port": 80, "nodePort": 30080}
    assert (await make(client, "b", type="NodePort", ports=[fixed]))["ports"][0]["nodePort"] == 30080
    with pytest.raises(ApiError, match=r"spec\.ports\[0\]\.nodePort: Invalid value: 30080: provided port is already"):
        await make(client, "c", type="NodePort", ports=[fixed])
    with pytest.raises(ApiError, match=r"The range of valid ports is 30000-32767"):
        await make(client, "c", type="NodePort", ports=[{"port": 80, "nodePort": 80}])


async def test_an_update_keeps_what_was_allocated(client: Client) -> None:
    made = await make(client, type="NodePort")
    sent = service(type="NodePort")
    sent["metadata"]["namespace"] = "default"
    changed = (await client.update(SERVICES, sent))["spec"]
    assert changed["clusterIP"] == made["clusterIP"]
    assert changed["ports"] == made["ports"]
    sent["spec"]["type"] = "ClusterIP"
    assert "nodePort" not in (await client.update(SERVICES, sent))["spec"]["ports"][0]
    port = {"port": 80, "nodePort": made["ports"][0]["nodePort"]}
    assert (await make(client, "other", type="NodePort", ports=[port]))["ports"][0]["nodePort"] == port["nodePort"]


@pytest.mark.parametrize("wider", ["NodePort", "LoadBalancer"])
async def test_a_narrower_type_lets_go_of_node_ports(client: Client, wider: str) -> None:
    made = await make(client, type=wider)
    port = made["ports"][0]["nodePort"]
    patched = await client.patch(SERVICES, "web", {"spec": {"type": "ClusterIP"}}, namespace="default")
    assert patched["spec"]["clusterIP"] == made["clusterIP"]
    assert patched["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    assert not {"externalTrafficPolicy", "allocateLoadBalancerNodePorts"} & patched["spec"].keys()
    again = await make(client, "other", type="NodePort", ports=[{"port": 80, "nodePort": port}])
    assert again["ports"][0]["nodePort"] == port


async def test_a_service_that_becomes_a_name_lets_go_of_its_address(client: Client) -> None:
    made = await make(client, type="NodePort")
    named = {"spec": {"type": "ExternalName", "externalName": "a.example"}}
    patched = await client.patch(SERVICES, "web", named, namespace="default")
    dropped = {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"}
    assert not dropped & patched["spec"].keys()
    assert (await make(client, "other", clusterIP=made["clusterIP"]))["clusterIP"] == made["clusterIP"]


async def test_a_name_has_no_policy_for_traffic_inside_though_one_is_accepted(client: Client) -> None:
    """Upstream's Test_ExternalNameServiceDropsInternalTrafficPolicy: it is owned by who said it all the same."""
    made = await client.create(
        SERVICES,
        service(type="ExternalName", externalName="a.example", internalTrafficPolicy="Local"),
        namespace="default",
    )
    assert "internalTrafficPolicy" not in made["spec"]
    assert "f:internalTrafficPolicy" in made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    assert (await client.get(SERVICES, "web", namespace="default"))["spec"] == made["spec"]
    with pytest.raises(ApiError, match='internalTrafficPolicy: Unsupported value: "None"'):
        await make(client, "b", type="ExternalName", externalName="a.example", internalTrafficPolicy="None")


async def test_what_the_client_changes_too_is_not_dropped(client: Client) -> None:
    await make(client, type="NodePort", ports=[{"port": 80, "nodePort": 30080}])
    changed = {"spec": {"type": "ClusterIP", "ports": [{"port": 80, "nodePort": 30081}]}}
    with pytest.raises(ApiError, match="nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"):
        await client.patch(SERVICES, "web", changed, namespace="default")


async def test_an_address_cannot_be_changed_and_clearing_it_changes_nothing(client: Client) -> None:
    made = await make(client)
    with pytest.raises(ApiError, match="may not change once set"):
        await client.patch(SERVICES, "web", {"spec": {"clusterIP": "10.96.3.3"}}, namespace="default")
    patched = await client.patch(SERVICES, "web", {"spec": {"clusterIP": ""}}, namespace="default")
    assert patched["spec"] == made


async def test_a_restart_remembers_what_is_taken(world: World, store: SqliteStore) -> None:
    for expected in (None, "provided IP is already allocated"):
        server = ApiServer(world, store)
        await server.start()
        client = Client(InProcessTransport(server, ADMIN), user_agent="test")
        if expected is None:
            await make(client, "a", clusterIP="10.96.0.10")
        else:
            with pytest.raises(ApiError, match=expected):
                await make(client, "b", clusterIP="10.96.0.10")
        await server.stop()
