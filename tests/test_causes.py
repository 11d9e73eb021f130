"""A component that starts after a write still knows what it answers."""

from __future__ import annotations

from engine.api.types import CONFIGMAPS, DEPLOYMENTS, NAMESPACES, REPLICA_SETS
from engine.api.wire import ClientCertificate
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from engine.trace import Hop
from tests.benchmarks.apply_available import sample


async def test_controllers_that_start_after_the_apply_carry_on_its_trace(virtual_clock: VirtualClock) -> None:
    cluster = Cluster(ClusterConfig(seed=1), clock=virtual_clock)
    try:
        await cluster.start_api_server()
        client = cluster.client(ClientCertificate("jane", ("system:masters",)), user_agent="kubectl/test")
        await client.create(DEPLOYMENTS, sample("web")[0], namespace="default")
        await cluster.start_components()
        await virtual_clock.sleep(5)
        assert (await client.list(REPLICA_SETS, namespace="default")).items
        spans = cluster.world.tracer.recent
        [apply] = [
            span
            for span in spans
            if span.hop is Hop.CLIENT and span.object == "deployment/default/web" and span.verb == "create"
        ]
        hops = {span.hop for span in spans if span.trace_id == apply.trace_id}
    finally:
        await cluster.stop()
    assert set(Hop) - {Hop.NETWORK} <= hops


async def test_what_a_namespace_takes_with_it_is_of_the_trace_of_its_deletion(virtual_clock: VirtualClock) -> None:
    """Also what had to be waited for first."""
    async with Cluster(ClusterConfig(seed=1), clock=virtual_clock) as cluster:
        client = cluster.client(ClientCertificate("jane", ("system:masters",)), user_agent="kubectl/test")
        await client.create(NAMESPACES, {"metadata": {"name": "shop"}})
        await client.create(CONFIGMAPS, {"metadata": {"name": "mine"}}, namespace="shop")
        await client.create(DEPLOYMENTS, sample("web")[0] | {"metadata": {"name": "web"}}, namespace="shop")
        await virtual_clock.sleep(5)
        await client.delete(NAMESPACES, "shop")
        await virtual_clock.sleep(120)
        assert "shop" not in [item["metadata"]["name"] for item in (await client.list(NAMESPACES)).items]
        spans = [*cluster.world.tracer.recent]
    [delete] = [
        span for span in spans if (span.hop, span.verb, span.object) == (Hop.CLIENT, "delete", "namespace/shop")
    ]
    written = [span for span in spans if span.trace_id == delete.trace_id and span.hop is Hop.STORE]
    assert {"configmap/shop/mine", "deployment/shop/web", "namespace/shop"} <= {span.object for span in written}
    assert (written[0].object, "deletes" in written[0].detail) == ("namespace/shop", False)  # it is marked
    assert (written[-1].object, "deletes" in written[-1].detail) == ("namespace/shop", True)  # and at last it is gone
