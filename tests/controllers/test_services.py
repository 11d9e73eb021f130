"""EndpointSlices end to end: they follow Pods and Services, and nobody else's hand."""

from __future__ import annotations

from typing import Any

from engine.api.types import DEPLOYMENTS, ENDPOINT_SLICES, ENDPOINTS, GVR, PODS, SERVICES, Object
from engine.clock import VirtualClock
from engine.controllers.endpointslice import EndpointSliceController
from engine.controllers.serviceaccount import ServiceAccountController
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running, web

QUOTAS = GVR("", "v1", "resourcequotas")


def service(**spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default", "labels": {"tier": "front"}},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}], **spec},
    }


async def slices(cluster: TestCluster) -> list[Object]:
    return await cluster.objects(ENDPOINT_SLICES, namespace="default", label_selector="kubernetes.io/service-name=web")


async def ready(cluster: TestCluster, count: int) -> Object:
    """The one slice once it has so many ready endpoints and no others."""

    async def found() -> Object | None:
        each = await slices(cluster)
        endpoints = (each[0].get("endpoints") or []) if len(each) == 1 else None
        if endpoints is None or len(endpoints) != count:
            return None
        return each[0] if all(endpoint["conditions"]["ready"] for endpoint in endpoints) else None

    result: Object = await cluster.eventually(f"{count} ready endpoints", found)
    return result


async def test_a_service_has_an_empty_slice_and_then_its_pods(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(SERVICES, service(), namespace="default")
        empty = await ready(cluster, 0)
        await cluster.admin.create(DEPLOYMENTS, web(3), namespace="default")
        full = await ready(cluster, 3)
        assert full["metadata"]["name"] == empty["metadata"]["name"], "updated in place"
        assert full["metadata"]["name"].startswith("web-")
        assert full["addressType"] == "IPv4"
        assert full["ports"] == [{"name": "", "port": 80, "protocol": "TCP"}]
        assert full["metadata"]["labels"]["tier"] == "front"
        assert "endpoints.kubernetes.io/last-change-trigger-time" in full["metadata"]["annotations"]
        assert full["endpoints"][0]["nodeName"] == "node-1"
        assert full["endpoints"][0]["zone"] == "zone-a"
        await cluster.admin.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 1}}, namespace="default")
        await ready(cluster, 1)


async def test_a_pod_that_is_not_ready_stays_in_and_is_marked(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster) as hands:
        await cluster.admin.create(SERVICES, service(), namespace="default")
        await cluster.admin.create(DEPLOYMENTS, web(2), namespace="default")
        before = await ready(cluster, 2)
        sick = before["endpoints"][0]["targetRef"]["name"]
        hands.ready = lambda pod: pod["metadata"]["name"] != sick
        hands.look_again()

        async def marked() -> bool:
            endpoints = (await slices(cluster))[0]["endpoints"]
            return {each["targetRef"]["name"]: each["conditions"]["ready"] for each in endpoints}.get(sick) is False

        await cluster.eventually("the endpoint is not ready", marked)


