"""delete and deletecollection (apiserver pkg/registry/generic/registry/store.go Delete, DeleteCollection)."""

from __future__ import annotations

from dataclasses import replace

from engine.api.deletion_answers import returned_when_deleted
from engine.api.errors import ApiError, conflict, field_invalid, forbidden, invalid
from engine.api.resources import ResourceInfo
from engine.api.types import GVK, GVR, Object
from engine.apiserver.admission import Attributes, Operation
from engine.apiserver.admission.options import options_of_delete
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call, describe
from engine.apiserver.changes import with_resource_version
from engine.apiserver.registry.delete_options import UNSAFE, DeleteOptions
from engine.apiserver.registry.delete_plan import DEFINITIONS, Plan, grace_of
from engine.apiserver.registry.delete_plan import plan as plan_delete
from engine.apiserver.registry.lists import Lister
from engine.apiserver.registry.options import ListOptions
from engine.apiserver.registry.selection import select
from engine.apiserver.registry.unsafe_delete import UnsafeDeleter
from engine.apiserver.storage import Stored
from engine.trace import Hop

PRIORITY_CLASSES = GVR("scheduling.k8s.io", "v1", "priorityclasses")
# pkg/registry/batch/job/storage storage.go
_JOBS_WARNING = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
    "propagationPolicy=Orphan to suppress this warning"
)
# Each of them stays, but not where all are deleted at once (pkg/registry/scheduling/priorityclass/storage).
_STAY = frozenset(("system-cluster-critical", "system-node-critical"))
_LOOK_FIRST = ("namespaces", DEFINITIONS)
_PAGE = 10_000  # of a collection at once (store.go deleteCollectionPageSize)


