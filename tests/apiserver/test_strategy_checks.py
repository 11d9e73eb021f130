"""What the registries check with the validation of an object, and needs more than the object: who asks, and where."""

from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.types import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, GVR, NAMESPACES, Object
from engine.api.wire import MERGE_PATCH
from engine.client import Client
from engine.world import World
from tests.api.validation.test_pod_certificates import condition, issued, request
from tests.apiserver.conftest import ClientFor
from tests.apiserver.test_authorization import RBAC, user

ADMISSION = "admissionregistration.k8s.io"
POLICIES = GVR(ADMISSION, "v1", "validatingadmissionpolicies")
BINDINGS = GVR(ADMISSION, "v1", "validatingadmissionpolicybindings")
CLAIMS = GVR("resource.k8s.io", "v1", "resourceclaims")
TEMPLATES = GVR("resource.k8s.io", "v1", "resourceclaimtemplates")
RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
JANE = "&{jane  [system:authenticated] map[]}"


async def let(client: Client, name: str, rule: Object, whom: Object | None = None) -> None:
    """Give jane, or somebody else, a rule."""
    role: Object = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": [rule]}
    await client.create(CLUSTER_ROLES, role)
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [whom or user("jane")],
    }
    await client.create(CLUSTER_ROLE_BINDINGS, binding)


@pytest.fixture
async def jane(client: Client, client_for: ClientFor) -> Client:
    await let(client, "policies", {"apiGroups": [ADMISSION], "resources": ["*"], "verbs": ["*"]})
    return client_for("jane")


def policy(name: str, kind: str | None) -> Object:
    spec: Object = {"matchConstraints": {"resourceRules": RULES}, "validations": [{"expression": "true"}]}
    if kind is not None:
        spec["paramKind"] = {"apiVersion": "v1", "kind": kind}
    return {
        "apiVersion": f"{ADMISSION}/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": spec,
    }


def binding(to: str, **reference: object) -> Object:
    return {
        "apiVersion": f"{ADMISSION}/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "b"},
        "spec": {
            "policyName": to,
            "validationActions": ["Deny"],
            "paramRef": {"parameterNotFoundAction": "Deny", **reference},
        },
    }


async def test_a_policy_takes_parameters_that_its_author_may_read(client: Client, jane: Client) -> None:
    with pytest.raises(ApiError) as caught:
        await jane.create(POLICIES, policy("p", "ConfigMap"))
    assert (caught.value.code, caught.value.message) == (
        422,
        f'ValidatingAdmissionPolicy.{ADMISSION} "p" is invalid: spec.paramKind: Forbidden: user {JANE} must have "get" '
        "permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)",
    )
    await jane.create(POLICIES, policy("p", None))
    await let(client, "reads", {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]})
    await jane.patch(POLICIES, "p", {"spec": {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}})


async def test_one_that_takes_them_already_may_be_changed(client: Client, jane: Client) -> None:
    await client.create(POLICIES, policy("p", "ConfigMap"))
    changed = await jane.patch(POLICIES, "p", {"spec": {"failurePolicy": "Ignore"}})
    assert changed["spec"]["failurePolicy"] == "Ignore"


