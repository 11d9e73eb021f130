"""ResourceQuota as admission enforces it; the status is set as the controller would."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.quota import concerns, matches, usage
from engine.api.types import CONFIGMAPS, GVR, PODS, SERVICES, Object
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN, config_map, pod

QUOTAS = GVR("", "v1", "resourcequotas")
DEVICE_CLASSES = GVR("resource.k8s.io", "v1", "deviceclasses")
CLAIMS = GVR("resource.k8s.io", "v1", "resourceclaims")


async def quota(client: Client, hard: dict[str, str], used: dict[str, str] | None = None, **spec: Any) -> None:
    made = await client.create(
        QUOTAS,
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard, **spec}},
        namespace="default",
    )
    status = {"hard": hard, "used": dict.fromkeys(hard, "0") if used is None else used}
    await client.update_status(QUOTAS, {**made, "status": status})


async def used(client: Client) -> Object:
    found: Object = (await client.get(QUOTAS, "q", namespace="default"))["status"]["used"]
    return found


def asking(name: str, **requests: str) -> Object:
    return pod(name, containers=[{"name": "app", "image": "nginx", "resources": {"requests": requests}}])


async def test_what_is_made_is_booked_and_what_is_too_much_refused(client: Client, default_account: Object) -> None:
    await quota(client, {"pods": "2", "requests.cpu": "500m"})
    await client.create(PODS, asking("a", cpu="300m"), namespace="default")
    assert await used(client) == {"pods": "1", "requests.cpu": "300m"}
    with pytest.raises(ApiError) as refused:
        await client.create(PODS, asking("b", cpu="300m"), namespace="default")
    assert refused.value.code == 403
    assert refused.value.message == (
        'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=300m, used: requests.cpu=300m, limited: '
        "requests.cpu=500m"
    )
    assert await used(client) == {"pods": "1", "requests.cpu": "300m"}


async def test_a_quota_on_compute_wants_requests(client: Client, default_account: Object) -> None:
    await quota(client, {"requests.cpu": "1", "limits.memory": "1Gi"})
    with pytest.raises(ApiError, match=r"quota: q: must specify limits\.memory for: app; requests\.cpu for: app$"):
        await client.create(PODS, pod(), namespace="default")


async def test_a_quota_that_nobody_has_counted_yet_refuses(client: Client) -> None:
    await quota(client, {"configmaps": "1"}, used={})
    with pytest.raises(ApiError, match="status unknown for quota: q, resources: configmaps"):
        await client.create(CONFIGMAPS, config_map("a"), namespace="default")


async def test_a_dry_run_books_nothing(client: Client) -> None:
    await quota(client, {"configmaps": "1"})
    await client.create(CONFIGMAPS, config_map("a"), namespace="default", dry_run=True)
    assert await used(client) == {"configmaps": "0"}


async def test_many_at_once_get_no_more_than_there_is(client: Client) -> None:
    await quota(client, {"configmaps": "3"})
    made = await asyncio.gather(
        *(client.create(CONFIGMAPS, config_map(f"c{number}"), namespace="default") for number in range(8)),
        return_exceptions=True,
    )
    assert sum(isinstance(each, dict) for each in made) == 3
    assert await used(client) == {"configmaps": "3"}


async def test_an_update_is_charged_by_its_difference(client: Client) -> None:
    await quota(client, {"services.nodeports": "2", "services": "2"})
    service: Object = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"type": "ClusterIP", "ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]},
    }
    made = await client.create(SERVICES, service, namespace="default")
    assert await used(client) == {"services.nodeports": "0", "services": "1"}
    await client.update(SERVICES, {**made, "spec": {**made["spec"], "type": "NodePort"}})
    assert await used(client) == {"services.nodeports": "2", "services": "1"}
    await client.patch(SERVICES, "s", {"spec": {"type": "ClusterIP"}}, namespace="default")
    assert await used(client) == {"services.nodeports": "2", "services": "1"}  # the controller gives it back


async def test_what_is_missing_is_told_before_what_is_too_much(client: Client, default_account: Object) -> None:
    await quota(client, {"pods": "0", "requests.cpu": "1", "requests.ephemeral-storage": "1"}, used={})
    with pytest.raises(ApiError, match=r"failed quota: q: must specify requests\.cpu for: app$"):
        await client.create(PODS, pod(), namespace="default")
    for own in ({"requests": {"memory": "1"}}, {"limits": {"hugepages-2Mi": "2Mi", "cpu": "1"}}):
        with pytest.raises(ApiError, match=r"status unknown for quota: q, resources: pods,requests\.cpu,"):
            await client.create(PODS, pod(resources=own), namespace="default")


def test_a_pod_that_should_long_be_gone_takes_nothing() -> None:
    gone = asking("web", cpu="1")
    gone["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:30Z", "deletionGracePeriodSeconds": 30}
    for minute, taken in ((0, 4), (2, 1)):
        assert len(usage("pods", gone, datetime(2026, 1, 1, 0, minute, 45, tzinfo=UTC))) == taken


def resized(status: Object, *conditions: Object, **spec: Object) -> Object:
    """A Pod of one CPU, of which the status tells of a container's resources."""
    made = asking("web", cpu="1")
    return {**made, "status": {"containerStatuses": [{"name": "app", **status}], "conditions": list(conditions)}}


