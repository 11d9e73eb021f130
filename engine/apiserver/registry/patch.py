"""patch: four media types, one way to the store (apiserver pkg/endpoints/handlers/patch.go).

A patch is made on the newest object and tried again when another write came between, unless it names a
resourceVersion. Server-side apply creates what is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.api.apply import apply
from engine.api.defaults import apply_defaults
from engine.api.errors import ApiError, bad_request, conflict, not_found
from engine.api.patch import json_patch, merge_patch, strategic_merge_patch
from engine.api.types import GVK, Object, copy_object
from engine.api.wire import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from engine.apiserver.authorization import Attributes as Question
from engine.apiserver.authorization import Verdict, forbidden
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.body import decode_value, media_type, read_json, read_yaml
from engine.apiserver.registry.facet import Facet
from engine.apiserver.registry.metadata import check_place
from engine.apiserver.registry.options import WriteOptions
from engine.apiserver.registry.refused_patch import refused_patch
from engine.apiserver.registry.write import Writer
from engine.apiserver.routing import unsupported_patch

PATCH_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)


class Patcher:
    def __init__(self, backend: Backend, writer: Writer) -> None:
        self._backend = backend
        self._writer = writer

    async def patch(self, call: Call, facet: Facet, options: WriteOptions) -> tuple[int, Object]:
        """The status code and the object after the patch."""
        kind = media_type(call.request)
        if kind == APPLY_PATCH:
            return await self._apply(call, facet, options)
        change = self._change(call, facet, kind)

        def transform(old: Object) -> Object:
            live = (facet.start or facet.show)(old)
            patched = change(live)
            try:
                view = self._decoded(call, facet.gvk, patched, options)
            except ApiError as error:
                shown = call.request.body if kind == STRATEGIC_PATCH else patched
                raise refused_patch(error, facet.gvk, shown, restored=kind == STRATEGIC_PATCH) from None
            check_place(call.gvr_resource, call.info, view)
            return self._writer.taken(call, facet, old, view, live=live, options=options)

        tracked = facet.gvk != call.gvr_resource.gvk
        return 200, await self._writer.update(call, options, transform, rules=facet.check, tracked=tracked)

    def _change(self, call: Call, facet: Facet, kind: str) -> Callable[[Object], Any]:
        """The patch of the request as a function."""
        body = call.request.body
        patch = read_json(body, strict=False) if isinstance(body, bytes) else body
        if kind == JSON_PATCH:
            return lambda obj: json_patch(obj, patch)
        if kind == MERGE_PATCH:
            return lambda obj: merge_patch(obj, patch)
        if kind == STRATEGIC_PATCH and not call.gvr_resource.custom:
            schema = self._backend.definitions.kind(facet.gvk)
            return lambda obj: strategic_merge_patch(obj, patch, schema)
        served = [each for each in PATCH_TYPES if each != STRATEGIC_PATCH or not call.gvr_resource.custom]
        raise unsupported_patch(call.gvr_resource, tuple(served))

    def _decoded(self, call: Call, gvk: GVK, value: Any, options: WriteOptions) -> Object:
        obj = decode_value(call, self._backend.definitions, gvk, value=value, validation=options.validation)
        if gvk == call.gvr_resource.gvk:
            apply_defaults(call.gvr_resource, obj)
        return obj

    # -- server-side apply

    async def _apply(self, call: Call, facet: Facet, options: WriteOptions) -> tuple[int, Object]:
        applied = self._applied(call)
        info, request = call.gvr_resource, call.info
        stored = await self._backend.storage.get(info, request.namespace, request.name)
        if stored is None:
            if request.subresource:
                raise not_found(info.gvr, request.name)
            return 201, await self._create(call, facet, applied, options)

        def transform(old: Object) -> Object:
            merged = self._merged(call, facet, (facet.start or facet.show)(old), applied, options)
            view = self._decoded(call, facet.gvk, merged, options)
            view["metadata"]["resourceVersion"] = applied["metadata"].get("resourceVersion", "")
            return facet.take(old, view)

        return 200, await self._writer.update(call, options, transform, rules=facet.check, tracked=True)

    async def _create(self, call: Call, facet: Facet, applied: Object, options: WriteOptions) -> Object:
        """Applying what is not there creates it, which needs the right to create."""
        question = Question.of(call.user, call.info)._replace(verb="create")
        answer = await self._backend.authorizer.authorize(question)
        if answer.decision.verdict is not Verdict.ALLOW:
            raise forbidden(question, answer.decision.reason)
        info = call.gvr_resource
        if applied["metadata"].get("uid"):
            raise conflict(
                info.gvr,
                call.info.name,
                f"uid mismatch: the provided object specified uid {applied['metadata']['uid']}, and no existing object "
                "was found",
            )
        obj = self._decoded(call, info.gvk, self._merged(call, facet, None, applied, options), options)
        return await self._writer.create(call, obj, options, tracked=True)

    def _merged(self, call: Call, facet: Facet, live: Object | None, applied: Object, options: WriteOptions) -> Object:
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
            served=self._writer.served(facet.gvk.kind),
        )

    def _applied(self, call: Call) -> Object:
        """The applied configuration as it was sent: what it sets, also to nothing, is what its manager owns."""
        body = call.request.body
        value = read_yaml(body) if isinstance(body, bytes) else body
        if not isinstance(value, dict):
            raise bad_request("error decoding YAML: the applied configuration is not an object")
        value = copy_object(value)
        if not value.get("kind") or not value.get("apiVersion"):
            raise bad_request("apiVersion and kind must be set in an apply patch")
        metadata = value.setdefault("metadata", {})
        if not isinstance(metadata, dict):
            raise bad_request("metadata must be an object")
        if metadata.get("managedFields"):
            raise ApiError(400, "BadRequest", "metadata.managedFields must be nil")
        check_place(call.gvr_resource, call.info, value)
        return value