REFUSED: dict[str, tuple[Object, str]] = {
    "by name": (
        binding("maps", name="a", namespace="default"),
        f'user {JANE} does not have "get" permission on the object referenced by paramRef',
    ),
    "by label": (
        binding("maps", selector={"matchLabels": {"a": "b"}}),
        f'user {JANE} does not have "list" permission on the object referenced by paramRef',
    ),
    "of a policy that there is not": (
        binding("none", name="a"),
        f'unable to get policy none to determine minimum required permissions and user {JANE} does not have "get" '
        "permission for all groups, versions and resources",
    ),
    "of a kind that there is not": (
        binding("odd", name="a"),
        "unable to resolve paramKind &{v1 Odd} to determine minimum required permissions and user "
        f'{JANE} does not have "get" permission for all groups, versions and resources',
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
async def test_a_binding_names_parameters_that_its_author_may_read(
    client: Client, jane: Client, case: tuple[Object, str]
) -> None:
    await client.create(POLICIES, policy("maps", "ConfigMap"))
    await client.create(POLICIES, policy("odd", "Odd"))
    value, expected = case
    with pytest.raises(ApiError) as caught:
        await jane.create(BINDINGS, value)
    assert caught.value.message == (
        f'ValidatingAdmissionPolicyBinding.{ADMISSION} "b" is invalid: spec.paramRef: Forbidden: {expected}'
    )


async def test_who_may_read_the_parameters_binds_them(client: Client, jane: Client) -> None:
    await client.create(POLICIES, policy("maps", "ConfigMap"))
    await let(client, "reads", {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]})
    await jane.create(BINDINGS, binding("maps", name="a"))


def claim(kind: str) -> Object:
    request = {"name": "r", "exactly": {"deviceClassName": "c", "adminAccess": True}}
    spec: Object = {"devices": {"requests": [request]}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "a"},
        "spec": spec if kind == "ResourceClaim" else {"spec": spec},
    }


@pytest.mark.parametrize(("resource", "kind"), [(CLAIMS, "ResourceClaim"), (TEMPLATES, "ResourceClaimTemplate")])
async def test_devices_that_others_use_are_for_namespaces_of_administrators(
    client: Client, resource: GVR, kind: str
) -> None:
    with pytest.raises(ApiError) as caught:
        await client.create(resource, claim(kind), namespace="default")
    assert (caught.value.code, caught.value.message) == (
        422,
        f'{kind}.resource.k8s.io "a" is invalid: spec.devices.requests[0].adminAccess: Forbidden: admin access to '
        "devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace",
    )
    await client.patch(NAMESPACES, "default", {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}})
    await client.create(resource, claim(kind), namespace="default")


WEB = {"resource": "pods", "name": "web", "uid": "1"}
DEVICE = {"driver": "example.com", "pool": "p", "device": "d"}
ALLOCATED: Object = {
    "devices": {"results": [{**DEVICE, "request": "r"}]},
    "nodeSelector": {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}]
    },
}
UNBOUND = (
    'status: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", '
    f'verb="patch" permission: {CLAIMS.resource}.{CLAIMS.group} is forbidden: User "jane" cannot patch resource '
    '"resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope'
)
UNTOLD = (
    'status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", '
    f'verb="[arbitrary-node:patch]" permission: {CLAIMS.resource}.{CLAIMS.group} "example.com" is forbidden: User '
    '"jane" cannot arbitrary-node:patch resource "resourceclaims/driver" in API group "resource.k8s.io" in the '
    'namespace "default"'
)


@pytest.fixture
async def driver(client: Client, client_for: ClientFor) -> Client:
    made = claim("ResourceClaim")
    del made["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"]
    await client.create(CLAIMS, made, namespace="default")
    await let(client, "claims", {"apiGroups": [CLAIMS.group], "resources": ["resourceclaims/status"], "verbs": ["*"]})
    return client_for("jane")


async def test_a_claim_is_bound_by_who_may(client: Client, driver: Client) -> None:
    status = {"status": {"allocation": ALLOCATED, "reservedFor": [WEB]}}
    with pytest.raises(ApiError) as caught:
        await driver.patch(CLAIMS, "a", status, namespace="default", subresource="status")
    assert caught.value.message == f'ResourceClaim.resource.k8s.io "a" is invalid: {UNBOUND}'
    await let(client, "binds", {"apiGroups": [CLAIMS.group], "resources": ["resourceclaims/binding"], "verbs": ["*"]})
    await driver.patch(CLAIMS, "a", status, namespace="default", subresource="status")


