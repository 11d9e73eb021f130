"""/metrics, as Prometheus reads it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson
import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, EVENTS, GVR, PODS, SERVICE_ACCOUNTS
from engine.api.wire import Request
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.config import ClusterConfig
from engine.metric_text import metric
from engine.metrics import Sample
from engine.store import Put, Range
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN, ClientFor, account, config_map, pod

CONFIGMAP_LABELS = 'group="",resource="configmaps"'
_COMPATIBILITY = re.compile("emulation|minCompatibility")
_LINE = re.compile(r'^[a-z_]+(\{([a-z_]+="[^"]*",?)*\})? [-+0-9.e]+$')


async def page(client: Client) -> dict[str, float]:
    body = (await client.send("GET", "/metrics")).body
    samples = {}
    for line in body.decode().splitlines():
        if not line.startswith("#"):
            assert _LINE.match(line), line
            name, _, value = line.rpartition(" ")
            samples[name] = float(value)
    return samples


def total(verb: str, resource: str, scope: str, code: int, *, dry_run: str = "", subresource: str = "") -> str:
    return (
        f'apiserver_request_total{{code="{code}",component="apiserver",dry_run="{dry_run}",group="",'
        f'resource="{resource}",scope="{scope}",subresource="{subresource}",verb="{verb}",version="v1"}}'
    )


async def test_the_build_has_the_labels_that_the_version_has(client: Client) -> None:
    """(component-base metrics/version.go)"""
    version = await client.request("GET", "/version")
    (line,) = [name for name in await page(client) if name.startswith("kubernetes_build_info")]
    labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
    named = {"".join(part.capitalize() for part in label.split("_")): value for label, value in labels.items()}
    assert named == {
        field[0].upper() + field[1:]: version[field] for field in version if not _COMPATIBILITY.match(field)
    }
    assert len(named) == 9


async def test_others_go_on_while_the_page_is_made(client: Client) -> None:
    """It is long: made in one go it would keep every request waiting."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(count())
    lines = len(await page(client))
    other.cancel()
    assert turns > lines // 200 > 0


async def test_requests_are_counted_by_what_they_are_about(client: Client, client_for: ClientFor) -> None:
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    await client.create(CONFIGMAPS, config_map("b"), namespace="default", dry_run=True)
    await client.get(CONFIGMAPS, "a", namespace="default")
    await client.list(CONFIGMAPS, namespace="default")
    await client.list(CONFIGMAPS)
    await client.delete(CONFIGMAPS, "a", namespace="default")
    with pytest.raises(ApiError):
        await client.get(PODS, "none", namespace="default")
    with pytest.raises(ApiError):
        await client_for("jane").list(PODS)  # is refused before any handler
    found = await page(client)
    for name in (
        total("POST", "configmaps", "resource", 201),
        total("POST", "configmaps", "resource", 201, dry_run="All"),
        total("GET", "configmaps", "resource", 200),
        total("LIST", "configmaps", "namespace", 200),
        total("LIST", "configmaps", "cluster", 200),
        total("DELETE", "configmaps", "resource", 200),
        total("GET", "pods", "resource", 404),
    ):
        assert found.get(name) == 1, name
    assert not any('resource="pods",scope="cluster"' in name and name.startswith("apiserver_request") for name in found)


async def test_durations_are_a_histogram(client: Client) -> None:
    for _ in range(3):
        await client.list(CONFIGMAPS)
    labels = (
        'component="apiserver",dry_run="",group="",resource="configmaps",scope="cluster",subresource="",verb="LIST",'
        'version="v1"'
    )
    found = await page(client)
    assert found[f"apiserver_request_duration_seconds_count{{{labels}}}"] == 3
    assert found[f'apiserver_request_duration_seconds_bucket{{{labels},le="+Inf"}}'] == 3
    assert found[f"apiserver_request_duration_seconds_sum{{{labels}}}"] > 0
    bounds = [name for name in found if name.startswith(f"apiserver_request_duration_seconds_bucket{{{labels}")]
    assert [found[bound] for bound in bounds] == sorted(found[bound] for bound in bounds)


