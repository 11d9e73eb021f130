"""Servers that are asked what one may and whose tokens are (apiserver plugin/pkg/authorizer/webhook webhook_v1_test.go,
plugin/pkg/authenticator/token/webhook webhook_v1_test.go)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from aiohttp import web

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, GVR, Object
from engine.api.wire import ClientCertificate, Request
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.config import ClusterConfig, WebhookFile
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN
from tests.apiserver.test_audit_webhook import kubeconfig

REVIEWS = GVR("authorization.k8s.io", "v1", "subjectaccessreviews")
TOKEN_REVIEWS = GVR("authentication.k8s.io", "v1", "tokenreviews")
RULES = GVR("authorization.k8s.io", "v1", "selfsubjectrulesreviews")
ISSUER = "https://kubernetes.default.svc.cluster.local"


@dataclass
class Asked:
    """The server: what it was asked, and what it answers."""

    folder: Path
    kubeconfig: Path = Path()
    status: Object = field(default_factory=dict)
    code: int = 200
    reviews: list[Object] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)

    def specs(self, user: str = "jane") -> list[Object]:
        return [each["spec"] for each in self.reviews if each["spec"].get("user", user) == user]


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Asked]:
    found = Asked(tmp_path)

    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        review = orjson.loads(await request.read())
        found.reviews.append(review)
        found.queries.append(request.path_qs)
        if found.code != 200:
            return web.Response(status=found.code, text="no")
        return web.json_response({**review, "status": found.status})

    runner = web.ServerRunner(web.Server(serve), shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.kubeconfig = kubeconfig(tmp_path, f"http://127.0.0.1:{runner.addresses[0][1]}")
    yield found
    await runner.cleanup()


class Serve:
    def __init__(self, world: World, store: SqliteStore) -> None:
        self.world = world
        self.store = store
        self.server: ApiServer | None = None

    async def __call__(self, **config: Any) -> ApiServer:
        self.server = ApiServer(self.world, self.store, config=ClusterConfig(**config))
        await self.server.start()
        return self.server


@pytest.fixture
async def serve(world: World, store: SqliteStore) -> AsyncIterator[Serve]:
    found = Serve(world, store)
    yield found
    if found.server is not None:
        await found.server.stop()


def client(server: ApiServer, name: str = "jane", *groups: str) -> Client:
    return Client(InProcessTransport(server, ClientCertificate(name, groups)), user_agent="test")


def configuration(asked: Asked, *, name: str = "webhook", **said: Any) -> Path:
    webhook = {
        "timeout": "3s",
        "subjectAccessReviewVersion": "v1",
        "matchConditionSubjectAccessReviewVersion": "v1",
        "failurePolicy": "NoOpinion",
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": str(asked.kubeconfig)},
        **said,
    }
    document = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthorizationConfiguration",
        "authorizers": [
            {"type": "Webhook", "name": name, "webhook": webhook},
            {"type": "Node", "name": "node"},
            {"type": "RBAC", "name": "rbac"},
        ],
    }
    file = asked.folder / "authorization.yaml"
    file.write_text(yaml.safe_dump(document))
    return file


async def refusal(who: Client) -> ApiError:
    with pytest.raises(ApiError) as refused:
        await who.list(CONFIGMAPS, namespace="default")
    return refused.value


async def test_what_a_server_is_asked(asked: Asked, serve: Serve) -> None:
    server = await serve(authorization_config=configuration(asked))
    asked.status = {"allowed": True, "reason": "because"}
    jane = client(server, "jane", "dev")
    fields, labels = "metadata.name=a,metadata.namespace!=b", "a in (b),!c"
    await jane.list(CONFIGMAPS, namespace="default", field_selector=fields, label_selector=labels)
    resource = {
        "namespace": "default",
        "verb": "list",
        "version": "v1",
        "resource": "configmaps",
        "name": "a",
        "fieldSelector": {
            "requirements": [
                {"key": "metadata.name", "operator": "In", "values": ["a"]},
                {"key": "metadata.namespace", "operator": "NotIn", "values": ["b"]},
            ]
        },
        "labelSelector": {
            "requirements": [
                {"key": "a", "operator": "In", "values": ["b"]},
                {"key": "c", "operator": "DoesNotExist"},
            ]
        },
    }
    user = {"user": "jane", "groups": ["dev", "system:authenticated"]}
    assert asked.specs() == [{"resourceAttributes": resource, **user}]
    review = asked.reviews[-1]
    assert {name: review[name] for name in ("kind", "apiVersion", "metadata", "status")} == {
        "kind": "SubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "status": {"allowed": False},
    }
    assert asked.queries[-1] == "/?timeout=3s"
    assert (await jane.send("GET", "/version/")).status == 200
    assert asked.specs()[-1] == {"nonResourceAttributes": {"path": "/version/", "verb": "get"}, **user}


async def test_a_yes_and_a_no_are_remembered(asked: Asked, serve: Serve, virtual_clock: VirtualClock) -> None:
    server = await serve(authorization_config=configuration(asked, unauthorizedTTL="10s", authorizedTTL="1m"))
    jane = client(server)
    asked.status = {"allowed": False, "reason": "not you"}
    for _ in range(2):
        assert (await refusal(jane)).message.endswith('in the namespace "default": not you')
    assert len(asked.specs()) == 1
    asked.status = {"allowed": True}
    await virtual_clock.sleep(11)
    await jane.list(CONFIGMAPS, namespace="default")
    asked.status = {"denied": True, "reason": "never"}
    await virtual_clock.sleep(50)
    await jane.list(CONFIGMAPS, namespace="default")
    await virtual_clock.sleep(11)
    assert "never" in (await refusal(jane)).message
    assert len(asked.specs()) == 3


@pytest.mark.parametrize(
    ("policy", "code", "user", "status"),
    [("NoOpinion", 500, "jane", 500), ("Deny", 500, "jane", 500), ("NoOpinion", 200, "jane", 403)],
)
async def test_a_server_that_fails(asked: Asked, serve: Serve, policy: str, code: int, user: str, status: int) -> None:
    """What goes wrong is told where nobody allows."""
    server = await serve(authorization_config=configuration(asked, failurePolicy=policy))
    asked.code = 404 if code == 500 else 200
    found = await client(server, user).send("GET", "/api/v1/namespaces/default/configmaps")
    assert found.status == status
    if status == 500:
        path = "/api/v1/namespaces/default/configmaps"
        why = f'Internal Server Error: "{path}": the server could not find the requested resource\n'
        assert found.body == why.encode()
        attributes = {"resourceAttributes": {"verb": "get", "resource": "pods"}, "user": "jane"}
        asked_for = {"apiVersion": REVIEWS.api_version, "kind": "SubjectAccessReview", "spec": attributes}
        reviewed = (await client(server, "admin", "system:masters").create(REVIEWS, asked_for))["status"]
        assert reviewed["evaluationError"] == "the server could not find the requested resource"
        assert reviewed.get("denied", False) is (policy == "Deny")


async def test_both_a_yes_and_a_no(asked: Asked, serve: Serve) -> None:
    server = await serve(authorization_config=configuration(asked))
    asked.status = {"allowed": True, "denied": True}
    found = await client(server).send("GET", "/version/")
    assert b"webhook subject access review returned both allow and deny response" in found.body


@pytest.mark.parametrize(
    ("expressions", "policy", "is_asked", "status"),
    [
        (["request.user == 'jane'"], "NoOpinion", True, 200),
        (["request.user == 'joe'"], "Deny", False, 403),
        (["has(request.resourceAttributes)", "request.resourceAttributes.namespace == 'default'"], "Deny", True, 200),
        (["request.extra['a'][0] == 'b'"], "NoOpinion", False, 500),
        (["request.extra['a'][0] == 'b'"], "Deny", False, 500),
        (["request.extra['a'][0] == 'b'", "request.user == 'joe'"], "Deny", False, 403),
    ],
)
async def test_conditions(
    asked: Asked, serve: Serve, expressions: list[str], policy: str, is_asked: bool, status: int
) -> None:
    conditions = [{"expression": each} for each in expressions]
    server = await serve(authorization_config=configuration(asked, matchConditions=conditions, failurePolicy=policy))
    asked.status = {"allowed": True}
    found = await client(server).send("GET", "/api/v1/namespaces/default/configmaps")
    assert (found.status, bool(asked.specs())) == (status, is_asked)
    if status == 500:
        why = "cel evaluation error: expression 'request.extra['a'][0] == 'b'' resulted in error: no such key: a"
        assert why.encode() in found.body


async def test_the_file_is_read_again(asked: Asked, serve: Serve) -> None:
    file = configuration(asked, cacheUnauthorizedRequests=False)
    server = await serve(authorization_config=file)
    jane = client(server)
    asked.status = {"allowed": False, "reason": "one"}
    assert "one" in (await refusal(jane)).message
    configuration(asked, name="other", matchConditions=[{"expression": "request.user != 'jane'"}])
    os.utime(file, ns=(1, 1))
    assert "one" not in (await refusal(jane)).message
    file.write_text("nothing")
    os.utime(file, ns=(2, 2))
    assert "one" not in (await refusal(jane)).message
    text = str((await server.handle(Request("GET", "/metrics", certificate=ADMIN, in_process=True))).body)
    counted = "apiserver_authorization_config_controller_automatic_reloads_total{apiserver_id_hash="
    lines = [line for line in text.replace("\\n", "\n").splitlines() if line.startswith(counted)]
    assert sorted(line.split('status="')[1] for line in lines) == ['failure"} 1', 'success"} 1']
    assert 'apiserver_authorization_match_condition_exclusions_total{name="other",type="Webhook"}' in text


async def test_the_older_version_and_what_reviews_tell(asked: Asked, serve: Serve) -> None:
    webhook = WebhookFile(config_file=asked.kubeconfig)
    server = await serve(authorization_webhook=webhook, authorization_mode=("Webhook",))
    asked.status = {"allowed": True}
    jane = client(server, "jane", "dev")
    review = {"apiVersion": RULES.api_version, "kind": "SelfSubjectRulesReview", "spec": {"namespace": "default"}}
    status = (await jane.create(RULES, review))["status"]
    assert (status["incomplete"], status["evaluationError"]) == (
        True,
        "webhook authorizer does not support user rule resolution",
    )
    assert asked.reviews[-1]["apiVersion"] == "authorization.k8s.io/v1beta1"
    assert asked.specs()[-1]["group"] == ["dev", "system:authenticated"]


TOKENS: dict[str, tuple[Object, Object]] = {
    "a user": (
        {"authenticated": True, "user": {"username": "bob", "uid": "7", "groups": ["a"], "extra": {"k": ["v"]}}},
        {
            "authenticated": True,
            "user": {"username": "bob", "uid": "7", "groups": ["a", "system:authenticated"], "extra": {"k": ["v"]}},
            "audiences": [ISSUER],
        },
    ),
    "a user for this server": (
        {"authenticated": True, "user": {"username": "bob"}, "audiences": ["x", ISSUER]},
        {
            "authenticated": True,
            "user": {"username": "bob", "groups": ["system:authenticated"]},
            "audiences": [ISSUER],
        },
    ),
    "a user for another": (
        {"authenticated": True, "user": {"username": "bob"}, "audiences": ["x"]},
        {"user": {}, "error": "invalid bearer token"},
    ),
    "nobody": ({}, {"user": {}, "error": "invalid bearer token"}),
    "nobody, and why": ({"error": "it is old"}, {"user": {}, "error": "[invalid bearer token, it is old]"}),
}


@pytest.mark.parametrize("name", TOKENS)
async def test_whose_token_it_is(asked: Asked, serve: Serve, name: str) -> None:
    status, wanted = TOKENS[name]
    webhook = WebhookFile(config_file=asked.kubeconfig, version="v1", authorized_ttl=120)
    server = await serve(token_webhook=webhook)
    asked.status = status
    review = {"apiVersion": TOKEN_REVIEWS.api_version, "kind": "TokenReview", "spec": {"token": "secret"}}
    admin = client(server, "admin", "system:masters")
    for _ in range(2):
        assert (await admin.create(TOKEN_REVIEWS, review))["status"] == wanted
    assert len(asked.reviews) == (1 if "authenticated" in wanted else 2)
    assert asked.reviews[0]["spec"] == {"token": "secret", "audiences": [ISSUER]}
    answer = await server.handle(Request("GET", "/version", {}, {"authorization": "Bearer secret"}))
    assert answer.status == (200 if "authenticated" in wanted else 401)
