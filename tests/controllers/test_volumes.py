"""Claims and volumes: bound, provisioned, protected, released, grown."""

from __future__ import annotations

from typing import Any

from engine.api.persistent_volumes import CLAIMS, SELECTED_NODE, STORAGE_CLASSES, VOLUMES
from engine.api.types import EVENTS, PODS, Object
from engine.controllers.persistentvolume.objects import ATTRIBUTES_CLASSES
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running


def claim(name: str = "data", storage_class: str | None = "", size: str = "1Gi") -> Object:
    spec: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def volume(name: str, size: str = "1Gi", **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
            "hostPath": {"path": "/data"},
            **spec,
        },
    }


def storage_class(name: str = "fast", **fields: Any) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "ktui.io/simulated",
        **fields,
    }


async def make_claim(cluster: TestCluster, obj: Object) -> None:
    await cluster.admin.create(CLAIMS, obj, namespace="default")


async def in_phase(cluster: TestCluster, phase: str, name: str = "data") -> Object:
    async def reached() -> Object | None:
        found = await cluster.find(CLAIMS, name)
        return found if found is not None and found["status"]["phase"] == phase else None

    found: Object = await cluster.eventually(f"{name} is {phase}", reached)
    return found


async def volume_in_phase(cluster: TestCluster, phase: str, name: str) -> Object:
    async def reached() -> Object | None:
        found = await cluster.find(VOLUMES, name, None)
        return found if found is not None and (found.get("status") or {}).get("phase") == phase else None

    found: Object = await cluster.eventually(f"{name} is {phase}", reached)
    return found


async def test_a_claim_gets_the_smallest_volume_that_fits_and_leaves_it_behind(world: World) -> None:
    async with running(world) as cluster:
        for name, size in (("small", "500Mi"), ("large", "5Gi"), ("right", "2Gi")):
            await cluster.admin.create(VOLUMES, volume(name, size))
            await volume_in_phase(cluster, "Available", name)
        await make_claim(cluster, claim())
        bound = await in_phase(cluster, "Bound")
        assert bound["spec"]["volumeName"] == "right"
        assert bound["status"]["capacity"] == {"storage": "2Gi"}
        assert bound["status"]["accessModes"] == ["ReadWriteOnce", "ReadOnlyMany"]
        assert bound["metadata"]["annotations"] == {
            "pv.kubernetes.io/bind-completed": "yes",
            "pv.kubernetes.io/bound-by-controller": "yes",
        }
        assert (await volume_in_phase(cluster, "Bound", "right"))["spec"]["claimRef"]["uid"] == bound["metadata"]["uid"]
        await cluster.admin.delete(CLAIMS, "data", namespace="default")
        await cluster.gone(CLAIMS, "data")
        await volume_in_phase(cluster, "Released", "right")


