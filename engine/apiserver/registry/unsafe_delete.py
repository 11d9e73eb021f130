"""Deleting what the store has and nobody can read (apiserver pkg/registry/generic/registry corrupt_obj_deleter.go,
pkg/endpoints/handlers delete.go authorizeUnsafeDelete).

It asks for a verb of its own, and neither finalizers nor hooks have a say: nobody knows what they would be.
"""

from __future__ import annotations

from engine.api.errors import field_invalid, forbidden, invalid
from engine.api.types import Object
from engine.apiserver.authorization import Attributes, Verdict
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.corrupt_objects import CorruptObjectError
from engine.apiserver.registry.delete_options import UNSAFE
from engine.trace import Hop

VERB = "unsafe-delete-ignore-read-errors"
_ANNOTATION = "apiserver.k8s.io/unsafe-delete-ignore-read-error"


class UnsafeDeleter:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def check(self, call: Call) -> int:
        """The revision of the unreadable object. Raises ApiError 403; 422 for one that can be read, or is not there."""
        call.annotations[_ANNOTATION] = ""
        info, request = call.gvr_resource, call.info
        answer = await self._backend.authorizer.authorize(Attributes.of(call.user, request)._replace(verb=VERB))
        if answer.decision.verdict is not Verdict.ALLOW:
            why = f'not permitted to do "{VERB}", reason: {answer.decision.reason}'
            raise forbidden(info.gvr, request.name, why)
        try:
            await self._backend.storage.get(info, request.namespace, request.name)
        except CorruptObjectError as corrupt:
            return corrupt.revision
        needless = "is exclusively used to delete corrupt object(s), try again by removing this option"
        # The text names the resource where a kind is expected.
        gvk = info.gvk._replace(kind=info.gvr.resource)
        raise invalid(gvk, request.name, [field_invalid(UNSAFE, True, needless)])

    async def remove(self, call: Call, revision: int) -> Object:
        """The Status of the success; what is no longer at that revision has been changed by others, and stays."""
        info, request = call.gvr_resource, call.info
        detail = {"key": info.key(request.namespace, request.name), "expected": revision, "deletes": True}
        with call.span(Hop.STORE, component="etcd", detail=detail) as span:
            await self._backend.world.latency.pause("store")
            removed = await self._backend.storage.remove(
                info, request.namespace, request.name, expected=revision, cause=span.traceparent
            )
            span.revision = removed or 0
        details = {"name": request.name, "kind": info.kind}
        status: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
        return {**status, "details": details, "code": 200}
