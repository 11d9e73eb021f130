"""ConfigMaps, Secrets and volumes that Pods of this node refer to, asked for when a container needs them
(pkg/kubelet/configmap and secret managers; volumemanager)."""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, GVR, SECRETS
from engine.client import Client
from engine.disks import Disks
from engine.kubelet.kuberuntime.env import decoded

CLAIMS = GVR("", "v1", "persistentvolumeclaims")


class ObjectReferences:
    def __init__(self, client: Client, disks: Disks) -> None:
        self._client = client
        self._disks = disks

    async def disk(self, namespace: str, claim: str) -> dict[str, str] | None:
        """What is on the volume that a claim is bound to; None if it is bound to none."""
        try:
            found = await self._client.get(CLAIMS, claim, namespace=namespace)
        except ApiError as error:
            if error.code == 404:
                return None
            raise
        volume = found["spec"].get("volumeName")
        return self._disks.open(volume) if volume else None

    async def data(self, kind: str, namespace: str, name: str) -> dict[str, str] | None:
        """The data of a `configmap` or `secret`, decoded; None if there is none. Other failures raise ApiError."""
        secret = kind == "secret"
        try:
            found = await self._client.get(SECRETS if secret else CONFIGMAPS, name, namespace=namespace)
        except ApiError as error:
            if error.code == 404:
                return None
            raise
        return decoded(found, secret=secret)
