"""What single fields of an audit event say (after apiserver's filters authn_audit_test.go, endpoints/metrics, and
apimachinery's TestGetSourceIPs)."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from engine.api.errors import unauthorized
from engine.api.types import CLUSTER_ROLES, NAMESPACES, NODES, PODS, SERVICE_ACCOUNTS, Object
from engine.api.wire import ClientCertificate, Request
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN, account, pod
from tests.apiserver.test_audit import written
from tests.apiserver.test_pod_logs import PATH, Log
from tests.apiserver.test_reviews import request_token
from tests.apiserver.test_web_sockets import SOCKET, Browser

JANE = ClientCertificate("jane", ADMIN.organizations)


class Audited:
    """A server that tells of everything that jane does, and what it told."""

    def __init__(self, server: ApiServer, log: Path) -> None:
        self.server = server
        self.client = Client(InProcessTransport(server, JANE), user_agent="test/1.0")
        self._log = log

    async def told(self) -> list[Object]:
        return [orjson.loads(line) for line in (await self.lines()).splitlines()]

    async def lines(self) -> bytes:
        await self.server.stop()
        return self._log.read_bytes()


@pytest.fixture
def version() -> str:
    return ClusterConfig().kubernetes_version


@pytest.fixture
async def audited(world: World, store: SqliteStore, tmp_path: Path, version: str) -> AsyncIterator[Audited]:
    own = {"level": "None", "users": ["system:apiserver"]}
    policy = written(tmp_path, omitStages=["RequestReceived"], rules=[own, {"level": "RequestResponse"}])
    log = tmp_path / "audit.log"
    config = ClusterConfig(audit_policy_file=policy, audit_log_path=str(log), kubernetes_version=version)
    server = ApiServer(world, store, config=config)
    await server.start()
    yield Audited(server, log)
    await server.stop()


SOURCES: dict[str, tuple[dict[str, str], str, list[str]]] = {
    "a client": ({}, "172.16.0.1", ["172.16.0.1"]),
    "over a proxy": ({"x-forwarded-for": "172.217.4.1"}, "10.0.0.1", ["172.217.4.1", "10.0.0.1"]),
    "over proxies": ({"x-forwarded-for": "172.217.4.1, 10.0.0.1"}, "10.0.0.2", ["172.217.4.1", "10.0.0.1", "10.0.0.2"]),
    "words that are no addresses": (
        {"x-forwarded-for": "foo, 172.217.4.1,, bar"}, "10.0.0.1", ["172.217.4.1", "10.0.0.1"],
    ),
    "a real address": ({"x-real-ip": "172.217.4.1"}, "10.0.0.1", ["172.217.4.1", "10.0.0.1"]),
    "one that is none": ({"x-real-ip": "foo"}, "10.0.0.1", ["10.0.0.1"]),
    "one of those of the proxies": (
        {"x-forwarded-for": "172.217.4.1, 10.0.0.1", "x-real-ip": "172.217.4.1"}, "10.0.0.2",
        ["172.217.4.1", "10.0.0.1", "10.0.0.2"],
    ),
    "another than those": (
        {"x-forwarded-for": "172.217.4.1", "x-real-ip": "8.8.8.8"}, "10.0.0.2", ["172.217.4.1", "8.8.8.8", "10.0.0.2"],
    ),
    "the sender named": ({"x-forwarded-for": "172.217.4.1, 10.0.0.1"}, "10.0.0.1", ["172.217.4.1", "10.0.0.1"]),
    "the sender named first": (
        {"x-forwarded-for": "10.0.0.1, 172.217.4.1"}, "10.0.0.1", ["10.0.0.1", "172.217.4.1", "10.0.0.1"],
    ),
    "of IPv6": ({"x-forwarded-for": "2001:DB8:0::1"}, "::1", ["2001:db8::1", "::1"]),
}  # fmt: skip


async def test_an_event_says_where_its_request_came_from(audited: Audited) -> None:
    for headers, remote, _ in SOURCES.values():
        await audited.server.handle(Request("GET", "/version", headers=headers, certificate=JANE, remote=remote))
    found = [event["sourceIPs"] for event in await audited.told()]
    assert dict(zip(SOURCES, found, strict=True)) == {name: sources for name, (*_, sources) in SOURCES.items()}


async def test_the_query_is_told_as_it_was_sent(audited: Audited) -> None:
    query = {"labelSelector": ["a=b"], "limit": ["5"]}
    for raw in ("limit=5&labelSelector=a=b", ""):
        await audited.server.handle(Request("GET", "/api/v1/pods", query=query, certificate=JANE, raw_query=raw))
    assert [event["requestURI"] for event in await audited.told()] == [
        "/api/v1/pods?limit=5&labelSelector=a=b", "/api/v1/pods?labelSelector=a%3Db&limit=5",
    ]  # fmt: skip


async def test_a_line_is_what_go_writes(audited: Audited) -> None:
    await audited.server.handle(Request("GET", "/version", certificate=JANE, raw_query="a=<&b=>"))
    assert b'"requestURI":"/version?a=\\u003c\\u0026b=\\u003e"' in await audited.lines()


async def test_objects_are_told_as_clients_read_them(audited: Audited) -> None:
    """With nulls, and those of a list without their kind."""
    role = {"apiVersion": CLUSTER_ROLES.api_version, "kind": "ClusterRole", "metadata": {"name": "a"}}
    await audited.client.create(CLUSTER_ROLES, role)
    await audited.client.list(CLUSTER_ROLES, field_selector="metadata.name=a")
    created, listed = await audited.told()
    assert created["requestObject"]["rules"] is None
    assert created["responseObject"]["rules"] is None
    (item,) = listed["responseObject"]["items"]
    assert (item["rules"], listed["responseObject"]["kind"], item.get("kind")) == (None, "ClusterRoleList", None)


async def test_who_is_not_let_in_is_told_of_with_the_answer(audited: Audited) -> None:
    await audited.server.handle(Request("GET", "/api/v1/pods", headers={"authorization": "Bearer x"}))
    (event,) = await audited.told()
    assert (event["stage"], event["verb"], event["user"]) == ("ResponseStarted", "list", {})
    status = {"status": "Failure", "message": "Unauthorized", "reason": "Unauthorized", "code": 401}
    assert event["responseStatus"] == {"metadata": {}, **status}
    assert event["responseObject"] == unauthorized().status


async def test_a_time_that_is_none_is_told_of_by_nobody(audited: Audited) -> None:
    """It is refused before it is known who asks."""
    query = {"timeout": ["x"]}
    answer = await audited.server.handle(Request("GET", "/version", query=query, certificate=JANE))
    (event,) = await audited.told()
    assert (event["stage"], event["user"], event["requestURI"]) == ("ResponseStarted", {}, "/version?timeout=x")
    assert (event["responseStatus"]["code"], event["responseStatus"]["message"]) == (400, answer.body["message"])


async def test_a_body_that_is_too_large_is_told_of_with_who_sent_it(audited: Audited) -> None:
    """Handlers read bodies: it is known by then who asks."""
    path = "/api/v1/namespaces/default/configmaps"
    await audited.server.handle(Request("POST", path, certificate=JANE, oversized=True))
    (event,) = await audited.told()
    assert (event["stage"], event["user"]["username"]) == ("ResponseComplete", "jane")
    assert event["annotations"]["authorization.k8s.io/decision"] == "allow"
    assert (event["responseStatus"]["code"], event["responseStatus"]["reason"]) == (413, "RequestEntityTooLarge")
    assert "requestObject" not in event


async def test_what_a_subresource_is_posted_is_told(audited: Audited) -> None:
    client = audited.client
    await client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
    await client.create(NODES, {"metadata": {"name": "a"}})
    await client.create(PODS, pod(), namespace="default")
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web"}, "target": {"name": "a"}}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}
    for subresource, body in (("binding", binding), ("eviction", eviction)):
        answer = await client.send("POST", f"/api/v1/namespaces/default/pods/web/{subresource}", body=body)
        assert answer.status == 201
    token = await request_token(client, audiences=["vault"])
    told = {each["objectRef"].get("subresource"): each for each in await audited.told()}
    assert told["binding"]["requestObject"]["target"] == {"name": "a"}
    assert told["eviction"]["requestObject"]["kind"] == "Eviction"
    assert told["token"]["requestObject"]["spec"]["audiences"] == ["vault"]
    claims: dict[str, Any] = orjson.loads(_unpadded(token["status"]["token"].split(".")[1]))
    assert told["token"]["annotations"] == {
        "authentication.kubernetes.io/issued-credential-id": f"JTI={claims['jti']}",
        "authorization.k8s.io/decision": "allow",
        "authorization.k8s.io/reason": "",
    }
    assert list(told["token"]["annotations"]) == sorted(told["token"]["annotations"])


def _unpadded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


async def test_a_pod_is_told_of_with_the_policy_of_its_namespace(audited: Audited) -> None:
    client = audited.client
    await client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
    await client.create(PODS, pod(), namespace="default")
    labels = {"pod-security.kubernetes.io/enforce": "baseline"}
    await client.patch(NAMESPACES, "default", {"metadata": {"labels": labels}})
    await client.create(PODS, pod("other"), namespace="default")
    told = [event["annotations"] for event in await audited.told() if event["objectRef"]["resource"] == "pods"]
    assert [each["pod-security.kubernetes.io/enforce-policy"] for each in told] == [
        "privileged:latest", "baseline:latest",
    ]  # fmt: skip


async def test_what_is_followed_is_told_when_it_begins_and_when_it_ends(
    audited: Audited, world: World, virtual_clock: VirtualClock
) -> None:
    client = audited.client
    await client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
    await client.create(NODES, {"metadata": {"name": "node-1"}})
    await client.create(PODS, pod(nodeName="node-1"), namespace="default")
    log = Log(world)
    log.write(0, "line 0")
    begun = virtual_clock.now()
    stream = (await client.send("GET", PATH, query={"follow": ["true"]})).stream
    assert stream is not None
    virtual_clock.call_later(20, lambda: setattr(log, "closed", True))
    assert [chunk async for chunk in stream] == [b"line 0\n"]
    await stream.aclose()
    await stream.aclose()
    upgrade = (await client.send("GET", PATH, headers=SOCKET)).upgrade
    assert upgrade is not None
    await upgrade.run(Browser(virtual_clock, leaves_after=5))
    events = [event for event in await audited.told() if event["objectRef"].get("subresource") == "log"]
    assert [(event["stage"], event["responseStatus"]["code"]) for event in events] == [
        ("ResponseStarted", 200), ("ResponseComplete", 200), ("ResponseStarted", 101), ("ResponseComplete", 101),
    ]  # fmt: skip
    assert events[0]["stageTimestamp"] < (begun.isoformat()[:17] + "20") < events[1]["stageTimestamp"]


@pytest.mark.parametrize(
    ("version", "path", "removed"),
    [
        pytest.param("1.37", "/api/v1/endpoints", None, id="for good"),
        pytest.param("1.31", "/apis/flowcontrol.apiserver.k8s.io/v1beta3/flowschemas", "1.32", id="until a release"),
    ],
)
async def test_a_deprecated_version_is_told(audited: Audited, path: str, removed: str | None) -> None:
    await audited.client.send("GET", path)
    (event,) = await audited.told()
    assert event["annotations"]["k8s.io/deprecated"] == "true"
    assert event["annotations"].get("k8s.io/removed-release") == removed
