"""/statusz and /flagz, and the figures of health checks at /metrics/slis.

Source: test/integration/scheduler/serving and controlplane (z-pages), apiserver pkg/server/healthz healthz_test.go.
"""

from __future__ import annotations

import pytest

from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN, ClientFor

BETA, ALPHA = "v=v1beta1;g=config.k8s.io", "v=v1alpha1;g=config.k8s.io"
# Which answer an Accept header gets: text, the version of an object, or "" for a 406.
FORMS = {
    "text/plain": "text",
    "": "text",
    "*/*": "text",
    "text/*": "text",
    "application/json, */*": "text",
    f"application/json;{BETA};as=KIND": "v1beta1",
    f"application/yaml;{BETA};as=KIND": "v1beta1",
    f"*/*;{BETA};as=KIND": "v1beta1",
    "application/json;v=foo;g=config.k8s.io;as=KIND,*/*": "text",
    f"application/json;{ALPHA};as=KIND,application/json;{BETA};as=KIND": "v1alpha1",
    f"application/json;{BETA};as=KIND,application/json;{ALPHA};as=KIND": "v1beta1",
    "application/xml": "",
    "application/json": "",
    f"application/json;{BETA}": "",
    "application/json;v=v1beta1;as=KIND": "",
    f"application/json;{BETA};as=Other": "",
    f"application/vnd.kubernetes.protobuf;{BETA};as=KIND": "",
    f"text/plain;{BETA};as=KIND": "",
}


@pytest.mark.parametrize("kind", ["Statusz", "Flagz"])
async def test_a_page_is_text_unless_its_object_is_asked_for(client: Client, kind: str) -> None:
    for header, expected in FORMS.items():
        accept = header.replace("KIND", kind)
        answer = await client.send("GET", f"/{kind.lower()}", headers={"accept": accept})
        if not expected:
            assert answer.status == 406, accept
            assert answer.body["message"] == (
                "only the following media types are accepted: application/json, application/yaml, "
                "application/vnd.kubernetes.protobuf, text/plain"
            )
            continue
        assert answer.status == 200, accept
        if expected == "text":
            assert answer.body.decode().startswith(f"\nkube-apiserver {kind.lower()}\nWarning: This endpoint is not ")
            continue
        media = "application/yaml" if "yaml" in accept else "application/json"
        assert answer.headers["content-type"] == f"{media};g=config.k8s.io;v={expected};as={kind}"
        if "yaml" in accept:
            assert {"apiVersion: config.k8s.io/v1beta1", f"kind: {kind}"} <= set(answer.body.decode().splitlines())
        else:
            assert answer.body["apiVersion"] == f"config.k8s.io/{expected}", accept
            assert (answer.body["kind"], answer.body["metadata"]) == (kind, {"name": "kube-apiserver"})
        warned = f"of the {kind.lower()} endpoint is deprecated. Please use a newer version."
        assert (warned in answer.headers.get("warning", "")) == (expected == "v1alpha1")


async def test_statusz_tells_what_runs_and_for_how_long(client: Client, virtual_clock: VirtualClock) -> None:
    accept = {"accept": f"application/json;{BETA};as=Statusz"}
    before = (await client.send("GET", "/statusz", headers=accept)).body
    await virtual_clock.sleep(3725)
    after = (await client.send("GET", "/statusz", headers=accept)).body
    assert after["uptimeSeconds"] - before["uptimeSeconds"] == 3725
    assert after["startTime"] == before["startTime"]
    assert after["binaryVersion"].startswith(f"{after['emulationVersion']}.")
    assert after["paths"] == ["/debug", "/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version"]
    text = (await client.send("GET", "/statusz", headers={"accept": "*/*"})).body.decode()
    assert " 1 hr 02 min 0" in text
    assert text.endswith(f" {' '.join(after['paths'])}\n")


