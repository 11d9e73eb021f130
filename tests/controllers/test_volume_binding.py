"""What the binder makes of claims and volumes that are there when it starts, after upstream's framework tables
(binder_test.go, index_test.go, provision_test.go, recycle_test.go), each in a namespace and a class of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.api.persistent_volumes import CLAIMS, STORAGE_CLASSES, VOLUMES
from engine.api.types import EVENTS, NAMESPACES, PODS, SERVICE_ACCOUNTS, Object
from engine.client import Client
from engine.controllers.persistentvolume.binder import PersistentVolumeBinder
from engine.controllers.persistentvolume.ephemeral import EphemeralVolumeController
from engine.controllers.persistentvolume.protection import PVCProtectionController, PVProtectionController
from engine.world import World
from tests.controllers.cluster import TestCluster, running

MINE = "mine"  # as a volume's claimant: the row's claim, with its uid
MEANT = "meant"  # the same, as somebody wrote it who does not know the uid
GONE = "gone"  # a claim that there is no more
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
BY_CONTROLLER = {"pv.kubernetes.io/bound-by-controller": "yes"}
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
SELECTED = {"volume.kubernetes.io/selected-node": "node-1"}
RWO, RWX = "ReadWriteOnce", "ReadWriteMany"


@dataclass
class Volume:
    """`phase` is what it has before; `then` what becomes of it: its phase, and whose it is."""

    then: str
    size: str = "1Gi"
    modes: list[str] = field(default_factory=lambda: [RWO])
    claimant: str = ""
    phase: str = "Available"
    annotations: dict[str, str] = field(default_factory=dict)
    leaving: bool = False
    spec: Object = field(default_factory=dict)


@dataclass
class Row:
    """`then` is the claim's phase and volume; `said` the events of the claim and its volumes."""

    volumes: dict[str, Volume]
    then: str
    said: list[str] = field(default_factory=list)
    claim: Object = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    provisioner: str = ""
    waits: bool = False
    pods: dict[str, str] = field(default_factory=dict)  # Pods with the claim, and their Nodes


def free(**fields: Any) -> Volume:
    return Volume("Available", **fields)


def bound(**fields: Any) -> Volume:
    return Volume("Bound mine", **fields)


def deletable(then: str, *, annotations: dict[str, str] | None = None, **spec: Any) -> Volume:
    spec["persistentVolumeReclaimPolicy"] = "Delete"
    return Volume(then, claimant=GONE, phase="Bound", annotations=annotations or {}, spec=spec)