INFEASIBLE = {"type": "PodResizePending", "reason": "Infeasible"}
RESIZED: dict[str, tuple[Object, str]] = {
    "no news": (resized({}), "1"),
    "still larger": (resized({"resources": {"requests": {"cpu": "3"}}}), "3"),
    "given more": (resized({"resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "2"}}), "2"),
    "not smaller yet asked": (resized({"resources": {"requests": {"cpu": "500m"}}}), "1"),
    "more than there is": (resized({"resources": {"requests": {"cpu": "500m"}}}, INFEASIBLE), "500m"),
}


@pytest.mark.parametrize("case", RESIZED)
def test_what_is_being_resized_counts_with_what_it_may_still_hold(case: str) -> None:
    """The tables of component-helpers resource helpers_test.go."""
    made, cpu = RESIZED[case]
    assert str(usage("pods", made)["requests.cpu"]) == cpu


async def test_a_resize_is_called_off_within_the_quota(client: Client, default_account: Object) -> None:
    """What a Pod still holds is booked for it: it may have that again."""
    await quota(client, {"requests.cpu": "2"})
    made = await client.create(PODS, asking("web", cpu="2"), namespace="default")
    running = [{"name": "app", "image": "i", "imageID": "i", "ready": True, "restartCount": 0,
                "resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "2"}}]  # fmt: skip
    await client.update_status(PODS, {**made, "status": {**made["status"], "containerStatuses": running}})

    async def resize(cpu: str) -> None:
        patch = {"spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": cpu}}}]}}
        await client.patch(PODS, "web", patch, namespace="default", subresource="resize")

    await resize("1")
    await resize("2")
    assert await used(client) == {"requests.cpu": "2"}


def test_storage_counts_in_whole_bytes() -> None:
    claim = {"metadata": {"name": "c"}, "spec": {"resources": {"requests": {"storage": "1500m"}}}}
    assert str(usage("persistentvolumeclaims", claim)["requests.storage"]) == "2"
    claim["status"] = {"allocatedResources": {"storage": "2500m"}}
    assert str(usage("persistentvolumeclaims", claim)["requests.storage"]) == "3"


@pytest.mark.parametrize(
    ("name", "counts"),
    [("example.com/gpu", True), ("deviceclass.resource.kubernetes.io/gpu", True), ("kubernetes.io/gpu", False)],
)
def test_what_is_kubernetes_own_is_no_device(name: str, counts: bool) -> None:
    taken = usage("pods", asking("web", **{name: "1"}))
    assert (f"requests.{name}" in taken, concerns("pods", f"requests.{name}")) == (counts, counts)


ATTRIBUTES = {
    "asked for": ({"volumeAttributesClassName": "gold"}, {}),
    "had": ({"volumeAttributesClassName": "tin"}, {"currentVolumeAttributesClassName": "gold"}),
    "brought to": ({}, {"modifyVolumeStatus": {"targetVolumeAttributesClassName": "gold", "status": "Pending"}}),
}


