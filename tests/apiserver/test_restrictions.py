"""What those who have some rights may still not do."""

from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.types import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GVR,
    LEASES,
    NODES,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    Object,
)
from engine.api.wire import APPLY_PATCH
from engine.client import Client
from tests.apiserver.conftest import ClientFor, pod
from tests.apiserver.test_authorization import RBAC, binding, role, user

READS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
SECRETS = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}


@pytest.fixture
def kubelet(client_for: ClientFor) -> Client:
    return client_for("system:node:node-1", "system:nodes")


def node(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


async def test_a_kubelet_registers_itself_alone(kubelet: Client) -> None:
    await kubelet.create(
        NODES, node("node-1", **{"topology.kubernetes.io/zone": "zone-a", "kubernetes.io/os": "linux"})
    )
    with pytest.raises(ApiError) as caught:
        await kubelet.create(NODES, node("node-2"))
    assert caught.value.message == ('nodes "node-2" is forbidden: node "node-1" is not allowed to modify node "node-2"')


async def test_a_kubelet_does_not_name_its_own_role(kubelet: Client) -> None:
    with pytest.raises(
        ApiError, match=r"not allowed to set the following labels: node-role\.kubernetes\.io/control-plane"
    ):
        await kubelet.create(NODES, node("node-1", **{"node-role.kubernetes.io/control-plane": ""}))


async def test_a_kubelet_reports_on_its_own_pods(client: Client, kubelet: Client, default_account: Object) -> None:
    for name, place in (("mine", "node-1"), ("other", "node-2")):
        await client.create(PODS, pod(name, nodeName=place), namespace="default")
    running = {"status": {"phase": "Running"}}
    await kubelet.patch(PODS, "mine", running, namespace="default", subresource="status")
    with pytest.raises(ApiError, match="can only update pod status for pods with spec"):
        await kubelet.patch(PODS, "other", running, namespace="default", subresource="status")
    with pytest.raises(ApiError, match="can only delete pods with spec"):
        await kubelet.delete(PODS, "other", namespace="default")
    with pytest.raises(ApiError, match="can only create mirror pods"):
        await kubelet.create(PODS, pod("new", nodeName="node-1"), namespace="default")


async def test_a_kubelet_renews_its_own_lease(kubelet: Client) -> None:
    def lease(name: str) -> Object:
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}}

    await kubelet.create(LEASES, lease("node-1"), namespace="kube-node-lease")
    with pytest.raises(ApiError, match="can only access node lease with the same name as the requesting node"):
        await kubelet.create(LEASES, lease("node-2"), namespace="kube-node-lease")
    with pytest.raises(ApiError, match='can only access leases in the "kube-node-lease" system namespace'):
        await kubelet.create(LEASES, lease("node-1"), namespace="kube-system")


async def test_a_kubelet_publishes_the_devices_of_its_own_node(kubelet: Client) -> None:
    slices = GVR("resource.k8s.io", "v1", "resourceslices")

    def published(name: str, **place: object) -> Object:
        spec = {"driver": "example.com", "pool": {"name": "p", "resourceSliceCount": 1}, "devices": [], **place}
        return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}

    await kubelet.create(slices, published("one", nodeName="node-1"))
    for place in ({"nodeName": "node-2"}, {"allNodes": True}):
        with pytest.raises(ApiError) as caught:
            await kubelet.create(slices, published("two", **place))
        assert caught.value.message == (
            'resourceslices.resource.k8s.io "two" is forbidden: can only create ResourceSlice with the same NodeName '
            "as the requesting node"
        )
    await kubelet.delete(slices, "one")


async def let_grant(client: Client, *rules: Object) -> None:
    """Let jane write roles and bindings, and give her `rules`."""
    writes = {"apiGroups": [RBAC], "resources": ["roles", "rolebindings"], "verbs": ["create", "update", "get"]}
    await client.create(ROLES, role("granter", writes, *rules), namespace="default")
    await client.create(ROLE_BINDINGS, binding("granter", "granter", user("jane")), namespace="default")


async def test_nobody_grants_in_a_role_what_they_do_not_have(client: Client, client_for: ClientFor) -> None:
    await let_grant(client, READS)
    jane = client_for("jane")
    await jane.create(ROLES, role("reader", READS), namespace="default")
    with pytest.raises(ApiError) as caught:
        await jane.create(ROLES, role("spy", READS, SECRETS), namespace="default")
    assert (caught.value.code, caught.value.message) == (
        403,
        'roles.rbac.authorization.k8s.io "spy" is forbidden: user "jane" (groups=["system:authenticated"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
    )


