"""Claims that are made for Pods, and what becomes of claims whose Pods are over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.api.types import EVENTS, GVR, PODS, Object
from engine.config import ClusterConfig
from engine.controllers.resourceclaim import CLAIMS, FINALIZER, TEMPLATES, ResourceClaimController
from engine.world import World
from tests.controllers.cluster import TestCluster, running

REQUEST = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
SPEC = {"devices": {"requests": [REQUEST]}}
DEVICE = {"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "a"}


def template(name: str = "gpus") -> Object:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": {"metadata": {"labels": {"of": "template"}}, "spec": SPEC},
    }


def pod(name: str = "p", **entry: str) -> Object:
    claims = [{"name": "gpu", **(entry or {"resourceClaimTemplateName": "gpus"})}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}], "resourceClaims": claims},
    }


@pytest.fixture
async def cluster(world: World) -> AsyncIterator[TestCluster]:
    async with running(world) as made:
        await made.eventually_service_account("default")
        yield made


async def made(cluster: TestCluster, name: str = "p") -> str:
    """The name of the claim that stands in the Pod's status."""

    async def named() -> Any:
        statuses = (await cluster.admin.get(PODS, name, namespace="default"))["status"].get("resourceClaimStatuses")
        return statuses[0]["resourceClaimName"] if statuses else None

    return str(await cluster.eventually("a claim is made", named))


async def allocated(cluster: TestCluster, name: str, *pods: Object) -> Object:
    """What the scheduler does: the claim is allocated to Pods."""
    claim = await cluster.admin.get(CLAIMS, name, namespace="default")
    claim = {**claim, "metadata": {**claim["metadata"], "finalizers": [FINALIZER]}}
    claim = await cluster.admin.update(CLAIMS, claim)
    users = [{"resource": "pods", "name": p["metadata"]["name"], "uid": p["metadata"]["uid"]} for p in pods]
    status = {"allocation": {"devices": {"results": [DEVICE]}}, "reservedFor": users}
    return await cluster.admin.update_status(CLAIMS, {**claim, "status": status})


