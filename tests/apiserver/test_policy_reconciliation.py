"""Roles and bindings that a cluster is born with, at each start again (component-helpers auth/rbac/reconciliation
reconcile_role_test.go and reconcile_rolebindings_test.go, as EnsureRBACPolicy uses them)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from engine.api.types import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES, Object
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.test_admission_configuration import client as client_of

AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"
ALL = (CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, ROLES, ROLE_BINDINGS)


@asynccontextmanager
async def started(world: World, store: SqliteStore, version: str = "") -> AsyncIterator[Client]:
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version=version))
    await server.start()
    yield client_of(server)
    await server.stop()


async def kept(client: Client) -> dict[str, str]:
    found = [obj for gvr in ALL for obj in (await client.list(gvr)).items]
    return {f"{obj['kind']} {obj['metadata']['name']}": obj["metadata"]["resourceVersion"] for obj in found}


async def test_what_is_as_it_should_be_is_let_be(world: World, store: SqliteStore) -> None:
    async with started(world, store) as client:
        before = await kept(client)
    async with started(world, store) as client:
        assert await kept(client) == before


async def test_what_was_taken_away_comes_back(world: World, store: SqliteStore) -> None:
    more = {"verbs": ["get"], "apiGroups": ["example.com"], "resources": ["widgets"]}
    jane = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"}
    async with started(world, store) as client:
        basic = await client.get(CLUSTER_ROLES, "system:basic-user")
        first, second = basic["rules"]
        labels = {"team": "a"}
        less = {**first, "resources": ["selfsubjectaccessreviews"]}
        changed = {**basic, "metadata": {**basic["metadata"], "labels": labels}, "rules": [less, more]}
        await client.update(CLUSTER_ROLES, changed)
        for name in ("system:discovery", "system:kube-dns"):
            role = await client.get(CLUSTER_ROLES, name)
            annotations = {AUTOUPDATE: "false"} if name == "system:kube-dns" else {}
            await client.update(
                CLUSTER_ROLES, {**role, "metadata": {"name": name, "annotations": annotations}, "rules": []}
            )
        gathers = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"own": "true"}}]}}
        await client.patch(CLUSTER_ROLES, "view", gathers, content_type="application/merge-patch+json")
        await client.patch(CLUSTER_ROLES, "system:heapster", gathers, content_type="application/merge-patch+json")
        binding = await client.get(CLUSTER_ROLE_BINDINGS, "system:public-info-viewer")
        await client.update(CLUSTER_ROLE_BINDINGS, {**binding, "subjects": [jane]})
        dns = await client.get(CLUSTER_ROLE_BINDINGS, "system:kube-dns")
        await client.delete(CLUSTER_ROLE_BINDINGS, "system:kube-dns")
        other = {
            "metadata": {"name": "system:kube-dns"},
            "roleRef": {**dns["roleRef"], "name": "view"},
            "subjects": [jane],
        }
        await client.create(CLUSTER_ROLE_BINDINGS, other)

    async with started(world, store) as client:
        basic = await client.get(CLUSTER_ROLES, "system:basic-user")
        lacked = {**first, "resources": ["selfsubjectrulesreviews"]}
        assert basic["rules"] == [less, more, lacked, second]
        assert basic["metadata"]["labels"] == {"kubernetes.io/bootstrapping": "rbac-defaults", "team": "a"}
        discovery = await client.get(CLUSTER_ROLES, "system:discovery")
        assert discovery["metadata"]["annotations"] == {AUTOUPDATE: "true"}
        assert [rule["nonResourceURLs"] for rule in discovery["rules"]][:2] == [["/api"], ["/api/*"]]
        assert not (await client.get(CLUSTER_ROLES, "system:kube-dns")).get("rules")  # its keeper wants it so
        view = (await client.get(CLUSTER_ROLES, "view"))["aggregationRule"]["clusterRoleSelectors"]
        assert [selector["matchLabels"] for selector in view] == [
            {"own": "true"}, {"rbac.authorization.k8s.io/aggregate-to-view": "true"},
        ]  # fmt: skip
        assert "aggregationRule" not in await client.get(CLUSTER_ROLES, "system:heapster")
        subjects = (await client.get(CLUSTER_ROLE_BINDINGS, "system:public-info-viewer"))["subjects"]
        names = [subject["name"] for subject in subjects]
        assert names == ["jane", "system:authenticated", "system:unauthenticated"]
        restored = await client.get(CLUSTER_ROLE_BINDINGS, "system:kube-dns")
        assert (restored["roleRef"], restored["subjects"]) == (dns["roleRef"], dns["subjects"])


async def test_a_newer_release_grants_what_it_does(world: World, store: SqliteStore) -> None:
    def reads_accounts(role: Object) -> bool:
        return {"verbs": ["get"], "apiGroups": [""], "resources": ["serviceaccounts"]} in role["rules"]

    async with started(world, store, "1.33.0") as client:
        assert not reads_accounts(await client.get(CLUSTER_ROLES, "system:node"))
    async with started(world, store, "1.37.0") as client:
        node = await client.get(CLUSTER_ROLES, "system:node")
        assert reads_accounts(node)
        assert [each["manager"] for each in node["metadata"]["managedFields"]] == ["kube-apiserver"]
        await client.get(CLUSTER_ROLES, "system:cluster-trust-bundle-discovery")
