"""What becomes of the metadata that a POST brings along, whether its object is stored or not (handlers/create.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, GVR, PODS, SERVICE_ACCOUNTS, Object
from engine.client import Client
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from tests.apiserver.conftest import config_map, pod
from tests.apiserver.test_mutating_policies import applying, mutating
from tests.apiserver.test_policies import ON_CONFIG_MAPS
from tests.apiserver.test_reviews import ask, request_token
from tests.apiserver.test_subresources import bind, binding

ELSEWHERE = "the namespace of the provided object does not match the namespace sent on the request"
# What a client sends of these counts for nothing.
SYSTEM: Object = {
    "uid": "u",
    "creationTimestamp": "2020-01-01T00:00:00Z",
    "deletionTimestamp": "2020-01-01T00:00:00Z",
    "deletionGracePeriodSeconds": 5,
    "selfLink": "/x",
}
_ASKED: Object = {"verb": "list", "resource": "pods", "namespace": "default"}
_OWNED: Object = {"f:spec": {"f:resourceAttributes": {".": {}, "f:namespace": {}, "f:resource": {}, "f:verb": {}}}}


def fields(made: Object) -> Any:
    (entry,) = made["metadata"]["managedFields"]
    return entry["manager"], entry["operation"], entry.get("subresource"), entry["fieldsV1"]


async def test_a_review_has_the_metadata_of_nothing_that_is_stored(client: Client) -> None:
    review = await ask(client, "SelfSubjectAccessReview", {"resourceAttributes": _ASKED}, {**SYSTEM, "namespace": "x"})
    assert set(review["metadata"]) == {"managedFields"}


async def test_a_generation_that_the_server_does_not_count_is_what_was_posted(client: Client) -> None:
    def generated(name: str, generation: int) -> Object:
        posted = config_map(name)
        posted["metadata"] |= {"generation": generation, "finalizers": ["example.com/hold"]}
        return posted

    made = await client.create(CONFIGMAPS, generated("a", 7), namespace="default")
    assert made["metadata"]["generation"] == 7
    updated = await client.update(CONFIGMAPS, {**made, "metadata": {**made["metadata"], "generation": 9}, "data": {}})
    assert updated["metadata"]["generation"] == 7
    await client.delete(CONFIGMAPS, "a", namespace="default")
    assert (await client.get(CONFIGMAPS, "a", namespace="default"))["metadata"]["generation"] == 8
    with pytest.raises(ApiError, match="Invalid value: -1: must be greater than or equal to 0"):
        await client.create(CONFIGMAPS, generated("b", -1), namespace="default")


async def test_a_review_is_owned_by_who_asks(client: Client) -> None:
    asked = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": _ASKED},
        "status": {"allowed": False},
    }
    reviews = GVR("authorization.k8s.io", "v1", "selfsubjectaccessreviews")
    assert fields(await client.create(reviews, asked, field_manager="me")) == ("me", "Update", None, _OWNED)


async def test_a_local_review_is_in_the_namespace_of_its_path(client: Client) -> None:
    spec = {"user": "jane", "resourceAttributes": _ASKED}
    made = await ask(client, "LocalSubjectAccessReview", spec, {})
    assert made["metadata"]["namespace"] == "default"
    with pytest.raises(ApiError, match=ELSEWHERE) as caught:
        await ask(client, "LocalSubjectAccessReview", spec, {"namespace": "other"})
    assert caught.value.code == 400


async def test_what_is_posted_to_a_pod_is_in_its_namespace(client: Client, default_account: Object) -> None:
    await client.create(PODS, pod("web"), namespace="default")
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web", "namespace": "other"}}
    for posted, subresource in ((eviction, "eviction"), (binding("a", name="web", namespace="other"), "binding")):
        with pytest.raises(ApiError, match=ELSEWHERE):
            await client.create(PODS, posted, namespace="default", name="web", subresource=subresource)
    with pytest.raises(ApiError, match=ELSEWHERE):
        await request_token(client, metadata={"namespace": "other"})
    await bind(client, "web", "a", namespace="default")


async def test_a_token_is_owned_by_who_asks_for_it(client: Client, default_account: Object) -> None:
    made = await request_token(client)
    assert fields(made)[1:] == ("Update", "token", {"f:spec": {"f:expirationSeconds": {}}})


async def test_a_token_is_for_the_account_of_that_uid(client: Client, default_account: Object) -> None:
    account = await client.get(SERVICE_ACCOUNTS, "default", namespace="default")
    uid = account["metadata"]["uid"]
    assert (await request_token(client))["metadata"]["uid"] == uid
    assert (await request_token(client, metadata={"uid": uid}))["metadata"]["uid"] == uid
    with pytest.raises(ApiError) as caught:
        await request_token(client, metadata={"uid": "gone"})
    assert (caught.value.code, caught.value.message) == (
        409,
        'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "default": the UID in the token request '
        f"(gone) does not match the UID of the service account ({uid})",
    )


async def test_a_token_was_once_for_whatever_uid(virtual_clock: VirtualClock) -> None:
    config = ClusterConfig(seed=1, kubernetes_version="1.33", components=frozenset())
    async with Cluster(config, clock=virtual_clock) as cluster:
        client = cluster.client(user_agent="kubectl/v1.33.1")
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
        await client.create(SERVICE_ACCOUNTS, account, namespace="default")
        made = await request_token(client, "robot", metadata={"uid": "gone"})
        assert "uid" not in made["metadata"]


async def test_admission_does_not_see_what_only_the_server_says(client: Client) -> None:
    said = "(has(object.metadata.uid) ? 'uid' : '') + (has(object.metadata.creationTimestamp) ? 'time' : '')"
    noted = f"Object{{metadata: Object.metadata{{annotations: {{'seen': {said}}}}}}}"
    await mutating(client, applying(noted), matchConstraints=ON_CONFIG_MAPS)
    sent = config_map("a")
    sent["metadata"].update(SYSTEM)
    made = await client.create(CONFIGMAPS, sent, namespace="default")
    assert made["metadata"]["annotations"] == {"seen": ""}
