"""CSI volumes are attached to the Nodes where Pods want them."""

from __future__ import annotations

from hashlib import sha256

from engine.api.csi_volumes import CSI_DRIVERS
from engine.api.persistent_volumes import CLAIMS, STORAGE_CLASSES, VOLUMES
from engine.api.types import EVENTS, NODES, PODS, Object
from engine.controllers.persistentvolume.attachdetach import ATTACHMENTS
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running

CLASS: Object = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "ktui.io/simulated",
}


async def bound(cluster: TestCluster, name: str) -> str:
    """A new claim; the name of the volume that it is bound to."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "fast"}
    await cluster.admin.create(CLAIMS, {"metadata": {"name": name}, "spec": spec}, namespace="default")

    async def reached() -> str:
        found = await cluster.find(CLAIMS, name)
        return found["spec"]["volumeName"] if found is not None and found["status"]["phase"] == "Bound" else ""

    return str(await cluster.eventually(f"{name} is bound", reached))


async def make_pod(cluster: TestCluster, name: str, claim: str) -> None:
    spec = {
        "containers": [{"name": "c", "image": "nginx"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}],
    }
    await cluster.admin.create(PODS, {"metadata": {"name": name}, "spec": spec}, namespace="default")


async def attached(cluster: TestCluster) -> list[Object]:
    """The attachments, once there are any and all are attached."""

    async def reached() -> list[Object]:
        found = await cluster.objects(ATTACHMENTS)
        return found if all((each.get("status") or {}).get("attached") for each in found) else []

    found: list[Object] = await cluster.eventually("volumes are attached", reached)
    return found


async def on_node(cluster: TestCluster) -> list[Object]:
    found: Object = await cluster.admin.get(NODES, "node-1")
    return list((found.get("status") or {}).get("volumesAttached") or [])


async def test_a_volume_is_attached_for_its_pod_and_detached_when_the_pod_has_gone(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.eventually_service_account("default")
        await cluster.admin.create(STORAGE_CLASSES, CLASS)
        volume = await bound(cluster, "data")
        await make_pod(cluster, "user", "data")

        [attachment] = await attached(cluster)
        handle = sha256(f"{volume}simulated.ktui.ionode-1".encode()).hexdigest()
        assert attachment["metadata"]["name"] == f"csi-{handle}"
        assert attachment["spec"] == {
            "attacher": "simulated.ktui.io",
            "nodeName": "node-1",
            "source": {"persistentVolumeName": volume},
        }

        async def told() -> list[Object]:
            events = await cluster.objects(EVENTS)
            return [event for event in events if event["reason"] == "SuccessfulAttachVolume"]

        [event] = await cluster.eventually("the event", told)
        assert event["message"] == f'AttachVolume.Attach succeeded for volume "{volume}" '
        assert (event["type"], event["source"]) == ("Normal", {"component": "attachdetach-controller"})
        assert event["involvedObject"]["name"] == "user"
        name = f"kubernetes.io/csi/simulated.ktui.io^{volume}"
        assert await on_node(cluster) == [{"name": name, "devicePath": ""}]
        lost = {"status": {"volumesAttached": None}}
        await cluster.admin.patch(NODES, "node-1", lost, subresource="status")
        await world.clock.sleep(1)
        assert await on_node(cluster) == [{"name": name, "devicePath": ""}], "it is put right"

        await cluster.admin.delete(PODS, "user", namespace="default", grace_period_seconds=0)
        await cluster.gone(ATTACHMENTS, attachment["metadata"]["name"], None)
        await world.clock.sleep(1)
        assert await on_node(cluster) == []


async def test_pods_of_one_node_share_what_is_attached(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.eventually_service_account("default")
        await cluster.admin.create(STORAGE_CLASSES, CLASS)
        await bound(cluster, "data")
        for name in ("one", "two"):
            await make_pod(cluster, name, "data")
        [attachment] = await attached(cluster)
        await cluster.admin.delete(PODS, "one", namespace="default", grace_period_seconds=0)
        await world.clock.sleep(5)
        assert [each["metadata"]["name"] for each in await attached(cluster)] == [attachment["metadata"]["name"]]


async def test_a_driver_that_needs_no_attachment_gets_none(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.eventually_service_account("default")
        await cluster.admin.create(STORAGE_CLASSES, CLASS)
        driver = {"metadata": {"name": "simulated.ktui.io"}, "spec": {"attachRequired": False}}
        await cluster.admin.create(CSI_DRIVERS, driver)
        await bound(cluster, "data")
        await make_pod(cluster, "user", "data")
        await world.clock.sleep(10)
        assert await cluster.objects(ATTACHMENTS) == []


async def test_attachments_of_others_are_left_alone(world: World) -> None:
    """An attachment made by hand waits for its driver, and a host's directory needs none."""
    async with running(world) as cluster, PodHands(cluster):
        spec: Object = {"attacher": "csi.example.com", "nodeName": "node-1", "source": {"persistentVolumeName": "disk"}}
        await cluster.admin.create(ATTACHMENTS, {"metadata": {"name": "mine"}, "spec": spec})
        volume: Object = {
            "metadata": {"name": "disk"},
            "spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"},
            },
        }  # fmt: skip
        await cluster.admin.create(VOLUMES, volume)
        await world.clock.sleep(10)
        [mine] = await cluster.objects(ATTACHMENTS)
        assert not (mine.get("status") or {}).get("attached")
