"""The claims of a StatefulSet's Pods: whose they are (after stateful_set_utils_test.go), and what is told of them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.persistent_volumes import CLAIMS
from engine.api.types import GVR, NAMESPACES, PODS, SERVICE_ACCOUNTS, Object
from engine.client import Client
from engine.controllers.statefulset import StatefulSetController
from engine.controllers.statefulset.controller import STATEFUL_SETS
from engine.controllers.statefulset.identity import claims
from engine.controllers.statefulset.retention import claim_owners, is_stale
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running
from tests.controllers.test_statefulset import running_pod, settled, stateful_set

CLAIM: Object = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
RETAIN = {"whenDeleted": "Retain", "whenScaled": "Retain"}
WITH_SET = {"whenDeleted": "Delete", "whenScaled": "Retain"}
WITH_POD = {"whenDeleted": "Retain", "whenScaled": "Delete"}
WITH_BOTH = {"whenDeleted": "Delete", "whenScaled": "Delete"}


def reference(kind: str, name: str, uid: str, controller: bool = True) -> Object:
    version = "apps/v1" if kind == "StatefulSet" else "v1"
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": controller}


SET = reference("StatefulSet", "db", "set-uid")
EARLIER_SET = reference("StatefulSet", "db", "another")
OTHER = reference("Backup", "b", "other")
GUEST = reference("Backup", "b", "other", controller=False)


def pod_of(ordinal: int) -> Object:
    return reference("Pod", f"db-{ordinal}", f"pod-{ordinal}")


# By policy and ordinal of the Pod: the references before, and after; None where they are as they should be.
OWNERS: dict[str, tuple[Object | None, int, list[Object], list[Object] | None]] = {
    "kept": (None, 0, [], None),
    "kept, and it was not before": (RETAIN, 0, [SET], []),
    "kept, of a Pod that goes": (RETAIN, 7, [pod_of(7)], []),
    "kept, with whoever has it": (RETAIN, 0, [OTHER], None),
    "with the set": (WITH_SET, 0, [], [SET]),
    "with the set, and it does": (WITH_SET, 0, [SET], None),
    "with the set, though the Pod goes": (WITH_SET, 7, [pod_of(7)], [SET]),
    "with the set, beside others": (WITH_SET, 0, [GUEST], [GUEST, SET]),
    "with the set, as its controller": (WITH_SET, 0, [{**SET, "controller": False}], [SET]),
    "with a Pod that stays": (WITH_POD, 0, [], None),
    "with a Pod that stays after all": (WITH_POD, 0, [pod_of(0)], []),
    "with a Pod that goes": (WITH_POD, 7, [], [pod_of(7)]),
    "with a Pod that goes, no longer with the set": (WITH_POD, 7, [SET], [pod_of(7)]),
    "with both, the Pod stays": (WITH_BOTH, 0, [], [SET]),
    "with both, the Pod goes": (WITH_BOTH, 7, [SET], [pod_of(7)]),
    "somebody else's": (WITH_BOTH, 0, [OTHER], None),
    "somebody else's as well": (WITH_SET, 0, [SET, OTHER], [OTHER]),
    "of an earlier set": (WITH_SET, 0, [EARLIER_SET], None),
    "of an earlier Pod": (WITH_BOTH, 7, [reference("Pod", "db-7", "another")], None),
    "of an earlier Pod, and kept": (RETAIN, 0, [reference("Pod", "db-0", "another")], None),
}


@pytest.mark.parametrize("case", OWNERS)
def test_who_owns_a_claim(case: str) -> None:
    policy, ordinal, before, after = OWNERS[case]
    set_ = stateful_set(volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy)
    pod = running_pod(set_, ordinal)
    claim = claims(set_, pod)[0]
    claim["metadata"]["ownerReferences"] = before
    found = claim_owners(set_, pod, claim)
    assert (None if found is None else [(each["uid"], each["controller"]) for each in found]) == (
        None if after is None else [(each["uid"], each["controller"]) for each in after]
    )


@pytest.mark.parametrize(
    ("policy", "owner", "stale"),
    [
        pytest.param(WITH_POD, reference("Pod", "db-0", "another"), True, id="of an earlier Pod"),
        pytest.param(WITH_SET, reference("Pod", "db-0", "another"), False, id="they are kept when it is scaled"),
        pytest.param(WITH_POD, reference("Pod", "db-1", "another"), False, id="of another Pod"),
        pytest.param(WITH_POD, SET, False, id="of the set"),
    ],
)
def test_claims_of_earlier_pods_are_not_taken_up(policy: Object, owner: Object, stale: bool) -> None:
    set_ = stateful_set(volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy)
    pod = running_pod(set_, 0, uid="")
    claim = claims(set_, pod)[0]
    claim["metadata"]["ownerReferences"] = [owner]
    assert is_stale(set_, pod, claim) is stale


def set_with_claims(name: str = "db", replicas: int = 1, storage: str = "2Gi", **spec: Any) -> Object:
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    made = stateful_set(replicas, volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": asked}], **spec)
    made["metadata"] = {"name": name}
    return made


async def namespace(admin: Client, name: str) -> None:
    await admin.create(NAMESPACES, {"metadata": {"name": name}})
    await admin.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace=name)


async def said(cluster: TestCluster, namespace: str, reason: str) -> list[str]:
    events = await cluster.objects(GVR("", "v1", "events"), namespace=namespace)
    return sorted(event["message"] for event in events if event["reason"] == reason)


async def test_what_is_told_of_claims_that_are_not_to_be_had(world: World) -> None:
    async def given(admin: Client) -> None:
        for name in ("limited", "leaving", "full"):
            await namespace(admin, name)
        limit = {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}
        limits = {"metadata": {"name": "small"}, "spec": {"limits": [limit]}}
        await admin.create(GVR("", "v1", "limitranges"), limits, namespace="limited")
        await admin.create(STATEFUL_SETS, set_with_claims(), namespace="limited")
        leaving = {**set_with_claims()["spec"]["volumeClaimTemplates"][0], "metadata": {"name": "data-db-0"}}
        leaving["metadata"]["finalizers"] = ["example.com/hold"]
        await admin.create(CLAIMS, leaving, namespace="leaving")
        await admin.delete(CLAIMS, "data-db-0", namespace="leaving")
        await admin.create(STATEFUL_SETS, set_with_claims(), namespace="leaving")
        quota = {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}, "status": {"hard": {"pods": "0"}}}
        await admin.create(GVR("", "v1", "resourcequotas"), quota, namespace="full")
        used = {"status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}}
        await admin.patch(GVR("", "v1", "resourcequotas"), "none", used, namespace="full", subresource="status")
        many = {**stateful_set(4, podManagementPolicy="Parallel"), "metadata": {"name": "db"}}
        await admin.create(STATEFUL_SETS, many, namespace="full")

    async with running(world, controllers=(StatefulSetController,), given=given) as cluster:
        await world.clock.sleep(1)
        claim, pod = await said(cluster, "limited", "FailedCreate")
        of = "in StatefulSet db failed error:"
        refused = (
            'persistentvolumeclaims "data-db-0" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi'
        )
        assert claim.startswith(f"create Claim data-db-0 for Pod db-0 {of} {refused}")
        assert pod.startswith(f"create Pod db-0 {of} failed to create PVC data-db-0: {refused}")
        assert await said(cluster, "leaving", "FailedCreate") == [
            f"create Pod db-0 {of} pvc data-db-0 is being deleted"
        ]
        told = await said(cluster, "full", "FailedCreate")
        assert {each.partition(" in ")[0] for each in told} == {"create Pod db-0"}, "a first one, and no other after it"


async def test_a_changed_policy_is_told_of_as_a_change_of_the_pods(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(STATEFUL_SETS, set_with_claims(replicas=2), namespace="default")
        await settled(cluster, 2)
        policy = {"spec": {"persistentVolumeClaimRetentionPolicy": WITH_SET}}
        await cluster.admin.patch(STATEFUL_SETS, "db", policy, namespace="default")

        async def owned() -> bool:
            found = await cluster.objects(CLAIMS, namespace="default")
            return all(each["metadata"].get("ownerReferences") for each in found)

        await cluster.eventually("the claims go with the set", owned)
        told = [f"update Pod db-{ordinal} in StatefulSet db successful" for ordinal in (0, 1)]
        assert sorted(await cluster.events("SuccessfulUpdate")) == told


async def test_an_index_that_was_taken_off_is_not_put_back(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        made = {**stateful_set(1), "metadata": {"name": "db"}}
        await cluster.admin.create(STATEFUL_SETS, made, namespace="default")
        await settled(cluster, 1)
        labels = {"apps.kubernetes.io/pod-index": None, "statefulset.kubernetes.io/pod-name": None}
        await cluster.admin.patch(PODS, "db-0", {"metadata": {"labels": labels}}, namespace="default")

        async def labelled() -> Object | None:
            found = (await cluster.admin.get(PODS, "db-0", namespace="default"))["metadata"]["labels"]
            return found if "statefulset.kubernetes.io/pod-name" in found else None

        assert await cluster.eventually("the name comes back", labelled)
        taken = {"metadata": {"labels": {"apps.kubernetes.io/pod-index": None}}}
        await cluster.admin.patch(PODS, "db-0", taken, namespace="default")
        await world.clock.sleep(5)
        found = (await cluster.admin.get(PODS, "db-0", namespace="default"))["metadata"]["labels"]
        assert "apps.kubernetes.io/pod-index" not in found
