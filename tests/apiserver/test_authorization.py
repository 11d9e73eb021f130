from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, PODS, ROLE_BINDINGS, ROLES, SECRETS, Object
from engine.api.wire import APPLY_PATCH, Request
from engine.apiserver.server import ApiServer
from engine.client import Client
from tests.apiserver.conftest import ClientFor, pod

RBAC = "rbac.authorization.k8s.io"
RULES_REVIEWS = GVR("authorization.k8s.io", "v1", "selfsubjectrulesreviews")
ACCESS = GVR("authorization.k8s.io", "v1", "selfsubjectaccessreviews")


def role(name: str, *rules: Object) -> Object:
    return {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": {"name": name}, "rules": list(rules)}


def binding(name: str, role: str, *subjects: Object, kind: str = "Role") -> Object:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role},
        "subjects": list(subjects),
    }


def user(name: str) -> Object:
    return {"apiGroup": RBAC, "kind": "User", "name": name}


REFUSED = {
    "list in a namespace": (
        "/api/v1/namespaces/default/pods",
        'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"',
    ),
    "list of all": (
        "/apis/apps/v1/deployments",
        'deployments.apps is forbidden: User "jane" cannot list resource "deployments" in API group "apps" at the '
        "cluster scope",
    ),
    "one object": (
        "/api/v1/nodes/node-1",
        'nodes "node-1" is forbidden: User "jane" cannot get resource "nodes" in API group "" at the cluster scope',
    ),
    "a subresource": (
        "/api/v1/namespaces/default/pods/web/log",
        'pods "web" is forbidden: User "jane" cannot get resource "pods/log" in API group "" in the namespace '
        '"default"',
    ),
    "a path": ("/metrics", 'forbidden: User "jane" cannot get path "/metrics"'),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
async def test_without_rights_one_gets_the_real_403(client_for: ClientFor, case: tuple[str, str]) -> None:
    path, message = case
    response = await client_for("jane").send("GET", path)
    assert response.status == 403
    assert response.body["reason"] == "Forbidden"
    assert response.body["message"] == message


async def test_a_role_binding_gives_its_rights_in_its_namespace_only(client: Client, client_for: ClientFor) -> None:
    jane = client_for("jane")
    reads = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
    await client.create(ROLES, role("reader", reads), namespace="default")
    await client.create(ROLE_BINDINGS, binding("jane", "reader", user("jane")), namespace="default")
    assert (await jane.list(PODS, namespace="default")).items == []
    for refused in (jane.list(PODS), jane.list(PODS, namespace="kube-system")):
        with pytest.raises(ApiError, match="cannot list") as caught:
            await refused
        assert caught.value.code == 403


async def test_rights_end_with_the_binding(client: Client, client_for: ClientFor) -> None:
    await client.create(ROLE_BINDINGS, binding("jane", "view", user("jane"), kind="ClusterRole"), namespace="default")
    jane = client_for("jane")
    await jane.list(PODS, namespace="default")
    await client.delete(ROLE_BINDINGS, "jane", namespace="default")
    async with await client.watch(ROLE_BINDINGS, namespace="default"):
        with pytest.raises(ApiError, match="cannot list"):
            await jane.list(PODS, namespace="default")


async def test_view_shows_no_secrets(client: Client, client_for: ClientFor) -> None:
    await client.create(ROLE_BINDINGS, binding("jane", "view", user("jane"), kind="ClusterRole"), namespace="default")
    with pytest.raises(ApiError, match='cannot list resource "secrets"'):
        await client_for("jane").list(SECRETS, namespace="default")


async def test_resource_names_limit_a_rule(client: Client, client_for: ClientFor, default_account: Object) -> None:
    only_web = {"apiGroups": [""], "resources": ["pods"], "resourceNames": ["web"], "verbs": ["get"]}
    await client.create(ROLES, role("web", only_web), namespace="default")
    await client.create(ROLE_BINDINGS, binding("jane", "web", user("jane")), namespace="default")
    await client.create(PODS, pod("web"), namespace="default")
    jane = client_for("jane")
    assert (await jane.get(PODS, "web", namespace="default"))["metadata"]["name"] == "web"
    with pytest.raises(ApiError, match='pods "api" is forbidden'):
        await jane.get(PODS, "api", namespace="default")


async def test_a_binding_to_a_role_that_is_not_there_says_so(client: Client, client_for: ClientFor) -> None:
    await client.create(ROLE_BINDINGS, binding("jane", "gone", user("jane")), namespace="default")
    with pytest.raises(ApiError, match=r'RBAC: role\.rbac\.authorization\.k8s\.io "gone" not found$'):
        await client_for("jane").list(PODS, namespace="default")
    for number, name in enumerate(("gone", "lost")):
        await client.create(ROLE_BINDINGS, binding(f"jane-{number}", name, user("jane")), namespace="default")
    texts = [f'role.rbac.authorization.k8s.io "{name}" not found' for name in ("gone", "lost")]
    with pytest.raises(ApiError) as caught:
        await client_for("jane").list(PODS, namespace="default")
    assert caught.value.message.endswith(f": RBAC: [{', '.join(texts)}]")
    review = {"spec": {"namespace": "default"}}
    status = (await client_for("jane").create(RULES_REVIEWS, review))["status"]
    assert (status["incomplete"], status["evaluationError"]) == (False, f"[{', '.join(texts)}]")


COMPONENTS = {
    "the scheduler binds": ("system:kube-scheduler", (), "create", "", "pods", "binding", True),
    "the scheduler makes no pods": ("system:kube-scheduler", (), "create", "", "pods", "", False),
    "the deployment controller makes replica sets": (
        "system:serviceaccount:kube-system:deployment-controller",
        ("system:serviceaccounts",),
        "create",
        "apps",
        "replicasets",
        "",
        True,
    ),
    "it makes no pods": (
        "system:serviceaccount:kube-system:deployment-controller",
        ("system:serviceaccounts",),
        "create",
        "",
        "pods",
        "",
        False,
    ),
    "a node reports on its pods": ("system:node:node-1", ("system:nodes",), "patch", "", "pods", "status", True),
    "a node binds none": ("system:node:node-1", ("system:nodes",), "create", "", "pods", "binding", False),
    "the proxy watches endpoint slices": (
        "system:kube-proxy",
        (),
        "watch",
        "discovery.k8s.io",
        "endpointslices",
        "",
        True,
    ),
}


@pytest.mark.parametrize("case", COMPONENTS.values(), ids=COMPONENTS.keys())
async def test_components_have_the_rights_of_their_bootstrap_roles(
    client_for: ClientFor, case: tuple[str, tuple[str, ...], str, str, str, str, bool]
) -> None:
    name, groups, verb, group, resource, subresource, allowed = case
    asked = {"verb": verb, "group": group, "resource": resource, "subresource": subresource, "namespace": "default"}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {field: value for field, value in asked.items() if value}},
    }
    answer = await client_for(name, *groups).create(ACCESS, review)
    assert answer["status"]["allowed"] is allowed