MISMATCH = 'VolumeMismatch: Cannot bind to requested volume "{row}-v": '
WAITING = "Waiting for a volume to be created either by the external provisioner '{}' or manually"
LOST = "ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!"
ROWS: dict[str, Row] = {
    # -- which one
    "the smallest": Row({"a": free(size="5Gi"), "b": bound(size="2Gi"), "c": free(size="500Mi")}, "Bound b"),
    "of the fewest modes": Row({"a": free(modes=[RWO, RWX]), "b": bound(size="5Gi")}, "Bound b"),
    "one that has the mode": Row({"a": free(modes=[RWX])}, "Pending"),
    "one that is meant for it": Row({"a": free(), "b": bound(claimant=MEANT, size="5Gi")}, "Bound b"),
    "one of another class that is meant for it": Row(
        {"a": bound(claimant=MEANT, spec={"storageClassName": "another"})}, "Bound a"
    ),
    "one that is meant for it and too small": Row(
        {"a": Volume("Available meant", claimant=MEANT, size="1Mi")}, "Pending"
    ),
    "one that was made for it and is too small": Row(
        {"a": Volume("Available mine", claimant=MINE, size="1Mi")}, "Pending"
    ),
    "none that is on its way out": Row({"a": free(leaving=True)}, "Pending"),
    "none that is not available yet": Row({"a": Volume("Released gone", phase="Released", claimant=GONE)}, "Pending"),
    "none with other attributes": Row({"a": free(spec={"volumeAttributesClassName": "gold"})}, "Pending"),
    # -- one by name
    "by name": Row({"v": bound()}, "Bound v", claim={"volumeName": "v"}),
    "by name, too small": Row(
        {"v": free(size="1Mi")}, "Pending", [MISMATCH + "requested PV is too small"], {"volumeName": "v"}
    ),
    "by name, leaving": Row(
        {"v": free(leaving=True)}, "Pending", [MISMATCH + 'the volume is marked for deletion "{row}-v"'],
        {"volumeName": "v"},
    ),
    "by name, other attributes": Row(
        {"v": free(spec={"volumeAttributesClassName": "gold"})}, "Pending",
        [MISMATCH + "volumeAttributesClassName does not match"], {"volumeName": "v"},
    ),
    "by name, block devices": Row(
        {"v": free(spec={"volumeMode": "Block"})}, "Pending", [MISMATCH + "incompatible volumeMode"],
        {"volumeName": "v"},
    ),
    "by name, somebody else's": Row(
        {"v": Volume("Released gone", claimant=GONE, phase="Bound")}, "Pending",
        ['FailedBinding: volume "{row}-v" already bound to a different claim.'], {"volumeName": "v"},
    ),
    "meant for it, of block devices": Row(
        {"v": Volume("Bound mine", claimant=MINE, phase="Bound", spec={"volumeMode": "Block"})}, "Pending",
        ["VolumeMismatch: Cannot bind PersistentVolume to requested PersistentVolumeClaim \"c\" due to incompatible "
         "volumeMode.",
         "VolumeMismatch: Cannot bind PersistentVolume \"{row}-v\" to requested PersistentVolumeClaim due to "
         "incompatible volumeMode."],
    ),
    # -- none yet
    "waits for a Pod": Row(
        {"a": free()}, "Pending",
        ["WaitForFirstConsumer: waiting for first consumer to be created before binding"],
        provisioner="example.com/disks", waits=True,
    ),
    "waits for a Pod's Node": Row(
        {}, "Pending", ["WaitForPodScheduled: waiting for pod one to be scheduled"],
        provisioner="example.com/disks", waits=True, pods={"one": "", "other": "node-1"},
    ),
    "waits for the Nodes of Pods": Row(
        {}, "Pending", ["WaitForPodScheduled: waiting for pods one,two to be scheduled"],
        provisioner="example.com/disks", waits=True, pods={"one": "", "two": ""},
    ),
    "is provisioned on a Node, whatever there is": Row(
        {"a": free()}, "Pending", ["ExternalProvisioning: " + WAITING.format("example.com/disks")],
        annotations=SELECTED, provisioner="example.com/disks", waits=True,
    ),
    "is provisioned by what a plugin has become": Row(
        {}, "Pending", ["ExternalProvisioning: " + WAITING.format("ebs.csi.aws.com")],
        provisioner="kubernetes.io/aws-ebs",
    ),
    "is not provisioned by what there is no more": Row(
        {}, "Pending", ["ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner"],
        provisioner="kubernetes.io/no-provisioner",
    ),
    # -- bound before
    "bound": Row({"v": bound(claimant=MINE)}, "Bound v", claim={"volumeName": "v"}, annotations=BOUND),
    "bound, and the volume is not": Row({"v": bound()}, "Bound v", claim={"volumeName": "v"}, annotations=BOUND),
    "bound, and the volume is gone": Row({}, "Lost v", [LOST], {"volumeName": "v"}, BOUND),
    "bound, and the volume is only meant for it": Row(
        {"v": Volume("Available meant", claimant=MEANT)}, "Lost v",
        ["ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly"],
        {"volumeName": "v"}, BOUND,
    ),
    "bound elsewhere": Row(
        {"v": bound(claimant=MINE), "w": Volume("Available", claimant=MINE, phase="Bound", annotations=BY_CONTROLLER)},
        "Bound v", claim={"volumeName": "v"}, annotations=BOUND,
    ),
    "bound elsewhere, by whoever made the volume": Row(
        {"v": bound(claimant=MINE), "w": Volume("Available meant", claimant=MINE, phase="Bound")},
        "Bound v", claim={"volumeName": "v"}, annotations=BOUND,
    ),
    # -- left behind
    "to be kept": Row({"v": Volume("Released gone", claimant=GONE, phase="Bound")}, "Pending"),
    "to be used again": Row(
        {"v": Volume("Failed gone", claimant=GONE, phase="Bound", spec={"persistentVolumeReclaimPolicy": "Recycle"})},
        "Pending", ["VolumeFailedRecycle: No recycler plugin found for the volume!"],
    ),
    "to be deleted by a plugin that deletes nothing": Row(
        {"v": deletable("Failed gone")}, "Pending",
        ['VolumeFailedDelete: error getting deleter volume plugin for volume "{row}-v": no deletable volume plugin '
         "matched"],
    ),
    "to be deleted, of no plugin": Row(
        {"v": deletable("Failed gone", iscsi={"targetPortal": "192.0.2.1:3260", "iqn": "iqn.2026-01.com.example:a"})},
        "Pending",
        ['VolumeFailedDelete: error getting deleter volume plugin for volume "{row}-v": no volume plugin matched'],
    ),
    "to be deleted, of a path": Row(
        {"v": deletable("Failed gone", hostPath={"path": "/mnt/data"})}, "Pending",
        ["VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /mnt/data"],
    ),
    "to be deleted, of a path that may be": Row(
        {"v": deletable("Released gone deleted", hostPath={"path": "/tmp/data"})}, "Pending"
    ),
    "to be deleted by whoever made it": Row(
        {"v": deletable("Released gone", annotations={PROVISIONED_BY: "example.com/disks"})}, "Pending"
    ),
    "to be deleted by a plugin that there is no more": Row(
        {"v": deletable("Failed gone", annotations={PROVISIONED_BY: "kubernetes.io/aws-ebs"})}, "Pending",
        ["VolumeFailedDelete: no volume plugin matched name: kubernetes.io/aws-ebs"],
    ),
    "to be deleted by what a plugin has become": Row(
        {"v": deletable("Released gone", annotations={"pv.kubernetes.io/migrated-to": "ebs.csi.aws.com"})}, "Pending"
    ),
}  # fmt: skip


