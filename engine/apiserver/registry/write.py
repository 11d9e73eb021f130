"""Hops 04 to 07 of a write: mutating admission, schema, validating admission, store.

All verbs that write end here (apiserver pkg/registry/generic/registry/store.go Create and Update, pkg/registry/rest
create.go and update.go).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import orjson

from engine.api.alike_pods import AlikePods, likeness
from engine.api.apply import track_update
from engine.api.defaults import apply_defaults
from engine.api.errors import ApiError, Cause, conflict, field_invalid, invalid
from engine.api.golang.integer import parse_uint
from engine.api.resources import ResourceInfo
from engine.api.strategies.strategy import (
    prepare_alike,
    prepare_for_approval,
    prepare_for_create,
    prepare_for_status_update,
    prepare_for_update,
)
from engine.api.taint_times import default_taint_times, renew_taint_time
from engine.api.types import GVK, NAMESPACES, Object
from engine.api.validation import check_create, check_status_update, check_update
from engine.api.warnings import (
    warnings_before_create,
    warnings_on_create,
    warnings_on_status_update,
    warnings_on_update,
)
from engine.apiserver.admission import Attributes, Operation
from engine.apiserver.admission.options import options_of_write
from engine.apiserver.admission.settled import Known
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.admitted_views import admitted_view
from engine.apiserver.registry.facet import Facet
from engine.apiserver.registry.foreign_versions import ForeignVersions
from engine.apiserver.registry.metadata import (
    carry_over,
    check_namespace,
    check_same_object,
    fill_for_create,
    generated_name,
    name_taken,
    same_but_revision,
)
from engine.apiserver.registry.options import WriteOptions
from engine.apiserver.registry.owner_references import drop_twins
from engine.apiserver.registry.owners_after_admission import restore_owners
from engine.apiserver.registry.pod_moulds import Admitted, Mould, Own, PodMoulds, Words, as_received
from engine.apiserver.registry.requesters import name_requester
from engine.apiserver.registry.update_rules import updated_unconditionally
from engine.apiserver.storage import Stored
from engine.apiserver.turns import in_turns
from engine.store.types import RequestTooLargeError
from engine.trace import Hop, Span

# Subresources of a Pod that change its spec, and so count its generation (registry/core/pod strategy.go).
_SPEC_PARTS = frozenset(("resize", "ephemeralcontainers"))
NAME_ATTEMPTS = 8
# How often what is there or not is updated or made, while others delete and make it.
UPDATE_ATTEMPTS = 100

T = TypeVar("T")
Transform = Callable[[Object], Object]
# Metadata that other code of the server fills in by itself; a subresource whose rules are not those of the main one.
Rules = Callable[[Object, Object], list[Cause]]


class Writer:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._world = backend.world
        self._alike = AlikePods()
        self.moulds = PodMoulds()

    # -- create

    async def create(
        self,
        call: Call,
        obj: Object,
        options: WriteOptions,
        *,
        tracked: bool = False,
        by_update: bool = False,
        words: Words | None = None,
    ) -> Object:
        """Create `obj`, which is the request's own and has been decoded and defaulted; `tracked` as in `update`.

        `by_update` says that the request is an update or an apply of what is not there: the resourceVersion that it may
        name is that of nothing, and counts for nothing. What comes of the `words` of a request is remembered.
        """
        if by_update:
            _asked_version(obj)
            obj["metadata"].pop("resourceVersion", None)
        obj = self._begun(call, obj, options, tracked=tracked)
        attributes = self._attributes(call, Operation.CREATE, obj, None, options=options)
        received = as_received(obj) if words is not None and words.repeated else None
        owners = obj["metadata"].get("managedFields")
        with call.span(Hop.MUTATING_ADMISSION) as span:
            await self._world.latency.pause("mutating-admission")
            admitted = await self._change(attributes, span, received)
        self._after_webhooks(call, attributes, owners)
        created = await self._create_admitted(call, attributes, obj, options, tracked=tracked)
        if words is not None and not call.warnings:
            self._remember(call, words, created, received, admitted)
        return created

    def _begun(self, call: Call, obj: Object, options: WriteOptions, *, tracked: bool) -> Object:
        """A new object as admission meets it."""
        info = call.gvr_resource
        drop_twins(call, obj, admitted=False)
        default_taint_times(info, obj, now=self._world.clock.timestamp())
        if tracked:
            return obj
        # Before admission and strategy: what the server adds belongs to no manager.
        return self._tracked(info.gvk, obj, None, options=options, subresource="")

    async def create_alike(
        self, call: Call, words: Words, mould: Mould, options: WriteOptions, read: Callable[[], Object]
    ) -> Object:
        """As `create`, of a request for a Pod in words that a mould is proved for. `read` gives what `create` gets,
        where admission has other grounds now."""
        info, clock = call.gvr_resource, self._world.clock
        written = clock.timestamp()
        call.named_as(words.name)
        attributes = self._attributes(call, Operation.CREATE, mould.received, None, options=options)
        attributes.name = words.name
        obj: Object | None = None
        with call.span(Hop.MUTATING_ADMISSION) as span:
            await self._world.latency.pause("mutating-admission")
            if not await self._backend.admission.mutates_alike(attributes, span, mould.known):
                obj = attributes.object = self._begun(call, read(), options, tracked=False)
                received, owners = as_received(obj), obj["metadata"].get("managedFields")
                admitted = await self._change(attributes, span, received)
        if obj is not None:
            self._after_webhooks(call, attributes, owners)
            created = await self._create_admitted(call, attributes, obj, options, tracked=False)
            if not call.warnings:
                self._remember(call, words, created, received, admitted)
            return created
        drawn = self._backend.admission.draw(attributes) if mould.draws else ""
        generate = "" if words.name else mould.generate
        name = words.name or self._name(info, generate)
        with call.span(Hop.SCHEMA):
            await self._world.latency.pause("schema")
            own = Own(name, self._backend.uids.uid(), clock.timestamp(), written, drawn)
            text = mould.text(own)
            obj = attributes.object = orjson.loads(text)
            attributes.name = name
            call.named_as(name)
        await self._validate(call, attributes, mould.known)

        def kept() -> bytes:
            return text if obj["metadata"]["name"] == name else mould.text(own._replace(name=obj["metadata"]["name"]))

        async def write() -> Object:
            fits = "managedFields" in obj["metadata"]
            return await self._insert(call, obj, generate, kept if fits else None)

        return await _made_to_fit(obj, write, tracked=False)

    def _remember(
        self, call: Call, words: Words, created: Object, received: Object | None, admitted: Admitted | None
    ) -> None:
        if not words.repeated:
            self.moulds.note(words)
        elif received is not None and admitted is not None:
            info = call.gvr_resource
            text = self._backend.storage.encoded(info, created)
            self.moulds.learn(words, info, created, text, received, admitted)

    async def _create_admitted(
        self, call: Call, attributes: Attributes, obj: Object, options: WriteOptions, *, tracked: bool
    ) -> Object:
        info = call.gvr_resource
        drop_twins(call, obj, admitted=True)
        generate = "" if obj["metadata"].get("name") else obj["metadata"].get("generateName", "")
        if generate:
            obj["metadata"]["name"] = self._name(info, generate)
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
            await self._validate(call, attributes)
            obj = _as_kept(info, obj, attributes)
            warnings = warnings_on_create(info, obj, alike=alike)
            if warnings:
                call.warnings.extend(warnings)
            elif not alike:
                self._alike.remember(before, info, obj)
            if options.dry_run:
                return await self._would_create(call, obj)
            created = await _made_to_fit(obj, lambda: self._insert(call, obj, generate), tracked=tracked)
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

    def _name(self, info: ResourceInfo, base: str) -> str:
        return generated_name(info, base, self._backend.names.name_suffix())

    async def _would_create(self, call: Call, obj: Object) -> Object:
        info = call.gvr_resource
        if (stored := await self._backend.storage.get(info, call.info.namespace, obj["metadata"]["name"])) is not None:
            raise name_taken(info, obj, stored.object)
        return self._backend.storage.ordered(info, obj)

    async def _insert(self, call: Call, obj: Object, generate: str, text: Callable[[], bytes] | None = None) -> Object:
        """`text` is what is to be stored of an object in order, where that is known."""
        info, storage = call.gvr_resource, self._backend.storage
        metadata = obj["metadata"]
        if (asked := metadata.pop("resourceVersion", "")) and _version(asked):
            # An error of the storage (etcd3 store.go Create), passed on as it is: 500 without a reason.
            raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
        namespace = call.info.namespace if info.namespaced else ""
        for attempt in range(NAME_ATTEMPTS):
            if attempt:
                metadata["name"] = self._name(info, generate)
                call.named(obj)
            name = metadata["name"]
            with call.span(Hop.STORE, component="etcd", detail={"key": info.key(namespace, name)}) as span:
                await self._world.latency.pause("store")
                cause = span.context.traceparent
                if text is not None:
                    created = await storage.create_as(info, namespace, name, obj, text(), cause=cause)
                else:
                    created = await storage.create(info, namespace, name, obj, cause=cause)
                if created is not None:
                    span.revision = int(created["metadata"]["resourceVersion"])
                    return created
                span.outcome = "AlreadyExists"
            if not generate:
                break
        present = await storage.get(info, namespace, metadata["name"])
        raise name_taken(info, obj, present.object if present is not None else None)

    # -- update

    async def update(
        self,
        call: Call,
        options: WriteOptions,
        transform: Transform,
        *,
        tracked: bool = False,
        rules: Rules | None = None,
        admitted: bool = False,
    ) -> Object:
        """Replace the object of the request by what `transform` makes of it.

        `transform` gets the frozen object and returns a private one, decoded and defaulted; it is called again when
        another write came between. `tracked` says that it has kept managedFields itself (server-side apply). `rules`
        stand in place of the kind's own preparation and validation (a subresource that is neither spec nor status).
        `admitted` says that schema and admission have seen what makes the change (a Binding).
        Raises ApiError 404, 409.
        """
        while True:  # as often as others write the same object: the request ends when its time is up
            stored = await self._load(call)
            new = transform(stored.object)
            written = await self._update_once(
                call, options, stored, new, tracked=tracked, rules=rules, admitted=admitted
            )
            if written is not None:
                return written

    async def _load(self, call: Call) -> Stored:
        return await self._backend.storage.named(call.gvr_resource, call.info.namespace, call.info.name)

    async def _update_once(
        self,
        call: Call,
        options: WriteOptions,
        stored: Stored,
        new: Object,
        *,
        tracked: bool,
        rules: Rules | None,
        admitted: bool,
    ) -> Object | None:
        info, old = call.gvr_resource, stored.object
        if call.info.verb != "patch":
            check_same_object(info, new, old)
        asked = _asked_version(new)
        if asked and asked != stored.revision:
            raise conflict(info.gvr, call.info.name)
        if not asked and not updated_unconditionally(info):
            unsaid = field_invalid("metadata.resourceVersion", 0, "must be specified for an update")
            # The text names the resource where a kind is expected (store.go Update).
            raise invalid(info.gvk._replace(kind=info.gvr.resource), call.info.name, [unsaid])
        new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
        carry_over(new, old)
        drop_twins(call, new, admitted=False)
        if not call.info.subresource:
            default_taint_times(info, new, now=self._world.clock.timestamp())
        if not tracked:  # before admission and strategy: what the server changes belongs to no manager
            new = await self._owned(call, new, old, options=options)
        view = admitted_view(info, call.info.subresource)
        attributes = self._attributes(call, Operation.UPDATE, view.show(new), view.show(old), options=options)
        if not admitted:
            await self._mutate(call, attributes)
            new = view.taken(new, attributes.object)
        drop_twins(call, new, admitted=True)
        hook = self._backend.hooks.of(info.gvr.group_resource) if not call.info.subresource else None
        if hook is not None:
            await hook.begin_update(new, old, dry_run=options.dry_run)
        written: Object | None = None
        try:
            if admitted:
                await self._complete_changed(call, new, old, rules=rules)
            else:
                with call.span(Hop.SCHEMA):
                    await self._world.latency.pause("schema")
                    await self._complete_changed(call, new, old, rules=rules)
                    attributes.object = view.show(new)
                await self._validate(call, attributes)
                new = _as_kept(info, new, attributes)
            if call.info.subresource == "status":
                call.warnings.extend(warnings_on_status_update(info, new))
            else:
                call.warnings.extend(warnings_on_update(info, new, old))
            if same_but_revision(new, old) and await self._backend.storage.kept_as_shown(info, stored):
                written = old
            elif options.dry_run:
                return self._backend.storage.ordered(info, new)
            else:
                written = await _made_to_fit(new, lambda: self._swap(call, new, stored), tracked=tracked)
            return written
        finally:
            if hook is not None and written is None:
                await hook.after_failure(new, old)
            elif hook is not None:
                await hook.after_success(new, old)

    async def _complete_changed(self, call: Call, new: Object, old: Object, *, rules: Rules | None) -> None:
        info, subresource = call.gvr_resource, call.info.subresource
        causes: list[Cause]
        if rules is not None:
            if subresource in _SPEC_PARTS and new.get("spec") != old.get("spec"):
                new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
            if subresource == "approval":
                prepare_for_approval(new, old, now=self._world.clock.timestamp())
            causes = rules(new, old)
        elif subresource == "status":
            prepare_for_status_update(info, new, old, now=self._world.clock.timestamp())
            clock = self._world.clock
            causes = problems = await in_turns(check_status_update(info, new, old, now=clock.now()), clock)
            call.warnings.extend(problems.warned)
        else:
            renew_taint_time(info, new, old, now=self._world.clock.timestamp())
            prepare_for_update(info, new, old)
            apply_defaults(info, new)
            causes = problems = await in_turns(check_update(info, new, old), self._world.clock)
            call.warnings.extend(problems.warned)
        if causes:
            raise invalid(info.gvk, new["metadata"].get("name", ""), causes)

    async def _owned(self, call: Call, new: Object, old: Object, *, options: WriteOptions) -> Object:
        """`new`, and in its managedFields who changed what."""
        info, subresource = call.gvr_resource, call.info.subresource
        if "managedFields" not in new["metadata"] and "managedFields" in old["metadata"]:
            new["metadata"]["managedFields"] = old["metadata"]["managedFields"]
        if same_but_revision(new, old):
            return new
        versions = ForeignVersions(self._backend, info)

        async def tracked() -> Object:
            return self._tracked(info.gvk, new, old, options=options, subresource=subresource, versions=versions)

        return await versions.settled(tracked)

    def taken(
        self, call: Call, facet: Facet, old: Object, view: Object, *, live: Object, options: WriteOptions
    ) -> Object:
        """The object with a changed view taken back; a view of another kind has owners of its own, which go with it."""
        if facet.gvk != call.gvr_resource.gvk:
            view = self._tracked(facet.gvk, view, live, options=options, subresource=call.info.subresource)
        return facet.take(old, view)

    async def _swap(self, call: Call, new: Object, stored: Stored) -> Object | None:
        info, request = call.gvr_resource, call.info
        name = request.name
        detail: dict[str, Any] = {"key": info.key(request.namespace, name), "expected": stored.revision}
        with call.span(Hop.STORE, component="etcd", detail=detail) as span:
            await self._world.latency.pause("store")
            cause = span.context.traceparent
            if deletes_now(info, new, stored.object):
                removed = await self._backend.storage.remove(
                    info, request.namespace, name, expected=stored.revision, cause=cause
                )
                if removed is not None:
                    span.revision = removed
                    await self.deleted(info, new)
                    return new
            else:
                written = await self._backend.storage.replace(
                    info, request.namespace, name, new, expected=stored.revision, cause=cause
                )
                if written is not None:
                    span.revision = int(written["metadata"]["resourceVersion"])
                    return written
            span.outcome = "Conflict"
            return None

    async def deleted(self, info: ResourceInfo, obj: Object) -> None:
        hook = self._backend.hooks.of(info.gvr.group_resource)
        if hook is not None:
            await hook.after_delete(obj)

    # -- shared

    async def _mutate(self, call: Call, attributes: Attributes) -> None:
        obj = attributes.object
        assert obj is not None
        before = obj["metadata"].get("managedFields")
        with call.span(Hop.MUTATING_ADMISSION) as span:
            await self._world.latency.pause("mutating-admission")
            await self._backend.admission.mutate(attributes, span)
        self._after_webhooks(call, attributes, before)

    async def _change(self, attributes: Attributes, span: Span, received: Object | None) -> Admitted | None:
        """Mutating admission; of a Pod as it was `received`, on which grounds, if they can be said and stayed."""
        admission = self._backend.admission
        if received is None:
            await admission.mutate(attributes, span)
            return None
        asked = replace(attributes, object=received)
        before = await admission.grounds(asked)
        await admission.mutate(attributes, span)
        if before is None or await admission.grounds(asked) != before:
            return None
        return Admitted(before, span.detail["plugins"])

    @staticmethod
    def _after_webhooks(call: Call, attributes: Attributes, before: Any) -> None:
        """Once a webhook or a policy has been at an object: what is not theirs to change is as it was `before`."""
        obj = attributes.object
        if attributes.wants_reinvocation and obj is not None:
            restore_owners(call, obj, before)
            check_namespace(call.gvr_resource, call.info, obj["metadata"])

    async def _validate(self, call: Call, attributes: Attributes, known: Known | None = None) -> None:
        with call.span(Hop.VALIDATING_ADMISSION) as span:
            await self._world.latency.pause("validating-admission")
            await self._backend.admission.validate(attributes, span, known)

    def _attributes(
        self, call: Call, operation: Operation, obj: Object, old: Object | None, *, options: WriteOptions
    ) -> Attributes:
        info = call.info
        name = info.name or obj["metadata"].get("name", "")
        is_namespace = call.gvr_resource.gvr == NAMESPACES  # one is taken to be within itself
        return Attributes(
            operation,
            call.gvr_resource,
            info.subresource,
            info.namespace or (name if is_namespace else ""),
            name,
            call.user,
            obj,
            old,
            options.dry_run,
            call.warnings,
            call.annotations,
            info.verb,
            options_of_write(call.request, operation),
        )

    def _tracked(
        self,
        gvk: GVK,
        new: Object,
        old: Object | None,
        *,
        options: WriteOptions,
        subresource: str,
        versions: ForeignVersions | None = None,
    ) -> Object:
        """`new` with its managedFields kept up to date."""
        schema = self._backend.definitions.kind(gvk)
        if schema is None:
            return new
        return track_update(
            old,
            new,
            manager=options.manager,
            operation="Update",
            now=self._world.clock.now(),
            schema=schema,
            subresource=subresource,
            api_version=gvk.api_version,
            schemas=versions.schema if versions is not None else self._backend.definitions.kind,
            convert=versions.convert if versions is not None else None,
        )


async def _made_to_fit(obj: Object, write: Callable[[], Awaitable[T]], *, tracked: bool) -> T:
    """What is too large for the store is written again without its managedFields, which may be large; but for those
    of an apply, which lives by them (endpoints/handlers, isTooLargeError)."""
    try:
        return await write()
    except RequestTooLargeError:
        if tracked or obj["metadata"].pop("managedFields", None) is None:
            raise
    return await write()


def _as_kept(info: ResourceInfo, obj: Object, attributes: Attributes) -> Object:
    """What admission has added to a custom object, and its version does not know, is dropped as it is stored."""
    if info.extension is None or not attributes.wants_reinvocation:
        return obj
    return info.extension.pruned(obj)


def _asked_version(obj: Object) -> int:
    """The resourceVersion that a write names, 0 for none. Raises ApiError 500."""
    try:
        return parse_uint(obj["metadata"].get("resourceVersion") or "0")
    except ValueError as error:
        raise ApiError(500, "", str(error)) from None


def _version(text: str) -> int:
    """A resourceVersion that an object to be created brings along; what is no number counts as none."""
    try:
        return parse_uint(text)
    except ValueError:
        return 0


def deletes_now(info: ResourceInfo, new: Object, old: Object) -> bool:
    """Whether an update takes away the last thing that kept a deleted object (store.go ShouldDeleteDuringUpdate)."""
    kept = old["metadata"]
    if "deletionTimestamp" not in kept or new["metadata"].get("finalizers"):
        return False
    if kept.get("deletionGracePeriodSeconds"):
        return False
    return not (info.kind == "Namespace" and (new.get("spec") or {}).get("finalizers"))


__all__ = ["UPDATE_ATTEMPTS", "Rules", "Transform", "Writer", "deletes_now"]
