"""Hops 04 and 06 of a write that is stored: admission changes what is asked for, and accepts what has become of it.

Source of the behaviour: apiserver pkg/endpoints/handlers, create.go and update.go, and pkg/admission/attributes.go.
"""

from __future__ import annotations

from typing import Any

from engine.api.resources import ResourceInfo
from engine.api.types import NAMESPACES, Object
from engine.apiserver.admission import Attributes, Operation
from engine.apiserver.admission.options import options_of_write
from engine.apiserver.admission.settled import Alike
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.custom_after_admission import settle
from engine.apiserver.registry.ending_definitions import refuse_new
from engine.apiserver.registry.metadata import check_namespace
from engine.apiserver.registry.options import WriteOptions
from engine.apiserver.registry.owners_after_admission import restore_owners
from engine.trace import Hop


def attributes_of(
    call: Call, operation: Operation, obj: Object, old: Object | None, *, options: WriteOptions
) -> Attributes:
    """What admission is told of a write: `obj` is what it may change, `old` what is there."""
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


async def mutate(backend: Backend, call: Call, attributes: Attributes) -> None:
    """Let plugins change the object. Raises the ApiError of who refuses."""
    obj = attributes.object
    assert obj is not None
    refuse_new(attributes, backend.definitions.release)
    before = obj["metadata"].get("managedFields")
    with call.span(Hop.MUTATING_ADMISSION) as span:
        await backend.world.latency.pause("mutating-admission")
        await backend.admission.mutate(attributes, span)
    await settle(backend, attributes)
    check_mutated(call, attributes, before)


def check_mutated(call: Call, attributes: Attributes, before: Any) -> None:
    """Once a webhook or a policy has been at an object: its managedFields are those of `before` where they are broken,
    and it is in the namespace of the path. Raises ApiError 400."""
    obj = attributes.object
    if attributes.wants_reinvocation and obj is not None:
        restore_owners(call, obj, before)
        check_namespace(call.gvr_resource, call.info, obj["metadata"])


async def validate(backend: Backend, call: Call, attributes: Attributes, alike: Alike | None = None) -> None:
    """Let plugins accept the object; about one that is `alike` others not all are asked. Raises ApiError."""
    with call.span(Hop.VALIDATING_ADMISSION) as span:
        await backend.world.latency.pause("validating-admission")
        await backend.admission.validate(attributes, span, alike)


def as_kept(info: ResourceInfo, obj: Object, attributes: Attributes) -> Object:
    """What admission has added to a custom object, and its version does not know, is dropped as it is stored."""
    if info.extension is None or not attributes.wants_reinvocation:
        return obj
    return info.extension.pruned(obj)
