"""Updates: of an object, of its status, of one of its other parts (apiserver pkg/registry/generic/registry/store.go
Update, pkg/registry/rest/update.go). Every PUT and PATCH of what is there ends here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.api.defaults import apply_defaults
from engine.api.errors import Cause, conflict, field_invalid, invalid
from engine.api.resources import ResourceInfo
from engine.api.strategies.strategy import prepare_for_approval, prepare_for_status_update, prepare_for_update
from engine.api.taint_times import default_taint_times, renew_taint_time
from engine.api.types import Object
from engine.api.validation import check_metadata_update, check_status_update, check_update
from engine.api.warnings import warnings_on_status_update, warnings_on_update
from engine.apiserver.admission import Operation
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.admitted_views import admitted_view
from engine.apiserver.registry.contention import Contention
from engine.apiserver.registry.fitting import made_to_fit
from engine.apiserver.registry.managed_fields import tracked_update
from engine.apiserver.registry.metadata import carry_over, check_same_object, same_but_revision
from engine.apiserver.registry.options import WriteOptions
from engine.apiserver.registry.owner_references import drop_twins
from engine.apiserver.registry.resource_versions import version_of_update
from engine.apiserver.registry.update_rules import updated_unconditionally
from engine.apiserver.registry.write_admission import as_kept, attributes_of, mutate, validate
from engine.apiserver.storage import Stored
from engine.apiserver.turns import in_turns
from engine.trace import Hop

# Subresources of a Pod that change its spec, and so count its generation (registry/core/pod strategy.go).
_SPEC_PARTS = frozenset(("resize", "ephemeralcontainers"))
# How often what is there or not is updated or made, while others delete and make it.
UPDATE_ATTEMPTS = 100

Transform = Callable[[Object], Object]
# The rules of a subresource that are not those of the main one.
Rules = Callable[[Object, Object], list[Cause]]


class Updater:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._world = backend.world
        self._contention = Contention()

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

        async def attempt() -> Object | None:
            stored = await self._load(call)
            new = transform(stored.object)
            return await self._update_once(call, options, stored, new, tracked=tracked, rules=rules, admitted=admitted)

        written = await attempt()
        if written is not None:
            return written
        async with self._contention.turn(call.gvr_resource.key(call.info.namespace, call.info.name)):
            # As often as others write the same object: the request ends when its time is up.
            while (written := await attempt()) is None:
                pass
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
        drop_twins(call, new, admitted=False)
        if not call.info.subresource:
            default_taint_times(info, new, now=self._world.clock.timestamp())
        if not tracked:  # before admission and strategy: what the server changes belongs to no manager
            new = await tracked_update(self._backend, call, new, old, options)
        view = admitted_view(info, call.info.subresource)
        attributes = attributes_of(call, Operation.UPDATE, view.show(new), view.show(old), options=options)
        if not admitted:
            await mutate(self._backend, call, attributes)
            new = view.taken(new, attributes.object)
        drop_twins(call, new, admitted=True)
        _check_version(call, new, stored)  # of what admission has made, which is shown what the client has sent
        carry_over(new, old)
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
                await validate(self._backend, call, attributes)
                new = as_kept(info, new, attributes)
            if call.info.subresource == "status":
                call.warnings.extend(warnings_on_status_update(info, new))
            else:
                call.warnings.extend(warnings_on_update(info, new, old))
            if same_but_revision(new, old) and await self._backend.storage.kept_as_shown(info, stored):
                written = old
            elif options.dry_run:
                return self._backend.storage.ordered(info, new)
            else:
                written = await made_to_fit(new, lambda: self._swap(call, new, stored), tracked=tracked)
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
            causes = [*check_metadata_update(info, new, old), *rules(new, old)]
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

    async def _swap(self, call: Call, new: Object, stored: Stored) -> Object | None:
        info, request = call.gvr_resource, call.info
        name = request.name
        detail: dict[str, Any] = {"key": info.key(request.namespace, name), "expected": stored.revision}
        with call.span(Hop.STORE, component="etcd", detail=detail) as span:
            await self._world.latency.pause("store")
            cause = span.traceparent
            if _deletes_now(info, new, stored.object):
                span.detail["deletes"] = True
                removed = await self._backend.storage.remove(
                    info, request.namespace, name, expected=stored.revision, cause=cause
                )
                if removed is not None:
                    span.revision = removed
                    await self._backend.hooks.deleted(info.gvr.group_resource, new)
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


def _check_version(call: Call, new: Object, stored: Stored) -> None:
    """Raises ApiError 409 for an update of what the object no longer is, and 422 for one that does not say of what."""
    info, asked = call.gvr_resource, version_of_update(new)
    if asked and asked != stored.revision:
        raise conflict(info.gvr, call.info.name)
    if not asked and not updated_unconditionally(info):
        unsaid = field_invalid("metadata.resourceVersion", 0, "must be specified for an update")
        # The text names the resource where a kind is expected (store.go Update).
        raise invalid(info.gvk._replace(kind=info.gvr.resource), call.info.name, [unsaid])
    new["metadata"]["resourceVersion"] = stored.object["metadata"]["resourceVersion"]


def _deletes_now(info: ResourceInfo, new: Object, old: Object) -> bool:
    """Whether an update takes away the last thing that kept a deleted object (store.go ShouldDeleteDuringUpdate)."""
    kept = old["metadata"]
    if "deletionTimestamp" not in kept or new["metadata"].get("finalizers"):
        return False
    if kept.get("deletionGracePeriodSeconds"):
        return False
    return not (info.kind == "Namespace" and (new.get("spec") or {}).get("finalizers"))
