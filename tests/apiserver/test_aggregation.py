"""API servers behind this one, which really listen (kube-aggregator pkg/apiserver handler_proxy_test.go)."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from pydantic import SecretStr

from engine.api.errors import ApiError
from engine.api.types import GVR, SERVICES, Object
from engine.api.wire import ClientCertificate, Request, Response
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import Clock
from engine.config import ClusterConfig
from engine.pki import ADMIN
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.kept_pki import kept_pki

GROUP = "wardle.example.com"
FLUNDERS = GVR(GROUP, "v1", "flunders")
API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")
NAME = f"v1.{GROUP}"
RESOURCE: Object = {
    "name": "flunders",
    "singularName": "flunder",
    "namespaced": True,
    "kind": "Flunder",
    "verbs": ["get", "list", "watch"],
    "shortNames": ["fl"],
}
LEGACY: Object = {
    "kind": "APIResourceList",
    "apiVersion": "v1",
    "groupVersion": f"{GROUP}/v1",
    "resources": [RESOURCE, {**RESOURCE, "name": "flunders/status", "singularName": "", "verbs": ["get"]}],
}
IDENTITY = ("x-remote-user", "x-remote-uid", "x-remote-group", "x-remote-extra-a%2fb")


@dataclass
class Behind:
    """The server of flunders: what it answers by path, and what it was asked."""

    port: int
    bundle: str
    server: ApiServer
    client: Client
    world: World
    answers: dict[str, Callable[[], web.StreamResponse]] = field(default_factory=dict)
    asked: list[tuple[str, str, list[tuple[str, str]], bytes]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # on the certificates that were shown

    async def register(self, **spec: Any) -> None:
        external = {"type": "ExternalName", "externalName": "localhost"}
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "wardle"}, "spec": external}
        await self.client.create(SERVICES, service, namespace="default")
        wanted = {
            "group": GROUP,
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "caBundle": self.bundle,
            "service": {"namespace": "default", "name": "wardle", "port": self.port},
            **spec,
        }
        kind = {"apiVersion": API_SERVICES.api_version, "kind": "APIService", "metadata": {"name": NAME}}
        await self.client.create(API_SERVICES, {**kind, "spec": wanted})

    async def until(self, seen: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(30):
            while not await seen():
                await self.world.clock.sleep(0.02)

    async def condition(self) -> Object:
        """Of the APIService, once it has one."""
        found: Object = {}

        async def judged() -> bool:
            nonlocal found
            status = (await self.client.get(API_SERVICES, NAME)).get("status") or {}
            found = next(iter(status.get("conditions") or ()), {})
            return bool(found)

        await self.until(judged)
        return found

    async def available(self) -> None:
        async def described() -> bool:
            return bool((await self.aggregated())["freshness"] == "Current")

        await self.until(described)

    async def aggregated(self) -> Object:
        """What the aggregated discovery document says of flunders."""
        accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        answer = await self.ask("GET", "/apis", {"accept": accept})
        groups = [each for each in answer.body["items"] if each["metadata"]["name"] == GROUP]
        return groups[0]["versions"][0] if groups else {"freshness": "None"}

    async def ask(
        self,
        method: str,
        path: str,
        headers: dict[str, str] | None = None,
        query: dict[str, list[str]] | None = None,
        body: Any = None,
        certificate: ClientCertificate = ADMIN,
        in_process: bool = True,
    ) -> Response:
        request = Request(method, path, query or {}, headers or {}, body, certificate, in_process=in_process)
        return await self.server.handle(request)


@pytest.fixture
async def behind(tmp_path: Path) -> AsyncIterator[Behind]:
    world = World.create(clock=Clock(), seed=1)
    pki = kept_pki(tmp_path, ["wardle.default.svc"], datetime.now(UTC))
    store = await SqliteStore.open(None, clock=world.clock)
    front = pki.front_proxy
    proxy = front.certificate.decode(), SecretStr(front.key.decode())
    server = ApiServer(world, store, config=ClusterConfig(proxy_client=proxy))
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    found = Behind(0, base64.b64encode(pki.authority.pair.certificate).decode(), server, client, world)

    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        tls = request.get_extra_info("ssl_object")
        subject = dict(part for relative in tls.getpeercert()["subject"] for part in relative)
        found.names.append(subject["commonName"])
        headers = [(name.lower(), value) for name, value in request.headers.items()]
        found.asked.append((request.method, request.path_qs, headers, await request.read()))
        answer = found.answers.get(request.path)
        return answer() if answer is not None else web.Response(status=404)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "apiserver.crt", tmp_path / "apiserver.key")
    context.load_verify_locations(tmp_path / "front-proxy-ca.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    runner = web.ServerRunner(web.Server(serve), shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    found.port = runner.addresses[0][1]
    found.answers[f"/apis/{GROUP}/v1"] = lambda: web.json_response(LEGACY)
    yield found
    await server.stop()
    await store.close()
    await runner.cleanup()


async def test_a_server_that_listens_is_available_and_described(behind: Behind) -> None:
    index = {"paths": {f"apis/{GROUP}/v1": {"serverRelativeURL": f"/openapi/v3/apis/{GROUP}/v1?hash=1"}}}
    behind.answers["/openapi/v3"] = lambda: web.json_response(index)
    behind.answers[f"/openapi/v3/apis/{GROUP}/v1"] = lambda: web.json_response({"openapi": "3.0.0"})
    await behind.register()
    await behind.available()
    assert (await behind.condition())["reason"] == "Passed"
    assert set(behind.names) == {"front-proxy-client"}
    method, path, headers, _ = behind.asked[0]
    assert (method, path) == ("GET", f"/apis/{GROUP}/v1")
    identity = [each for each in headers if each[0] in IDENTITY]
    assert identity == [("x-remote-user", "system:kube-aggregator"), ("x-remote-group", "system:masters")]

    kind = {"group": "", "version": "", "kind": "Flunder"}
    assert await behind.aggregated() == {
        "version": "v1",
        "freshness": "Current",
        "resources": [
            {
                "resource": "flunders",
                "scope": "Namespaced",
                "singularResource": "flunder",
                "verbs": ["get", "list", "watch"],
                "subresources": [{"subresource": "status", "responseKind": kind, "verbs": ["get"]}],
                "responseKind": kind,
                "shortNames": ["fl"],
            }
        ],
    }
    assert (await behind.ask("GET", f"/apis/{GROUP}/v1")).body == LEGACY
    listed = (await behind.ask("GET", "/openapi/v3")).body["paths"]
    assert listed[f"apis/{GROUP}/v1"] == index["paths"][f"apis/{GROUP}/v1"]
    assert (await behind.ask("GET", f"/openapi/v3/apis/{GROUP}/v1")).body == {"openapi": "3.0.0"}


async def test_what_a_server_is_asked_for_somebody(behind: Behind) -> None:
    path = f"/apis/{GROUP}/v1/namespaces/default/flunders/a"
    behind.answers[path] = lambda: web.json_response(
        {"kind": "Status", "status": "Failure", "code": 409}, status=409, headers={"Warning": '299 - "w"'}
    )
    await behind.register()
    await behind.available()
    answer = await behind.ask(
        "PATCH",
        path,
        {
            "content-type": "application/merge-patch+json",
            "accept": "application/vnd.kubernetes.protobuf",
            "authorization": "Bearer secret",
            "x-remote-user": "mallory",
            "x-remote-extra-b": "c",
            "impersonate-user": "bob",
            "impersonate-uid": "7",
            "impersonate-group": "system:masters\nops,x",
            "impersonate-extra-a%2fb": "c",
            "user-agent": "test",
        },
        {"pretty": ["true"], "fieldManager": ["x y"]},
        b'{"a":1}',
        in_process=False,
    )
    assert (answer.status, orjson.loads(answer.body)["code"], answer.headers["warning"]) == (409, 409, '299 - "w"')
    method, target, headers, body = behind.asked[-1]
    assert (method, target, body) == ("PATCH", f"{path}?fieldManager=x+y&pretty=true", b'{"a":1}')
    assert [each for each in headers if each[0].startswith(("x-remote", "impersonate", "authorization"))] == [
        ("x-remote-user", "bob"),
        ("x-remote-uid", "7"),
        ("x-remote-group", "system:masters"),
        ("x-remote-group", "ops,x"),
        ("x-remote-group", "system:authenticated"),
        ("x-remote-extra-a%2fb", "c"),
    ]
    told = dict(headers)
    assert (told["content-type"], told["user-agent"]) == ("application/merge-patch+json", "test")
    assert told["accept"] == "application/vnd.kubernetes.protobuf"
    assert (told["host"], told["x-forwarded-uri"]) == (f"localhost:{behind.port}", path)


async def test_watches_go_on_as_they_come(behind: Behind) -> None:
    event = {"type": "ADDED", "object": {"kind": "Flunder", "metadata": {"name": "a"}}}
    lines = orjson.dumps(event) + b"\n"
    behind.answers[f"/apis/{GROUP}/v1/flunders"] = lambda: web.Response(body=_chunks(lines))
    await behind.register()
    await behind.available()
    async with await behind.client.watch(FLUNDERS) as watch:
        seen = [each.object["metadata"]["name"] async for each in watch]
    assert seen == ["a"]
    path, query = f"/apis/{GROUP}/v1/flunders", {"watch": ["true"]}
    answer = await behind.ask("GET", path, query=query, in_process=False)
    assert answer.stream is not None
    assert b"".join([each async for each in answer.stream]) == lines


async def _chunks(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def test_a_server_whose_certificate_is_not_believed_is_available_and_cannot_be_asked(behind: Behind) -> None:
    await behind.register(caBundle=None)
    assert (await behind.condition())["status"] == "True"  # which is looked at whoever it is
    answer = await behind.ask("GET", f"/apis/{GROUP}/v1/flunders", in_process=False)
    why = b"error trying to reach service: tls: failed to verify certificate: x509: certificate signed by unknown"
    assert (answer.status, answer.body) == (503, why + b" authority\n")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda: web.Response(status=401), "failing or missing response from {0}: bad status from {0}: 401"),
        (
            lambda: web.Response(status=302, headers={"location": "/"}),
            "failing or missing response from {0}: bad status from {0}: 302",
        ),
    ],
)
async def test_a_server_that_answers_otherwise_is_not_available(
    behind: Behind, answer: Callable[[], web.StreamResponse], why: str
) -> None:
    behind.answers[f"/apis/{GROUP}/v1"] = answer
    await behind.register()
    condition = await behind.condition()
    url = f"https://localhost:{behind.port}/apis/{GROUP}/v1"
    assert (condition["status"], condition["reason"]) == ("False", "FailedDiscoveryCheck")
    assert condition["message"] == why.format(url)
    with pytest.raises(ApiError) as refused:
        await behind.client.list(FLUNDERS)
    assert refused.value.code == 503
    behind.answers[f"/apis/{GROUP}/v1"] = lambda: web.json_response(LEGACY)
    await behind.available()  # it is asked again


async def test_a_port_at_which_nobody_listens(behind: Behind) -> None:
    await behind.register(service={"namespace": "default", "name": "wardle", "port": 1})
    url = f"https://localhost:1/apis/{GROUP}/v1"
    refused = f'Get "{url}": dial tcp 127.0.0.1:1: connect: connection refused'
    assert (await behind.condition())["message"] == f"failing or missing response from {url}: {refused}"
