"""What a request leaves in the trace."""

from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, DEPLOYMENTS, PODS, Object
from engine.api.wire import ClientCertificate, Request
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.clock import VirtualClock
from engine.trace import Hop, Lane, Span
from engine.world import World
from tests.apiserver.conftest import ClientFor, config_map, pod
from tests.apiserver.test_create import deployment


def spans_of(world: World, object: str) -> list[Span]:
    return [span for span in world.tracer.recent if span.object == object]


async def test_a_write_shows_each_hop(client: Client, world: World) -> None:
    made = await client.create(DEPLOYMENTS, deployment(), namespace="default")
    async with await client.watch(DEPLOYMENTS, resource_version=made["metadata"]["resourceVersion"]):
        pass
    spans = [span for span in world.tracer.recent if span.object.startswith("deployment/default") and span.hop < 8]
    assert [span.hop for span in sorted(spans, key=lambda span: span.hop)][:7] == [1, 2, 3, 4, 5, 6, 7]
    [client_span] = [span for span in spans if span.hop is Hop.CLIENT and span.verb == "create"]
    assert (client_span.component, client_span.lane) == ("kubectl", Lane.CLIENT)
    assert client_span.object == "deployment/default/web"
    children = [span for span in spans if span.verb == "create" and span is not client_span]
    assert {span.parent for span in children} == {client_span.id}
    [stored] = [span for span in children if span.hop is Hop.STORE]
    assert (stored.component, stored.lane) == ("etcd", Lane.ETCD)
    assert stored.revision == int(made["metadata"]["resourceVersion"])
    assert stored.detail["key"] == "/registry/deployments/default/web"


async def test_a_request_that_names_its_cause_starts_no_trace(client: Client, world: World) -> None:
    with world.tracer.span(Hop.CLIENT, component="kubectl", verb="apply") as cause:
        await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    hops = {span.hop: span for span in world.tracer.recent if span.trace_id == cause.trace_id}
    assert sorted(hops)[:7] == [1, 2, 3, 4, 5, 6, 7]
    assert all(span.parent == cause.id for hop, span in hops.items() if 1 < hop < 8)


async def test_the_watch_answers_to_the_write(client: Client, world: World) -> None:
    async with await client.watch(CONFIGMAPS, resource_version="0") as watch:
        await client.create(CONFIGMAPS, config_map("web"), namespace="default")
        await anext(aiter(watch))
    [stored] = [span for span in spans_of(world, "configmap/default/web") if span.hop is Hop.STORE]
    [told] = [span for span in spans_of(world, "configmap/default/web") if span.hop is Hop.WATCH]
    assert (told.parent, told.trace_id, told.revision) == (stored.id, stored.trace_id, stored.revision)
    assert told.detail == {"event": "ADDED", "watchers": 1, "resource": "configmaps"}


async def test_the_decisions_of_the_chain_are_kept(client: Client, world: World, default_account: Object) -> None:
    await client.create(PODS, pod(), namespace="default")
    hops = {span.hop: span for span in spans_of(world, "pod/default/web")}
    collection = {span.hop: span for span in spans_of(world, "pod/default") if span.verb == "create"} | hops
    authentication = collection[Hop.AUTHENTICATION].detail
    assert (authentication["user"], authentication["authenticator"]) == ("kubernetes-admin", "x509")
    authorization = collection[Hop.AUTHORIZATION].detail
    assert (authorization["verdict"], authorization["authorizer"]) == ("allow", "SystemMasters")
    verdicts = {plugin["name"]: plugin["verdict"] for plugin in hops[Hop.MUTATING_ADMISSION].detail["plugins"]}
    assert verdicts["ServiceAccount"] == "changed"
    assert verdicts["NamespaceLifecycle"] == "passed"


async def test_a_refusal_is_seen_where_it_was_made(client: Client, client_for: ClientFor, world: World) -> None:
    with pytest.raises(ApiError):
        await client_for("jane").create(CONFIGMAPS, config_map("a"), namespace="default")
    with pytest.raises(ApiError):
        await client.create(DEPLOYMENTS, deployment(replicas=-1), namespace="default")
    with pytest.raises(ApiError):
        await client.create(DEPLOYMENTS, deployment(replicas="x"), namespace="default")
    with pytest.raises(ApiError):
        await client.create(PODS, pod(), namespace="default")
    refused = [(int(span.hop), span.outcome) for span in world.tracer.recent if span.outcome != "ok" and span.hop > 1]
    assert refused == [(3, "Forbidden"), (5, "Invalid"), (5, "BadRequest"), (4, "Forbidden")]


async def test_reads_cost_one_span_and_components_start_no_client_hop(client_for: ClientFor, world: World) -> None:
    scheduler = client_for("system:kube-scheduler", user_agent="kube-scheduler")
    before = len(world.tracer.recent)
    await scheduler.list(PODS)
    assert [span.hop for span in list(world.tracer.recent)[before:]] == [Hop.AUTHENTICATION]


async def test_debug_requests_leave_nothing(client: Client, world: World) -> None:
    before = world.tracer.ended
    await client.request("GET", "/debug/ktui/status")
    assert world.tracer.ended == before


async def test_model_time_is_booked_to_its_hop(virtual_clock: VirtualClock) -> None:
    from engine.apiserver.server import ApiServer
    from engine.client import InProcessTransport
    from engine.store.sqlite import SqliteStore
    from tests.apiserver.conftest import ADMIN

    world = World.create(clock=virtual_clock, seed=1, profile="realistic")
    store = await SqliteStore.open(None, clock=virtual_clock)
    server = ApiServer(world, store)
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="kubectl")
    began = virtual_clock.monotonic()
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    took = (virtual_clock.monotonic() - began) * 1000
    spans = spans_of(world, "configmap/default/web")
    [root] = [span for span in spans if span.hop is Hop.CLIENT]
    [stored] = [span for span in spans if span.hop is Hop.STORE]
    assert root.model_ms == pytest.approx(took)
    assert 3 <= stored.model_ms <= 10
    await server.stop()
    await store.close()


async def test_a_request_from_outside_that_brings_a_trace_is_a_hop_of_it(server: ApiServer, world: World) -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    headers = {"traceparent": f"00-{trace}-{parent}-01", "user-agent": "operator/1.0"}
    certificate = ClientCertificate("kubernetes-admin", ("system:masters",))
    path = "/api/v1/namespaces/default/configmaps"
    await server.handle(Request("POST", path, headers=headers, body=config_map("web"), certificate=certificate))
    hops = {span.hop: span for span in world.tracer.recent if span.trace_id == trace}
    assert (hops[Hop.CLIENT].parent, hops[Hop.CLIENT].component) == (parent, "operator")
    assert hops[Hop.STORE].parent == hops[Hop.CLIENT].id


async def test_a_binding_goes_through_the_chain_once_and_in_order(
    client: Client, world: World, default_account: Object
) -> None:
    """A step behind its place would be taken for another request."""
    await client.create(PODS, pod(), namespace="default")
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web"}, "target": {"name": "node-1"}}
    with world.tracer.span(Hop.SCHEDULER, component="default-scheduler", verb="bind") as bind:
        await client.create(PODS, binding, namespace="default", name="web", subresource="binding")
    spans = [span for span in world.tracer.recent if span.parent == bind.id and span.hop < 8]
    assert [span.hop for span in spans] == [2, 3, 4, 5, 6, 7]
