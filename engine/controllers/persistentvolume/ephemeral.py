"""Claims of generic ephemeral volumes: they are made for a Pod and go with it (pkg/controller/volume/ephemeral)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.errors import ApiError
from engine.api.persistent_volumes import CLAIMS
from engine.api.types import PODS, Object, copy_object
from engine.client import WARNING
from engine.controllers.controller import Controller


class EphemeralVolumeController(Controller):
    name = "ephemeral-volume-controller"
    kind = "pod"
    event_source = "ephemeral_volume"

    def set_up(self) -> None:
        self._pods = self.lister(PODS)
        self._claims = self.lister(CLAIMS)
        self.watch(PODS, _needs_claims)

    async def reconcile(self, key: str) -> None:
        pod = self._pods.by_key(key)
        if pod is None or pod["metadata"].get("deletionTimestamp"):
            return
        for volume in pod["spec"].get("volumes") or ():
            if volume.get("ephemeral") is not None:
                await self._claim(pod, volume)

    async def _claim(self, pod: Object, volume: Object) -> None:
        metadata = pod["metadata"]
        name = f"{metadata['name']}-{volume['name']}"
        found = self._claims.get(name, metadata["namespace"])
        if found is not None:
            owners = found["metadata"].get("ownerReferences") or ()
            if not any(owner.get("uid") == metadata["uid"] for owner in owners):
                key = f"{metadata['namespace']}/{name}"
                raise ValueError(f"PVC {key} was not created for pod {metadata['name']} (pod is not owner)")
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
        try:
            await self.client.create(CLAIMS, claim, namespace=metadata["namespace"])
        except ApiError as error:
            self.recorder.event(
                pod, WARNING, "FailedBinding", f"ephemeral volume controller failed to create PVC {name}: {error}"
            )
            raise


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