class Deleter:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._lister = Lister(backend)
        self._unsafe = UnsafeDeleter(backend)
        self._world = backend.world

    async def delete(self, call: Call, *, admitted: bool = False) -> tuple[int, Object]:
        """Delete one object; the answer is the status code and the object where it lives on, else a Status.

        `admitted` says that admission has seen what deletes it (an Eviction). Raises ApiError 404, 409, 422.
        """
        options = DeleteOptions.of(self._backend.definitions, call)
        if call.gvr_resource.kind == "Job" and not options.policy and options.orphan is None:
            call.warnings[:] = dict.fromkeys([*call.warnings, _JOBS_WARNING])
        if call.gvr_resource.gvr == PRIORITY_CLASSES and call.info.verb == "delete" and call.info.name in _STAY:
            raise forbidden(PRIORITY_CLASSES, call.info.name, "this is a system priority class and cannot be deleted")
        if options.ignore_read_error:
            return 200, await self._delete_unreadable(call, options)
        stored = await self._load(call)
        while True:
            self._check(call, stored, options)
            plan = plan_delete(call.gvr_resource, stored.object, options, now=self._world.clock.now())
            if not admitted and not plan.wait:  # what another write changed meanwhile is admitted as it is now
                await self._admit(call, stored.object, options)
            answer = await self._once(call, stored, plan, dry_run=options.dry_run)
            if answer is not None:
                # Who asks for the dependents to go first is told that they are still there.
                return 202 if options.orphan is False and not plan.remove else 200, answer
            stored = await self._load(call)

    async def _delete_unreadable(self, call: Call, options: DeleteOptions) -> Object:
        revision = await self._unsafe.check(call)
        info, request = call.gvr_resource, call.info
        nameless = {"name": request.name, **({"namespace": request.namespace} if info.namespaced else {})}
        await self._admit(call, {"apiVersion": info.gvk.api_version, "kind": info.kind, "metadata": nameless}, options)
        return await self._unsafe.remove(call, revision)

    async def delete_collection(self, call: Call) -> Object:
        """Delete all that a list would show, or the page that is asked for; the answer is that list.

        Raises ApiError 400, 410, 422, and what the deletion of one of them raises: those before it are gone.
        """
        options = ListOptions.of(call.request, watching=False)
        selection = select(call.gvr_resource, call.info.namespace, call.request)
        options = options.where(single=selection.key is not None)
        # What is wrong with them is said also where nothing is found.
        if DeleteOptions.of(self._backend.definitions, call).ignore_read_error:
            unfit = "is not allowed with DELETECOLLECTION, try again after removing the option"
            raise invalid(GVK("meta.k8s.io", "v1", "DeleteOptions"), "", [field_invalid(UNSAFE, True, unfit)])
        paged = replace(options, limit=options.limit or _PAGE)
        shown = page = await self._lister.selected(selection, paged)
        await self._delete_each(call, page["items"])
        while not options.limit and (token := page["metadata"].get("continue")):
            page = await self._lister.selected(selection, ListOptions(limit=_PAGE, continue_=token))
            await self._delete_each(call, page["items"])
            shown["items"] += page["items"]
        return shown

    async def _delete_each(self, call: Call, objects: list[Object]) -> None:
        """Each as if by itself; those that are gone meanwhile do not matter."""
        for obj in objects:
            metadata = obj["metadata"]
            one = replace(call, info=call.info._replace(name=metadata["name"], namespace=metadata.get("namespace", "")))
            one.object = describe(call.gvr_resource, one.info.namespace, one.info.name)
            try:
                await self.delete(one)
            except ApiError as error:
                if error.code != 404:
                    raise

    async def _load(self, call: Call) -> Stored:
        return await self._backend.storage.named(call.gvr_resource, call.info.namespace, call.info.name)

    async def _admit(self, call: Call, old: Object, options: DeleteOptions) -> None:
        request = call.info
        attributes = Attributes(
            Operation.DELETE,
            call.gvr_resource,
            request.subresource,
            request.namespace,
            "" if request.verb == "deletecollection" else request.name,  # a collection names none of its objects
            call.user,
            None,
            old,
            options.dry_run,
            call.warnings,
            call.annotations,
            options=options_of_delete(options.asked, grace_of(call.gvr_resource, old, options)),
        )
        with call.span(Hop.MUTATING_ADMISSION) as span:
            await self._world.latency.pause("mutating-admission")
            await self._backend.admission.mutate(attributes, span)
        with call.span(Hop.VALIDATING_ADMISSION) as span:
            await self._world.latency.pause("validating-admission")
            await self._backend.admission.validate(attributes, span)

    def _check(self, call: Call, stored: Stored, options: DeleteOptions) -> None:
        metadata = stored.object["metadata"]
        version = str(stored.revision)
        if options.uid is not None and options.uid != metadata.get("uid", ""):
            why = "The object might have been deleted and then recreated"
            raise _unmet(call, "UID", options.uid, metadata.get("uid", ""), why=why)
        if options.resource_version is not None and options.resource_version != version:
            raise _unmet(
                call, "ResourceVersion", options.resource_version, version, why="The object might have been modified"
            )

    async def _once(self, call: Call, stored: Stored, plan: Plan, *, dry_run: bool) -> Object | None:
        """One attempt; None if another write came between."""
        info, old = call.gvr_resource, stored.object
        if plan.wait:
            return old
        if dry_run:
            return _gone(info, old) if plan.remove else plan.marked or old
        marked = old
        if plan.marked is not None and (plan.graceful or not plan.remove):
            written = await self._write(call, plan.marked, stored)
            if written is None:
                return None
            marked, stored = written, Stored(written, int(written["metadata"]["resourceVersion"]))
        if not plan.remove:
            return marked
        removed = await self._remove(call, stored)
        return _gone(info, with_resource_version(marked, removed)) if removed is not None else None

    async def _write(self, call: Call, obj: Object, stored: Stored) -> Object | None:
        info, request = call.gvr_resource, call.info
        detail = {"key": info.key(request.namespace, request.name), "expected": stored.revision}
        with call.span(Hop.STORE, component="etcd", detail=detail) as span:
            await self._world.latency.pause("store")
            written = await self._backend.storage.replace(
                info,
                request.namespace,
                request.name,
                obj,
                expected=stored.revision,
                cause=span.traceparent,
            )
            if written is None:
                span.outcome = "Conflict"
            else:
                span.revision = int(written["metadata"]["resourceVersion"])
            return written

    async def _remove(self, call: Call, stored: Stored) -> int | None:
        """The revision of the deletion; None if another write came between."""
        info, request = call.gvr_resource, call.info
        detail = {"key": info.key(request.namespace, request.name), "expected": stored.revision, "deletes": True}
        with call.span(Hop.STORE, component="etcd", detail=detail) as span:
            await self._world.latency.pause("store")
            revision = await self._backend.storage.remove(
                info, request.namespace, request.name, expected=stored.revision, cause=span.traceparent
            )
            if revision is None:
                span.outcome = "Conflict"
                return None
            span.revision = revision
        await self._backend.hooks.deleted(info.gvr.group_resource, stored.object)
        return revision


def _unmet(call: Call, what: str, wanted: str, found: str, *, why: str) -> ApiError:
    """409 for a precondition; the generic text names the kind (rest.BeforeDelete), those of namespaces and definitions,
    whose storage looks first, do not."""
    info = call.gvr_resource
    if info.gvr.group_resource in _LOOK_FIRST:
        text = f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
        return conflict(info.gvr, call.info.name, text)
    text = f"the {what} in the precondition ({wanted}) does not match the {what} in record ({found}). {why}"
    return conflict(info.gvr._replace(resource=info.kind), call.info.name, text)


def _gone(info: ResourceInfo, obj: Object) -> Object:
    if returned_when_deleted(info):
        return obj
    metadata = obj["metadata"]
    details: Object = {"name": metadata["name"]}
    if info.gvr.group:
        details["group"] = info.gvr.group
    details["kind"] = info.gvr.resource
    if uid := metadata.get("uid"):  # of what was written past the API there may be none
        details["uid"] = uid
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
