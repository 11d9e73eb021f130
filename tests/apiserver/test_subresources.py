from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.types import DEPLOYMENTS, GVR, PODS, SERVICE_ACCOUNTS, Object
from engine.api.wire import MERGE_PATCH, Request
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.clock import VirtualClock
from tests.apiserver.conftest import pod
from tests.apiserver.test_admission_plugins import REQUESTS, signing_request
from tests.apiserver.test_create import deployment

BUDGETS = GVR("policy", "v1", "poddisruptionbudgets")
WHO = GVR("authentication.k8s.io", "v1", "tokenreviews")


def binding(node: str, **metadata: object) -> Object:
    return {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": {"kind": "Node", "name": node}}


async def bind(client: Client, name: str, node: str, **metadata: object) -> Object:
    sent = binding(node, **{"name": name, **metadata})
    return await client.create(PODS, sent, namespace="default", name=name, subresource="binding")


@pytest.mark.parametrize(
    ("path", "resource"),
    [
        ("/api/v1/namespaces/default/replicationcontrollers", "replicationcontrollers/scale.autoscaling"),
        ("/apis/apps/v1/namespaces/default/deployments", "deployments/scale.apps"),
        ("/apis/apps/v1/namespaces/default/replicasets", "replicasets/scale.apps"),
        ("/apis/apps/v1/namespaces/default/statefulsets", "statefulsets.apps"),
    ],
)
async def test_a_scale_of_nothing_is_told_by_the_name_of_the_subresource(
    client: Client, path: str, resource: str
) -> None:
    read = await client.send("GET", f"{path}/none/scale")
    assert (read.status, read.body["message"]) == (404, f'{resource} "none" not found')
    patched = await client.send("PATCH", f"{path}/none/scale", body={"spec": {}}, headers={"content-type": MERGE_PATCH})
    assert patched.body["message"] == f'{resource.replace("/scale", "").removesuffix(".autoscaling")} "none" not found'


async def test_a_scale_is_a_view_of_the_object(client: Client) -> None:
    made = await client.create(DEPLOYMENTS, deployment(replicas=3), namespace="default")
    scale = await client.get(DEPLOYMENTS, "web", namespace="default", subresource="scale")
    assert (scale["kind"], scale["spec"], scale["status"]) == (
        "Scale",
        {"replicas": 3},
        {"replicas": 0, "selector": "app=web"},
    )
    assert scale["metadata"]["uid"] == made["metadata"]["uid"]
    changed = await client.update(DEPLOYMENTS, {**scale, "spec": {"replicas": 5}}, subresource="scale")
    assert changed["spec"] == {"replicas": 5}
    patched = await client.patch(
        DEPLOYMENTS,
        "web",
        {"spec": {"replicas": 7}},
        namespace="default",
        subresource="scale",
        content_type=MERGE_PATCH,
    )
    assert (patched["kind"], patched["spec"]) == ("Scale", {"replicas": 7})
    after = await client.get(DEPLOYMENTS, "web", namespace="default")
    assert (after["spec"]["replicas"], after["metadata"]["generation"]) == (7, 3)
    with pytest.raises(ApiError, match="the object has been modified"):
        await client.update(DEPLOYMENTS, scale, subresource="scale")


async def test_a_binding_puts_a_pod_on_a_node_once(client: Client, default_account: Object) -> None:
    await client.create(PODS, pod(), namespace="default")
    answer = await bind(client, "web", "node-1", annotations={"why": "because"})
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    bound = await client.get(PODS, "web", namespace="default")
    assert bound["spec"]["nodeName"] == "node-1"
    assert bound["metadata"]["annotations"] == {"why": "because"}
    [condition] = [c for c in bound["status"]["conditions"] if c["type"] == "PodScheduled"]
    assert condition["status"] == "True"
    with pytest.raises(ApiError) as caught:
        await bind(client, "web", "node-2")
    assert (caught.value.code, caught.value.message) == (
        409,
        'Operation cannot be fulfilled on pods/binding "web": pod web is already assigned to node "node-1"',
    )


async def test_a_binding_needs_a_target(client: Client, default_account: Object) -> None:
    await client.create(PODS, pod(), namespace="default")
    with pytest.raises(ApiError) as caught:
        await bind(client, "web", "")
    assert (caught.value.code, caught.value.reason, caught.value.message) == (500, "", "target.name: Required value")
    with pytest.raises(ApiError, match='pods "gone" not found'):
        await bind(client, "gone", "node-1")


@pytest.mark.parametrize("name", ["Node-1", "a/b", ".."])
async def test_a_pod_is_bound_to_nothing_that_cannot_be_a_node(
    client: Client, default_account: Object, name: str
) -> None:
    await client.create(PODS, pod(), namespace="default")
    with pytest.raises(ApiError, match="a lowercase RFC 1123 subdomain must consist of") as caught:
        await bind(client, "web", name)
    assert caught.value.message.startswith(f'target.name: Invalid value: "{name}": ')
    assert "nodeName" not in (await client.get(PODS, "web", namespace="default"))["spec"]


@pytest.mark.parametrize("name", ["", "other"])
async def test_a_binding_is_of_the_pod_that_it_names(client: Client, default_account: Object, name: str) -> None:
    await client.create(PODS, pod(), namespace="default")
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, binding("node-1", name=name), namespace="default", name="web", subresource="binding")
    assert (caught.value.code, caught.value.reason, caught.value.message) == (
        400,
        "BadRequest",
        "name in URL does not match name in Binding object",
    )


