"""The simulated dynamic provisioner, `ktui.io/simulated`, and the default StorageClass that names it.

It does what a CSI driver's external-provisioner and external-resizer do (kubernetes-csi/external-provisioner
pkg/controller), without a disk: volumes are labelled as simulated, and every node reaches them. What Pods write to one
is kept until the volume is deleted (`engine.disks`).
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.errors import ApiError
from engine.api.persistent_volumes import (
    BIND_COMPLETED,
    CLAIMS,
    SELECTED_NODE,
    STORAGE_CLASSES,
    VOLUMES,
    WAIT_FOR_FIRST_CONSUMER,
    capacity,
    class_of,
    requested,
)
from engine.api.types import Object, copy_object
from engine.client import NORMAL
from engine.controllers.controller import Controller
from engine.controllers.persistentvolume.objects import PROVISIONED_BY, PROVISIONER, annotations_of, claim_key

NAME = "ktui.io/simulated"
DRIVER = "simulated.ktui.io"  # a CSI driver's name is a domain
DEFAULT_CLASS = "standard"


def default_class() -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": DEFAULT_CLASS,
            "labels": {"ktui.io/simulated": "true"},
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": NAME,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": WAIT_FOR_FIRST_CONSUMER,
        "allowVolumeExpansion": True,
    }


class SimulatedProvisioner(Controller):
    name = "simulated-provisioner"
    kind = "persistentvolumeclaim"
    event_source = NAME
    workers = 1

    def set_up(self) -> None:
        self._claims = self.lister(CLAIMS)
        self._volumes = self.lister(VOLUMES)
        self._classes = self.lister(STORAGE_CLASSES)
        self.watch(CLAIMS, lambda old, new: [f"claim/{claim_key(new)}"] if new is not None else [])
        self.watch(VOLUMES, _volume_changed)

    def object_of(self, key: str) -> str:
        kind, _, rest = key.partition("/")
        return f"persistentvolume{'claim' if kind == 'claim' else ''}/{rest}"

    async def run(self) -> None:
        """A cluster without any class is given the default one; whoever deletes it later is obeyed until a restart."""
        if not self._classes.list():
            try:
                await self.client.create(STORAGE_CLASSES, default_class())
            except ApiError as error:
                if error.reason != "AlreadyExists":
                    raise

    async def reconcile(self, key: str) -> None:
        kind, _, rest = key.partition("/")
        if kind == "volume":
            await self._delete(rest)
            return
        claim = self._claims.by_key(rest)
        if claim is None or claim["metadata"].get("deletionTimestamp"):
            return
        if BIND_COMPLETED in annotations_of(claim):
            await self._resize(claim)
        elif self._is_ours(claim):
            await self._provision(claim)

    def _is_ours(self, claim: Object) -> bool:
        if annotations_of(claim).get(PROVISIONER) != NAME or claim["spec"].get("volumeName"):
            return False
        found = self._classes.get(class_of(claim))
        if found is None:
            return False
        waits = found.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER
        return not waits or SELECTED_NODE in annotations_of(claim)

    async def _provision(self, claim: Object) -> None:
        name = f"pvc-{claim['metadata']['uid']}"
        if self._volumes.get(name) is not None:
            return
        text = f'External provisioner is provisioning volume for claim "{claim_key(claim)}"'
        self.recorder.event(claim, NORMAL, "Provisioning", text)
        found = self._classes.get(class_of(claim)) or {}
        try:
            await self.client.create(VOLUMES, _volume(name, claim, found))
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
            return
        self.recorder.event(claim, NORMAL, "ProvisioningSucceeded", f"Successfully provisioned volume {name}")

    async def _delete(self, name: str) -> None:
        """A released volume that is to go, goes, and what was on it."""
        volume = self._volumes.get(name)
        if volume is None:
            self.world.disks.delete(name)
            return
        if annotations_of(volume).get(PROVISIONED_BY) != NAME or volume["metadata"].get("deletionTimestamp"):
            return
        released = (volume.get("status") or {}).get("phase") == "Released"
        if released and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
            await self.client.delete(VOLUMES, name, preconditions={"uid": volume["metadata"]["uid"]})

    async def _resize(self, claim: Object) -> None:
        """A bound claim that asks for more gets it at once."""
        volume = self._volumes.get(claim["spec"].get("volumeName") or "")
        if volume is None or annotations_of(volume).get(PROVISIONED_BY) != NAME:
            return
        size, status = requested(claim), claim.get("status") or {}
        if capacity(volume) < size:
            text = f"External resizer is resizing volume {volume['metadata']['name']}"
            self.recorder.event(claim, NORMAL, "Resizing", text)
            changed = copy_object(volume)
            changed["spec"]["capacity"]["storage"] = str(size)
            volume = await self.client.update(VOLUMES, changed)
        shown = (status.get("capacity") or {}).get("storage")
        if status.get("phase") == "Bound" and shown is not None and shown != str(capacity(volume)):
            status = {**status, "capacity": {"storage": str(capacity(volume))}}
            await self.client.update_status(CLAIMS, {**claim, "status": status})
            self.recorder.event(
                claim, NORMAL, "FileSystemResizeSuccessful", "MountVolume.NodeExpandVolume succeeded for volume "
                f'"{volume["metadata"]["name"]}"',
            )  # fmt: skip


def _volume_changed(old: Object | None, new: Object | None) -> Iterable[str]:
    volume = new or old
    assert volume is not None
    return [f"volume/{volume['metadata']['name']}"]


def _volume(name: str, claim: Object, storage_class: Object) -> Object:
    metadata = claim["metadata"]
    spec: Object = {
        "capacity": {"storage": str(requested(claim))},
        "accessModes": claim["spec"].get("accessModes") or [],
        "volumeMode": claim["spec"].get("volumeMode") or "Filesystem",
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
        "storageClassName": class_of(claim),
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        },
        "csi": {"driver": DRIVER, "volumeHandle": name, "volumeAttributes": {NAME: "true"}},
    }
    if attributes := claim["spec"].get("volumeAttributesClassName"):
        spec["volumeAttributesClassName"] = attributes
    if options := storage_class.get("mountOptions"):
        spec["mountOptions"] = options
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": {NAME: "true"}, "annotations": {PROVISIONED_BY: NAME}},
        "spec": spec,
    }
