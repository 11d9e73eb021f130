"""Claims and volumes that are in use are deleted when they no longer are (pkg/controller/volume/pvcprotection and
pvprotection)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.types import PODS, Object, copy_object
from engine.controllers.controller import Controller
from engine.controllers.persistentvolume.objects import CLAIMS, VOLUMES, claim_key

PVC_FINALIZER = "kubernetes.io/pvc-protection"
PV_FINALIZER = "kubernetes.io/pv-protection"


class PVCProtectionController(Controller):
    name = "pvc-protection-controller"
    kind = "persistentvolumeclaim"

    def set_up(self) -> None:
        self._claims = self.lister(CLAIMS)
        self._pods = self.lister(PODS)
        self.index(PODS, "claim", claims_of)
        self.watch(CLAIMS, lambda old, new: [claim_key(new)] if new is not None and _leaves(new, PVC_FINALIZER) else [])
        self.watch(PODS, lambda old, new: claims_of(old) if new is None and old is not None else [])

    async def reconcile(self, key: str) -> None:
        claim = self._claims.by_key(key)
        if claim is None or not _leaves(claim, PVC_FINALIZER):
            return
        users = [pod for pod in self._pods.by_index("claim", key) if pod["spec"].get("nodeName")]
        self.note(desired="deleted", actual=f"used by {len(users)} pods")
        if not users:
            await self.client.update(CLAIMS, _without(claim, PVC_FINALIZER))


class PVProtectionController(Controller):
    name = "pv-protection-controller"
    kind = "persistentvolume"

    def set_up(self) -> None:
        self._volumes = self.lister(VOLUMES)
        self.watch(VOLUMES, _leaving_volume)

    async def reconcile(self, key: str) -> None:
        volume = self._volumes.get(key)
        if volume is None or not _leaves(volume, PV_FINALIZER):
            return
        if (volume.get("status") or {}).get("phase") != "Bound":
            await self.client.update(VOLUMES, _without(volume, PV_FINALIZER))


def _leaving_volume(old: Object | None, new: Object | None) -> Iterable[str]:
    return [new["metadata"]["name"]] if new is not None and _leaves(new, PV_FINALIZER) else []


def claims_of(pod: Object) -> list[str]:
    """The keys of the claims that a Pod uses, those of its ephemeral volumes too."""
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    found = []
    for volume in pod["spec"].get("volumes") or ():
        if source := volume.get("persistentVolumeClaim"):
            found.append(f"{namespace}/{source['claimName']}")
        elif volume.get("ephemeral") is not None:
            found.append(f"{namespace}/{name}-{volume['name']}")
    return found


def _leaves(obj: Object, finalizer: str) -> bool:
    metadata = obj["metadata"]
    return bool(metadata.get("deletionTimestamp")) and finalizer in (metadata.get("finalizers") or ())


def _without(obj: Object, finalizer: str) -> Object:
    changed = copy_object(obj)
    changed["metadata"]["finalizers"].remove(finalizer)
    return changed