async def test_what_is_under_way_is_shown(client: Client) -> None:
    watch = await client.send("GET", "/api/v1/namespaces/default/configmaps", query={"watch": ["true"]})
    assert watch.events is not None
    found = await page(client)
    assert found['apiserver_current_inflight_requests{request_kind="readOnly"}'] == 1  # the page itself
    assert found['apiserver_current_inflight_requests{request_kind="mutating"}'] == 0
    open_ = (
        'apiserver_longrunning_requests{component="apiserver",group="",resource="configmaps",scope="namespace",'
        'subresource="",verb="WATCH",version="v1"}'
    )
    assert found[open_] == 1
    await watch.events.aclose()
    assert open_ not in await page(client)


async def test_what_the_store_is_asked_for_is_counted(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    await client.create(CONFIGMAPS, config_map("b"), namespace="default")
    await client.patch(CONFIGMAPS, "a", {"data": {"x": "1"}}, namespace="default")
    await client.list(CONFIGMAPS, namespace="default")
    await client.delete(CONFIGMAPS, "b", namespace="default")
    found = await page(client)
    for operation in ("create", "delete", "get", "list", "update"):
        labels = f"{CONFIGMAP_LABELS.replace('resource', f'operation=@{operation}@,resource')}".replace("@", '"')
        assert found[f"etcd_requests_total{{{labels}}}"] >= 1, operation
        assert found[f"etcd_request_duration_seconds_count{{{labels}}}"] >= 1, operation
        assert found[f'etcd_request_duration_seconds_bucket{{{labels},le="+Inf"}}'] >= 1, operation
    assert found['etcd_requests_total{group="",operation="create",resource="configmaps"}'] == 2


# Of a list of the store and of two of a cache: since 1.37 a label says which, and what was told of the cache is gone.
COSTS = {
    "1.37": {
        "apiserver_storage_list_total": {'index="",storage="etcd"': 1, 'index="",storage="watchcache"': 2},
        "apiserver_storage_list_fetched_objects_total": {
            'index="",storage="etcd"': 3, 'index="",storage="watchcache"': 6,
        },
        "apiserver_storage_list_evaluated_objects_total": {'storage="etcd"': 3, 'storage="watchcache"': 0},
        "apiserver_storage_list_returned_objects_total": {'storage="etcd"': 2, 'storage="watchcache"': 4},
        "apiserver_cache_list_total": {},
    },
    "1.36": {
        "apiserver_storage_list_total": {"": 1},
        "apiserver_storage_list_fetched_objects_total": {"": 3},
        "apiserver_storage_list_evaluated_objects_total": {"": 3},
        "apiserver_storage_list_returned_objects_total": {"": 2},
        "apiserver_cache_list_total": {'index=""': 2},
        "apiserver_cache_list_fetched_objects_total": {'index=""': 6},
        "apiserver_cache_list_returned_objects_total": {"": 4},
    },
}  # fmt: skip


@pytest.mark.parametrize("version", COSTS)
async def test_the_cost_of_lists_is_told_by_where_they_were_answered(
    world: World, store: SqliteStore, version: str
) -> None:
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version=version))
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    for name in ("a", "b", "c"):
        await client.create(CONFIGMAPS, config_map(name), namespace="default")
    then = (await client.list(CONFIGMAPS, namespace="default")).resource_version
    before = await page(client)
    selected = partial(client.list, CONFIGMAPS, namespace="default", field_selector="metadata.name!=a")
    await selected(resource_version=then, resource_version_match="Exact")
    await selected()
    await selected(resource_version="0")
    found = await page(client)
    for name, expected in COSTS[version].items():
        told = {
            ",".join(sorted(set(line.partition("{")[2].rstrip("}").split(",")) - set(CONFIGMAP_LABELS.split(",")))):
            value - before.get(line, 0)
            for line, value in found.items() if line.startswith(f"{name}{{") and 'resource="configmaps"' in line
        }  # fmt: skip
        assert told == expected, name
    labels = 'fallback="false",group="",resource="configmaps",success="true"'
    name = f"apiserver_watch_cache_consistent_read_total{{{labels}}}"
    assert found[name] - before.get(name, 0) == 1
    filled = f'apiserver_watch_cache_initialization_duration_seconds_bucket{{{CONFIGMAP_LABELS},le="600"}}'
    assert found.get(filled) == (1 if version == "1.37" else None)
    await server.stop()


