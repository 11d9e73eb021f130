"""What /metrics says of the addresses and node ports of Services (pkg/registry/core/service/ipallocator
cidrallocator_test.go and ipallocator_test.go TestMetrics, portallocator allocator_test.go TestMetrics)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import SERVICES
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN

CIDR = "10.0.0.0/28"  # 14 addresses, of which the Service kubernetes has one
IPS, PORTS = "kube_apiserver_clusterip_allocator_", "kube_apiserver_nodeport_allocator_"


async def make(client: Client, name: str, *, dry_run: bool = False, **spec: Any) -> None:
    body = {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}
    await client.create(SERVICES, body, namespace="default", dry_run=dry_run)


async def figures(client: Client) -> dict[str, float]:
    page = (await client.send("GET", "/metrics")).body.decode()
    lines = [line.rpartition(" ")[::2] for line in page.splitlines() if line.startswith((IPS, PORTS))]
    return {name: float(value) for name, value in lines}


@pytest.mark.parametrize("version", ["1.37", "1.32"])
async def test_addresses_and_ports_are_counted(world: World, store: SqliteStore, version: str) -> None:
    server = ApiServer(world, store, config=ClusterConfig(service_cidr=CIDR, kubernetes_version=version))
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    await make(client, "drawn")
    await make(client, "asked", clusterIP="10.0.0.9")
    with pytest.raises(ApiError, match="provided IP is already allocated"):
        await make(client, "again", clusterIP="10.0.0.9")
    await make(client, "dry", dry_run=True)
    found = await figures(client)
    labels = f'cidr="{CIDR}"'
    allocations = f"{IPS}allocation_total{{{labels},scope="
    before = found.get(f'{allocations}"static"}}', 0) - 1  # that of the Service kubernetes
    assert found[f'{allocations}"dynamic"}}'] == 1
    assert before in (0, 1)
    assert found[f'{IPS}allocation_errors_total{{{labels},scope="static"}}'] == 1
    assert found[f"{IPS}allocated_ips{{{labels}}}"] == 3
    assert found[f"{IPS}available_ips{{{labels}}}"] == 11
    if version == "1.37":
        assert found[f"{IPS}allocation_duration_seconds_count{{{labels}}}"] == 2 + before
    await client.delete(SERVICES, "asked", namespace="default")
    assert (await figures(client))[f"{IPS}allocated_ips{{{labels}}}"] == 2
    for number in range(12):
        await make(client, f"full-{number}")
    with pytest.raises(ApiError, match="range is full"):
        await make(client, "more")
    found = await figures(client)
    assert found[f'{IPS}allocation_errors_total{{{labels},scope="dynamic"}}'] == 1
    assert found[f"{IPS}available_ips{{{labels}}}"] == 0
    await server.stop()


async def test_node_ports_are_counted(client: Client) -> None:
    found = await figures(client)
    assert (found[f"{PORTS}allocated_ports"], found[f"{PORTS}available_ports"]) == (0, 0)
    await make(client, "drawn", type="NodePort")
    await make(client, "asked", type="NodePort", ports=[{"port": 80, "nodePort": 30080}])
    for port in (30080, 80):
        with pytest.raises(ApiError):
            await make(client, "refused", type="NodePort", ports=[{"port": 80, "nodePort": port}])
    await make(client, "dry", type="NodePort", dry_run=True)
    found = await figures(client)
    assert found[f'{PORTS}allocation_total{{scope="dynamic"}}'] == 1
    assert found[f'{PORTS}allocation_total{{scope="static"}}'] == 1
    assert found[f'{PORTS}allocation_errors_total{{scope="static"}}'] == 2
    assert (found[f"{PORTS}allocated_ports"], found[f"{PORTS}available_ports"]) == (2, 2766)
    await client.delete(SERVICES, "drawn", namespace="default")
    assert (await figures(client))[f"{PORTS}allocated_ports"] == 1