async def make(admin: Client, row: str, what: Row) -> None:
    await admin.create(NAMESPACES, {"metadata": {"name": row}})
    await admin.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace=row)
    if what.provisioner:
        mode = "WaitForFirstConsumer" if what.waits else "Immediate"
        made: Object = {"metadata": {"name": row}, "provisioner": what.provisioner, "volumeBindingMode": mode}
        await admin.create(STORAGE_CLASSES, made)
    spec: Object = {"accessModes": [RWO], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": row}
    if "volumeName" in what.claim:
        spec["volumeName"] = f"{row}-{what.claim['volumeName']}"
    named: Object = {"name": "c", "annotations": what.annotations}
    claim = await admin.create(CLAIMS, {"metadata": named, "spec": spec}, namespace=row)
    references = {
        MINE: {"namespace": row, "name": "c", "uid": claim["metadata"]["uid"]},
        MEANT: {"namespace": row, "name": "c"},
        GONE: {"namespace": row, "name": "gone", "uid": "gone-uid"},
    }
    for name, volume in what.volumes.items():
        source: Object = {"csi": {"driver": "example.com", "volumeHandle": f"{row}-{name}"}}
        if {"hostPath", "iscsi"} & set(volume.spec):
            source = {}
        spec = {"capacity": {"storage": volume.size}, "accessModes": volume.modes, **source, "storageClassName": row}
        if volume.claimant:
            spec["claimRef"] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **references[volume.claimant]}
        metadata: Object = {"name": f"{row}-{name}", "annotations": volume.annotations}
        await admin.create(VOLUMES, {"metadata": metadata, "spec": {**spec, **volume.spec}})
        phase = {"status": {"phase": volume.phase}}
        await admin.patch(VOLUMES, metadata["name"], phase, subresource="status")
        if volume.leaving:
            await admin.delete(VOLUMES, metadata["name"])
    for name, node in what.pods.items():
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]
        spec = {
            "containers": [{"name": "c", "image": "nginx"}],
            "volumes": volumes,
            **({"nodeName": node} if node else {}),
        }
        await admin.create(PODS, {"metadata": {"name": name}, "spec": spec}, namespace=row)