async def test_watch_caches_are_told_by_group_and_resource(client: Client) -> None:
    await client.list(CONFIGMAPS, resource_version="0")
    made = await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    await client.list(CONFIGMAPS, resource_version=made["metadata"]["resourceVersion"])
    found = await page(client)
    assert found[f"apiserver_watch_cache_initializations_total{{{CONFIGMAP_LABELS}}}"] == 1
    assert found[f"watch_cache_capacity{{{CONFIGMAP_LABELS}}}"] == 1000
    assert found[f"apiserver_storage_events_received_total{{{CONFIGMAP_LABELS}}}"] >= 0
    objects = found[f"apiserver_resource_objects{{{CONFIGMAP_LABELS}}}"]
    assert objects == found['apiserver_storage_objects{resource="configmaps"}'] >= 0


async def test_the_wait_for_a_revision_to_come_is_told(client: Client) -> None:
    await client.list(CONFIGMAPS, resource_version="0")
    waited = "apiserver_watch_cache_read_wait_seconds"
    assert f"{waited}_count{{{CONFIGMAP_LABELS}}}" not in await page(client)
    with pytest.raises(ApiError, match="Too large resource version"):
        await client.list(CONFIGMAPS, resource_version="100000")
    found = await page(client)
    assert found[f"{waited}_count{{{CONFIGMAP_LABELS}}}"] == 1
    assert found[f"{waited}_sum{{{CONFIGMAP_LABELS}}}"] == pytest.approx(3.0)
    assert found[f'{waited}_bucket{{{CONFIGMAP_LABELS},le="2"}}'] == 0


async def test_what_a_watch_cache_did_is_told_once_it_did_it(client: Client, store: SqliteStore) -> None:
    await client.list(CONFIGMAPS)
    added_up = (
        "apiserver_init_events_total",
        "apiserver_storage_decode_errors_total",
        "apiserver_storage_events_received_total",
        "apiserver_terminated_watchers_total",
        "apiserver_watch_cache_events_dispatched_total",
        "apiserver_watch_cache_events_received_total",
        "etcd_bookmark_counts",
    )
    found = await page(client)
    assert [name for name in added_up if f"{name}{{{CONFIGMAP_LABELS}}}" in found] == []
    for name in ("a", "b"):
        await client.create(CONFIGMAPS, config_map(name), namespace="default")
    await client.create(SERVICE_ACCOUNTS, account("a"), namespace="default")
    async with await client.watch(CONFIGMAPS, namespace="default") as watch:  # asks the store how far it is
        assert len([await anext(aiter(watch)) for _ in range(2)]) == 2
    await store.txn([], [Put(b"/registry/configmaps/default/c", b"{")])
    for _ in range(2):
        with pytest.raises(ApiError):
            await client.get(CONFIGMAPS, "c", namespace="default")
    found = await page(client)
    expected = {
        "apiserver_init_events_total": 2,
        "apiserver_storage_decode_errors_total": 3,  # the cache's own and two who asked
        "apiserver_storage_events_received_total": 2,
        "etcd_bookmark_counts": 1,
    }
    assert {name: found.get(f"{name}{{{CONFIGMAP_LABELS}}}") for name in expected} == expected


async def test_how_much_room_objects_take_is_told(client: Client, store: SqliteStore) -> None:
    for name in ("a", "b"):
        await client.create(CONFIGMAPS, config_map(name, x=name * 100), namespace="default")
    size = f"apiserver_resource_size_estimate_bytes{{{CONFIGMAP_LABELS}}}"
    await client.list(
        CONFIGMAPS
    )  # three are found there, the server's own among them, one comes, changes and stays, one goes
    await client.create(CONFIGMAPS, config_map("c"), namespace="default")
    await client.patch(CONFIGMAPS, "c", {"data": {"x": "y" * 1000}}, namespace="default")
    await client.delete(CONFIGMAPS, "b", namespace="default")
    await client.list(CONFIGMAPS)
    kept = await store.range(Range(b"/registry/configmaps/", b"/registry/configmaps0"))
    assert len(kept.kvs) == 3
    assert (await page(client))[size] == sum(len(kv.value) for kv in kept.kvs)


