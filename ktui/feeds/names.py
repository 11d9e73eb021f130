"""The words that only the server knows: its kinds, and the names of objects; for completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.api.errors import ApiError
from engine.api.types import PODS
from engine.client import Client

if TYPE_CHECKING:
    from engine.kubectl.discovery import Discovery

METADATA = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
MOST = 500


class Names:
    """Where the server does not answer there are none: nobody waits for a completion in vain."""

    def __init__(self, client: Client, discovery: Discovery, namespace: str) -> None:
        self._client = client
        self._discovery = discovery
        self._namespace = namespace

    async def kinds(self) -> list[str]:
        try:
            found = await self._discovery.resources(self._client)
        except (ApiError, ConnectionError):
            return []
        return [resource.gvr.resource for resource in found if "list" in resource.verbs]

    async def names(self, kind: str, namespace: str) -> list[str]:
        """Of the namespace that is given, else of the one that is shown, else of `default`."""
        from engine.kubectl.errors import CommandError

        try:
            resource = await self._discovery.resolve(self._client, kind)
            place = (namespace or self._namespace or "default") if resource.namespaced else None
            listed: dict[str, Any] = await self._client.request(
                "GET", resource.gvr.path(place), query={"limit": [str(MOST)]}, headers={"accept": METADATA}
            )
        except (CommandError, ApiError, ConnectionError):
            return []
        return [item["metadata"]["name"] for item in listed.get("items") or ()]

    async def containers(self, pod: str, namespace: str) -> list[str]:
        """Of a Pod, those that prepare it and that were added to it too."""
        if not pod:
            return []
        try:
            found = await self._client.get(PODS, pod, namespace=namespace or self._namespace or "default")
        except (ApiError, ConnectionError):
            return []
        fields = ("containers", "initContainers", "ephemeralContainers")
        return [each["name"] for field in fields for each in found["spec"].get(field) or ()]
