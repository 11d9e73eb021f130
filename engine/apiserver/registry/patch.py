"""patch: four media types, one way to the store (apiserver pkg/endpoints/handlers/patch.go).

A patch is made on the newest object and tried again when another write came between, unless it names a
resourceVersion. Server-side apply creates what is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from engine.api.apply import apply
from engine.api.defaults import apply_defaults
from engine.api.errors import ApiError, bad_request, conflict, not_found
from engine.api.patch import json_patched, merge_patch, merge_patched, strategic_merge_patch
from engine.api.patch.merge_patch import not_a_map
from engine.api.types import GVK, Object, copy_object
from engine.api.wire import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from engine.apiserver.backend import Backend
from engine.apiserver.broken_body import BrokenBody
from engine.apiserver.call import Call
from engine.apiserver.registry.body import decode_value, warn
from engine.apiserver.registry.create import Creater
from engine.apiserver.registry.facet import Facet
from engine.apiserver.registry.foreign_versions import ForeignVersions
from engine.apiserver.registry.managed_fields import view_taken
from engine.apiserver.registry.metadata import check_place
from engine.apiserver.registry.options import WriteOptions
from engine.apiserver.registry.patch_body import PatchBody, read_patch
from engine.apiserver.registry.refused_patch import refused_apply, refused_patch, refused_value
from engine.apiserver.registry.restored_numbers import restored
from engine.apiserver.registry.update import UPDATE_ATTEMPTS, Updater
from engine.apiserver.registry.yaml_body import CONVERTING, read_yaml, twice_in_yaml, unmarshal_errors
from engine.apiserver.routing import unsupported_patch
from engine.apiserver.storage import check_name

PATCH_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)


class Patcher:
    def __init__(self, backend: Backend, creater: Creater, updater: Updater) -> None:
        self._backend = backend
        self._creater = creater
        self._updater = updater

    async def patch(self, call: Call, facet: Facet, options: WriteOptions) -> tuple[int, Object]:
        """The status code and the object after the patch."""
        kind = call.request.headers.get("content-type", "").split(";")[0]  # to the letter, as upstream takes it
        if kind == APPLY_PATCH:
            return await self._apply(call, facet, options)
        change = self._change(call, facet, kind, options.validation)
        sent: list[PatchBody] = []  # read when there is an object to patch, and once

        def transform(old: Object) -> Object:
            if not sent:
                sent.append(read_patch(kind, call.request.body, validation=options.validation))
            patch = sent[0]
            live = (facet.start or facet.show)(old)
            patched = change(live, patch.value)
            if not isinstance(patched, dict):
                raise refused_value(patched)
            if kind == STRATEGIC_PATCH:  # made of fields alone: the type is that of the path
                patched = restored(self._backend.definitions.kind(facet.gvk), patched)
                patched = {**patched, "apiVersion": facet.gvk.api_version, "kind": facet.gvk.kind}
            try:
                view = self._decoded(call, facet.gvk, patched, options, found=patch.strict)
            except ApiError as error:
                shown = patch.value if kind == STRATEGIC_PATCH else patched
                raise refused_patch(error, facet.gvk, shown, restored=kind == STRATEGIC_PATCH) from None
            check_place(call.gvr_resource, call.info, view)
            return view_taken(self._backend, call, facet, old, view, live=live, options=options)

        tracked = facet.gvk != call.gvr_resource.gvk
        return 200, await self._updater.update(call, options, transform, rules=facet.check, tracked=tracked)

    def _change(self, call: Call, facet: Facet, kind: str, validation: str) -> Callable[[Object, Any], Any]:
        """What a patch of this kind makes of an object."""
        if kind == JSON_PATCH:
            return json_patched
        if kind == MERGE_PATCH:
            return merge_patched if validation == "Ignore" else merge_patch
        if kind == STRATEGIC_PATCH and not call.gvr_resource.custom:
            schema = self._backend.definitions.kind(facet.gvk)
            return lambda obj, patch: strategic_merge_patch(obj, patch, schema)
        served = [each for each in PATCH_TYPES if each != STRATEGIC_PATCH or not call.gvr_resource.custom]
        raise unsupported_patch(call.gvr_resource, tuple(served))

    def _decoded(self, call: Call, gvk: GVK, value: Any, options: WriteOptions, found: Iterable[str] = ()) -> Object:
        definitions = self._backend.definitions
        obj = decode_value(call, definitions, gvk, value=value, validation=options.validation, found=found, by_key=True)
        if gvk == call.gvr_resource.gvk:
            apply_defaults(call.gvr_resource, obj)
        return obj

    # -- server-side apply

    async def _apply(self, call: Call, facet: Facet, options: WriteOptions) -> tuple[int, Object]:
        applied = _applied(call, facet.gvk)
        info, request = call.gvr_resource, call.info
        check_name(request.name)
        versions = ForeignVersions(self._backend, info)

        def transform(old: Object) -> Object:
            merged = self._merged(call, facet, (facet.start or facet.show)(old), applied, options, versions)
            _check_twice(call, options.validation)
            view = self._restored(call, facet.gvk, merged, applied, options)
            # That of the configuration, if it has one: what is merged is the newest.
            version = (applied.get("metadata") or {}).get("resourceVersion")
            view["metadata"]["resourceVersion"] = version or old["metadata"]["resourceVersion"]
            check_place(info, request, view)
            return facet.take(old, view)

        for _ in range(UPDATE_ATTEMPTS):
            if await self._there(call):
                try:
                    return 200, await versions.settled(
                        lambda: self._updater.update(call, options, transform, rules=facet.check, tracked=True)
                    )
                except ApiError as error:
                    if error.reason != "NotFound" or await self._there(call):  # others have deleted it meanwhile
                        raise
            if request.subresource:
                raise not_found(info.gvr, request.name)
            try:
                return 201, await self._create(call, facet, applied, options)
            except ApiError as error:
                if error.reason != "AlreadyExists":  # others have made it meanwhile
                    raise
        raise conflict(info.gvr, request.name)

    async def _there(self, call: Call) -> bool:
        request = call.info
        return await self._backend.storage.get(call.gvr_resource, request.namespace, request.name) is not None

    async def _create(self, call: Call, facet: Facet, applied: Object, options: WriteOptions) -> Object:
        info = call.gvr_resource
        merged = self._merged(call, facet, None, applied, options, ForeignVersions(self._backend, info))
        _check_twice(call, options.validation)
        obj = self._restored(call, info.gvk, merged, applied, options)
        if uid := obj["metadata"].get("uid"):
            raise conflict(
                info.gvr,
                call.info.name,
                f"uid mismatch: the provided object specified uid {uid}, and no existing object was found",
            )
        check_place(info, call.info, obj)
        return await self._creater.create(call, obj, options, tracked=True, by_update=True)

    def _restored(self, call: Call, gvk: GVK, merged: Object, applied: Object, options: WriteOptions) -> Object:
        try:
            return self._decoded(call, gvk, merged, options)
        except ApiError as error:
            raise refused_apply(error, gvk, applied) from None

    def _merged(
        self,
        call: Call,
        facet: Facet,
        live: Object | None,
        applied: Object,
        options: WriteOptions,
        versions: ForeignVersions,
    ) -> Object:
        schema = self._backend.definitions.kind(facet.gvk)
        if schema is None:
            raise unsupported_patch(call.gvr_resource, PATCH_TYPES)
        return apply(
            live,
            applied,
            manager=options.manager,
            force=options.force,
            now=self._backend.world.clock.now(),
            schema=schema,
            subresource=call.info.subresource,
            api_version=facet.gvk.api_version,
            schemas=versions.schema,
            convert=versions.convert,
        )


def _applied(call: Call, gvk: GVK) -> Object:
    """The applied configuration as it was sent: what it sets, also to nothing, is what its manager owns."""
    body = call.request.body
    try:
        value = read_yaml(body) if isinstance(body, bytes) else body
    except BrokenBody as broken:
        raise bad_request(f"error decoding YAML: {CONVERTING}{broken.message}") from None
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise bad_request(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {not_a_map(value)}")
    found = _kind_of(value)
    if found != gvk:
        raise bad_request(f"invalid object type: {found.group}/{found.version}, Kind={found.kind}")
    return copy_object(value)


def _text(value: Any) -> str:
    """What is no text is as good as nothing."""
    return value if isinstance(value, str) else ""


def _kind_of(value: Object) -> GVK:
    """Without any part where the version is none (apimachinery unstructured.go, GroupVersionKind)."""
    api_version = _text(value.get("apiVersion"))
    if api_version.count("/") > 1:
        return GVK("", "", "")
    group, _, version = api_version.rpartition("/")
    return GVK(group, version, _text(value.get("kind")))


def _check_twice(call: Call, validation: str) -> None:
    """What the configuration has twice, once it has been merged."""
    if validation == "Ignore" or not isinstance(call.request.body, bytes):
        return
    found = twice_in_yaml(call.request.body)
    if found and validation == "Strict":
        raise bad_request(f"error strict decoding YAML: {CONVERTING}{unmarshal_errors(found)}")
    warn(call, found)
