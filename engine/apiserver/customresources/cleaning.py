"""Deleting what a definition leaves behind (apiextensions-apiserver pkg/controller/finalizer/crd_finalizer.go).

A definition that is being deleted goes when the last of its objects is gone; those have finalizers of their own, so
that it may take as long as somebody needs. Each try waits a minute for them, and the breaks get longer.
"""

from __future__ import annotations

from functools import partial

from engine.api.crd import naming
from engine.api.crd.deletion import FINALIZER, Outcome, ended, failed, in_progress, unconfirmed
from engine.api.errors import ApiError
from engine.api.resources import ResourceInfo
from engine.api.types import Object, copy_object
from engine.api.wire import Request
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call, describe
from engine.apiserver.registry.delete import Deleter
from engine.apiserver.request_info import parse
from engine.apiserver.storage import Stored
from engine.store.types import StoreError
from engine.tasks import Supervisor
from engine.trace import Hop, SpanContext

_USER = UserInfo("system:apiserver", groups=("system:masters",))
_POLL, _PATIENCE = 1.0, 60.0
_AGAIN, _LONGEST = 0.005, 1000.0  # how long to wait after a failure: twice as long as after the one before
_DESCRIBED = "customresourcedefinition"


class Cleaner:
    def __init__(self, backend: Backend, deleter: Deleter, tasks: Supervisor) -> None:
        self._backend = backend
        self._deleter = deleter
        self._tasks = tasks
        self._working: set[str] = set()

    def clean(self, definition: Object, resource: ResourceInfo | Outcome) -> None:
        """Begin to clean up, unless that goes on: delete the objects of the resource, or say why there are none."""
        metadata = definition["metadata"]
        if FINALIZER in metadata.get("finalizers", ()) and metadata["uid"] not in self._working:
            self._working.add(metadata["uid"])
            self._tasks.spawn(self._clean(metadata["name"], metadata["uid"], resource), f"clean {metadata['name']}")

    async def _clean(self, name: str, uid: str, resource: ResourceInfo | Outcome) -> None:
        tracer = self._backend.world.tracer
        with tracer.span(
            Hop.CONTROLLER, component="kube-apiserver", verb="reconcile", object=f"{_DESCRIBED}/{name}"
        ) as span:
            wait = _AGAIN
            while not await self._cleaned(name, uid, resource, cause=span.context):
                await self._backend.world.clock.sleep(wait)
                wait = min(2 * wait, _LONGEST)
        self._working.discard(uid)

    async def _cleaned(self, name: str, uid: str, resource: ResourceInfo | Outcome, *, cause: SpanContext) -> bool:
        """Go on with it as far as it goes now; whether it is done."""
        try:
            await self._write(name, uid, in_progress, cause=cause)
            outcome = resource if isinstance(resource, Outcome) else Outcome.COMPLETED
            if isinstance(resource, ResourceInfo) and (left := await self._left(resource, cause)) is not None:
                await self._write(name, uid, left, cause=cause)
                return False
            await self._write(name, uid, partial(ended, outcome=outcome), cause=cause)
        except StoreError:
            return False
        return True

    async def _left(self, resource: ResourceInfo, cause: SpanContext) -> naming.Change | None:
        """None once no object is left, or what is to be said of the definition. Those that are told to go may have
        finalizers to wait for."""
        try:
            await self._delete_all(resource, cause)
        except ApiError as error:
            return partial(failed, why=str(error))
        clock = self._backend.world.clock
        end = clock.monotonic() + _PATIENCE
        while not await self._is_empty(resource):
            if clock.monotonic() >= end:
                return unconfirmed
            await clock.sleep(_POLL)
        return None

    async def _delete_all(self, resource: ResourceInfo, cause: SpanContext) -> None:
        path = resource.gvr.path()
        request = Request("DELETE", path, in_process=True)
        call = Call(request, parse(request), self._backend.world.tracer, cause, user=_USER, resource=resource)
        call.object = describe(resource, "", "")
        await self._deleter.delete_collection(call)

    async def _is_empty(self, resource: ResourceInfo) -> bool:
        page = await self._backend.storage.page(resource, "", limit=1, stored=True)
        return not page.items

    async def _write(self, name: str, uid: str, change: naming.Change, *, cause: SpanContext) -> None:
        """Change the definition, which goes if nothing keeps it any more."""
        backend = self._backend
        info = backend.resources.get("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        assert info is not None
        while (stored := await self._load(info, name, uid)) is not None:
            new = change(copy_object(stored.object), now=backend.world.clock.timestamp())
            if new == stored.object:
                return
            with backend.world.tracer.span(
                Hop.STORE, component="etcd", verb="update", object=f"{_DESCRIBED}/{name}", cause=cause
            ) as span:
                write = span.traceparent
                if new["metadata"].get("finalizers"):
                    written = await backend.storage.replace(info, "", name, new, expected=stored.revision, cause=write)
                    done = written is not None
                else:
                    done = (
                        await backend.storage.remove(info, "", name, expected=stored.revision, cause=write) is not None
                    )
            if done:
                return

    async def _load(self, info: ResourceInfo, name: str, uid: str) -> Stored | None:
        stored = await self._backend.storage.get(info, "", name)
        return stored if stored is not None and stored.object["metadata"]["uid"] == uid else None