async def test_what_somebody_else_does_to_a_slice_is_put_right(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(SERVICES, service(), namespace="default")
        await cluster.admin.create(DEPLOYMENTS, web(1), namespace="default")
        each = await ready(cluster, 1)
        await cluster.admin.update(ENDPOINT_SLICES, {**each, "endpoints": []})
        await ready(cluster, 1)
        await cluster.admin.delete(ENDPOINT_SLICES, each["metadata"]["name"], namespace="default")
        again = await ready(cluster, 1)
        assert again["metadata"]["uid"] != each["metadata"]["uid"]


async def test_services_without_a_selector_or_with_an_external_name_have_no_slices(world: World) -> None:
    async with running(world) as cluster:
        bare = service(selector=None)
        await cluster.admin.create(SERVICES, bare, namespace="default")
        await world.clock.sleep(5)
        assert await slices(cluster) == []


async def test_endpoints_show_the_same_and_go_with_the_service(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster) as hands:
        await cluster.admin.create(SERVICES, service(), namespace="default")
        await cluster.admin.create(DEPLOYMENTS, web(2), namespace="default")
        before = await ready(cluster, 2)
        ips = sorted(each["addresses"][0] for each in before["endpoints"])
        sick = next(each["targetRef"]["name"] for each in before["endpoints"] if each["addresses"] == ips[:1])

        async def shown(healthy: list[str], ill: list[str]) -> Object | None:
            found = await cluster.find(ENDPOINTS, "web")
            subsets = (found or {}).get("subsets") or []
            if len(subsets) != 1:
                return None
            lists = [[each["ip"] for each in subsets[0].get(name, ())] for name in ("addresses", "notReadyAddresses")]
            return found if lists == [healthy, ill] else None

        found = await cluster.eventually("both are ready", lambda: shown(ips, []))
        assert found["subsets"][0]["ports"] == [{"port": 80, "protocol": "TCP"}]
        assert found["metadata"]["labels"] == {
            "tier": "front",
            "endpoints.kubernetes.io/managed-by": "endpoint-controller",
        }
        hands.ready = lambda pod: pod["metadata"]["name"] != sick
        hands.look_again()
        await cluster.eventually("one is not", lambda: shown(ips[1:], ips[:1]))
        await cluster.admin.delete(SERVICES, "web", namespace="default")
        await cluster.gone(ENDPOINTS, "web")


async def test_slices_go_with_their_service(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(SERVICES, service(), namespace="default")
        each = await ready(cluster, 0)
        await cluster.admin.delete(SERVICES, "web", namespace="default")
        await cluster.gone(ENDPOINT_SLICES, each["metadata"]["name"])
        assert await cluster.objects(PODS) == []


async def test_a_cache_behind_its_own_create_is_waited_for(virtual_clock: VirtualClock) -> None:
    """Pods that change meanwhile are no reason to create the same Endpoints again, and to warn that they exist."""
    world = World.create(clock=virtual_clock, seed=1, latencies={"watch": (500, 500)})
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(DEPLOYMENTS, web(1), namespace="default")
        await cluster.available("web", 1)
        (pod,) = await cluster.objects(PODS, namespace="default")
        await cluster.admin.create(SERVICES, service(), namespace="default")
        await virtual_clock.sleep(0.2)
        labels = {"metadata": {"labels": {"app": "web", "round": "2"}}}
        await cluster.admin.patch(PODS, pod["metadata"]["name"], labels, namespace="default")
        await virtual_clock.sleep(5)
        assert await cluster.events("FailedToCreateEndpoint") == []
        found = await cluster.find(ENDPOINTS, "web")
        assert found is not None
        assert len(found["subsets"][0]["addresses"]) == 1


async def test_what_keeps_slices_from_being_written_is_told_in_one_event(world: World) -> None:
    async with running(world, controllers=(EndpointSliceController, ServiceAccountController)) as cluster:
        await cluster.eventually_service_account("default")
        for number in (1, 2):
            pod = {
                "metadata": {"name": f"lost-{number}", "labels": {"app": "web"}},
                "spec": {"nodeName": f"gone-{number}", "containers": [{"name": "c", "image": "nginx"}]},
            }
            await cluster.admin.create(PODS, pod, namespace="default")
            status = {"status": {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}}
            await cluster.admin.patch(PODS, f"lost-{number}", status, namespace="default", subresource="status")
        hard = {"spec": {"hard": {"count/endpointslices.discovery.k8s.io": "0"}}}
        quota = await cluster.admin.create(QUOTAS, {"metadata": {"name": "none"}, **hard}, namespace="default")
        counted = {**hard["spec"], "used": {"count/endpointslices.discovery.k8s.io": "0"}}
        await cluster.admin.update_status(QUOTAS, {**quota, "status": counted})
        await cluster.admin.create(SERVICES, service(), namespace="default")

        async def told() -> list[str]:
            return await cluster.events("FailedToUpdateEndpointSlices")

        said, *_ = await cluster.eventually("the event", told)
        skipped = (f"skipping Pod lost-{n} for Service default/web: Node gone-{n} Not Found" for n in (1, 2))
        assert said.startswith(
            f"Error updating Endpoint Slices for Service default/web: [{', '.join(skipped)}, "
            'failed to create EndpointSlice for Service default/web: endpointslices.discovery.k8s.io "web-'
        )
