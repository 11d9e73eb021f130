"""metrics.k8s.io: what nodes and Pods use, since when it is known, and that it goes with its APIService."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.resource_metrics import NODE_METRICS, POD_METRICS
from engine.api.types import CLUSTER_ROLES, DEPLOYMENTS, GVR, NODES, PODS, SERVICES, Object
from engine.apiserver.resource_metrics import AUTOSCALERS
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN, ClientFor, make_namespace

API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")
NAME = "v1beta1.metrics.k8s.io"
PATH = "/apis/metrics.k8s.io/v1beta1"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


async def node(client: Client, name: str, ready: str = "True") -> None:
    made = await client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    conditions = [{"type": "Ready", "status": ready}]
    await client.update_status(NODES, {**made, "status": {"conditions": conditions}})


async def pod(
    client: Client,
    name: str,
    *,
    phase: str = "Running",
    usage: dict[str, str] | None = None,
    requests: tuple[str, ...] = ("", ""),
    states: dict[str, Object] | None = None,
    labels: dict[str, str] | None = None,
    **options: Any,
) -> Object:
    """A Pod on node-1 with containers a and b that ask for the given CPU, all of which have just started."""
    containers = [
        {"name": container, "image": "x", "resources": {"requests": {"cpu": amount}} if amount else {}}
        for container, amount in zip("ab", requests, strict=False)
    ]
    made = await client.create(
        PODS,
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "annotations": usage or {}, "labels": labels or {}},
            "spec": {"nodeName": "node-1", "containers": containers, **options},
        },
        namespace="shop",
    )
    now = made["metadata"]["creationTimestamp"]
    status = {
        "phase": phase,
        "startTime": now,
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [
            {
                "name": each["name"],
                "image": "x",
                "imageID": "",
                "ready": True,
                "restartCount": 0,
                "state": (states or {}).get(str(each["name"]), {"running": {"startedAt": now}}),
            }
            for each in containers
        ],
    }
    return await client.update_status(PODS, {**made, "status": status})


@pytest.fixture
async def shop(client: Client, world: World) -> Client:
    """Nodes and Pods of which most have been there for a minute."""
    await make_namespace(client, "shop")
    for name, ready in (("node-1", "True"), ("node-2", "True"), ("node-lost", "Unknown")):
        await node(client, name, ready)
    await pod(client, "idle", labels={"app": "idle"})
    await pod(
        client, "busy", usage={"ktui.io/cpu-usage": "300m", "ktui.io/memory-usage": "64Mi"}, requests=("100m", "200m")
    )
    await pod(client, "small", usage={"ktui.io/cpu-usage": "10m"}, requests=("",))
    await pod(client, "done", phase="Succeeded")
    await pod(client, "waiting", phase="Pending")
    await pod(client, "half", states={"b": {"waiting": {"reason": "CrashLoopBackOff"}}})
    await world.clock.sleep(62)
    return client


def used(metrics: Object) -> dict[str, tuple[str, str]]:
    return {each["name"]: (each["usage"]["cpu"], each["usage"]["memory"]) for each in metrics["containers"]}


async def test_what_pods_use(shop: Client) -> None:
    found = await shop.list(POD_METRICS)
    assert (found.kind, found.resource_version) == ("PodMetricsList", "")
    assert {each["metadata"]["name"]: used(each) for each in found.items} == {
        "busy": {"a": ("100m", "32Mi"), "b": ("200m", "32Mi")},
        "half": {"a": ("1m", "16Mi")},
        "idle": {"a": ("1m", "16Mi"), "b": ("1m", "16Mi")},
        "small": {"a": ("10m", "16Mi")},
    }
    assert found.items[2] == {
        "metadata": {
            "name": "idle",
            "namespace": "shop",
            "creationTimestamp": "2026-01-01T00:01:02Z",
            "labels": {"app": "idle"},
        },
        "timestamp": "2026-01-01T00:01:00Z",
        "window": "15s",
        "containers": found.items[2]["containers"],
    }


async def test_what_nodes_use(shop: Client) -> None:
    """The sum of what runs there, and what the machine itself does; nothing is known of one that nobody hears of."""
    found = {each["metadata"]["name"]: each["usage"] for each in (await shop.list(NODE_METRICS)).items}
    assert found == {"node-1": {"cpu": "314m", "memory": "144Mi"}, "node-2": {"cpu": "1m", "memory": "16Mi"}}
    one = await shop.get(NODE_METRICS, "node-2")
    assert (one["kind"], one["timestamp"], one["window"]) == ("NodeMetrics", "2026-01-01T00:01:00Z", "15s")


SELECTED: dict[str, tuple[str | None, dict[str, Any], list[str]]] = {
    "all namespaces": (None, {}, ["busy", "half", "idle", "small"]),
    "a namespace": ("shop", {}, ["busy", "half", "idle", "small"]),
    "another": ("default", {}, []),
    "by label": ("shop", {"label_selector": "app=idle"}, ["idle"]),
    "by name": (None, {"field_selector": "metadata.name=busy"}, ["busy"]),
    "by what is not its name": ("shop", {"field_selector": "metadata.name!=busy"}, ["half", "idle", "small"]),
    "by namespace": (None, {"field_selector": "metadata.namespace=shop"}, ["busy", "half", "idle", "small"]),
}


async def test_selected(shop: Client) -> None:
    for namespace, selectors, names in SELECTED.values():
        found = await shop.list(POD_METRICS, namespace=namespace, **selectors)
        assert [each["metadata"]["name"] for each in found.items] == names
    with pytest.raises(ApiError, match=r'"spec\.nodeName" is not a known field selector'):
        await shop.list(POD_METRICS, field_selector="spec.nodeName=node-1")


MISSING = {
    "a Pod that has ended": (POD_METRICS, "done", 'podmetrics.metrics.k8s.io "shop/done" not found'),
    "a Pod that waits": (POD_METRICS, "waiting", 'podmetrics.metrics.k8s.io "shop/waiting" not found'),
    "no such Pod": (POD_METRICS, "nope", 'pods "nope" not found'),
    "a node that nobody hears of": (NODE_METRICS, "node-lost", 'nodemetrics.metrics.k8s.io "node-lost" not found'),
    "no such node": (NODE_METRICS, "nope", 'nodes "nope" not found'),
}


async def test_not_found(shop: Client) -> None:
    for gvr, name, text in MISSING.values():
        with pytest.raises(ApiError) as raised:
            await shop.get(gvr, name, namespace="shop" if gvr == POD_METRICS else None)
        assert (raised.value.code, str(raised.value)) == (404, text)


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        pytest.param("DELETE", "/nodes/node-1", 405, id="delete"),
        pytest.param("DELETE", "/namespaces/shop/pods", 405, id="delete all"),
        pytest.param("POST", "/namespaces/shop/pods", 405, id="create"),
        pytest.param("GET", "/namespaces/shop/pods/idle/log", 404, id="no subresource"),
        pytest.param("GET", "/namespaces/shop/nodes", 404, id="nodes have no namespace"),
    ],
)
async def test_only_reads(client: Client, method: str, path: str, code: int) -> None:
    assert (await client.send(method, PATH + path)).status == code


async def test_a_table(shop: Client) -> None:
    answer = await shop.send("GET", f"{PATH}/namespaces/shop/pods", headers={"accept": TABLE})
    columns = answer.body["columnDefinitions"]
    assert [(each["name"], each["format"]) for each in columns] == [
        ("Name", "name"), ("cpu", "quantity"), ("memory", "quantity"), ("Window", "duration"),
    ]  # fmt: skip
    assert [row["cells"] for row in answer.body["rows"]][:2] == [
        ["busy", "300m", "64Mi", "15s"], ["half", "1m", "16Mi", "15s"],
    ]  # fmt: skip
    answer = await shop.send("GET", f"{PATH}/nodes/node-2", headers={"accept": TABLE})
    assert [row["cells"] for row in answer.body["rows"]] == [["node-2", "1m", "16Mi", "15s"]]


async def test_the_first_sample_comes_when_a_container_has_run_for_ten_seconds(client: Client, world: World) -> None:
    await make_namespace(client, "shop")
    to_the_next_look = 15 - world.clock.now().timestamp() % 15

    async def seen() -> str | None:
        items = (await client.list(POD_METRICS)).items
        return str(items[0]["window"]) if items else None

    await world.clock.sleep(to_the_next_look + 3)
    await pod(client, "early")
    assert await seen() is None
    await world.clock.sleep(11)
    assert await seen() is None, "nobody has looked yet"
    await world.clock.sleep(1)
    assert await seen() == "12s"
    await client.delete(PODS, "early", namespace="shop", grace_period_seconds=0)
    await world.clock.sleep(8)
    await pod(client, "late")
    await world.clock.sleep(7)
    assert await seen() is None, "the CPU has been looked at once"
    await world.clock.sleep(15)
    assert await seen() == "15s"


async def test_a_container_that_starts_again_is_looked_at_anew(shop: Client, world: World) -> None:
    """Until a look has seen it, its Pod is told without it; until the CPU can be told, its Pod is not told at all."""
    found = await shop.get(PODS, "idle", namespace="shop")
    again = (world.clock.now() + timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    first, second = found["status"]["containerStatuses"]
    statuses = [first, {**second, "state": {"running": {"startedAt": again}}}]
    await shop.update_status(PODS, {**found, "status": {**found["status"], "containerStatuses": statuses}})

    async def containers() -> list[str] | None:
        try:
            return list(used(await shop.get(POD_METRICS, "idle", namespace="shop")))
        except ApiError:
            return None

    assert await containers() == ["a"]
    await world.clock.sleep(14)
    assert await containers() == ["a", "b"]


async def test_a_load_is_shared_by_the_ready_pods_of_a_target(shop: Client) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    await shop.create(DEPLOYMENTS, {**web, "spec": spec}, namespace="shop")
    for name in ("web-1", "web-2"):
        await pod(shop, name, labels={"app": "web"}, requests=("",))
    autoscaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "annotations": {"ktui.io/cpu-load": "500m", "ktui.io/memory-load": "1Gi"}},
        "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
    }
    await shop.create(AUTOSCALERS, autoscaler, namespace="shop")
    node = await shop.get(NODE_METRICS, "node-1")
    assert node["usage"] == {"cpu": "814m", "memory": "1168Mi"}


async def test_it_is_there_from_the_beginning(client: Client, client_for: ClientFor) -> None:
    found = await client.get(API_SERVICES, NAME)
    assert found["metadata"]["labels"] == {"k8s-app": "metrics-server"}
    assert found["spec"] == {
        "group": "metrics.k8s.io",
        "groupPriorityMinimum": 100,
        "insecureSkipTLSVerify": True,
        "service": {"name": "metrics-server", "namespace": "kube-system", "port": 443},
        "version": "v1beta1",
        "versionPriority": 100,
    }
    (available,) = found["status"]["conditions"]
    assert [available[field] for field in ("type", "status", "reason", "message")] == [
        "Available", "True", "Passed", "all checks passed",
    ]  # fmt: skip
    role = await client.get(CLUSTER_ROLES, "system:aggregated-metrics-reader")
    assert role["metadata"]["labels"] == {
        "k8s-app": "metrics-server",
        **{f"rbac.authorization.k8s.io/aggregate-to-{each}": "true" for each in ("admin", "edit", "view")},
    }
    rule = {"apiGroups": ["metrics.k8s.io"], "resources": ["pods", "nodes"], "verbs": ["get", "list", "watch"]}
    assert role["rules"] == [rule]
    for name in ("admin", "edit", "view"):
        assert rule in (await client.get(CLUSTER_ROLES, name))["rules"]
    with pytest.raises(ApiError, match="is forbidden"):
        await client_for("nobody").list(POD_METRICS)


async def test_discovery_and_openapi(client: Client) -> None:
    listed = (await client.send("GET", PATH)).body
    assert listed["resources"] == [
        {"name": "nodes", "singularName": "", "namespaced": False, "kind": "NodeMetrics", "verbs": ["get", "list"]},
        {"name": "pods", "singularName": "", "namespaced": True, "kind": "PodMetrics", "verbs": ["get", "list"]},
    ]
    groups = (await client.send("GET", "/apis")).body["groups"]
    assert groups[-1]["name"] == "metrics.k8s.io"
    accept = {"accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
    last = (await client.send("GET", "/apis", headers=accept)).body["items"][-1]
    assert last["versions"][0]["freshness"] == "Current"
    assert [each["resource"] for each in last["versions"][0]["resources"]] == ["nodes", "pods"]
    index = (await client.send("GET", "/openapi/v3")).body["paths"]
    document = (await client.send("GET", f"/openapi/v3{PATH}")).body
    assert f"{PATH}/namespaces/{{namespace}}/pods/{{name}}" in document["paths"]
    schemas = document["components"]["schemas"]
    assert schemas["io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics"]["required"] == [
        "timestamp", "window", "containers",
    ]  # fmt: skip
    assert "io.k8s.apimachinery.pkg.apis.meta.v1.Duration" in schemas
    assert PATH[1:] in index
    assert f"{PATH}/nodes" in (await client.send("GET", "/openapi/v2")).body["paths"]


async def test_it_goes_and_comes_with_its_api_service(client: Client, world: World) -> None:
    kept = await client.get(API_SERVICES, NAME)
    await client.delete(API_SERVICES, NAME)
    await world.clock.sleep(1)
    for path in (PATH, f"{PATH}/nodes", "/apis/metrics.k8s.io", f"/openapi/v3{PATH}"):
        assert (await client.send("GET", path)).status == 404
    assert "metrics.k8s.io" not in [each["name"] for each in (await client.send("GET", "/apis")).body["groups"]]
    new = {"apiVersion": kept["apiVersion"], "kind": kept["kind"], "metadata": {"name": NAME}, "spec": kept["spec"]}
    await client.create(API_SERVICES, new)
    await world.clock.sleep(1)
    assert (await client.send("GET", f"{PATH}/nodes")).status == 200


async def test_another_adapter_that_is_not_there(client: Client, world: World) -> None:
    found = await client.get(API_SERVICES, NAME)
    service = {**found["spec"]["service"], "name": "prometheus-adapter"}
    await client.update(API_SERVICES, {**found, "spec": {**found["spec"], "service": service}})
    await world.clock.sleep(1)
    assert (await client.send("GET", f"{PATH}/nodes")).status == 503
    (available,) = (await client.get(API_SERVICES, NAME))["status"]["conditions"]
    assert (available["status"], available["reason"]) == ("False", "ServiceNotFound")


async def test_which_apis_cannot_be_had_is_told_on_metrics(client: Client, world: World) -> None:
    async def told() -> list[str]:
        page = (await client.send("GET", "/metrics")).body.decode()
        lines = (line for line in page.splitlines() if line.startswith("aggregator_unavailable_apiservice"))
        return [
            line.removeprefix("aggregator_unavailable_apiservice") for line in lines if "v1." in line or "v1b" in line
        ]

    before = await told()
    assert {f'{{name="{NAME}"}} 0', '{name="v1.apps"} 0', '{name="v1."} 0'} <= set(before)
    assert not [line for line in before if not line.endswith(" 0")]
    found = await client.get(API_SERVICES, NAME)
    service = {**found["spec"]["service"], "name": "prometheus-adapter"}
    await client.update(API_SERVICES, {**found, "spec": {**found["spec"], "service": service}})
    await world.clock.sleep(1)
    assert set(await told()) - set(before) == {
        f'{{name="{NAME}"}} 1',
        f'_total{{name="{NAME}",reason="ServiceNotFound"}} 1',
    }


async def test_a_service_of_metrics_server_must_have_endpoints(client: Client, world: World) -> None:
    """Who installs the real manifest gets what it says."""
    spec = {"ports": [{"port": 443, "name": "https"}], "selector": {"k8s-app": "metrics-server"}}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "metrics-server"}, "spec": spec}
    await client.create(SERVICES, service, namespace="kube-system")
    await world.clock.sleep(1)
    (available,) = (await client.get(API_SERVICES, NAME))["status"]["conditions"]
    assert (available["status"], available["reason"]) == ("False", "EndpointsNotFound")
    assert (await client.send("GET", f"{PATH}/nodes")).status == 503


async def test_who_deleted_it_does_not_get_it_back(world: World, store: SqliteStore) -> None:
    for number in range(2):
        server = ApiServer(world, store)
        await server.start()
        client = Client(InProcessTransport(server, ADMIN), user_agent="test")
        there = NAME in [each["metadata"]["name"] for each in (await client.list(API_SERVICES)).items]
        assert there is (number == 0)
        if there:
            await client.delete(API_SERVICES, NAME)
        await server.stop()
