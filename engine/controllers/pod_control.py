"""Creating and deleting Pods for a controlling object, with its events (RealPodControl in controller_utils.go)."""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.types import GVK, PODS, Object, copy_object
from engine.client import NORMAL, WARNING, Client, EventRecorder
from engine.controllers.ownership import controller_reference

# The longest prefix that still leaves the server room for its five random characters is its own affair; a prefix
# that would be no valid name with its dash goes without one.
MAX_NAME = 253


class PodControl:
    def __init__(self, client: Client, recorder: EventRecorder) -> None:
        self._client = client
        self._recorder = recorder

    async def create(self, pod: Object, owner: Object) -> Object:
        """Create a Pod; the owner's events tell of it. A namespace that is going away is told of by no event."""
        namespace = owner["metadata"]["namespace"]
        try:
            created = await self._client.create(PODS, pod, namespace=namespace)
        except ApiError as error:
            if not namespace_terminating(error):
                self._recorder.event(owner, WARNING, "FailedCreate", f"Error creating: {error}")
            raise
        self._recorder.event(owner, NORMAL, "SuccessfulCreate", f"Created pod: {created['metadata']['name']}")
        return created

    async def delete(self, pod: Object, owner: Object) -> None:
        """Delete a Pod by name. Raises the server's error, also if it is gone already."""
        namespace, name = owner["metadata"]["namespace"], pod["metadata"]["name"]
        try:
            await self._client.delete(PODS, name, namespace=namespace)
        except ApiError as error:
            if error.code != 404:
                self._recorder.event(owner, WARNING, "FailedDelete", f"Error deleting: {error}")
            raise
        self._recorder.event(owner, NORMAL, "SuccessfulDelete", f"Deleted pod: {name}")


def pod_from_template(template: Object, owner: Object, owner_kind: GVK) -> Object:
    """The Pod of a template, owned by `owner` (controller.GetPodFromTemplate)."""
    meta = template.get("metadata") or {}
    prefix = f"{owner['metadata']['name']}-"
    metadata: Object = {"generateName": prefix if len(prefix) <= MAX_NAME else prefix[:-1]}
    for field in ("labels", "annotations", "finalizers"):
        if meta.get(field):
            metadata[field] = meta[field]
    metadata["ownerReferences"] = [controller_reference(owner, owner_kind)]
    return copy_object({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}})


def namespace_terminating(error: ApiError) -> bool:
    """The namespace is being deleted: nothing can be created in it, and that is no failure of the controller."""
    causes = (error.details or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
