"""The service proxy against a real API server in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from engine.api.types import ENDPOINT_SLICES, NODES, SERVICES, Object
from engine.api.wire import ClientCertificate
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.config import ClusterConfig
from engine.kubelet import Wire
from engine.network import PodNetwork, ServiceProxy
from engine.store.sqlite import SqliteStore
from engine.trace import Hop
from engine.world import World

JSON_PATCH = "application/json-patch+json"
ADMIN = ClientCertificate("kubernetes-admin", ("system:masters",))
PROXY = ClientCertificate("system:kube-proxy")


@asynccontextmanager
async def running(world: World, **options: Any) -> AsyncIterator[tuple[Client, ServiceProxy]]:
    store = await SqliteStore.open(None, clock=world.clock)
    api = ApiServer(world, store, config=ClusterConfig())
    await api.start()
    admin = Client(InProcessTransport(api, ADMIN), user_agent="kubectl")
    for number, zone in ((1, "zone-a"), (2, "zone-b")):
        labels = {"topology.kubernetes.io/zone": zone}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{number}", "labels": labels}}
        await admin.create(NODES, node)
    proxy = ServiceProxy(Client(InProcessTransport(api, PROXY), user_agent="kube-proxy"), world, "node-1", **options)
    await proxy.start()
    await world.clock.sleep(2)
    try:
        yield admin, proxy
    finally:
        await proxy.stop()
        await api.stop()
        await store.close()


async def make(admin: Client, *, ready: bool = True, **spec: Any) -> None:
    service: Object = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"clusterIP": "10.96.0.7", "ports": [{"port": 80}], **spec},
    }
    await admin.create(SERVICES, service, namespace="default")
    await admin.create(ENDPOINT_SLICES, slice_of(ready=ready), namespace="default")


def slice_of(*, ready: bool = True) -> Object:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "web-x", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "ports": [{"name": "", "port": 8080, "protocol": "TCP"}],
        "endpoints": [{"addresses": ["10.244.1.2"], "nodeName": "node-2", "conditions": {"ready": ready}}],
    }


def rules(world: World, node: str = "node-1") -> dict[str, list[str]]:
    found = world.views.look(f"network/{node}/rules", {})["rules"]
    return {rule["address"]: rule["endpoints"] for rule in found}


async def test_rules_follow_services_and_their_endpoints(world: World) -> None:
    async with running(world) as (admin, _):
        await make(admin, ready=False)
        await world.clock.sleep(2)
        assert rules(world)["10.96.0.7:80"] == []
        changed = [{"op": "replace", "path": "/endpoints/0/conditions/ready", "value": True}]
        await admin.patch(ENDPOINT_SLICES, "web-x", changed, namespace="default", content_type=JSON_PATCH)
        await world.clock.sleep(2)
        assert rules(world)["10.96.0.7:80"] == ["10.244.1.2:8080"]
        await admin.delete(SERVICES, "web", namespace="default")
        await world.clock.sleep(2)
        assert "10.96.0.7:80" not in rules(world)


async def test_a_pass_is_a_span_of_hop_12_in_the_trace_of_its_cause(world: World) -> None:
    async with running(world) as (admin, _):
        with world.tracer.span(Hop.CLIENT, component="kubectl", verb="create") as began:
            await make(admin)
        await world.clock.sleep(2)

        mine = [span for span in world.tracer.recent if span.hop == Hop.NETWORK and span.trace_id == began.trace_id]
        assert [(span.verb, span.object, span.component) for span in mine] == [
            ("sync-proxy-rules", "service/default/web", "kube-proxy node-1")
        ] * len(mine)
        assert mine[-1].detail["rules"][0]["endpoints"] == ["10.244.1.2:8080"]


async def test_changes_within_a_second_are_programmed_together(world: World) -> None:
    async with running(world) as (admin, proxy):
        await make(admin)
        await world.clock.sleep(2)
        before = proxy.syncs
        for ready in (False, True, False, True):
            changed = [{"op": "replace", "path": "/endpoints/0/conditions/ready", "value": ready}]
            await admin.patch(ENDPOINT_SLICES, "web-x", changed, namespace="default", content_type=JSON_PATCH)
            await world.clock.sleep(0.1)
        await world.clock.sleep(3)

        assert proxy.syncs - before == 2


@pytest.mark.parametrize("latencies", [{}, {"network": (1.0, 1.0)}])
async def test_without_latencies_a_pod_waits_for_no_pass(
    virtual_clock: VirtualClock, latencies: dict[str, tuple[float, float]]
) -> None:
    """What `helm install --wait` has made is asked by `helm test` within the second, where Pods start at once."""
    world = World.create(clock=virtual_clock, seed=1, latencies=latencies)
    async with running(world) as (admin, proxy):
        network = PodNetwork(proxy, Wire(), {}, "node-1", "default", "10.244.0.9")
        await make(admin)
        await virtual_clock.sleep(0.1)  # a pass, after which changes are gathered
        changed = [{"op": "replace", "path": "/spec/ports/0/port", "value": 81}]
        await admin.patch(SERVICES, "web", changed, namespace="default", content_type=JSON_PATCH)
        await virtual_clock.sleep(0.1)
        before = proxy.syncs
        if latencies:
            with pytest.raises(OSError, match="No route to host"):
                network.ask("10.96.0.7", 81, b"")
        else:
            assert network.ask("10.96.0.7", 81, b"") == b""
        assert proxy.syncs == before + (not latencies)

        await virtual_clock.sleep(3)
        assert proxy.syncs == before + 1
        assert "10.96.0.7:81" in rules(world)
        assert "10.96.0.7:80" not in rules(world)


async def test_one_proxy_can_show_the_rules_of_other_nodes(world: World) -> None:
    async with running(world, other_nodes=("node-2",)) as (admin, proxy):
        await make(admin, internalTrafficPolicy="Local")
        await world.clock.sleep(2)

        assert rules(world)["10.96.0.7:80"] == []
        assert rules(world, "node-2")["10.96.0.7:80"] == ["10.244.1.2:8080"]
        assert PodNetwork(proxy, Wire(), {}, "node-2", "default", "10.244.1.9").ask("10.96.0.7", 80, b"") == b""
        with pytest.raises(TimeoutError):
            PodNetwork(proxy, Wire(), {}, "node-1", "default", "10.244.0.9").ask("10.96.0.7", 80, b"")


async def test_pods_reach_services_by_name(world: World) -> None:
    async with running(world) as (admin, proxy):
        network = PodNetwork(proxy, Wire(), {}, "node-1", "default", "10.244.0.9")
        assert network.resolve("web") == []
        with pytest.raises(OSError, match="No route to host"):
            network.ask("10.96.0.7", 80, b"")
        await make(admin)
        await world.clock.sleep(2)

        assert network.resolve("web") == ["10.96.0.7"]
        assert network.ask("10.96.0.7", 80, b"") == b""
        answer = world.views.look("network/dns", {"name": "web"})
        assert [record["data"] for record in answer["answers"]] == ["10.96.0.7"]