async def running_pod(client: Client, name: str) -> None:
    sent = pod(name, nodeName="node-1")
    sent["metadata"]["labels"] = {"app": "web"}
    await client.create(PODS, sent, namespace="default")
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    await client.patch(PODS, name, {"status": ready}, namespace="default", subresource="status")


async def evict(client: Client, name: str) -> Object:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    return await client.create(PODS, eviction, namespace="default", name=name, subresource="eviction")


async def test_a_budget_forbids_an_eviction(client: Client, default_account: Object) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    await client.create(BUDGETS, budget, namespace="default")
    await running_pod(client, "a")
    await running_pod(client, "b")
    status = {"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}
    await client.patch(
        BUDGETS,
        "web",
        {"status": {**status, "observedGeneration": 1}},
        namespace="default",
        subresource="status",
        content_type=MERGE_PATCH,
    )
    assert (await evict(client, "a"))["status"] == "Success"
    assert (await client.get(PODS, "a", namespace="default"))["metadata"]["deletionTimestamp"]
    booked = await client.get(BUDGETS, "web", namespace="default")
    assert (booked["status"]["disruptionsAllowed"], list(booked["status"]["disruptedPods"])) == (0, ["a"])
    with pytest.raises(ApiError) as caught:
        await evict(client, "b")
    assert (caught.value.code, caught.value.reason) == (429, "TooManyRequests")
    assert caught.value.message == "Cannot evict pod as it would violate the pod's disruption budget."
    assert caught.value.details is not None
    assert caught.value.details["causes"][0]["message"] == (
        "The disruption budget web needs 1 healthy pods and has 2 currently"
    )


async def token(client: Client, **spec: object) -> str:
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    made = await client.create(SERVICE_ACCOUNTS, request, namespace="default", name="default", subresource="token")
    return str(made["status"]["token"])


async def whoami(server: ApiServer, bearer: str) -> Object:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    response = await server.handle(Request("POST", path, headers={"authorization": f"Bearer {bearer}"}, body=review))
    return {"status": response.status, "user": response.body["status"]["userInfo"] if response.status == 201 else None}


async def test_a_token_is_its_account_until_it_ends(
    server: ApiServer, client: Client, default_account: Object, virtual_clock: VirtualClock
) -> None:
    bearer = await token(client, expirationSeconds=600)
    user = (await whoami(server, bearer))["user"]
    assert user["username"] == "system:serviceaccount:default:default"
    assert user["uid"] == default_account["metadata"]["uid"]
    assert "system:serviceaccounts:default" in user["groups"]
    await virtual_clock.sleep(661)  # clocks may differ by a minute
    assert (await whoami(server, bearer))["status"] == 401


async def test_a_token_ends_with_what_it_is_bound_to(
    server: ApiServer, client: Client, default_account: Object
) -> None:
    await client.create(PODS, pod(), namespace="default")
    bearer = await token(client, boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "web"})
    user = (await whoami(server, bearer))["user"]
    assert user["extra"]["authentication.kubernetes.io/pod-name"] == ["web"]
    await client.delete(PODS, "web", namespace="default")
    assert (await whoami(server, bearer))["status"] == 401


async def test_a_token_review_says_whose_a_token_is(client: Client, default_account: Object) -> None:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": await token(client)}}
    answer = await client.create(WHO, review)
    assert answer["status"]["authenticated"] is True
    assert answer["status"]["user"]["username"] == "system:serviceaccount:default:default"
    bad = await client.create(WHO, {**review, "spec": {"token": "x"}})
    assert "authenticated" not in bad["status"]


async def test_a_token_must_live_ten_minutes(client: Client, default_account: Object) -> None:
    with pytest.raises(ApiError, match="may not specify a duration less than 10 minutes"):
        await token(client, expirationSeconds=60)


async def test_what_only_a_node_can_answer(client: Client, default_account: Object) -> None:
    await client.create(PODS, pod(), namespace="default")
    response = await client.send("GET", "/api/v1/namespaces/default/pods/gone/log")
    assert (response.status, response.body["message"]) == (404, 'pods "gone" not found')


async def test_a_subresource_that_there_is_not(client: Client) -> None:
    response = await client.send("GET", "/api/v1/namespaces/default/pods/web/nothing")
    assert response.status == 404


async def test_a_binding_is_for_the_pod_that_it_names(client: Client, default_account: Object) -> None:
    made = await client.create(PODS, pod(), namespace="default")
    uid, version = made["metadata"]["uid"], made["metadata"]["resourceVersion"]
    head = (
        'Operation cannot be fulfilled on pods "web": StorageError: invalid object, Code: 4, '
        "Key: /registry/pods/default/web, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
    )
    with pytest.raises(ApiError) as caught:
        await bind(client, "web", "node-1", uid="another")
    assert caught.value.message == f"{head}UID in precondition: another, UID in object meta: {uid}"
    with pytest.raises(ApiError) as caught:
        await bind(client, "web", "node-1", resourceVersion="1")
    assert caught.value.message == (
        f"{head}ResourceVersion in precondition: 1, ResourceVersion in object meta: {version}"
    )


async def test_what_is_approved_has_metadata_that_any_object_may_have(client: Client) -> None:
    made = await client.create(REQUESTS, signing_request("example.com/one"))
    made["metadata"]["finalizers"] = ["not one"]
    with pytest.raises(ApiError) as caught:
        await client.update(REQUESTS, made, subresource="approval")
    assert caught.value.code == 422
    assert caught.value.message.startswith(
        'CertificateSigningRequest.certificates.k8s.io "jane" is invalid: metadata.finalizers: Invalid value: "not one"'
    )