async def test_roles_that_there_are_not_are_told_beside_what_is_missing(client: Client, client_for: ClientFor) -> None:
    await let_grant(client, READS)
    for name in ("gone", "lost"):
        await client.create(ROLE_BINDINGS, binding(name, name, user("jane")), namespace="default")
    with pytest.raises(ApiError) as caught:
        await client_for("jane").create(ROLES, role("spy", SECRETS), namespace="default")
    gone, lost = (f'roles.rbac.authorization.k8s.io "{name}" not found' for name in ("gone", "lost"))
    assert caught.value.message.endswith(f'Verbs:["get"]}}; resolution errors: [[{gone}, {lost}]]')
    with pytest.raises(ApiError, match=r'^roles\.rbac\.authorization\.k8s\.io "nada" not found$'):
        await client_for("jane").create(ROLE_BINDINGS, binding("b", "nada", user("jane")), namespace="default")


GRANTS: dict[str, tuple[list[Object], list[str]]] = {
    "only what is missing, its verbs together": (
        [{"apiGroups": [""], "resources": ["pods", "secrets"], "verbs": ["get", "list", "watch"]}],
        [
            '{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}',
            '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "watch"]}',
        ],
    ),
    "by names": (
        [{"apiGroups": [""], "resources": ["pods"], "resourceNames": ["b", "a"], "verbs": ["get", "delete"]}],
        [
            '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["delete"]}',
            '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["delete"]}',
        ],
    ),
    "told once": ([SECRETS, SECRETS], ['{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}']),
}


async def test_what_is_missing_is_told_thing_by_thing(client: Client, client_for: ClientFor) -> None:
    await let_grant(client, READS)
    jane = client_for("jane")
    for number, (rules, missing) in enumerate(GRANTS.values()):
        with pytest.raises(ApiError) as caught:
            await jane.create(ROLES, role(f"spy-{number}", *rules), namespace="default")
        assert caught.value.message.split("\n")[1:] == missing


async def test_a_role_of_more_than_theirs_is_not_changed_either(client: Client, client_for: ClientFor) -> None:
    await let_grant(client)
    spy = await client.create(ROLES, role("spy", SECRETS), namespace="default")
    jane = client_for("jane")
    labelled = {**spy, "metadata": {**spy["metadata"], "labels": {"a": "b"}}}
    with pytest.raises(ApiError, match="is attempting to grant RBAC permissions not currently held"):
        await jane.update(ROLES, labelled)
    owned = {**spy, "metadata": {**spy["metadata"], "finalizers": ["a.io/b"]}}
    await jane.update(ROLES, owned)


async def test_only_an_administrator_aggregates(client: Client, client_for: ClientFor) -> None:
    writes = {"apiGroups": [RBAC], "resources": ["clusterroles"], "verbs": ["create"]}
    await client.create(CLUSTER_ROLES, {**role("granter", writes), "kind": "ClusterRole"})
    reference = {**binding("granter", "granter", user("jane"), kind="ClusterRole"), "kind": "ClusterRoleBinding"}
    await client.create(CLUSTER_ROLE_BINDINGS, reference)
    gathering = {**role("all"), "kind": "ClusterRole", "aggregationRule": {"clusterRoleSelectors": [{}]}}
    with pytest.raises(ApiError) as caught:
        await client_for("jane").create(CLUSTER_ROLES, gathering)
    assert caught.value.message == (
        'clusterroles.rbac.authorization.k8s.io "all" is forbidden: must have cluster-admin privileges to use the '
        "aggregationRule"
    )
    with pytest.raises(ApiError, match="at least one clusterRoleSelector required if aggregationRule is non-nil"):
        await client_for("jane").create(CLUSTER_ROLES, {**gathering, "aggregationRule": {}})  # which gathers nothing


async def test_who_asks_and_for_what_is_quoted_as_go_quotes_it(client: Client, client_for: ClientFor) -> None:
    who, named = 'O"Hara', {"apiGroups": [""], "resources": ['a"b'], "verbs": ["get"]}
    writes = {"apiGroups": [RBAC], "resources": ["roles"], "verbs": ["create"]}
    await client.create(ROLES, role('say "a"', writes), namespace="default")
    await client.create(ROLE_BINDINGS, binding("granter", 'say "a"', user(who)), namespace="default")
    with pytest.raises(ApiError) as caught:
        await client_for(who, 'dev"s').create(ROLES, role("spy", named), namespace="default")
    assert caught.value.message.endswith(
        r'user "O\"Hara" (groups=["dev\"s" "system:authenticated"]) is attempting to grant RBAC permissions not '
        'currently held:\n{APIGroups:[""], Resources:["a\\"b"], Verbs:["get"]}'
    )
    asked = {"namespace": "default", "verb": "create", "group": RBAC, "resource": "roles"}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
              "spec": {"user": who, "resourceAttributes": asked}}  # fmt: skip
    answer = await client.create(GVR("authorization.k8s.io", "v1", "subjectaccessreviews"), review)
    reason = r'RBAC: allowed by RoleBinding "granter/default" of Role "say \"a\"" to User "O\"Hara"'
    assert answer["status"]["reason"] == reason