async def test_how_many_events_a_lease_holds_is_told_when_the_next_one_is_granted(
    client: Client, virtual_clock: VirtualClock
) -> None:
    counts = "etcd_lease_object_counts"
    assert f"{counts}_count" not in await page(client)
    event = {"involvedObject": {"namespace": "default"}, "metadata": {"generateName": "e"}}
    for seconds in (0, 0, 61):
        await virtual_clock.sleep(seconds)
        await client.create(EVENTS, event, namespace="default")
    found = await page(client)
    assert (found[f"{counts}_count"], found[f"{counts}_sum"]) == (2, 1 + 3)  # each with the one that came too late
    assert found[f'{counts}_bucket{{le="5000"}}'] == 2


async def test_each_family_is_written_once_whoever_keeps_it(client: Client, world: World) -> None:
    def looked_at(families: list[dict[str, Any]], _: Mapping[str, str]) -> list[dict[str, Any]]:
        return families

    def family(value: int, name: str) -> list[dict[str, Any]]:
        sample = {"labels": {"name": name}, "value": value, "suffix": ""}
        return [{"name": "workqueue_adds_total", "type": "counter", "help": "Adds", "samples": [sample]}]

    for number, name in enumerate(("job", "certificate", "certificate"), 1):
        world.views.offer(f"workqueue/{number}/metrics", partial(looked_at, family(number, name)))
    body = (await client.send("GET", "/metrics")).body.decode().splitlines()
    assert [line for line in body if "workqueue" in line] == [
        "# HELP workqueue_adds_total Adds",
        "# TYPE workqueue_adds_total counter",
        'workqueue_adds_total{name="job"} 1',
        'workqueue_adds_total{name="certificate"} 5',
    ]
    heads = [line for line in body if line.startswith("# TYPE")]
    assert len(heads) == len(set(heads))


async def test_the_process_is_told_of_as_prometheus_does(client: Client) -> None:
    """client_golang's process collector, which every component of upstream has."""
    found = {name: value for name, value in (await page(client)).items() if name.startswith("process_")}
    assert list(found) == [
        "process_cpu_seconds_total",
        "process_max_fds",
        "process_network_receive_bytes_total",
        "process_network_transmit_bytes_total",
        "process_open_fds",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
        "process_virtual_memory_bytes",
        "process_virtual_memory_max_bytes",
    ]
    assert found["process_cpu_seconds_total"] > 0
    assert 3 <= found["process_open_fds"] <= found["process_max_fds"]
    assert 10 << 20 < found["process_resident_memory_bytes"] < found["process_virtual_memory_bytes"]
    assert found["process_virtual_memory_bytes"] < found["process_virtual_memory_max_bytes"]
    again = await page(client)
    assert again["process_start_time_seconds"] == found["process_start_time_seconds"] > 1.7e9
    assert again["process_cpu_seconds_total"] >= found["process_cpu_seconds_total"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (2.0, "2"), (0.25, "0.25"), (999999, "999999"), (1e6, "1e+06"), (45256704, "4.5256704e+07")],
)
def test_numbers_are_written_as_go_writes_them(value: float, text: str) -> None:
    assert list(metric("a", "gauge", [Sample({}, value)], "b"))[-1] == f"a {text}"


def sized(requests: dict[str, str], limits: dict[str, str], **more: str) -> dict[str, Any]:
    return {"name": "c", "image": "i", "resources": {"requests": requests, "limits": limits}, **more}


async def pod_figures(client: Client) -> str:
    answer = await client.send("GET", "/metrics/resources")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return bytes(answer.body).decode()