async def outcome(cluster: TestCluster, row: str, what: Row) -> Object:
    claim = await cluster.admin.get(CLAIMS, "c", namespace=row)
    uid, named = claim["metadata"]["uid"], claim["spec"].get("volumeName", "").removeprefix(f"{row}-")
    asked = what.claim.get("volumeName", "") if claim["status"]["phase"] == "Pending" else ""
    found: Object = {"claim": f"{claim['status']['phase']} {named.removeprefix(asked)}".strip()}
    for name in what.volumes:
        volume = await cluster.admin.get(VOLUMES, f"{row}-{name}")
        reference = volume["spec"].get("claimRef") or {}
        whose = {uid: "mine", "gone-uid": "gone"}.get(reference.get("uid", ""), "meant" if reference else "")
        leaves = " deleted" if volume["metadata"].get("deletionTimestamp") and not what.volumes[name].leaving else ""
        found[name] = f"{volume['status']['phase']} {whose}{leaves}".strip()
    events = [
        f"{event['reason']}: {event['message']}"
        for event in await cluster.objects(EVENTS)
        if event["involvedObject"].get("namespace") == row or event["involvedObject"]["name"].startswith(f"{row}-")
    ]
    no_class = f'ProvisioningFailed: storageclass.storage.k8s.io "{row}" not found'  # of rows that need none
    found["said"] = sorted(each for each in events if each != no_class)
    return found


async def test_what_is_made_of_claims_and_volumes(world: World) -> None:
    rows = {f"row-{number:02}": name for number, name in enumerate(ROWS)}

    async def given(admin: Client) -> None:
        for row, name in rows.items():
            await make(admin, row, ROWS[name])

    async with running(world, controllers=(PersistentVolumeBinder,), given=given) as cluster:
        await world.clock.sleep(10)
        found = {name: await outcome(cluster, row, ROWS[name]) for row, name in rows.items()}
    for row, name in rows.items():
        what = ROWS[name]
        told = found[name].pop("said")
        wanted = sorted(each.format(row=row) for each in what.said)
        assert len(told) == len(wanted), (name, told)
        assert all(said.startswith(start) for said, start in zip(told, wanted, strict=True)), (name, told)
        then = {volume: each.then for volume, each in what.volumes.items()}
        assert (name, found[name]) == (name, {"claim": what.then, **then})