async def test_a_driver_tells_of_its_own_devices(client: Client, driver: Client) -> None:
    await client.patch(CLAIMS, "a", {"status": {"allocation": ALLOCATED}}, namespace="default", subresource="status")
    told = {"status": {"devices": [{**DEVICE, "data": {"ready": True}}]}}
    with pytest.raises(ApiError) as caught:
        await driver.patch(CLAIMS, "a", told, namespace="default", subresource="status")
    assert caught.value.message == f'ResourceClaim.resource.k8s.io "a" is invalid: {UNTOLD}'
    drivers = {"apiGroups": [CLAIMS.group], "resources": ["resourceclaims/driver"], "resourceNames": ["example.com"]}
    await let(client, "tells", {**drivers, "verbs": ["arbitrary-node:patch"]})
    await driver.patch(CLAIMS, "a", told, namespace="default", subresource="status")


@pytest.mark.parametrize(("node", "code"), [("node-1", 200), ("node-2", 422)])
async def test_a_driver_of_a_node_tells_of_the_devices_there(
    client: Client, driver: Client, node: str, code: int
) -> None:
    await client.patch(CLAIMS, "a", {"status": {"allocation": ALLOCATED}}, namespace="default", subresource="status")
    of = {"apiGroups": [CLAIMS.group]}
    for name, rule in (
        ("account", {**of, "resources": ["resourceclaims/status"], "verbs": ["patch"]}),
        ("local", {**of, "resources": ["resourceclaims/driver"], "verbs": ["associated-node:patch"]}),
    ):
        await let(client, name, rule, {"kind": "ServiceAccount", "namespace": "default", "name": "driver"})
    response = await client.send(
        "PATCH",
        "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/a/status",
        body={"status": {"devices": [DEVICE]}},
        headers={
            "content-type": MERGE_PATCH,
            "impersonate-user": "system:serviceaccount:default:driver",
            "impersonate-extra-authentication.kubernetes.io%2fnode-name": node,
        },
    )
    assert response.status == code


async def test_only_a_signer_says_what_came_of_a_pods_request(client: Client, client_for: ClientFor) -> None:
    group = "certificates.k8s.io"
    requests, jane = GVR(group, "v1", "podcertificaterequests"), client_for("jane")
    asked = {"apiVersion": f"{group}/v1", "kind": "PodCertificateRequest", **request()}
    await client.create(requests, asked, namespace="default")
    await let(client, "tells", {"apiGroups": [group], "resources": ["podcertificaterequests/status"], "verbs": ["*"]})
    denied = {"status": {"conditions": [condition("Denied")]}}
    with pytest.raises(ApiError) as caught:
        await jane.patch(requests, "a", denied, namespace="default", subresource="status")
    assert (caught.value.code, caught.value.message) == (
        422,
        f'PodCertificateRequest.{group} "a" is invalid: spec.signerName: Forbidden: User "jane" is not permitted to '
        '"sign" for signer "example.com/one"',
    )
    of = {"apiGroups": [group], "resourceNames": ["example.com/*"]}
    await let(client, "signs", {**of, "resources": ["signers"], "verbs": ["sign"]})
    await jane.patch(requests, "a", denied, namespace="default", subresource="status")


async def test_a_pods_certificate_is_from_now_by_the_clock_of_the_server(client: Client, world: World) -> None:
    group = "certificates.k8s.io"
    requests, asked = GVR(group, "v1", "podcertificaterequests"), request()
    asked |= {"apiVersion": f"{group}/v1", "kind": "PodCertificateRequest"}
    await client.create(requests, asked, namespace="default")
    await world.clock.sleep(300)
    with pytest.raises(ApiError) as caught:
        await client.patch(requests, "a", {"status": issued()}, namespace="default", subresource="status")
    assert caught.value.message == (
        f'PodCertificateRequest.{group} "a" is invalid: status.notBefore: Invalid value: "2026-01-01T00:00:00Z": must '
        "be set to within 5 minutes of kube-apiserver's current time"
    )