async def test_nobody_binds_a_role_that_is_more_than_theirs(client: Client, client_for: ClientFor) -> None:
    await let_grant(client, READS)
    jane = client_for("jane")
    await client.create(ROLES, role("reader", READS), namespace="default")
    await jane.create(ROLE_BINDINGS, binding("readers", "reader", user("joe")), namespace="default")
    with pytest.raises(ApiError, match="is attempting to grant RBAC permissions not currently held"):
        await jane.create(
            ROLE_BINDINGS, binding("joe", "cluster-admin", user("joe"), kind="ClusterRole"), namespace="default"
        )
    with pytest.raises(ApiError, match='"gone" not found'):
        await jane.create(ROLE_BINDINGS, binding("gone", "gone", user("joe")), namespace="default")


async def test_a_role_is_in_a_namespace_and_can_be_bound_only_there(client: Client, client_for: ClientFor) -> None:
    writes = {"apiGroups": [RBAC], "resources": ["clusterrolebindings"], "verbs": ["create"]}
    await client.create(CLUSTER_ROLES, {**role("granter", writes), "kind": "ClusterRole"})
    reference = {**binding("granter", "granter", user("jane"), kind="ClusterRole"), "kind": "ClusterRoleBinding"}
    await client.create(CLUSTER_ROLE_BINDINGS, reference)
    wanted = {**binding("b", "a", user("jane")), "kind": "ClusterRoleBinding"}
    with pytest.raises(ApiError) as caught:
        await client_for("jane").create(CLUSTER_ROLE_BINDINGS, wanted)
    assert (caught.value.code, caught.value.message) == (400, "Namespace parameter required.")


async def test_the_right_to_escalate_lifts_the_check(client: Client, client_for: ClientFor) -> None:
    await let_grant(client, {"apiGroups": [RBAC], "resources": ["roles"], "verbs": ["escalate", "bind"]})
    jane = client_for("jane")
    await jane.create(ROLES, role("spy", SECRETS), namespace="default")
    await jane.create(ROLE_BINDINGS, binding("spy", "spy", user("joe")), namespace="default")


async def test_the_right_to_escalate_one_role_is_not_one_to_create_it(client: Client, client_for: ClientFor) -> None:
    """A new role has no name in its path, but where it is updated or patched into being."""
    rule = {"apiGroups": [RBAC], "resources": ["roles"], "resourceNames": ["spy"], "verbs": ["escalate", "patch"]}
    await let_grant(client, rule)
    jane, spy = client_for("jane"), role("spy", SECRETS)
    with pytest.raises(ApiError, match="is attempting to grant RBAC permissions not currently held"):
        await jane.create(ROLES, spy, namespace="default")
    await jane.patch(ROLES, "spy", spy, namespace="default", content_type=APPLY_PATCH, field_manager="jane")


async def test_what_one_may_not_grant_is_not_looked_at(client: Client, client_for: ClientFor) -> None:
    """Upstream's storage asks for rights before it validates, and after plugins have changed what is written."""
    await let_grant(client, READS)
    jane = client_for("jane")
    held = await client.create(ROLE_BINDINGS, binding("readers", "granter", user("joe")), namespace="default")
    anything = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    with pytest.raises(ApiError, match="is attempting to grant RBAC permissions not currently held"):
        await jane.update(ROLE_BINDINGS, {**held, "roleRef": anything})
    with pytest.raises(ApiError, match="is attempting to grant RBAC permissions not currently held"):
        await jane.create(ROLES, role("spy", {"apiGroups": [""], "resources": ["a"], "verbs": ["get"]}, {"verbs": []}),
                          namespace="default")  # fmt: skip
    bound = binding("none", "none", user("joe"))
    with pytest.raises(ApiError) as caught:
        await jane.create(ROLE_BINDINGS, {**bound, "roleRef": {**bound["roleRef"], "kind": "Pod"}}, namespace="default")
    assert (caught.value.code, caught.value.message) == (500, 'unsupported role reference kind: "Pod"')
