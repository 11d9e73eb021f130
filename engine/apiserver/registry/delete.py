"""delete and deletecollection: preconditions, grace, finalizers, propagation.

Source of the behaviour: apiserver pkg/registry/generic/registry/store.go (Delete, BeforeDelete,
deletionFinalizersForGarbageCollection), pkg/registry/core/pod/strategy.go (CheckGracefulDelete) and
pkg/registry/core/namespace/storage (Delete).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from engine.api.errors import Cause, bad_request, conflict, field_invalid, invalid, not_found
from engine.api.resources import ResourceInfo
from engine.api.schema import Definitions
from engine.api.types import GVK, Object, copy_object
from engine.apiserver.admission import Attributes, Operation
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call, describe
from engine.apiserver.registry.body import read_value
from engine.apiserver.registry.options import dry_run_causes, truthy
from engine.apiserver.registry.read import list_object
from engine.apiserver.registry.selection import select
from engine.apiserver.registry.write import UPDATE_ATTEMPTS, Writer
from engine.apiserver.storage import Stored
from engine.trace import Hop

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"
_POLICIES = ("Background", "Foreground", "Orphan")
_DEFAULT_GRACE = 30
# The kinds whose deletion answers with the object itself, also where it is gone at once.
_RETURN_OBJECT = frozenset(
    ("pods", "services", "serviceaccounts", "persistentvolumeclaims", "persistentvolumes", "podtemplates")
)


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    grace: int | None = None
    policy: str = ""
    orphan: bool | None = None
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False

    @classmethod
    def of(cls, definitions: Definitions, call: Call) -> DeleteOptions:
        """From the body or, without one, the query. Raises ApiError 400 or 422."""
        request = call.request
        body = read_value(definitions, request)
        if body is not None and not isinstance(body, dict):
            raise bad_request("the body of a delete must be DeleteOptions")
        if not body:
            body = _from_query(call)
        elif body.get("kind", "DeleteOptions") != "DeleteOptions":
            raise bad_request(f'no kind "{body["kind"]}" is registered for DeleteOptions')
        dry_run = body.get("dryRun") or request.query.get("dryRun") or []
        causes = _causes(body, dry_run)
        if causes:
            raise invalid(GVK("meta.k8s.io", "v1", "DeleteOptions"), "", causes)
        preconditions = body.get("preconditions") or {}
        return cls(
            grace=body.get("gracePeriodSeconds"),
            policy=body.get("propagationPolicy") or "",
            orphan=body.get("orphanDependents"),
            uid=preconditions.get("uid") or "",
            resource_version=preconditions.get("resourceVersion") or "",
            dry_run=bool(dry_run),
        )


def _from_query(call: Call) -> dict[str, Any]:
    request = call.request
    options: dict[str, Any] = {}
    if grace := request.parameter("gracePeriodSeconds"):
        try:
            options["gracePeriodSeconds"] = int(grace)
        except ValueError:
            raise bad_request(f'strconv.ParseInt: parsing "{grace}": invalid syntax') from None
    if policy := request.parameter("propagationPolicy"):
        options["propagationPolicy"] = policy
    if orphan := request.parameter("orphanDependents"):
        options["orphanDependents"] = truthy(orphan)
    return options


def _causes(body: dict[str, Any], dry_run: list[str]) -> list[Cause]:
    causes = dry_run_causes(dry_run)
    policy = body.get("propagationPolicy")
    if policy is not None and body.get("orphanDependents") is not None:
        causes.append(
            field_invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set")
        )
    if policy is not None and policy not in _POLICIES:
        causes.append(
            field_invalid(
                "propagationPolicy",
                policy,
                'must be one of ["Background" "Foreground" "Orphan"] or not set',
            )
        )
    grace = body.get("gracePeriodSeconds")
    if grace is not None and (not isinstance(grace, int) or isinstance(grace, bool)):
        raise bad_request("json: cannot unmarshal into Go struct field DeleteOptions.gracePeriodSeconds of type int64")
    return causes


class Deleter:
    def __init__(self, backend: Backend, writer: Writer) -> None:
        self._backend = backend
        self._writer = writer
        self._world = backend.world

    async def delete(self, call: Call) -> Object:
        """Delete one object; the answer is the object where it lives on, else a Status. Raises ApiError 404, 409."""
        options = DeleteOptions.of(self._backend.definitions, call)
        stored = await self._load(call)
        await self._admit(call, stored.object, options)
        for _ in range(UPDATE_ATTEMPTS):
            self._check(call, stored, options)
            answer = await self._once(call, stored, options)
            if answer is not None:
                return answer
            stored = await self._load(call)
        raise conflict(call.gvr_resource.gvr, call.info.name)

    async def delete_collection(self, call: Call) -> Object:
        """Delete all that a selection finds, each as if by itself; those that are gone meanwhile do not matter."""
        info = call.gvr_resource
        selection = select(info, call.info.namespace, call.request)
        page = await self._backend.storage.page(info, call.info.namespace)
        deleted: list[Object] = []
        for _, obj in page.items:
            if not selection.wants(obj):
                continue
            metadata = obj["metadata"]
            one = replace(call, info=call.info._replace(name=metadata["name"], namespace=metadata.get("namespace", "")))
            one.object = describe(info, one.info.namespace, one.info.name)
            try:
                await self.delete(one)
            except Exception as error:
                if getattr(error, "code", 0) != 404:
                    raise
            else:
                deleted.append(obj)
        return list_object(info, deleted, revision=page.revision)

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
        )
        with call.span(Hop.MUTATING_ADMISSION) as span:
            await self._world.latency.pause("mutating-admission")
            await self._backend.admission.mutate(attributes, span)
        with call.span(Hop.VALIDATING_ADMISSION) as span:
            await self._world.latency.pause("validating-admission")
            await self._backend.admission.validate(attributes, span)

    def _check(self, call: Call, stored: Stored, options: DeleteOptions) -> None:
        info, metadata = call.gvr_resource, stored.object["metadata"]
        if options.uid and options.uid != metadata["uid"]:
            raise conflict(
                info.gvr,
                metadata["name"],
                f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata['uid']}). "
                "The object might have been deleted and then recreated",
            )
        if options.resource_version and options.resource_version != str(stored.revision):
            raise conflict(
                info.gvr,
                metadata["name"],
                f"the ResourceVersion in the precondition ({options.resource_version}) does not match the "
                f"ResourceVersion in record ({stored.revision}). The object might have been modified",
            )

    async def _once(self, call: Call, stored: Stored, options: DeleteOptions) -> Object | None:
        """One attempt; None if another write came between."""
        info, old = call.gvr_resource, stored.object
        plan = _plan(info, old, options, now=self._world.clock.now())
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


@dataclass(frozen=True, slots=True)
class _Plan:
    """`marked` is the object to write first (deletionTimestamp, finalizers); `remove` takes it away for good; `wait`
    says that a deletion is under way already and this request changes nothing."""

    marked: Object | None = None
    remove: bool = False
    graceful: bool = False
    wait: bool = False


def _plan(info: ResourceInfo, old: Object, options: DeleteOptions, *, now: datetime) -> _Plan:
    if info.kind == "Namespace":
        return _plan_namespace(old, options, now=now)
    kept = old["metadata"]
    finalizers = _finalizers(info, old, options)
    changed = finalizers != (kept.get("finalizers") or [])
    marked = copy_object(old) if changed else None
    if marked is not None:
        _set_finalizers(marked, finalizers)
    graceful = False
    grace = 0
    if _has_grace(info):
        if "deletionTimestamp" in kept and "deletionGracePeriodSeconds" in kept:
            before = kept["deletionGracePeriodSeconds"]
            if options.grace is None or options.grace >= before:
                # Only a shorter grace may follow; 0 after 0 lets what nothing keeps go.
                if not (options.grace == 0 and before == 0):
                    return _Plan(wait=True)
                return _Plan(remove=not finalizers, wait=bool(finalizers))
            grace = max(options.grace, 0)
            began = _parse(kept["deletionTimestamp"]) - timedelta(seconds=before)
            marked = marked or copy_object(old)
            _mark(marked, began + timedelta(seconds=grace), grace)
            graceful = True
        elif "deletionTimestamp" not in kept:
            grace = _grace_period(old, options)
            marked = marked or copy_object(old)
            _mark(marked, now + timedelta(seconds=grace), grace)
            graceful = True
    if finalizers:
        if not graceful:
            marked = marked or copy_object(old)
            if "deletionTimestamp" in kept and not changed:
                return _Plan(wait=True)
            if "deletionTimestamp" not in kept:
                _mark(marked, now, 0)
        return _Plan(marked=marked)
    return _Plan(marked=marked, remove=not (graceful and grace > 0), graceful=graceful)


def _plan_namespace(old: Object, options: DeleteOptions, *, now: datetime) -> _Plan:
    """A namespace goes through Terminating; the namespace controller empties it and takes the finalizer off."""
    kept = old["metadata"]
    if "deletionTimestamp" not in kept:
        marked = copy_object(old)
        _mark(marked, now, None)
        marked.setdefault("status", {})["phase"] = "Terminating"
        if options.policy == "Orphan" or options.orphan:
            finalizers = [*(kept.get("finalizers") or []), ORPHAN]
            _set_finalizers(marked, list(dict.fromkeys(finalizers)))
        return _Plan(marked=marked)
    if (old.get("spec") or {}).get("finalizers") or kept.get("finalizers"):
        return _Plan(wait=True)
    return _Plan(remove=True)


def _has_grace(info: ResourceInfo) -> bool:
    return info.gvr.group == "" and info.gvr.resource == "pods"


def _grace_period(pod: Object, options: DeleteOptions) -> int:
    spec = pod.get("spec") or {}
    grace = options.grace
    if grace is None:
        grace = spec.get("terminationGracePeriodSeconds", _DEFAULT_GRACE)
    # Nobody runs it, or it has run: nothing to wait for.
    if not spec.get("nodeName") or (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        grace = 0
    return 1 if grace < 0 else int(grace)


def _finalizers(info: ResourceInfo, old: Object, options: DeleteOptions) -> list[str]:
    """The finalizers that the propagation policy leaves; the garbage collector acts on its own two."""
    present: list[str] = old["metadata"].get("finalizers") or []
    policy = options.policy
    if options.orphan is not None:  # the older way to say it
        policy = "Orphan" if options.orphan else "Background"
    if not policy:
        return present
    rest = [name for name in present if name not in (ORPHAN, FOREGROUND)]
    if policy == "Orphan":
        return [*rest, ORPHAN]
    if policy == "Foreground":
        return [*rest, FOREGROUND]
    return rest


def _set_finalizers(obj: Object, finalizers: list[str]) -> None:
    if finalizers:
        obj["metadata"]["finalizers"] = finalizers
    else:
        obj["metadata"].pop("finalizers", None)


def _mark(obj: Object, when: datetime, grace: int | None) -> None:
    metadata = obj["metadata"]
    metadata["deletionTimestamp"] = when.strftime("%Y-%m-%dT%H:%M:%SZ")
    if grace is not None:
        metadata["deletionGracePeriodSeconds"] = grace
    if metadata.get("generation", 0) > 0:
        metadata["generation"] += 1


def _parse(timestamp: str) -> datetime:
    return datetime.fromisoformat(timestamp)


def _gone(info: ResourceInfo, obj: Object) -> Object:
    if info.gvr.group == "" and info.gvr.resource in _RETURN_OBJECT:
        return obj
    metadata = obj["metadata"]
    details: Object = {"name": metadata["name"]}
    if info.gvr.group:
        details["group"] = info.gvr.group
    details |= {"kind": info.gvr.resource, "uid": metadata["uid"]}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


__all__ = ["FOREGROUND", "ORPHAN", "DeleteOptions", "Deleter"]