async def test_flagz_tells_how_the_server_was_started(world: World, store: SqliteStore) -> None:
    config = ClusterConfig(enable_admission_plugins=("AlwaysPullImages", "EventRateLimit"), service_cidr="10.0.0.0/24")
    server = ApiServer(world, store, config=config)
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    flags = (await client.send("GET", "/flagz", headers={"accept": f"application/json;{BETA};as=Flagz"})).body["flags"]
    assert flags["enable-admission-plugins"] == "[AlwaysPullImages,EventRateLimit]"
    assert flags["service-cluster-ip-range"] == "10.0.0.0/24"
    assert flags["authorization-mode"] == "[Node,RBAC]"
    text = (await client.send("GET", "/flagz", headers={"accept": "*/*"})).body
    assert text == (await client.send("GET", "/flagz", headers={"accept": "*/*"})).body
    assert next(line for line in text.decode().splitlines() if line.startswith("secure-port")).endswith("6443")
    await server.stop()


async def test_who_monitors_may_read_them(client_for: ClientFor) -> None:
    paths = ("/statusz", "/flagz", "/metrics", "/metrics/slis", "/livez/ping")
    for path in paths:
        for groups, status in ((("system:monitoring",), 200), ((), 403)):
            answer = await client_for("prometheus", *groups).send("GET", path, headers={"accept": "*/*"})
            assert answer.status == status, (path, groups)


async def test_there_are_none_before_they_were_on_by_default(world: World, store: SqliteStore) -> None:
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version="1.35"))
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    for path in ("/statusz", "/flagz"):
        assert (await client.send("GET", path)).status == 404
        assert path not in (await client.request("GET", "/"))["paths"]
    await server.stop()


async def test_the_results_of_health_checks_are_counted(client: Client) -> None:
    assert (await client.send("GET", "/metrics/slis")).body == b""
    await client.send("GET", "/livez", query={"exclude": ["log"]})
    await client.send("GET", "/readyz")
    await client.send("GET", "/readyz")
    await client.send("GET", "/healthz/ping")  # one alone is not counted
    lines = (await client.send("GET", "/metrics/slis")).body.decode().splitlines()
    assert "# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck." in lines
    assert 'kubernetes_healthcheck{name="ping",type="livez"} 1' in lines
    assert 'kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 2' in lines
    assert not any('name="log",type="livez"' in line or 'type="healthz"' in line for line in lines)


async def test_a_check_that_fails_is_counted_as_such(client: Client, server: ApiServer) -> None:
    server._nonresource.health.ready = False
    assert (await client.send("GET", "/readyz")).status == 500
    server._nonresource.health.ready = True
    await client.send("GET", "/readyz")
    lines = (await client.send("GET", "/metrics/slis")).body.decode().splitlines()
    for status in ("error", "success"):
        assert f'kubernetes_healthchecks_total{{name="shutdown",status="{status}",type="readyz"}} 1' in lines
    assert 'kubernetes_healthcheck{name="shutdown",type="readyz"} 1' in lines


async def test_checks_are_those_of_the_release(client: Client, world: World, store: SqliteStore) -> None:
    lines = (await client.send("GET", "/readyz", query={"verbose": [""]})).body.decode().splitlines()
    assert lines[:6] == [
        *(f"[+]{name} ok" for name in ("ping", "log", "etcd", "etcd-readiness", "informer-sync")),
        "[+]poststarthook/start-apiserver-admission-initializer ok",
    ]
    assert lines[-5:] == [
        "[+]autoregister-completion ok",
        "[+]poststarthook/apiservice-openapi-controller ok",
        "[+]poststarthook/apiservice-openapiv3-controller ok",
        "[+]shutdown ok",
        "readyz check passed",
    ]
    newer = "storage-readiness", "start-kubernetes-service-cidr-controller"
    for release, there in (("1.37", [200, 200]), ("1.35", [404, 200]), ("1.32", [404, 404])):
        server = ApiServer(world, store, config=ClusterConfig(kubernetes_version=release))
        await server.start()
        admin = Client(InProcessTransport(server, ADMIN), user_agent="test")
        asked = [await admin.send("GET", f"/livez/poststarthook/{name}") for name in newer]
        assert [answer.status for answer in asked] == there
        await server.stop()


async def test_all_paths_are_named(client: Client) -> None:
    paths = (await client.request("GET", "/"))["paths"]
    for path in ("/healthz/ping", "/livez/etcd", "/readyz/shutdown", "/metrics/slis", "/statusz", "/flagz"):
        assert path in paths
    assert "/debug/api_priority_and_fairness/dump_queues" in paths
    assert {"/apis/", "/openapi/v3/"} <= set(paths)  # of handlers that take all below as well
