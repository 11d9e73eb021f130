"""Claims, volumes and their classes of attributes that are in use are deleted when they no longer are (pkg/controller/
volume/pvcprotection, pvprotection and vacprotection)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.api.persistent_volumes import CLAIMS, VOLUMES
from engine.api.types import PODS, Object, copy_object
from engine.config import ClusterConfig
from engine.controllers.controller import Controller
from engine.controllers.features import serves_volume_attributes_classes, tells_unused_claims
from engine.controllers.ownership import controller_of
from engine.controllers.persistentvolume.objects import ATTRIBUTES_CLASSES, claim_key

PVC_FINALIZER = "kubernetes.io/pvc-protection"
PV_FINALIZER = "kubernetes.io/pv-protection"
VAC_FINALIZER = "kubernetes.io/vac-protection"
UNUSED = "Unused"  # a condition of claims
_IDLE = {"status": "True", "reason": "NoPodsUsingPVC", "message": "No pods are currently referencing this PVC"}
_IN_USE = {"status": "False", "reason": "PodUsingPVC", "message": "A pod is currently referencing this PVC"}


class PVCProtectionController(Controller):
    name = "pvc-protection-controller"
    kind = "persistentvolumeclaim"

    def set_up(self) -> None:
        self._tells = tells_unused_claims(self.config.kubernetes_version)
        self._claims = self.lister(CLAIMS)
        self._pods = self.lister(PODS)
        self.index(PODS, "claim", claims_of)
        self.watch(CLAIMS, lambda old, new: [claim_key(new)] if new is not None and self._concerns(old, new) else [])
        self.watch(PODS, self._claims_of_changed)

    async def reconcile(self, key: str) -> None:
        claim = self._claims.by_key(key)
        if claim is None:
            return
        if _leaves(claim, PVC_FINALIZER):
            users = [pod for pod in self._pods.by_index("claim", key) if _uses(pod, claim)]
            self.note(desired="deleted", actual=f"used by {len(users)} pods")
            if not users:
                await self.client.update(CLAIMS, _without(claim, PVC_FINALIZER))
        elif _lacks(claim, PVC_FINALIZER):
            await self.client.update(CLAIMS, _with(claim, PVC_FINALIZER))
        elif self._tells and _is_bound(claim):
            await self._tell(key, claim)

    async def _tell(self, key: str, claim: Object) -> None:
        """Whether Pods use the claim that have not ended, or are yet to run, and since when."""
        used = not all(map(_has_ended, self._pods.by_index("claim", key)))
        if (present := _unused(claim)) is not None and (present["status"] == "False") is used:
            return
        told = {"type": UNUSED, **(_IN_USE if used else _IDLE), "lastTransitionTime": self.clock.timestamp()}
        changed = copy_object(claim)
        others = [each for each in changed["status"].get("conditions") or () if each["type"] != UNUSED]
        changed["status"]["conditions"] = [*others, told]
        self.note(desired=f"{UNUSED}={told['status']}", actual=f"{UNUSED}={present and present['status']}")
        await self.client.update_status(CLAIMS, changed)

    def _concerns(self, old: Object | None, new: Object) -> bool:
        if _leaves(new, PVC_FINALIZER) or _lacks(new, PVC_FINALIZER):
            return True
        return self._tells and _is_bound(new) and (old is None or _unused(new) is None)

    def _claims_of_changed(self, old: Object | None, new: Object | None) -> list[str]:
        """Of a Pod that has gone, or waits for its finalizers only; and of one that comes or ends, if it is told who
        uses a claim."""
        if new is None:
            return claims_of(old) if old is not None else []
        if _is_shut_down(new) and not (old is not None and _is_shut_down(old)):
            return claims_of(new)
        changes = old is None or _has_ended(old) is not _has_ended(new)
        return claims_of(new) if self._tells and changes else []


class PVProtectionController(Controller):
    name = "pv-protection-controller"
    kind = "persistentvolume"

    def set_up(self) -> None:
        self._volumes = self.lister(VOLUMES)
        self.watch(VOLUMES, _leaving_volume)

    async def reconcile(self, key: str) -> None:
        volume = self._volumes.get(key)
        if volume is None:
            return
        if _lacks(volume, PV_FINALIZER):
            await self.client.update(VOLUMES, _with(volume, PV_FINALIZER))
        elif _leaves(volume, PV_FINALIZER) and (volume.get("status") or {}).get("phase") != "Bound":
            await self.client.update(VOLUMES, _without(volume, PV_FINALIZER))


class VACProtectionController(Controller):
    name = "volumeattributesclass-protection-controller"
    kind = "volumeattributesclass"

    @classmethod
    def is_needed(cls, config: ClusterConfig) -> bool:
        return serves_volume_attributes_classes(config.kubernetes_version)

    def set_up(self) -> None:
        self._classes, self._claims = self.lister(ATTRIBUTES_CLASSES), self.lister(CLAIMS)
        self._volumes = self.lister(VOLUMES)
        self.index(CLAIMS, "attributes class", classes_of_claim)
        self.index(VOLUMES, "attributes class", _classes_of_volume)
        self.watch(ATTRIBUTES_CLASSES, lambda old, new: [] if new is None else [new["metadata"]["name"]])
        self.watch(CLAIMS, lambda old, new: _let_go(classes_of_claim, old, new))
        self.watch(VOLUMES, lambda old, new: _let_go(_classes_of_volume, old, new))

    async def reconcile(self, key: str) -> None:
        found = self._classes.get(key)
        if found is None:
            return
        if _lacks(found, VAC_FINALIZER):
            await self.client.update(ATTRIBUTES_CLASSES, _with(found, VAC_FINALIZER))
        elif _leaves(found, VAC_FINALIZER) and not any(
            users.by_index("attributes class", key) for users in (self._volumes, self._claims)
        ):
            await self.client.update(ATTRIBUTES_CLASSES, _without(found, VAC_FINALIZER))


def classes_of_claim(claim: Object) -> list[str]:
    """The classes that a claim wants, has and is on the way to."""
    status = claim.get("status") or {}
    names = (
        claim["spec"].get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    )
    return list(dict.fromkeys(name for name in names if name))


def _classes_of_volume(volume: Object) -> list[str]:
    name = volume["spec"].get("volumeAttributesClassName")
    return [name] if name else []


def _let_go(classes_of: Callable[[Object], list[str]], old: Object | None, new: Object | None) -> list[str]:
    """The classes that something no longer uses."""
    if old is None:
        return []
    kept = classes_of(new) if new is not None else []
    return [name for name in classes_of(old) if name not in kept]


def _leaving_volume(old: Object | None, new: Object | None) -> Iterable[str]:
    """One that leaves, or from which somebody took what protects it."""
    concerned = new is not None and (_leaves(new, PV_FINALIZER) or _lacks(new, PV_FINALIZER))
    return [new["metadata"]["name"]] if new is not None and concerned else []


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


def _uses(pod: Object, claim: Object) -> bool:
    """A claim of a Pod's own is used until the kubelet is done with it: the Pod may wait for the claim to go."""
    if not pod["spec"].get("nodeName"):
        return False
    name, volumes = claim["metadata"]["name"], pod["spec"].get("volumes") or ()
    if any((volume.get("persistentVolumeClaim") or {}).get("claimName") == name for volume in volumes):
        return True
    owner = controller_of(claim)
    return not _is_shut_down(pod) and owner is not None and owner["uid"] == pod["metadata"]["uid"]


