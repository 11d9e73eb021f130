"""NamespaceLifecycle: nothing is created in a namespace that is not there or is going; some namespaces stay.

Source: apiserver pkg/admission/plugin/namespace/lifecycle/admission.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from engine.api.errors import ApiError, forbidden, not_found
from engine.api.types import NAMESPACES
from engine.apiserver.admission.attributes import CHANGES, Attributes, Operation, Plugin, Watched, denied
from engine.apiserver.lookup import StateLookup

IMMORTAL = frozenset(("default", "kube-system", "kube-public"))
# Reviews that are about a namespace but live in none.
_REVIEWS = frozenset(("localsubjectaccessreviews.authorization.k8s.io",))


class NamespaceLifecycle(Plugin):
    name = "NamespaceLifecycle"
    operations = CHANGES

    def __init__(self, lookup: StateLookup) -> None:
        self._lookup = lookup

    async def mutate(self, attributes: Attributes) -> bool:
        resource = attributes.resource
        if resource.kind == "Namespace" and not resource.gvr.group:
            if attributes.operation is Operation.DELETE and attributes.name in IMMORTAL:
                raise forbidden(NAMESPACES, attributes.name, "this namespace may not be deleted")
            return False
        if not attributes.namespace or not resource.namespaced or attributes.key in _REVIEWS:
            return False
        if attributes.operation is not Operation.CREATE:
            return False  # what is there may change, and go, also in a namespace that is going
        namespace = await self._lookup.find(NAMESPACES, "", attributes.namespace)
        if namespace is None:
            raise not_found(NAMESPACES, attributes.namespace)
        if (namespace.get("status") or {}).get("phase") == "Terminating" or "deletionTimestamp" in namespace[
            "metadata"
        ]:
            raise _terminating(attributes)
        return False

    async def ground(self, attributes: Attributes) -> Hashable:
        return await self.mutate(attributes)

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        state = self._lookup.state(NAMESPACES, "", attributes.namespace)
        return (state,) if state is not None else None


def _terminating(attributes: Attributes) -> ApiError:
    namespace = attributes.namespace
    error = denied(attributes, f"unable to create new content in namespace {namespace} because it is being terminated")
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    error.details = {**(error.details or {}), "causes": [cause]}
    return error
