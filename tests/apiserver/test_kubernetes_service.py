"""default/kubernetes, which the API server keeps, and the health of the other parts, which it asks for."""

from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.types import ENDPOINT_SLICES, ENDPOINTS, GVR, SERVICES
from engine.apiserver.bootstrap import kubernetes_service
from engine.apiserver.loopback import Loopback
from engine.apiserver.server import ApiServer
from engine.apiserver.services.kubernetes_service import INTERVAL, LEASE_SECONDS, KubernetesService, MasterLeases
from engine.client import Client
from engine.store import Range, prefix_end
from engine.store.sqlite import SqliteStore
from engine.world import World

COMPONENT_STATUSES = GVR("", "v1", "componentstatuses")


async def test_what_is_deleted_of_it_is_made_again(world: World, client: Client) -> None:
    for gvr in (SERVICES, ENDPOINTS, ENDPOINT_SLICES):
        before = await client.get(gvr, "kubernetes", namespace="default")
        await client.delete(gvr, "kubernetes", namespace="default")
        with pytest.raises(ApiError, match="not found"):
            await client.get(gvr, "kubernetes", namespace="default")
        await world.clock.sleep(INTERVAL + 1)
        again = await client.get(gvr, "kubernetes", namespace="default")
        assert again["metadata"]["uid"] != before["metadata"]["uid"]
        assert {k: v for k, v in again.items() if k != "metadata"} == {
            k: v for k, v in before.items() if k != "metadata"
        }


async def test_nothing_is_written_while_all_is_well(world: World, server: ApiServer, store: SqliteStore) -> None:
    await server.advertise("127.0.0.1", 40123)
    revision = store.revision
    await world.clock.sleep(10 * INTERVAL + 1)
    leases = Range(b"/registry/leases/", prefix_end(b"/registry/leases/"))  # by which the server says that it is there
    newest = max(kv.mod_revision for kv in (await store.range(leases)).kvs)
    assert newest == store.revision == revision + 10


async def test_endpoints_name_all_servers_that_live(
    world: World, server: ApiServer, store: SqliteStore, client: Client
) -> None:
    """Three servers of one store, of which the third dies."""
    each = [
        KubernetesService(
            server.backend,
            Loopback(server.handle),
            lambda address: kubernetes_service("10.96.0.1", *address),
            MasterLeases(store),
        )
        for _ in range(3)
    ]
    addresses = [("10.0.0.1", 6443), ("10.0.0.2", 6443), ("10.0.0.3", 6443)]
    for service, address in zip(each, addresses, strict=True):
        await service.advertise(address)

    async def told() -> list[str]:
        endpoints = await client.get(ENDPOINTS, "kubernetes", namespace="default")
        slices = await client.get(ENDPOINT_SLICES, "kubernetes", namespace="default")
        hosts = [found["ip"] for found in endpoints["subsets"][0]["addresses"]]
        assert hosts == [found["addresses"][0] for found in slices["endpoints"]]
        return hosts

    assert await told() == ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
    for _ in range(2):
        await world.clock.sleep(LEASE_SECONDS - 5)
        for service in each[:2]:
            await service.reconcile()
    assert await told() == ["10.0.0.1", "10.0.0.2"]
    await each[0].stop()
    await each[1].reconcile()
    assert await told() == ["10.0.0.2"]


async def test_component_statuses_tell_who_is_up(world: World, client: Client) -> None:
    async def healthy() -> dict[str, str]:
        found = (await client.list(COMPONENT_STATUSES)).items
        return {each["metadata"]["name"]: each["conditions"][0]["status"] for each in found}

    assert await healthy() == {"controller-manager": "False", "scheduler": "False", "etcd-0": "True"}
    down = (await client.get(COMPONENT_STATUSES, "scheduler"))["conditions"]
    refused = 'Get "https://127.0.0.1:10259/healthz": dial tcp 127.0.0.1:10259: connect: connection refused'
    assert down == [{"type": "Healthy", "status": "False", "message": refused}]
    world.views.offer("scheduler/queue", lambda _: {})
    assert (await client.get(COMPONENT_STATUSES, "scheduler"))["conditions"] == [
        {"type": "Healthy", "status": "True", "message": "ok"}
    ]
    with pytest.raises(ApiError) as caught:
        await client.get(COMPONENT_STATUSES, "kubelet")
    told = (caught.value.code, caught.value.reason, caught.value.message)
    assert told == (500, "", "Component not found: kubelet")