def _is_shut_down(pod: Object) -> bool:
    """Whether it has been deleted and only its finalizers keep it."""
    metadata = pod["metadata"]
    return bool(metadata.get("deletionTimestamp")) and metadata.get("deletionGracePeriodSeconds") == 0


def _has_ended(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _is_bound(claim: Object) -> bool:
    return (claim.get("status") or {}).get("phase") == "Bound" and not claim["metadata"].get("deletionTimestamp")


def _unused(claim: Object) -> Object | None:
    conditions = (claim.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each["type"] == UNUSED), None)


def _leaves(obj: Object, finalizer: str) -> bool:
    metadata = obj["metadata"]
    return bool(metadata.get("deletionTimestamp")) and finalizer in (metadata.get("finalizers") or ())


def _lacks(obj: Object, finalizer: str) -> bool:
    """Neither on its way out nor protected (NeedToAddFinalizer)."""
    metadata = obj["metadata"]
    return not metadata.get("deletionTimestamp") and finalizer not in (metadata.get("finalizers") or ())


def _with(obj: Object, finalizer: str) -> Object:
    changed = copy_object(obj)
    changed["metadata"]["finalizers"] = [*(changed["metadata"].get("finalizers") or ()), finalizer]
    return changed


def _without(obj: Object, finalizer: str) -> Object:
    changed = copy_object(obj)
    changed["metadata"]["finalizers"].remove(finalizer)
    return changed
