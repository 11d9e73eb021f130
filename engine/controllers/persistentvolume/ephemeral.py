"""Claims of generic ephemeral volumes: they are made for a Pod and go with it (pkg/controller/volume/ephemeral)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.errors import ApiError
from engine.api.persistent_volumes import CLAIMS
from engine.api.types import PODS, Object, copy_object
from engine.client import WARNING, object_key
from engine.controllers.controller import Controller, RetryLaterError
from engine.controllers.persistentvolume.protection import claims_of


class NotOwnedError(RetryLaterError):
    """A claim of that name was made for somebody else."""


class EphemeralVolumeController(Controller):
    name = "ephemeral-volume-controller"
    kind = "pod"
    event_source = "ephemeral_volume"

    def set_up(self) -> None:
        self._pods = self.lister(PODS)
        self._claims = self.lister(CLAIMS)
        self.index(PODS, "claim", claims_of)
        self.watch(PODS, _needs_claims)
        self.watch(CLAIMS, self._claim_changed)

    def _claim_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        """One that is gone is made again for a Pod that still wants it."""
        if new is not None or old is None:
            return []
        return [object_key(pod) for pod in self._pods.by_index("claim", object_key(old))]

    async def reconcile(self, key: str) -> None:
        pod = self._pods.by_key(key)
        if pod is None or pod["metadata"].get("deletionTimestamp"):
            return
        for volume in pod["spec"].get("volumes") or ():
            if volume.get("ephemeral") is None:
                continue
            try:
                await self._claim(pod, volume)
            except (ApiError, NotOwnedError) as error:
                told = f"create PVC {claim_name(pod, volume)}: {error}" if isinstance(error, ApiError) else str(error)
                self.recorder.event(pod, WARNING, "FailedBinding", f"ephemeral volume {volume['name']}: {told}")
                raise

    async def _claim(self, pod: Object, volume: Object) -> None:
        metadata = pod["metadata"]
        name = claim_name(pod, volume)
        found = self._claims.get(name, metadata["namespace"])
        if found is not None:
            owners = found["metadata"].get("ownerReferences") or ()
            if not any(owner.get("uid") == metadata["uid"] for owner in owners):
                of = f"PVC {object_key(found)} was not created for pod {object_key(pod)}"
                raise NotOwnedError(f"{of} (pod is not owner)")
            return
        template = copy_object(volume["ephemeral"]["volumeClaimTemplate"])
        claim: Object = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                **{key: value for key, value in (template.get("metadata") or {}).items() if key in _KEPT},
                "name": name,
                "namespace": metadata["namespace"],
                "ownerReferences": [_owner(metadata)],
            },
            "spec": template["spec"],
        }
        await self.client.create(CLAIMS, claim, namespace=metadata["namespace"])


def claim_name(pod: Object, volume: Object) -> str:
    return f"{pod['metadata']['name']}-{volume['name']}"


_KEPT = ("labels", "annotations")


def _owner(metadata: Object) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _needs_claims(old: Object | None, new: Object | None) -> Iterable[str]:
    if new is None or old is not None or not any("ephemeral" in v for v in new["spec"].get("volumes") or ()):
        return []
    return [f"{new['metadata']['namespace']}/{new['metadata']['name']}"]