@pytest.mark.parametrize("case", ATTRIBUTES)
def test_a_claim_counts_for_every_class_that_it_has_to_do_with(case: str) -> None:
    spec, status = ATTRIBUTES[case]
    term = {"scopeName": "VolumeAttributesClass", "operator": "In", "values": ["gold"]}
    scoped = {"scopeSelector": {"matchExpressions": [term]}}
    assert matches(scoped, "persistentvolumeclaims", {"spec": spec, "status": status})
    assert not matches(scoped, "persistentvolumeclaims", {"spec": {}})


SCOPES: dict[str, tuple[Object, Object, bool]] = {
    "best effort": ({"scopes": ["BestEffort"]}, pod(), True),
    "not best effort": ({"scopes": ["BestEffort"]}, asking("web", cpu="1"), False),
    "ends by itself": ({"scopes": ["Terminating"]}, pod(activeDeadlineSeconds=5), True),
    "does not end by itself": ({"scopes": ["Terminating"]}, pod(), False),
    "of a class": (
        {"scopeSelector": {"matchExpressions": [
            {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}]}},
        pod(priorityClassName="system-node-critical"),
        True,
    ),
    "of no class": (
        {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "Exists"}]}}, pod(), False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SCOPES)
async def test_scopes(client: Client, default_account: Object, case: str) -> None:
    spec, obj, counted = SCOPES[case]
    await quota(client, {"pods": "1"}, **spec)
    await client.create(PODS, obj, namespace="default")
    assert await used(client) == {"pods": "1" if counted else "0"}


async def test_a_pod_that_is_to_end_moves_to_the_quota_of_those_that_do(
    client: Client, default_account: Object
) -> None:
    """TestAdmitBelowTerminatingQuotaLimitWhenPodScopeUpdated."""
    await quota(client, {"pods": "1"}, scopes=["Terminating"])
    for name in ("a", "b"):
        await client.create(PODS, pod(name), namespace="default")
    assert await used(client) == {"pods": "0"}
    ending = {"spec": {"activeDeadlineSeconds": 60}}
    await client.patch(PODS, "a", {"metadata": {"labels": {"x": "y"}}}, namespace="default")
    assert await used(client) == {"pods": "0"}
    await client.patch(PODS, "a", ending, namespace="default")
    assert await used(client) == {"pods": "1"}
    await client.patch(PODS, "a", {"spec": {"activeDeadlineSeconds": 30}}, namespace="default")
    assert await used(client) == {"pods": "1"}
    with pytest.raises(ApiError, match="exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"):
        await client.patch(PODS, "b", ending, namespace="default")


def test_what_a_claim_takes() -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "2Gi"}}},
    }
    assert {name: str(amount) for name, amount in usage("persistentvolumeclaims", claim).items()} == {
        "count/persistentvolumeclaims": "1",
        "persistentvolumeclaims": "1",
        "requests.storage": "2Gi",
        "fast.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
        "fast.storageclass.storage.k8s.io/requests.storage": "2Gi",
    }


# -- devices by other names


def device_class(name: str, resource: str = "") -> Object:
    spec = {"extendedResourceName": resource} if resource else {}
    return {"metadata": {"name": name}, "spec": spec}


