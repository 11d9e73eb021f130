"""Creates (apiserver pkg/registry/generic/registry/store.go Create, pkg/registry/rest/create.go).

Every POST of what is stored ends here, and so does the PUT or the apply of what is not there, but for the POST of a Pod
that is like others before (`engine.apiserver.registry.create_alike`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from engine.api.alike_pods import AlikePods, likeness
from engine.api.defaults import apply_defaults
from engine.api.errors import ApiError, invalid
from engine.api.resources import ResourceInfo
from engine.api.strategies.strategy import prepare_alike, prepare_for_create
from engine.api.taint_times import default_taint_times
from engine.api.types import Object
from engine.api.validation import check_create
from engine.api.warnings import warnings_before_create, warnings_on_create
from engine.apiserver.admission import Attributes, Operation
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.create_rights import check_may_create
from engine.apiserver.registry.fitting import made_to_fit
from engine.apiserver.registry.managed_fields import tracked_new
from engine.apiserver.registry.metadata import fill_for_create, generated_name, name_taken
from engine.apiserver.registry.options import WriteOptions
from engine.apiserver.registry.owner_references import drop_twins
from engine.apiserver.registry.requesters import name_requester
from engine.apiserver.registry.resource_versions import version_of_new, version_of_update
from engine.apiserver.registry.write_admission import as_kept, attributes_of, mutate, validate
from engine.apiserver.turns import in_turns
from engine.trace import Hop

NAME_ATTEMPTS = 8

T = TypeVar("T")
# Puts what is new in a namespace under a name, for a cause: what is there now and its revision; None where the name is
# taken.
Put = Callable[[str, str, str], Awaitable[tuple[T, int] | None]]


class Creater:
    """As upstream spells it (rest.Creater)."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._world = backend.world
        self._alike = AlikePods()

    async def create(
        self, call: Call, obj: Object, options: WriteOptions, *, tracked: bool = False, by_update: bool = False
    ) -> Object:
        """Create `obj`, which is the request's own and has been decoded and defaulted. `tracked` says that it has its
        managedFields already (server-side apply).

        `by_update` says that the request is an update or an apply of what is not there: the resourceVersion that it may
        name is that of nothing, and counts for nothing. Raises ApiError 409, 422.
        """
        if by_update:
            version_of_update(obj)
            obj["metadata"].pop("resourceVersion", None)
        obj = self.begun(call, obj, options, tracked=tracked)
        attributes = attributes_of(call, Operation.CREATE, obj, None, options=options)
        await mutate(self._backend, call, attributes)
        return await self.create_admitted(call, attributes, obj, options, tracked=tracked, by_update=by_update)

    def begun(self, call: Call, obj: Object, options: WriteOptions, *, tracked: bool) -> Object:
        """A new object as admission meets it."""
        drop_twins(call, obj, admitted=False)
        default_taint_times(call.gvr_resource, obj, now=self._world.clock.timestamp())
        return obj if tracked else tracked_new(self._backend, call, obj, options)

    async def create_admitted(
        self,
        call: Call,
        attributes: Attributes,
        obj: Object,
        options: WriteOptions,
        *,
        tracked: bool,
        by_update: bool = False,
    ) -> Object:
        """Complete and check what mutating admission has made of `obj`, let plugins accept it, and store it. Raises
        ApiError 403 where an update may not create."""
        info = call.gvr_resource
        drop_twins(call, obj, admitted=True)
        generate = "" if obj["metadata"].get("name") else obj["metadata"].get("generateName", "")
        if generate:
            obj["metadata"]["name"] = self.drawn_name(info, generate)
        hook = self._backend.hooks.of(info.gvr.group_resource)
        if hook is not None:
            await hook.begin_create(obj, dry_run=options.dry_run)
        created: Object | None = None
        try:
            with call.span(Hop.SCHEMA):
                await self._world.latency.pause("schema")
                name_requester(info, obj, call.user)
                call.warnings.extend(warnings_before_create(info, obj))
                alike = await self._complete_new(info, obj, before := likeness(info, obj))
                attributes.object, attributes.name = obj, obj["metadata"].get("name", "")
                call.named(obj)
            if by_update:
                await check_may_create(self._backend, call)
            await validate(self._backend, call, attributes)
            obj = as_kept(info, obj, attributes)
            warnings = warnings_on_create(info, obj, alike=alike)
            if warnings:
                call.warnings.extend(warnings)
            elif not alike:
                self._alike.remember(before, info, obj)
            if options.dry_run:
                return await self._would_create(call, obj)
            created = await made_to_fit(obj, lambda: self.insert(call, obj, generate), tracked=tracked)
            return created
        finally:
            if hook is not None and created is None:
                await hook.after_failure(obj, None)
            elif hook is not None:
                await hook.after_success(obj, None)

    async def _complete_new(self, info: ResourceInfo, obj: Object, before: bytes) -> bool:
        """Whether the object is like one before (`before` is its likeness), so that there was less to do."""
        backend = self._backend
        fill_for_create(obj, uid=backend.uids.uid(), now=self._world.clock.timestamp())
        status = self._alike.status(before)
        if status is not None:
            prepare_alike(info, obj, status)
        else:
            prepare_for_create(info, obj)
            apply_defaults(info, obj)
        if causes := await in_turns(check_create(info, obj, alike=status is not None), self._world.clock):
            raise invalid(info.gvk, obj["metadata"].get("name", ""), causes)
        return status is not None

    def drawn_name(self, info: ResourceInfo, base: str) -> str:
        """A name for an object that has only a generateName."""
        return generated_name(info, base, self._backend.names.name_suffix())

    async def _would_create(self, call: Call, obj: Object) -> Object:
        info = call.gvr_resource
        if (stored := await self._backend.storage.get(info, call.info.namespace, obj["metadata"]["name"])) is not None:
            raise name_taken(info, obj["metadata"], stored.object)
        return self._backend.storage.ordered(info, obj)

    async def insert(self, call: Call, obj: Object, generate: str) -> Object:
        """Put the object into the store, under another drawn name where one that began with `generate` is taken.
        Raises ApiError 409."""
        info, storage = call.gvr_resource, self._backend.storage
        metadata = obj["metadata"]
        if (asked := metadata.pop("resourceVersion", "")) and version_of_new(asked):
            # An error of the storage (etcd3 store.go Create), passed on as it is: 500 without a reason.
            raise ApiError(500, "", "resourceVersion should not be set on objects to be created")

        async def put(namespace: str, name: str, cause: str) -> tuple[Object, int] | None:
            metadata["name"] = name
            created = await storage.create(info, namespace, name, obj, cause=cause)
            return (created, int(created["metadata"]["resourceVersion"])) if created is not None else None

        created, _ = await self.put_new(call, metadata, generate, put)
        return created

    async def put_new(self, call: Call, metadata: Object, generate: str, put: Put[T]) -> tuple[T, int]:
        """What `put` makes of the name in `metadata`, or of one drawn for it. Raises ApiError 409."""
        info, name = call.gvr_resource, metadata["name"]
        namespace = call.info.namespace if info.namespaced else ""
        for attempt in range(NAME_ATTEMPTS):
            if attempt:
                name = self.drawn_name(info, generate)
                call.named_as(name)
            with call.span(Hop.STORE, component="etcd", detail={"key": info.key(namespace, name)}) as span:
                await self._world.latency.pause("store")
                made = await put(namespace, name, span.traceparent)
                if made is not None:
                    span.revision = made[1]
                    return made
                span.outcome = "AlreadyExists"
            if not generate:
                break
        present = await self._backend.storage.get(info, namespace, name)
        raise name_taken(info, {**metadata, "name": name}, present.object if present is not None else None)
