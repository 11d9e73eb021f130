"""The PersistentVolume binder (pkg/controller/volume/persistentvolume/pv_controller.go).

Claims and volumes are two queues upstream; here they are two kinds of keys, `claim/NAMESPACE/NAME` and `volume/NAME`,
of one queue with one worker, so that no two bindings race.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.api.default_class import default_storage_class
from engine.api.errors import ApiError
from engine.api.persistent_volumes import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    CLAIMS,
    SELECTED_NODE,
    STORAGE_CLASSES,
    VOLUMES,
    WAIT_FOR_FIRST_CONSUMER,
    capacity,
    class_of,
)
from engine.api.types import PODS, Object, copy_object
from engine.client import NORMAL, WARNING
from engine.controllers.controller import Controller
from engine.controllers.persistentvolume.objects import (
    BETA_PROVISIONER,
    PROVISIONED_BY,
    PROVISIONER,
    annotations_of,
    attributes_class_of,
    best_match,
    claim_key,
    claim_reference,
    have_same_mode,
    mismatch,
    refers_to,
)
from engine.controllers.persistentvolume.plugins import NoPluginError, external_provisioner
from engine.controllers.persistentvolume.protection import claims_of
from engine.controllers.persistentvolume.reclaimer import Reclaimer
from engine.controllers.persistentvolume.volume_state import VolumeState
from engine.controllers.pods import is_terminal

RESYNC = 15.0  # --pvclaimbinder-sync-period
RECYCLER_POLL = 1.0  # upstream watches the one Pod
_BY_CLAIM = "claim"
_NO_VOLUME = "no persistent volumes available for this claim and no storage class is set"


class PersistentVolumeBinder(Controller):
    name = "persistent-volume-binder"
    kind = "persistentvolumeclaim"
    event_source = "persistentvolume-controller"
    workers = 1

    def set_up(self) -> None:
        self._claims = self.lister(CLAIMS)
        self._volumes = self.lister(VOLUMES)
        self._classes = self.lister(STORAGE_CLASSES)
        self._pods = self.lister(PODS)
        self._state = VolumeState(self.client, self.recorder, self.clock)
        self._reclaimer = Reclaimer(self.client, self.recorder, self._pods, self._state, self._tasks)
        self.index(PODS, _BY_CLAIM, claims_of)
        self.watch(CLAIMS, self._claim_changed)
        self.watch(VOLUMES, self._volume_changed)

    def object_of(self, key: str) -> str:
        kind, _, rest = key.partition("/")
        return f"persistentvolume{'claim' if kind == 'claim' else ''}/{rest}"

    async def run(self) -> None:
        """What waits is looked at again from time to time."""
        while True:
            await self.clock.sleep(RESYNC)
            for claim in self._claims.list():
                if (claim.get("status") or {}).get("phase") != "Bound":
                    self.queue.add(f"claim/{claim_key(claim)}")
            for volume in self._volumes.list():
                if (volume.get("status") or {}).get("phase") in ("Released", "Failed"):
                    self.queue.add(f"volume/{volume['metadata']['name']}")

    def _claim_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        claim = new or old
        assert claim is not None
        keys = [f"claim/{claim_key(claim)}"]
        if volume := claim["spec"].get("volumeName"):
            keys.append(f"volume/{volume}")
        return keys

    def _volume_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        volume = new or old
        assert volume is not None
        keys = [f"volume/{volume['metadata']['name']}"]
        reference = claim_reference(volume)
        if reference.get("name"):
            keys.append(f"claim/{reference.get('namespace')}/{reference['name']}")
        elif new is not None:
            waiting = [claim for claim in self._claims.list() if not claim["spec"].get("volumeName")]
            keys += [f"claim/{claim_key(claim)}" for claim in waiting if self._serves(new, claim)]
        return keys

    def _serves(self, volume: Object, claim: Object) -> bool:
        """Whether a claim need be looked at for a volume: those that wait tell of it each time."""
        return best_match([volume], claim, prebound_only=self._waits_for_consumer(claim)) is not None

    async def reconcile(self, key: str) -> None:
        kind, _, rest = key.partition("/")
        if kind == "volume":
            volume = self._volumes.get(rest)
            if volume is not None:
                await self._sync_volume(volume)
            return
        claim = self._claims.by_key(rest)
        if claim is None:
            return
        if BIND_COMPLETED in annotations_of(claim):
            await self._sync_bound(claim)
        else:
            await self._sync_unbound(claim)

    # -- claims that are not bound yet

    async def _sync_unbound(self, claim: Object) -> None:
        if claim["metadata"].get("deletionTimestamp"):
            return
        if claim["spec"].get("volumeName"):
            await self._sync_named(claim)
            return
        delayed = self._waits_for_consumer(claim)
        volume = best_match(self._volumes.list(), claim, prebound_only=delayed)
        if volume is not None:
            await self._bind(volume, claim)
        elif await self._assign_default_class(claim):
            return  # what it has become is told to us
        elif delayed and SELECTED_NODE not in annotations_of(claim):
            self._tell_of_waiting(claim)
        elif class_of(claim):
            await self._provision(claim)
        else:
            self.recorder.event(claim, NORMAL, "FailedBinding", _NO_VOLUME)

    async def _assign_default_class(self, claim: Object) -> bool:
        """Give a claim the default class that there was not yet when it was made (KEP-3333)."""
        if class_of(claim) or claim["spec"].get("storageClassName") is not None:
            return False
        found = default_storage_class(self._classes.list())
        if found is None:
            return False
        await self.client.update(
            CLAIMS, {**claim, "spec": {**claim["spec"], "storageClassName": found["metadata"]["name"]}}
        )
        return True

    async def _sync_named(self, claim: Object) -> None:
        """A claim that asks for one volume."""
        volume = self._volumes.get(claim["spec"]["volumeName"])
        if volume is None:
            return
        name = volume["metadata"]["name"]
        if not claim_reference(volume):
            if problem := mismatch(volume, claim):
                self.recorder.event(
                    claim, WARNING, "VolumeMismatch", f'Cannot bind to requested volume "{name}": {problem}'
                )
                return
            await self._bind(volume, claim)
        elif refers_to(volume, claim):
            await self._bind(volume, claim)
        else:
            self.recorder.event(claim, WARNING, "FailedBinding", f'volume "{name}" already bound to a different claim.')

    def _waits_for_consumer(self, claim: Object) -> bool:
        """Whether the scheduler chooses a volume for the claim, or a Node to provision one for."""
        found = self._classes.get(class_of(claim))
        return found is not None and found.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER

    def _tell_of_waiting(self, claim: Object) -> None:
        pods = self._pods.by_index(_BY_CLAIM, claim_key(claim))
        waiting = [pod for pod in pods if not pod["spec"].get("nodeName") and not is_terminal(pod)]
        if users := sorted(pod["metadata"]["name"] for pod in waiting):
            text = f"waiting for pod{'s' if len(users) > 1 else ''} {','.join(users)} to be scheduled"
            self.recorder.event(claim, NORMAL, "WaitForPodScheduled", text)
        else:
            text = "waiting for first consumer to be created before binding"
            self.recorder.event(claim, NORMAL, WAIT_FOR_FIRST_CONSUMER, text)

    async def _provision(self, claim: Object) -> None:
        """All provisioners are outside of this controller: the claim is handed to that of its class."""
        name = class_of(claim)
        found = self._classes.get(name)
        if found is None:
            self.recorder.event(claim, WARNING, "ProvisioningFailed", f'storageclass.storage.k8s.io "{name}" not found')
            return
        try:
            provisioner = external_provisioner(found["provisioner"])
        except NoPluginError as error:
            self.recorder.event(claim, WARNING, "ProvisioningFailed", str(error))
            return
        if annotations_of(claim).get(PROVISIONER) != provisioner:
            changed = copy_object(claim)
            changed["metadata"].setdefault("annotations", {}).update(
                {PROVISIONER: provisioner, BETA_PROVISIONER: provisioner}
            )
            claim = await self.client.update(CLAIMS, changed)
        self.recorder.event(
            claim,
            NORMAL,
            "ExternalProvisioning",
            f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the "
            "system administrator. If volume creation is delayed, please verify that the provisioner is running and "
            "correctly registered.",
        )

    # -- binding, in four writes that can each be repeated

    async def _bind(self, volume: Object, claim: Object) -> None:
        volume = await self._bind_volume(volume, claim)
        volume = await self._state.set_phase(volume, "Bound")
        claim = await self._bind_claim(claim, volume)
        await self._set_claim_status(claim, "Bound", volume)

    async def _bind_volume(self, volume: Object, claim: Object) -> Object:
        reference = claim_reference(volume)
        if reference.get("uid") == claim["metadata"]["uid"]:
            return volume
        changed = copy_object(volume)
        if not reference:
            changed["metadata"].setdefault("annotations", {})[BOUND_BY_CONTROLLER] = "yes"
        metadata = claim["metadata"]
        changed["spec"]["claimRef"] = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        }
        return await self.client.update(VOLUMES, changed)

    async def _bind_claim(self, claim: Object, volume: Object) -> Object:
        name = volume["metadata"]["name"]
        if claim["spec"].get("volumeName") == name and BIND_COMPLETED in annotations_of(claim):
            return claim
        changed = copy_object(claim)
        annotations = changed["metadata"].setdefault("annotations", {})
        if changed["spec"].get("volumeName") != name:
            changed["spec"]["volumeName"] = name
            annotations[BOUND_BY_CONTROLLER] = "yes"
        annotations[BIND_COMPLETED] = "yes"
        return await self.client.update(CLAIMS, changed)

    async def _set_claim_status(self, claim: Object, phase: str, volume: Object | None = None) -> Object:
        before = claim.get("status") or {}
        status: dict[str, Any] = {**before, "phase": phase}
        if volume is not None:
            status["accessModes"] = volume["spec"].get("accessModes") or []
            if before.get("phase") != "Bound" or "capacity" not in before:
                status["capacity"] = {"storage": str(capacity(volume))}
            if before.get("phase") != "Bound" and (attributes := attributes_class_of(volume)):
                status["currentVolumeAttributesClassName"] = attributes  # later it is the resizer that tells
        else:
            status.pop("accessModes", None)
            status.pop("capacity", None)
        if status == before:
            return claim
        return await self.client.update_status(CLAIMS, {**claim, "status": status})

    # -- claims that are bound

    async def _sync_bound(self, claim: Object) -> None:
        name = claim["spec"].get("volumeName")
        if not name:
            await self._lost(claim, "ClaimLost", "Bound claim has lost reference to PersistentVolume. "
                             "Data on the volume is lost!")  # fmt: skip
            return
        volume = self._volumes.get(name)
        if volume is None:
            await self._lost(
                claim, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
            )
        elif not claim_reference(volume) or claim_reference(volume).get("uid") == claim["metadata"]["uid"]:
            await self._bind(volume, claim)
        else:
            await self._lost(claim, "ClaimMisbound", "Two claims are bound to the same volume, this one is bound "
                             "incorrectly")  # fmt: skip

    async def _lost(self, claim: Object, reason: str, message: str) -> None:
        if (claim.get("status") or {}).get("phase") != "Lost":
            await self._set_claim_status(claim, "Lost")
            self.recorder.event(claim, WARNING, reason, message)

    # -- volumes

    async def _sync_volume(self, volume: Object) -> None:
        reference = claim_reference(volume)
        self.note(desired=reference.get("name", ""), actual=(volume.get("status") or {}).get("phase", ""))
        if not reference.get("uid"):
            await self._state.set_phase(volume, "Available")
            return
        claim = await self._claimant(volume)
        if claim is None:
            await self._released(volume)
        elif claim["spec"].get("volumeName") == volume["metadata"]["name"]:
            await self._state.set_phase(volume, "Bound")
        elif claim["spec"].get("volumeName"):
            await self._unneeded(volume)
        elif not have_same_mode(volume, claim):
            self._tell_of_modes(volume, claim)
        # else the claim is on its way: its own sync completes the binding

    async def _claimant(self, volume: Object) -> Object | None:
        """The claim that a volume is bound to; before it is given up the API server is asked, for the cache may lag."""
        reference = claim_reference(volume)
        claim = self._claims.get(reference["name"], reference["namespace"])
        if claim is not None and claim["metadata"]["uid"] == reference["uid"]:
            return claim
        if (volume.get("status") or {}).get("phase") in ("Released", "Failed"):
            return None
        try:
            claim = await self.client.get(CLAIMS, reference["name"], namespace=reference["namespace"])
        except ApiError as error:
            if error.code != 404:
                raise
            return None
        return claim if claim["metadata"]["uid"] == reference["uid"] else None

    def _tell_of_modes(self, volume: Object, claim: Object) -> None:
        of, why = "Cannot bind PersistentVolume", "due to incompatible volumeMode."
        name, claimed = volume["metadata"]["name"], claim["metadata"]["name"]
        text = f'{of} to requested PersistentVolumeClaim "{claimed}" {why}'
        self.recorder.event(volume, WARNING, "VolumeMismatch", text)
        text = f'{of} "{name}" to requested PersistentVolumeClaim {why}'
        self.recorder.event(claim, WARNING, "VolumeMismatch", text)

    async def _released(self, volume: Object) -> None:
        if (volume.get("status") or {}).get("phase") not in ("Released", "Failed"):
            volume = await self._state.set_phase(volume, "Released")
        reference = claim_reference(volume)
        key = f"{reference['namespace']}/{reference['name']}"
        named = self._claims.by_key(key) is not None  # another claim of that name: its Pods use another volume
        pods = () if named else self._pods.by_index(_BY_CLAIM, key)
        running = [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in pods if not is_terminal(pod)]
        if await self._reclaimer.reclaim(volume, sorted(running)):
            self.queue.add_after(f"volume/{volume['metadata']['name']}", RECYCLER_POLL)

    async def _unneeded(self, volume: Object) -> None:
        """Its claim is bound to another volume."""
        policy = volume["spec"].get("persistentVolumeReclaimPolicy")
        if PROVISIONED_BY in annotations_of(volume) and policy == "Delete":
            await self._released(volume)
        else:
            await self._state.unbind(volume)