async def test_a_claim_is_made_from_a_template_and_goes_with_its_pod(cluster: TestCluster) -> None:
    await cluster.admin.create(TEMPLATES, template(), namespace="default")
    written = await cluster.admin.create(PODS, pod(), namespace="default")
    name = await made(cluster)
    claim = await cluster.admin.get(CLAIMS, name, namespace="default")
    assert name.startswith("p-gpu-")
    metadata = claim["metadata"]
    assert metadata["annotations"] == {"resource.kubernetes.io/pod-claim-name": "gpu"}
    assert metadata["labels"] == {"of": "template"}
    assert [(o["kind"], o["uid"], o["controller"]) for o in metadata["ownerReferences"]] == [
        ("Pod", written["metadata"]["uid"], True)
    ]
    assert claim["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == "gpu"
    assert len(await cluster.objects(CLAIMS)) == 1
    await allocated(cluster, name, written)
    await cluster.admin.delete(PODS, "p", namespace="default", grace_period_seconds=0)
    await cluster.eventually("the claim is gone", lambda: gone(cluster, name))


async def gone(cluster: TestCluster, name: str) -> bool:
    return await cluster.find(CLAIMS, name) is None


async def test_a_missing_template_is_told_and_waited_for(cluster: TestCluster) -> None:
    await cluster.admin.create(PODS, pod(), namespace="default")

    async def told() -> list[str]:
        return [e["message"] for e in await cluster.objects(EVENTS) if e["reason"] == "FailedResourceClaimCreation"]

    assert await cluster.eventually("an event", told) == [
        'PodResourceClaim gpu: resource claim template "gpus": resourceclaimtemplate.resource.k8s.io "gpus" not found'
    ]
    await cluster.admin.create(TEMPLATES, template(), namespace="default")
    assert (await made(cluster)).startswith("p-gpu-")


async def test_a_claim_that_is_refused_is_told(cluster: TestCluster) -> None:
    quota = {"metadata": {"name": "none"}, "spec": {"hard": {"count/resourceclaims.resource.k8s.io": "0"}}}
    await cluster.admin.create(GVR("", "v1", "resourcequotas"), quota, namespace="default")
    await cluster.admin.create(TEMPLATES, template(), namespace="default")
    await cluster.admin.create(PODS, pod(), namespace="default")

    async def told() -> list[str]:
        return [e["message"] for e in await cluster.objects(EVENTS) if e["reason"] == "FailedResourceClaimCreation"]

    message, *_ = await cluster.eventually("an event", told)
    assert message.startswith('PodResourceClaim gpu: create ResourceClaim : resourceclaims.resource.k8s.io "p-gpu-')


async def test_of_long_names_a_share_of_each_is_kept(cluster: TestCluster) -> None:
    await cluster.admin.create(TEMPLATES, template(), namespace="default")
    await cluster.admin.create(PODS, pod("p" * 60), namespace="default")
    name = await made(cluster, "p" * 60)
    assert (name[:55], len(name)) == ("p" * 52 + "-gp", 60)


async def test_the_claim_behind_extended_resources_is_freed_when_its_pod_is_over(cluster: TestCluster) -> None:
    asking = pod()
    del asking["spec"]["resourceClaims"]
    asking["spec"]["containers"][0]["resources"] = {"limits": {"example.com/gpu": "1"}}
    owner = await cluster.admin.create(PODS, asking, namespace="default")
    name, metadata = "p-extended-resources-x", owner["metadata"]
    by = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": metadata["uid"], "controller": True}
    claim = {"metadata": {"name": name, "ownerReferences": [by]}, "spec": SPEC}
    await cluster.admin.create(CLAIMS, claim, namespace="default")
    await allocated(cluster, name, owner)
    mapping = {"containerName": "c", "resourceName": "example.com/gpu", "requestName": "r"}
    behind = {"resourceClaimName": name, "requestMappings": [mapping]}
    for status in ({"phase": "Running", "extendedResourceClaimStatus": behind}, {"phase": "Succeeded"}):
        assert not await gone(cluster, name)
        await cluster.admin.patch(PODS, "p", {"status": status}, namespace="default", subresource="status")
    await cluster.eventually("the claim is gone", lambda: gone(cluster, name))


async def test_a_claim_is_freed_when_the_last_of_its_pods_is_over(cluster: TestCluster) -> None:
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "shared"}, "spec": SPEC}
    await cluster.admin.create(CLAIMS, claim, namespace="default")
    pods = [
        await cluster.admin.create(PODS, pod(name, resourceClaimName="shared"), namespace="default")
        for name in ("one", "two")
    ]
    await allocated(cluster, "shared", *pods)

    async def users() -> list[str]:
        status = (await cluster.admin.get(CLAIMS, "shared", namespace="default")).get("status") or {}
        return [user["name"] for user in status.get("reservedFor") or ()]

    async def finish(number: int) -> None:
        over = {**pods[number], "status": {"phase": "Succeeded"}}
        over["metadata"] = {k: v for k, v in over["metadata"].items() if k != "resourceVersion"}
        await cluster.admin.update_status(PODS, over)

    await finish(0)

    async def one_left() -> bool:
        return await users() == ["two"]

    await cluster.eventually("one Pod is left", one_left)
    assert "allocation" in (await cluster.admin.get(CLAIMS, "shared", namespace="default"))["status"]
    await finish(1)

    async def freed() -> Object | None:
        found = await cluster.admin.get(CLAIMS, "shared", namespace="default")
        return found if not (found.get("status") or {}).get("allocation") else None

    found = await cluster.eventually("the devices are free", freed)
    await cluster.eventually("nothing protects it", lambda: unprotected(cluster))
    assert not (found.get("status") or {}).get("reservedFor")


async def unprotected(cluster: TestCluster) -> bool:
    return not (await cluster.admin.get(CLAIMS, "shared", namespace="default"))["metadata"].get("finalizers")


async def test_an_allocated_claim_that_nobody_uses_can_be_deleted(cluster: TestCluster) -> None:
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "free"}, "spec": SPEC}
    await cluster.admin.create(CLAIMS, claim, namespace="default")
    await allocated(cluster, "free")
    await cluster.admin.delete(CLAIMS, "free", namespace="default")
    await cluster.eventually("it is gone", lambda: gone(cluster, "free"))


def test_releases_without_the_api_have_no_such_controller() -> None:
    needed = {v: ResourceClaimController.is_needed(ClusterConfig(kubernetes_version=v)) for v in ("1.33", "1.34", "")}
    assert needed == {"1.33": False, "1.34": True, "": True}
