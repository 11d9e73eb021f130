"""What a POST carries that is not stored: a review, or to a subresource a Binding, an Eviction, a TokenRequest
(handlers/create.go).

The object that is admitted is the one of the request, not the one that the subresource belongs to.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.apply import track_update
from engine.api.types import GVK, Object, copy_object
from engine.apiserver.admission import Attributes, Operation
from engine.apiserver.admission.options import options_of_write
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.metadata import check_namespace, wipe_system_fields
from engine.apiserver.registry.options import WriteOptions
from engine.trace import Hop


def accept(obj: Object) -> None:
    """Of an object that has no rules before it is admitted."""


def owned(
    backend: Backend, call: Call, gvk: GVK, obj: Object, options: WriteOptions, *, keeps_uid: bool = False
) -> Object:
    """`obj` as whatever is posted is taken: without the metadata that only the server gives, in the namespace of the
    path, and with its fields owned by who sent them, though it is never stored. The audit log is told of it as it came.

    `keeps_uid` is for a subresource to which the uid is a precondition (SubresourceObjectMetaPreserver). Raises
    ApiError 400 for another namespace than the path's.
    """
    if call.trail is not None:
        call.trail.asked_with(copy_object(obj))
    metadata = obj.setdefault("metadata", {})
    if not keeps_uid:
        wipe_system_fields(metadata)
    check_namespace(call.gvr_resource, call.info, metadata)
    schema = backend.definitions.kind(gvk)
    if schema is None:
        return obj
    asked = {field: value for field, value in obj.items() if field != "status"}  # a status is the answer's
    tracked = track_update(
        None,
        asked,
        manager=options.manager,
        now=backend.world.clock.now(),
        schema=schema,
        subresource=call.info.subresource,
        api_version=gvk.api_version,
    )
    return {**obj, "metadata": tracked["metadata"]}


async def admit_create(
    backend: Backend, call: Call, obj: Object, options: WriteOptions, *, check: Callable[[Object], None] = accept
) -> None:
    """Let plugins change `obj`, which is the request's own, check it, and let plugins accept it.

    Raises the ApiError of who refuses, or of `check`.
    """
    info = call.info
    name = info.name or obj.setdefault("metadata", {}).get("name", "")
    attributes = Attributes(
        Operation.CREATE,
        call.asked or call.gvr_resource,
        info.subresource if call.asked is None else "",
        info.namespace,
        name,
        call.user,
        obj,
        None,
        options.dry_run,
        call.warnings,
        call.annotations,
        options=options_of_write(call.request, Operation.CREATE),
    )
    with call.span(Hop.MUTATING_ADMISSION) as span:
        await backend.world.latency.pause("mutating-admission")
        await backend.admission.mutate(attributes, span)
    with call.span(Hop.SCHEMA):
        await backend.world.latency.pause("schema")
        check(obj)
    with call.span(Hop.VALIDATING_ADMISSION) as span:
        await backend.world.latency.pause("validating-admission")
        await backend.admission.validate(attributes, span)


async def admit_connect(backend: Backend, call: Call, options: Object) -> None:
    """Let plugins accept that what a request is for is connected to; `options` are the object that they are shown.

    Raises the ApiError of who refuses.
    """
    info = call.info
    attributes = Attributes(
        Operation.CONNECT, call.gvr_resource, info.subresource, info.namespace, info.name, call.user, options,
        warnings=call.warnings, annotations=call.annotations,
    )  # fmt: skip
    with call.span(Hop.MUTATING_ADMISSION) as span:
        await backend.admission.mutate(attributes, span)
    with call.span(Hop.VALIDATING_ADMISSION) as span:
        await backend.admission.validate(attributes, span)