@pytest.mark.usefixtures("default_account")
async def test_what_each_pod_requests_and_may_use(client: Client) -> None:
    assert await pod_figures(client) == ""
    await client.create(PODS, pod("bare"), namespace="default")
    first = {**sized({"cpu": "2"}, {"example.com/gpu": "1", "memory": "1G"}), "name": "first"}
    main = sized({"cpu": "1500m", "hugepages-2Mi": "4Mi", "memory": "0"}, {"hugepages-2Mi": "4Mi", "memory": "2.5Gi"})
    await client.create(
        PODS,
        pod("a", nodeName="n1", schedulerName="own", initContainers=[first], containers=[main]),
        namespace="default",
    )
    labels = 'namespace="default",node="n1",pod="a",priority="0",resource="%s",scheduler="own",unit="%s"'
    tail = (
        "on the cluster, broken down by pod. This shows the resource usage the scheduler and kubelet expect per pod "
        "for resources along with the unit for the resource if any."
    )
    expected = [
        f"# HELP kube_pod_resource_limit [STABLE] Resources limit for workloads {tail}",
        "# TYPE kube_pod_resource_limit gauge",
        f"kube_pod_resource_limit{{{labels % ('example.com/gpu', '')}}} 1",
        f"kube_pod_resource_limit{{{labels % ('hugepages-2Mi', 'bytes')}}} 4.194304e+06",
        f"kube_pod_resource_limit{{{labels % ('memory', 'bytes')}}} 2.68435456e+09",
        f"# HELP kube_pod_resource_request [STABLE] Resources requested by workloads {tail}",
        "# TYPE kube_pod_resource_request gauge",
        f"kube_pod_resource_request{{{labels % ('cpu', 'cores')}}} 2",
        f"kube_pod_resource_request{{{labels % ('example.com/gpu', '')}}} 1",
        f"kube_pod_resource_request{{{labels % ('hugepages-2Mi', 'bytes')}}} 4.194304e+06",
        # The first container asks for as much as its limit, for it does not say what else.
        f"kube_pod_resource_request{{{labels % ('memory', 'bytes')}}} 1e+09",
    ]
    assert (await pod_figures(client)).splitlines() == expected


ENDED = {"Succeeded": False, "Failed": False, "Running": True, "Pending": True, "Unknown": True}


@pytest.mark.usefixtures("default_account")
async def test_a_pod_that_has_ended_holds_nothing(client: Client) -> None:
    for phase in ENDED:
        name = phase.lower()
        spec = {"containers": [sized({"cpu": "1"}, {})]}
        await client.create(PODS, pod(f"{name}-there", nodeName="n1", **spec), namespace="default")
        await client.create(PODS, pod(f"{name}-nowhere", **spec), namespace="default")
        for place in ("there", "nowhere"):
            patch = {"status": {"phase": phase}}
            await client.patch(PODS, f"{name}-{place}", patch, namespace="default", subresource="status")
    told = set(re.findall('pod="([a-z-]+)"', await pod_figures(client)))
    assert told == {f"{phase.lower()}-nowhere" for phase in ENDED} | {
        f"{phase.lower()}-there" for phase, counts in ENDED.items() if counts
    }


async def test_how_long_it_takes_to_tell_a_state_by_a_watch(client: Client) -> None:
    """Once for each watch that asks for it, when the bookmark that ends it goes out (handlers/watch.go)."""
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    name = 'apiserver_watch_list_duration_seconds_count{group="",resource="configmaps",scope="namespace",version="v1"}'
    for bookmarks in (False, True):
        async with await client.watch(
            CONFIGMAPS, namespace="default", send_initial_events=True, allow_bookmarks=bookmarks
        ) as watch:
            assert (await anext(aiter(watch))).type == "ADDED"
            assert name not in await page(client)
            if bookmarks:
                assert (await anext(aiter(watch))).type == "BOOKMARK"
        assert (await page(client)).get(name, 0) == int(bookmarks)
    bucket = name.replace("_count{", "_bucket{").replace("}", ',le="300"}')
    assert (await page(client))[bucket] == 1  # the longest since 1.37


def count(found: Mapping[str, float], name: str, /, **labels: str) -> float:
    shown = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    return found.get(f"{name}{{{shown}}}", 0)


async def test_who_asked_and_whether_they_were_let_is_counted(client: Client, client_for: ClientFor) -> None:
    """TestRecordAuthorizationMetricsMetrics and metrics_test.go beside it."""
    before = await page(client)
    kubelet = client_for("system:node:node-1", "system:nodes")
    asked = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "node-1"}}
    await kubelet.send("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", body=asked)
    await client_for("jane@example.com").send("GET", "/version")
    assert (await client_for("jane@example.com").send("GET", "/api/v1/pods")).status == 403
    refused = {"authorization": "Bearer nonsense"}
    assert (await client_for("").send("GET", "/api/v1/pods", headers=refused)).status in (401, 403)
    found = await page(client)

    def more(name: str, /, **labels: str) -> float:
        return count(found, name, **labels) - count(before, name, **labels)

    assert more("authenticated_user_requests", username="email_id") == 2
    assert more("authenticated_user_requests", username="other") >= 2
    assert more("authentication_attempts", result="success") >= 4
    assert more("authorization_attempts_total", result="no-opinion") >= 1
    assert more("authorization_duration_seconds_count", result="no-opinion") >= 1
    assert more("apiserver_authorization_decisions_total", type="Node", name="node", decision="allowed") == 1
    assert more("apiserver_authorization_decisions_total", type="RBAC", name="rbac", decision="allowed") == 1


