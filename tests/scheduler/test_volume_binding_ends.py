"""How binding volumes ends, and what the Pod is told (upstream's volumebinding/binder_test.go, TestCheckBindings)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from engine.api.persistent_volumes import CLAIMS, STORAGE_CLASSES, VOLUMES
from engine.api.types import NODES, Object
from engine.api.wire import MERGE_PATCH
from engine.world import World
from tests.scheduler.stage import Stage, open_stage

Act = Callable[[Stage], Awaitable[object]]
PREFIX = 'running PreBind plugin "VolumeBinding": binding volumes: '


@pytest.fixture
async def stage(world: World) -> AsyncIterator[Stage]:
    async with open_stage(world) as made:
        await made.admin.create(STORAGE_CLASSES, waiting("dynamic", "csi.example.com"))
        await made.admin.create(STORAGE_CLASSES, waiting("static", "kubernetes.io/no-provisioner"))
        await made.add_node("n1", labels={"zone": "a"})
        yield made


def waiting(name: str, provisioner: str) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def claim(storage_class: str) -> Object:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": spec}


def volume() -> Object:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "storageClassName": "static",
        "hostPath": {"path": "/data"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": spec}


async def _patch_claim(stage: Stage, patch: Object) -> None:
    await stage.admin.patch(CLAIMS, "c", patch, namespace="default", content_type=MERGE_PATCH)


async def give_up(stage: Stage) -> None:
    await _patch_claim(stage, {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": None, "a": "b"}}})


async def wipe(stage: Stage) -> None:
    await _patch_claim(stage, {"metadata": {"annotations": None}})


async def drop_claim(stage: Stage) -> None:
    await _patch_claim(stage, {"metadata": {"finalizers": None}})
    await stage.admin.delete(CLAIMS, "c", namespace="default")


async def release(stage: Stage) -> None:
    patch = {"spec": {"claimRef": None}}
    await stage.admin.patch(VOLUMES, "v", patch, content_type=MERGE_PATCH)


async def move_node(stage: Stage) -> None:
    await stage.admin.patch(NODES, "n1", {"metadata": {"labels": {"zone": "b"}}}, content_type=MERGE_PATCH)


async def lose_node(stage: Stage) -> None:
    await stage.admin.delete(NODES, "n1")


async def drop_volume(stage: Stage) -> None:
    await stage.admin.patch(VOLUMES, "v", {"metadata": {"finalizers": None}}, content_type=MERGE_PATCH)
    await stage.admin.delete(VOLUMES, "v")


async def nothing(stage: Stage) -> None:
    await stage.world.clock.sleep(601)


ENDS: dict[str, tuple[str, Act, str]] = {
    "the provisioner gives up": ("dynamic", give_up, 'provisioning failed for PVC "c"'),
    "no annotation is left": ("dynamic", wipe, 'selectedNode annotation reset for PVC "c"'),
    "the claim goes": (
        "dynamic",
        drop_claim,
        'failed to check provisioning pvc: could not find v1.PersistentVolumeClaim "default/c"',
    ),
    "the node goes": ("dynamic", lose_node, 'failed to get node "n1": node "n1" not found'),
    "nobody provisions": ("dynamic", nothing, "context deadline exceeded"),
    "the volume is released": ("static", release, 'ClaimRef got reset for pv "v"'),
    "the volume goes": ("static", drop_volume, 'failed to check binding: could not find v1.PersistentVolume "v"'),
    "the bound claim goes": (
        "static",
        drop_claim,
        'failed to check binding: could not find v1.PersistentVolumeClaim "default/c"',
    ),
    "the node moves out of reach": (
        "static",
        move_node,
        'pv "v" node affinity doesn\'t match node "n1": no matching NodeSelectorTerms',
    ),
}


@pytest.mark.parametrize(("storage_class", "act", "expected"), ENDS.values(), ids=ENDS)
async def test_what_a_pod_is_told(stage: Stage, storage_class: str, act: Act, expected: str) -> None:
    if storage_class == "static":
        made = await stage.admin.create(VOLUMES, volume())
        await stage.admin.update_status(VOLUMES, {**made, "status": {"phase": "Available"}})
    await stage.admin.create(CLAIMS, claim(storage_class), namespace="default")
    await stage.add_pod("p", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}])
    await stage.until(lambda pod: pod["status"].get("nominatedNodeName"), "p")
    await stage.world.clock.sleep(0.5)
    await act(stage)
    await stage.until(lambda pod: _told(pod) == PREFIX + expected, "p")
    errors = [sample.value for sample in stage.scheduler.metrics.volume_errors.samples()]
    assert sum(errors) >= 1


async def test_the_record_of_an_attempt_says_which_claim_is_waited_for(stage: Stage) -> None:
    def told() -> tuple[str, str]:
        (decision,) = stage.scheduler.decisions.of_pod("default/p")
        shown = decision.summary()
        return shown["binding"], shown["bindingMessage"]

    made = await stage.admin.create(VOLUMES, volume())
    await stage.admin.update_status(VOLUMES, {**made, "status": {"phase": "Available"}})
    await stage.admin.create(CLAIMS, claim("dynamic"), namespace="default")
    await stage.add_pod("p", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}])
    await stage.world.clock.sleep(30)
    waits = "waits at PreBind for VolumeBinding: PersistentVolumeClaim c to be bound, for 10m0s at most"
    assert told() == ("waiting", waits)
    bound = await stage.admin.get(CLAIMS, "c", namespace="default")
    bound = {**bound, "spec": {**bound["spec"], "volumeName": "v"}}
    bound["metadata"] = {**bound["metadata"]}
    bound["metadata"]["annotations"] = {**bound["metadata"]["annotations"], "pv.kubernetes.io/bind-completed": "yes"}
    await stage.admin.update(CLAIMS, bound)
    await stage.bound("p")
    await stage.world.clock.sleep(1)
    assert told() == ("bound", "")


async def test_a_volume_that_names_the_claim_already_is_left_as_it_is(stage: Stage) -> None:
    made = await stage.admin.create(CLAIMS, claim("static"), namespace="default")
    reference = {"namespace": "default", "name": "c", "uid": made["metadata"]["uid"], "resourceVersion": "1"}
    named = volume()
    named["spec"]["claimRef"] = reference
    before = await stage.admin.create(VOLUMES, named)
    await stage.add_pod("p", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}])
    await stage.until(lambda pod: pod["status"].get("nominatedNodeName"), "p")
    await stage.world.clock.sleep(0.5)
    assert (await stage.admin.get(VOLUMES, "v"))["spec"] == before["spec"]


def _told(pod: Object) -> str:
    conditions = pod["status"].get("conditions") or ()
    return next((c.get("message", "") for c in conditions if c["type"] == "PodScheduled"), "")
