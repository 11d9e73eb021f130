"""--authorization-mode: who is asked (test/integration/auth auth_test.go; pkg/kubeapiserver/options
authorization_test.go)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from engine.api.types import GVR, NAMESPACES, NODES, SERVICE_ACCOUNTS, Object
from engine.api.wire import ClientCertificate, Request
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions
from tests.apiserver.conftest import ADMIN

RULES = GVR("authorization.k8s.io", "v1", "selfsubjectrulesreviews")


@asynccontextmanager
async def asking(world: World, store: SqliteStore, modes: str) -> AsyncIterator[ApiServer]:
    config = configure(UpOptions(authorization_mode=modes, ephemeral=True))
    server = ApiServer(world, store, config=ClusterConfig(authorization_mode=config.authorization_mode))
    await server.start()
    yield server
    await server.stop()


def client(server: ApiServer, name: str, *groups: str) -> Client:
    return Client(InProcessTransport(server, ClientCertificate(name, groups)), user_agent="test")


async def rules(who: Client) -> Object:
    review = {"apiVersion": RULES.api_version, "kind": "SelfSubjectRulesReview", "spec": {"namespace": "default"}}
    status: Object = (await who.create(RULES, review))["status"]
    return status


async def test_everybody_may_all(world: World, store: SqliteStore) -> None:
    async with asking(world, store, "AlwaysAllow,RBAC") as server:
        jane = client(server, "jane")
        assert (await jane.list(NAMESPACES)).items
        assert (await server.handle(Request("GET", "/api/v1/secrets"))).status == 401  # but nobody in particular
        found = await rules(jane)
        assert found["resourceRules"][0] == {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        assert found["nonResourceRules"][0] == {"verbs": ["*"], "nonResourceURLs": ["*"]}
        assert len(found["resourceRules"]) > 1  # and what RBAC grants


async def test_nobody_may_anything(world: World, store: SqliteStore) -> None:
    async with asking(world, store, "AlwaysDeny") as server:
        answer = await client(server, "jane").send("GET", "/api/v1/namespaces/default/pods")
        assert (answer.status, answer.body["message"]) == (
            403,
            'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default": '
            "Everything is forbidden.",
        )
        assert (await server.handle(Request("GET", "/version"))).status == 403
        admin = Client(InProcessTransport(server, ADMIN), user_agent="test")
        assert (await admin.list(NAMESPACES)).items  # but who is of the group that may do everything
        assert await rules(admin) == {"resourceRules": [], "nonResourceRules": [], "incomplete": False}


async def test_without_the_node_authorizer_a_kubelet_is_anybody(world: World, store: SqliteStore) -> None:
    async with asking(world, store, "RBAC") as server:
        kubelet = client(server, "system:node:a", "system:nodes")
        answer = await kubelet.send("GET", NODES.path(None, "a"))
        assert answer.status == 403
        assert answer.body["message"].endswith("at the cluster scope")  # Node says no why
        assert (await rules(kubelet))["incomplete"] is False
        assert (await kubelet.send("GET", SERVICE_ACCOUNTS.path("default", "default"))).status == 403


@pytest.mark.parametrize(
    ("modes", "why"),
    [
        ("RBAC,Nodes", 'authorization-mode "Nodes" is not a valid mode'),
        ("RBAC,RBAC", 'authorization-mode ["RBAC" "RBAC"] has mode specified more than once'),
        ("", "at least one authorization-mode must be passed"),
    ],
)
def test_what_is_no_mode(modes: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        configure(UpOptions(authorization_mode=modes))
    assert str(caught.value) == why