async def test_a_credential_that_is_wrong_is_an_error(server: ApiServer, client: Client) -> None:
    request = Request("GET", "/api/v1/pods", headers={"authorization": "Bearer nonsense"})
    assert (await server.handle(request)).status == 401
    found = await page(client)
    assert count(found, "authentication_attempts", result="error") == 1
    assert count(found, "authentication_duration_seconds_count", result="error") == 1


async def test_what_is_deprecated_and_asked_for_is_told(client: Client) -> None:
    await client.list(GVR("", "v1", "endpoints"), namespace="default")
    labels = {"group": "", "version": "v1", "subresource": "", "removed_release": ""}
    found = await page(client)
    assert count(found, "apiserver_requested_deprecated_apis", resource="endpoints", **labels) == 1
    assert count(found, "apiserver_requested_deprecated_apis", resource="configmaps", **labels) == 0


async def test_a_service_level_does_not_tell_dry_runs_apart(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    await client.create(CONFIGMAPS, config_map("b"), namespace="default", dry_run=True)
    labels = (
        'component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"'
    )
    found = await page(client)
    assert found[f"apiserver_request_sli_duration_seconds_count{{{labels}}}"] == 2
    assert f'apiserver_request_sli_duration_seconds_bucket{{{labels},le="0.05"}}' in found
    assert f'apiserver_request_sli_duration_seconds_bucket{{{labels},le="0.025"}}' not in found


async def test_what_bodies_weigh_and_who_asks_itself(server: ApiServer, client: Client) -> None:
    headers = {"content-type": "application/json"}
    path, query = "/api/v1/namespaces/default/configmaps", {"fieldValidation": ["Strict"]}
    body = orjson.dumps(config_map("a", a="x" * 60_000))
    made = await server.handle(Request("POST", path, query, headers, body, certificate=ADMIN))
    assert made.status == 201
    odd = {"fieldValidation": ["a", "b"]}
    await server.handle(Request("GET", path, odd, {}, certificate=ADMIN))
    found = await page(client)
    name = 'apiserver_request_body_size_bytes_bucket{group="",resource="configmaps",verb="create",le="%s"}'
    assert [found[name % bound] for bound in (50_000, 150_000)] == [0, 1]
    for value in ("", "Strict", "invalid"):
        assert found[f'field_validation_request_duration_seconds_count{{field_validation="{value}"}}'] == 0
    own = {"group": "coordination.k8s.io", "resource": "leases", "subresource": "", "verb": "POST"}
    assert count(found, "apiserver_selfrequest_total", **own) >= 1  # the server's own Lease


async def test_how_long_filters_and_seats_take_is_told(server: ApiServer, client: Client) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    await server.handle(Request("GET", path, certificate=ADMIN))
    found = await page(client)
    for each in ("authentication", "authorization"):
        assert count(found, "apiserver_request_filter_duration_seconds_count", filter=each) >= 1
    flow = {"flow_schema": "exempt", "priority_level": "exempt"}
    assert count(found, "apiserver_flowcontrol_request_execution_seconds_count", **flow, type="regular") >= 1
    assert count(found, "apiserver_flowcontrol_work_estimated_seats_count", **flow) >= 1
    limits = [f'apiserver_flowcontrol_{name}{{priority_level="catch-all"}}' for name in LIMITS]
    assert found[limits[0]] == found[limits[1]]
    before = found["aggregator_discovery_aggregation_count_total"]
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    for _ in range(2):  # the second time there is one
        await server.handle(Request("GET", "/apis", {}, {"accept": accept}, certificate=ADMIN))
    assert (await page(client))["aggregator_discovery_aggregation_count_total"] == before + 1


LIMITS = ("request_concurrency_limit", "nominal_limit_seats")