def claim(name: str, *requests: Object, owner: Object | None = None) -> Object:
    metadata: Object = {"name": name}
    if owner is not None:
        reference = {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": owner["metadata"]["uid"]}
        annotations = {"resource.kubernetes.io/extended-resource-claim": "true"}
        metadata |= {"annotations": annotations, "ownerReferences": [{**reference, "controller": True}]}
    named = [{"name": f"r{number}", **request} for number, request in enumerate(requests)]
    return {"metadata": metadata, "spec": {"devices": {"requests": named}}}


def exactly(name: str, count: int) -> Object:
    return {"exactly": {"deviceClassName": name, "count": count}}


GPU, IMPLICIT = "requests.example.com/gpu", "requests.deviceclass.resource.kubernetes.io/"
DEVICES = ".deviceclass.resource.k8s.io/devices"


async def test_a_claim_takes_devices_by_all_their_names(client: Client) -> None:
    """resource_claims_test.go: by the class, by the class as an extended resource, and by the resource's own name."""
    for each in (device_class("gpu", "example.com/gpu"), device_class("nic")):
        await client.create(DEVICE_CLASSES, each)
    hard = {
        GPU: "3",
        f"gpu{DEVICES}": "9",
        f"{IMPLICIT}gpu": "9",
        f"{IMPLICIT}nic": "9",
        "requests.example.com/none": "1",
    }
    await quota(client, hard)
    several = {"firstAvailable": [{"name": "a", "deviceClassName": "nic", "count": 2}]}
    await client.create(CLAIMS, claim("a", exactly("gpu", 2), several), namespace="default")
    taken = {GPU: "2", f"gpu{DEVICES}": "2", f"{IMPLICIT}gpu": "2", f"{IMPLICIT}nic": "2"}
    assert await used(client) == {**taken, "requests.example.com/none": "0"}
    with pytest.raises(
        ApiError, match=r"exceeded quota: q, requested: requests\.example\.com/gpu=2, used: .*=2, limited: "
    ):
        await client.create(CLAIMS, claim("b", exactly("gpu", 2)), namespace="default")


async def test_a_claim_for_a_pod_takes_what_the_pod_does_not(client: Client, default_account: Object) -> None:
    await client.create(DEVICE_CLASSES, device_class("gpu", "example.com/gpu"))
    await quota(client, {GPU: "9", f"gpu{DEVICES}": "9"})
    amounts = {"example.com/gpu": "2"}
    resources = {"requests": amounts, "limits": amounts}
    owner = pod(containers=[{"name": "app", "image": "nginx", "resources": resources}])
    owner = await client.create(PODS, owner, namespace="default")
    assert await used(client) == {GPU: "2", f"gpu{DEVICES}": "0"}
    await client.create(CLAIMS, claim("first", exactly("gpu", 3), owner=owner), namespace="default")
    assert await used(client) == {GPU: "3", f"gpu{DEVICES}": "3"}
    stranger = {"metadata": {"uid": "another"}}
    await client.create(CLAIMS, claim("of-nobody", exactly("gpu", 2), owner=stranger), namespace="default")
    assert await used(client) == {GPU: "5", f"gpu{DEVICES}": "5"}
    await client.create(CLAIMS, claim("second", exactly("gpu", 2), owner=owner), namespace="default")
    assert await used(client) == {GPU: "7", f"gpu{DEVICES}": "7"}


# -- many at once


async def make_all(*makers: tuple[Client, str]) -> tuple[int, set[str]]:
    """How many Pods of thirty a maker were made, and why the others were not."""
    answers = await asyncio.gather(
        *(
            each.create(PODS, pod(f"{name}{number}"), namespace="default")
            for number in range(30)
            for each, name in makers
        ),
        return_exceptions=True,
    )
    refused = [answer for answer in answers if isinstance(answer, ApiError)]
    return len(answers) - len(refused), {each.message.partition("forbidden: ")[2] for each in refused}


FULL = "exceeded quota: q, requested: pods=1, used: pods=20, limited: pods=20"


async def test_all_that_fits_is_made_however_many_come_at_once(client: Client, default_account: Object) -> None:
    await quota(client, {"pods": "20"})
    before = int((await client.get(QUOTAS, "q", namespace="default"))["metadata"]["resourceVersion"])
    assert await make_all((client, "a")) == (20, {FULL})
    assert await used(client) == {"pods": "20"}
    booked = int((await client.get(QUOTAS, "q", namespace="default"))["metadata"]["resourceVersion"])
    assert booked - before < 5  # they are booked together


async def test_two_servers_book_on_one_quota(
    client: Client, world: World, store: SqliteStore, default_account: Object
) -> None:
    other = ApiServer(world, store)
    await other.start()
    await quota(client, {"pods": "20"})
    made = await make_all((client, "a"), (Client(InProcessTransport(other, ADMIN), user_agent="test"), "b"))
    assert (made, await used(client)) == ((20, {FULL}), {"pods": "20"})
    await other.stop()


async def test_one_that_is_given_up_keeps_nobody_waiting(client: Client, default_account: Object) -> None:
    await quota(client, {"pods": "20"})
    given_up = [
        asyncio.ensure_future(client.create(PODS, pod(f"x{number}"), namespace="default")) for number in range(5)
    ]
    made = asyncio.ensure_future(make_all((client, "a")))
    await asyncio.sleep(0)
    for each in given_up:
        each.cancel()
    assert (await made)[0] == 20