async def test_what_an_update_or_an_apply_makes_needs_the_right_to_create(
    client: Client, client_for: ClientFor
) -> None:
    """TestRBAC's rows of create-on-update: who may only update or patch makes nothing by it."""
    named = {"apiGroups": [""], "resources": ["limitranges"], "resourceNames": ["mine"], "verbs": ["create"]}
    rules = {"apiGroups": [""], "resources": ["limitranges"], "verbs": ["update", "patch"]}
    await client.create(ROLES, role("writer", rules, named), namespace="default")
    await client.create(ROLE_BINDINGS, binding("writer", "writer", user("jane")), namespace="default")
    jane = client_for("jane")
    kind = GVR("", "v1", "limitranges")

    def limits(name: str, **more: Any) -> Object:
        return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name, "namespace": "default"}, **more}

    async def apply(name: str, **more: Any) -> Object:
        return await jane.patch(kind, name, limits(name, **more), namespace="default", content_type=APPLY_PATCH,
                                field_manager="jane")  # fmt: skip

    for write in (lambda name, **more: jane.update(kind, limits(name, **more)), apply):
        with pytest.raises(ApiError) as caught:
            await write("theirs")
        assert (caught.value.code, caught.value.message) == (403, 'limitranges "theirs" is forbidden: ')
        with pytest.raises(ApiError, match="name part must be non-empty"):  # what is wrong is told before
            await write("theirs", spec={"limits": [{"type": ""}]})
        assert (await write("mine"))["metadata"]["name"] == "mine"
        await client.delete(kind, "mine", namespace="default")
        await client.create(kind, limits("theirs"), namespace="default")
        await write("theirs")
        await client.delete(kind, "theirs", namespace="default")


async def test_without_a_certificate_one_is_anonymous(server: ApiServer) -> None:
    response = await server.handle(Request("GET", "/api/v1/pods"))
    assert response.status == 403
    assert 'User "system:anonymous" cannot list' in response.body["message"]
    assert (await server.handle(Request("GET", "/version"))).status == 200


async def test_a_bad_token_is_refused_and_not_anonymous(server: ApiServer) -> None:
    response = await server.handle(Request("GET", "/version", headers={"authorization": "Bearer nonsense"}))
    assert response.status == 401
    assert response.body["reason"] == "Unauthorized"


async def test_an_admin_may_act_as_another(client: Client, client_for: ClientFor) -> None:
    response = await client.send("GET", "/api/v1/pods", headers={"impersonate-user": "jane"})
    assert 'User "jane" cannot list' in response.body["message"]
    response = await client_for("jane").send("GET", "/api/v1/pods", headers={"impersonate-user": "admin"})
    assert response.body["message"] == (
        'pods is forbidden: User "jane" cannot impersonate-on:user-info:list resource "pods" in API group "" at the '
        "cluster scope"
    )


async def test_who_am_i(client_for: ClientFor) -> None:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = await client_for("jane", "staff").create(GVR("authentication.k8s.io", "v1", "selfsubjectreviews"), review)
    assert answer["status"]["userInfo"] == {"username": "jane", "groups": ["staff", "system:authenticated"]}
