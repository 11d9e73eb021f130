"""ConfigMaps and Secrets that Pods of this node refer to, asked for when a container needs them
(pkg/kubelet/configmap and secret managers)."""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, SECRETS
from engine.client import Client
from engine.kubelet.kuberuntime.env import decoded


class ObjectReferences:
    def __init__(self, client: Client) -> None:
        self._client = client

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
