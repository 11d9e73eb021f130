"""delete and deletecollection (apiserver pkg/registry/generic/registry/store.go Delete, DeleteCollection)."""

from __future__ import annotations

from dataclasses import replace

from engine.api.errors import ApiError, conflict, not_found
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.admission import Attributes, Operation
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call, describe
from engine.apiserver.registry.delete_options import DeleteOptions
from engine.apiserver.registry.delete_plan import plan as plan_delete
from engine.apiserver.registry.options import ListOptions
from engine.apiserver.registry.read import Reader
from engine.apiserver.registry.selection import select
from engine.apiserver.registry.write import UPDATE_ATTEMPTS, Writer
from engine.apiserver.storage import Stored
from engine.trace import Hop

# The kinds whose deletion answers with the object itself, also where it is gone at once.
_RETURN_OBJECT = frozenset(
    ("pods", "services", "serviceaccounts", "persistentvolumeclaims", "persistentvolumes", "podtemplates")
)


# pkg/registry/batch/job/storage storage.go
_JOBS_WARNING = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
    "propagationPolicy=Orphan to suppress this warning"
)
_PAGE = 10_000  # of a collection at once (store.go deleteCollectionPageSize)


class Deleter:
    def __init__(self, backend: Backend, writer: Writer) -> None:
        self._backend = backend
        self._reader = Reader(backend)
        self._writer = writer
        self._world = backend.world

    async def delete(self, call: Call, *, admitted: bool = False) -> Object:
        """Delete one object; the answer is the object where it lives on, else a Status. `admitted` says that admission
        has seen what deletes it (an Eviction). Raises ApiError 404, 409."""
        options = DeleteOptions.of(self._backend.definitions, call)
        if call.gvr_resource.kind == "Job" and not options.policy and options.orphan is None:
            call.warnings[:] = dict.fromkeys([*call.warnings, _JOBS_WARNING])
        stored = await self._load(call)
        if not admitted:
            await self._admit(call, stored.object, options)
        for _ in range(UPDATE_ATTEMPTS):
            self._check(call, stored, options)
            answer = await self._once(call, stored, options)
            if answer is not None:
                return answer
            stored = await self._load(call)
        raise conflict(call.gvr_resource.gvr, call.info.name)

    async def delete_collection(self, call: Call) -> Object:
        """Delete all that a list would show, or the page that is asked for; the answer is that list.

        Raises ApiError 400, 410, 422, and what the deletion of one of them raises: those before it are gone.
        """
        options = ListOptions.of(call.request, watching=False)
        selection = select(call.gvr_resource, call.info.namespace, call.request)
        DeleteOptions.of(self._backend.definitions, call)  # what is wrong with them is said also where nothing is found
        paged = replace(options, limit=options.limit or _PAGE)
        shown = page = await self._reader.selected(selection, paged)
        await self._delete_each(call, page["items"])
        while not options.limit and (token := page["metadata"].get("continue")):
            page = await self._reader.selected(selection, ListOptions(limit=_PAGE, continue_=token))
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
        info, request = call.gvr_resource, call.info
        stored = await self._backend.storage.get(info, request.namespace, request.name)
        if stored is None:
            raise not_found(info.gvr, request.name)
        return stored

    async def _admit(self, call: Call, old: Object, options: DeleteOptions) -> None:
        request = call.info
        attributes = Attributes(
            Operation.DELETE,
            call.gvr_resource,
            request.subresource,
            request.namespace,
            request.name,
            call.user,
            None,
            old,
            options.dry_run,
            call.warnings,
            call.annotations,
        )
        with call.span(Hop.MUTATING_ADMISSION) as span:
            await self._world.latency.pause("mutating-admission")
            await self._backend.admission.mutate(attributes, span)
        with call.span(Hop.VALIDATING_ADMISSION) as span:
            await self._world.latency.pause("validating-admission")
            await self._backend.admission.validate(attributes, span)

    def _check(self, call: Call, stored: Stored, options: DeleteOptions) -> None:
        info, metadata = call.gvr_resource, stored.object["metadata"]
        named = info.gvr._replace(resource=info.kind)  # these two texts name the kind (rest.BeforeDelete)
        if options.uid and options.uid != metadata["uid"]:
            raise conflict(
                named,
                metadata["name"],
                f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata['uid']}). "
                "The object might have been deleted and then recreated",
            )
        if options.resource_version and options.resource_version != str(stored.revision):
            raise conflict(
                named,
                metadata["name"],
                f"the ResourceVersion in the precondition ({options.resource_version}) does not match the "
                f"ResourceVersion in record ({stored.revision}). The object might have been modified",
            )

    async def _once(self, call: Call, stored: Stored, options: DeleteOptions) -> Object | None:
        """One attempt; None if another write came between."""
        info, old = call.gvr_resource, stored.object
        plan = plan_delete(info, old, options, now=self._world.clock.now())
        if plan.wait:
            return old
        if options.dry_run:
            return plan.marked if plan.marked is not None and not plan.remove else _gone(info, old)
        marked = old
        if plan.marked is not None and (plan.graceful or not plan.remove):
            written = await self._write(call, plan.marked, stored)
            if written is None:
                return None
            marked, stored = written, Stored(written, int(written["metadata"]["resourceVersion"]))
        if not plan.remove:
            return marked
        if not await self._remove(call, stored):
            return None
        return _gone(info, marked)

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
                cause=span.context.traceparent,
            )
            if written is None:
                span.outcome = "Conflict"
            else:
                span.revision = int(written["metadata"]["resourceVersion"])
            return written

    async def _remove(self, call: Call, stored: Stored) -> bool:
        info, request = call.gvr_resource, call.info
        detail = {"key": info.key(request.namespace, request.name), "expected": stored.revision}
        with call.span(Hop.STORE, component="etcd", detail=detail) as span:
            await self._world.latency.pause("store")
            revision = await self._backend.storage.remove(
                info, request.namespace, request.name, expected=stored.revision, cause=span.context.traceparent
            )
            if revision is None:
                span.outcome = "Conflict"
                return False
            span.revision = revision
        self._writer.deleted(info, stored.object)
        return True


def _gone(info: ResourceInfo, obj: Object) -> Object:
    if info.gvr.group == "" and info.gvr.resource in _RETURN_OBJECT:
        return obj
    metadata = obj["metadata"]
    details: Object = {"name": metadata["name"]}
    if info.gvr.group:
        details["group"] = info.gvr.group
    details |= {"kind": info.gvr.resource, "uid": metadata["uid"]}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