async def test_what_protects_is_put_back(world: World) -> None:
    async with running(world, controllers=(PVCProtectionController, PVProtectionController)) as cluster:
        spec: Object = {"accessModes": [RWO], "resources": {"requests": {"storage": "1Gi"}}}
        await cluster.admin.create(CLAIMS, {"metadata": {"name": "c"}, "spec": spec}, namespace="default")
        spec = {"accessModes": [RWO], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/data"}}
        await cluster.admin.create(VOLUMES, {"metadata": {"name": "v"}, "spec": spec})
        bare = {"metadata": {"finalizers": None}}
        await cluster.admin.patch(CLAIMS, "c", bare, namespace="default")
        await cluster.admin.patch(VOLUMES, "v", bare)

        async def protected() -> bool:
            claim, volume = await cluster.find(CLAIMS, "c"), await cluster.find(VOLUMES, "v", None)
            return bool(
                claim and claim["metadata"].get("finalizers") and volume and volume["metadata"].get("finalizers")
            )

        await cluster.eventually("both are protected again", protected)


# Whether the claim is kept, whose it is, and what is there of the Pod: its Node, its finalizers, its deletion.
KEPT = {
    "no-pod": (False, "", ""),
    "named-scheduled": (True, "named", "node"),
    "named-waiting": (False, "named", ""),
    "named-finalizing": (True, "named", "node finalizer deleted"),
    "own-scheduled": (True, "own", "node"),
    "own-waiting": (False, "own", ""),
    "own-finalizing": (False, "own", "node finalizer deleted"),
    "own-stopping": (True, "own", "node deleted"),
    "somebody-elses": (False, "other", "node"),
}


async def test_claims_are_protected_while_a_pod_uses_them(world: World) -> None:
    async def given(admin: Client) -> None:
        await admin.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
        spec: Object = {"accessModes": [RWO], "resources": {"requests": {"storage": "1Gi"}}}
        for row, (_, owner, state) in KEPT.items():
            metadata: Object = {"name": f"{row}-data"}
            if owner:
                volume: Object = {"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}
                if owner == "named":
                    volume = {"name": "data", "persistentVolumeClaim": {"claimName": f"{row}-data"}}
                pod: Object = {"metadata": {"name": row}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
                pod["spec"] |= {"volumes": [volume], "nodeName": "node-1" if "node" in state else ""}
                pod["metadata"]["finalizers"] = ["example.com/mine"] if "finalizer" in state else []
                uid = (await admin.create(PODS, pod, namespace="default"))["metadata"]["uid"]
                of = {"apiVersion": "v1", "kind": "Pod", "name": row, "uid": uid, "controller": True}
                metadata["ownerReferences"] = [of] if owner == "own" else []
            await admin.create(CLAIMS, {"metadata": metadata, "spec": spec}, namespace="default")
            await admin.delete(CLAIMS, f"{row}-data", namespace="default")

    async with running(world, controllers=(PVCProtectionController,), given=given) as cluster:
        for row, (_, _, state) in KEPT.items():
            if "deleted" in state:
                grace = 0 if "finalizer" in state else 30
                await cluster.admin.delete(PODS, row, namespace="default", grace_period_seconds=grace)
        await world.clock.sleep(5)
        kept = {claim["metadata"]["name"] for claim in await cluster.objects(CLAIMS)}
        assert kept == {f"{row}-data" for row, (keeps, _, _) in KEPT.items() if keeps}


async def test_ephemeral_claims_are_made_again_and_told_of_where_they_are_others(world: World) -> None:
    async with running(world, controllers=(EphemeralVolumeController,)) as cluster:
        await cluster.admin.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
        spec: Object = {"accessModes": [RWO], "resources": {"requests": {"storage": "1Gi"}}}
        await cluster.admin.create(CLAIMS, {"metadata": {"name": "second-data"}, "spec": spec}, namespace="default")
        volumes = [{"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}]
        for name in ("first", "second"):
            pod = {"containers": [{"name": "c", "image": "nginx"}], "volumes": volumes}
            await cluster.admin.create(PODS, {"metadata": {"name": name}, "spec": pod}, namespace="default")

        async def made() -> Object | None:
            return await cluster.find(CLAIMS, "first-data")

        before = (await cluster.eventually("a claim of its own", made))["metadata"]["uid"]
        await cluster.admin.patch(CLAIMS, "first-data", {"metadata": {"finalizers": None}}, namespace="default")
        await cluster.admin.delete(CLAIMS, "first-data", namespace="default")
        assert (await cluster.eventually("another one", made))["metadata"]["uid"] != before
        told = "PVC default/second-data was not created for pod default/second (pod is not owner)"
        assert set(await cluster.events("FailedBinding")) == {f"ephemeral volume data: {told}"}