async def test_an_annotation_that_says_no_class_counts_before_the_field(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(STORAGE_CLASSES, storage_class())
        await cluster.admin.create(VOLUMES, volume("plain"))
        await volume_in_phase(cluster, "Available", "plain")
        wanted = claim(storage_class="fast")
        wanted["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": ""}
        await make_claim(cluster, wanted)
        assert (await in_phase(cluster, "Bound"))["spec"]["volumeName"] == "plain"


async def test_a_claim_that_nothing_fits_waits_and_says_so(world: World) -> None:
    async with running(world) as cluster:
        await make_claim(cluster, claim())

        async def told() -> list[str]:
            return await cluster.events("FailedBinding")

        assert await cluster.eventually("the event", told) == [
            "no persistent volumes available for this claim and no storage class is set"
        ]
        await cluster.admin.create(VOLUMES, volume("late"))
        assert (await in_phase(cluster, "Bound"))["spec"]["volumeName"] == "late"


async def test_a_volume_that_is_named_must_fit(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(VOLUMES, volume("small", "1Mi"))
        named = claim()
        named["spec"]["volumeName"] = "small"
        await make_claim(cluster, named)

        async def told() -> list[str]:
            return await cluster.events("VolumeMismatch")

        said = await cluster.eventually("the event", told)
        assert said == ['Cannot bind to requested volume "small": requested PV is too small']


async def test_a_class_provisions_and_deletes(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(STORAGE_CLASSES, storage_class())
        await make_claim(cluster, claim(storage_class="fast"))
        bound = await in_phase(cluster, "Bound")
        name = f"pvc-{bound['metadata']['uid']}"
        made = await volume_in_phase(cluster, "Bound", name)
        assert bound["spec"]["volumeName"] == name
        assert made["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"] == "ktui.io/simulated"
        assert made["metadata"]["labels"] == {"ktui.io/simulated": "true"}
        assert await cluster.events("ProvisioningSucceeded") == [f"Successfully provisioned volume {name}"]
        await cluster.admin.delete(CLAIMS, "data", namespace="default")
        await cluster.gone(VOLUMES, name, None)


async def test_a_claim_that_waits_does_not_tell_of_it_for_volumes_that_cannot_serve_it(world: World) -> None:
    async with running(world) as cluster:
        await make_claim(cluster, claim(storage_class="manual"))
        for number in range(30):
            spec: Object = {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/a"},
            }
            volume = {"metadata": {"name": f"v{number}"}, "spec": {**spec, "storageClassName": "other"}}
            await cluster.admin.create(VOLUMES, volume)
        await world.clock.sleep(5)
        told = [each for each in await cluster.objects(EVENTS) if each["involvedObject"]["name"] == "data"]
        assert [each["count"] for each in told] == [1]
        spec = {**spec, "storageClassName": "manual"}
        await cluster.admin.create(VOLUMES, {"metadata": {"name": "fits"}, "spec": spec})
        assert (await in_phase(cluster, "Bound"))["spec"]["volumeName"] == "fits"


async def test_a_recycled_volume_is_emptied_by_a_pod_and_free_again(world: World) -> None:
    async with running(world) as cluster:

        async def recycler() -> Object | None:
            return await cluster.find(PODS, "recycler-for-old")

        async def told_of_recycler(phase: str) -> bool:
            return f"Recycler pod: {phase}" in await cluster.events("RecyclerPod")

        async def given_back(phase: str) -> None:
            await make_claim(cluster, claim(storage_class="manual"))
            await in_phase(cluster, "Bound")
            await cluster.admin.delete(CLAIMS, "data", namespace="default")
            await cluster.eventually("the recycler", recycler)
            assert (await volume_in_phase(cluster, "Released", "old"))["spec"]["claimRef"]["name"] == "data"
            told: Object = {"metadata": {"generateName": "e-"}, "type": "Warning", "reason": "Any", "message": phase}
            told["involvedObject"] = {"kind": "Pod", "name": "recycler-for-old", "namespace": "default"}
            await cluster.admin.create(EVENTS, told, namespace="default")
            await cluster.eventually("what is told", lambda: told_of_recycler(phase))
            status = {"status": {"phase": phase}}
            await cluster.admin.patch(PODS, "recycler-for-old", status, namespace="default", subresource="status")

        spec: Object = {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "manual"}
        spec |= {"hostPath": {"path": "/data"}, "persistentVolumeReclaimPolicy": "Recycle"}
        await cluster.admin.create(VOLUMES, {"metadata": {"name": "old"}, "spec": spec})
        await given_back("Succeeded")
        assert "claimRef" not in (await volume_in_phase(cluster, "Available", "old"))["spec"]
        await cluster.gone(PODS, "recycler-for-old", "default")
        assert await cluster.events("VolumeRecycled") == ["Volume recycled"]
        await given_back("Failed")
        message = "Recycle failed: failed to recycle volume: pod failed, pod.Status.Message unknown"
        assert (await volume_in_phase(cluster, "Failed", "old"))["status"]["message"] == message
        assert await cluster.events("VolumeFailedRecycle") == [message]
        again = await cluster.eventually("another try", recycler)
        assert again["spec"]["activeDeadlineSeconds"] == 150
        assert again["spec"]["volumes"][0] == {"name": "vol", "hostPath": {"path": "/data", "type": ""}}


async def test_the_default_class_waits_for_a_node(world: World) -> None:
    async with running(world) as cluster:

        async def there() -> Object | None:
            return await cluster.find(STORAGE_CLASSES, "standard", None)

        await cluster.eventually("the default class", there)
        await make_claim(cluster, claim(storage_class=None))

        async def told() -> list[str]:
            return await cluster.events("WaitForFirstConsumer")

        said = await cluster.eventually("the event", told)
        assert said == ["waiting for first consumer to be created before binding"]
        waiting = await in_phase(cluster, "Pending")
        assert waiting["spec"]["storageClassName"] == "standard"
        patch = {"metadata": {"annotations": {SELECTED_NODE: "node-1"}}}
        await cluster.admin.patch(CLAIMS, "data", patch, namespace="default")
        await in_phase(cluster, "Bound")


async def test_a_claim_without_a_class_gets_the_default_one_as_soon_as_there_is_one(world: World) -> None:
    async with running(world) as cluster:

        async def there() -> Object | None:
            return await cluster.find(STORAGE_CLASSES, "standard", None)

        default = await cluster.eventually("the default class", there)
        await cluster.admin.delete(STORAGE_CLASSES, "standard")
        await cluster.world.clock.sleep(1)
        await make_claim(cluster, claim(storage_class=None))
        await cluster.world.clock.sleep(20)
        assert "storageClassName" not in (await in_phase(cluster, "Pending"))["spec"]
        made = {**default, "metadata": {name: default["metadata"][name] for name in ("name", "annotations")}}
        await cluster.admin.create(STORAGE_CLASSES, made)

        async def has_class() -> bool:
            spec: Object = (await in_phase(cluster, "Pending"))["spec"]
            return bool(spec.get("storageClassName") == "standard")

        await cluster.eventually("the claim has the class", has_class)


async def test_a_claim_in_use_stays_until_its_pod_has_gone(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.eventually_service_account("default")
        await cluster.admin.create(STORAGE_CLASSES, storage_class())
        await make_claim(cluster, claim(storage_class="fast"))
        await in_phase(cluster, "Bound")
        spec = {
            "containers": [{"name": "c", "image": "nginx"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
        }
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "user"}, "spec": {**spec, "nodeName": "node-1"}}
        await cluster.admin.create(PODS, pod, namespace="default")
        await cluster.admin.delete(CLAIMS, "data", namespace="default")
        await world.clock.sleep(30)
        kept = await cluster.find(CLAIMS, "data")
        assert kept is not None
        assert kept["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
        await cluster.admin.delete(PODS, "user", namespace="default", grace_period_seconds=0)
        await cluster.gone(CLAIMS, "data")


async def test_since_when_a_claim_is_unused(world: World) -> None:
    async def told(cluster: TestCluster, status: str) -> Object:
        async def reached() -> Object | None:
            found = await cluster.find(CLAIMS, "data")
            [condition] = (found or {"status": {}})["status"].get("conditions") or [{"status": ""}]
            return condition if condition["status"] == status else None

        condition: Object = await cluster.eventually(f"Unused is {status}", reached)
        return condition

    async with running(world) as cluster, PodHands(cluster):
        await cluster.eventually_service_account("default")
        await cluster.admin.create(STORAGE_CLASSES, storage_class())
        waits = claim("waits", storage_class="none")
        await make_claim(cluster, waits)
        await make_claim(cluster, claim(storage_class="fast"))
        idle = await told(cluster, "True")
        assert idle == {
            "type": "Unused",
            "status": "True",
            "reason": "NoPodsUsingPVC",
            "message": "No pods are currently referencing this PVC",
            "lastProbeTime": None,
            "lastTransitionTime": idle["lastTransitionTime"],
        }
        await world.clock.sleep(60)
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
        pod = {"spec": {"containers": [{"name": "c", "image": "nginx"}], "volumes": volumes}}
        for name in ("one", "two"):
            await cluster.admin.create(PODS, {**pod, "metadata": {"name": name}}, namespace="default")
        used = await told(cluster, "False")
        assert (used["reason"], used["message"]) == ("PodUsingPVC", "A pod is currently referencing this PVC")
        assert used["lastTransitionTime"] > idle["lastTransitionTime"]
        await cluster.admin.delete(PODS, "one", namespace="default", grace_period_seconds=0)
        await world.clock.sleep(60)
        assert await told(cluster, "False") == used
        ended = {"status": {"phase": "Succeeded"}}
        await cluster.admin.patch(PODS, "two", ended, namespace="default", subresource="status")
        assert (await told(cluster, "True"))["lastTransitionTime"] > used["lastTransitionTime"]
        waiting = await cluster.find(CLAIMS, "waits")
        assert waiting is not None
        assert "conditions" not in waiting["status"]  # it is bound to nothing


async def test_a_class_of_attributes_stays_while_claims_and_volumes_have_it(world: World) -> None:
    async with running(world) as cluster:
        for name in ("gold", "silver"):
            made = {
                "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttributesClass", "metadata": {"name": name},
                "driverName": "example.com", "parameters": {"iops": "1"},
            }  # fmt: skip
            created = await cluster.admin.create(ATTRIBUTES_CLASSES, made)
            assert created["metadata"]["finalizers"] == ["kubernetes.io/vac-protection"]
        wanted = claim()
        wanted["spec"]["volumeAttributesClassName"] = "gold"
        await make_claim(cluster, wanted)
        csi = {"driver": "example.com", "volumeHandle": "h"}
        await cluster.admin.create(VOLUMES, volume("v", hostPath=None, csi=csi, volumeAttributesClassName="silver"))
        for name in ("gold", "silver"):
            await cluster.admin.delete(ATTRIBUTES_CLASSES, name)
        await world.clock.sleep(30)
        for name in ("gold", "silver"):
            assert await cluster.find(ATTRIBUTES_CLASSES, name, None) is not None
        await cluster.admin.delete(CLAIMS, "data", namespace="default")
        await cluster.gone(ATTRIBUTES_CLASSES, "gold", None)
        await cluster.admin.delete(VOLUMES, "v")
        await cluster.gone(ATTRIBUTES_CLASSES, "silver", None)


async def test_a_claim_grows_where_its_class_allows_it(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(STORAGE_CLASSES, storage_class(allowVolumeExpansion=True))
        await make_claim(cluster, claim(storage_class="fast"))
        await in_phase(cluster, "Bound")
        patch = {"spec": {"resources": {"requests": {"storage": "3Gi"}}}}
        await cluster.admin.patch(CLAIMS, "data", patch, namespace="default")

        async def grown() -> bool:
            found = await cluster.find(CLAIMS, "data")
            return found is not None and found["status"]["capacity"] == {"storage": "3Gi"}

        await cluster.eventually("the claim has grown", grown)
        await world.clock.sleep(1)
        events = [each for each in await cluster.objects(EVENTS) if each["reason"] == "ExternalExpanding"]
        assert [(each["source"]["component"], each["message"]) for each in events] == [
            ("volume_expand", "waiting for an external controller to expand this PVC")
        ]


async def test_an_ephemeral_volume_has_a_claim_of_its_pods_own(world: World) -> None:
    async with running(world) as cluster:
        await cluster.eventually_service_account("default")
        template = {"spec": claim()["spec"]}
        volumes = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]
        spec = {"containers": [{"name": "c", "image": "nginx"}], "volumes": volumes}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "user"}, "spec": spec}
        made = await cluster.admin.create(PODS, pod, namespace="default")

        async def there() -> Object | None:
            return await cluster.find(CLAIMS, "user-scratch")

        found = await cluster.eventually("the claim", there)
        [owner] = found["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"], owner["controller"]) == ("Pod", made["metadata"]["uid"], True)
