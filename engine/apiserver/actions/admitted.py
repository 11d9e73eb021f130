"""Admission of what a POST to a subresource carries: a Binding, an Eviction, a TokenRequest (handlers/create.go).

The object that is admitted is the one of the request, not the one that the subresource belongs to.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.types import Object
from engine.apiserver.admission import Attributes, Operation
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.options import WriteOptions
from engine.trace import Hop


def accept(obj: Object) -> None:
    """Of an object that has no rules before it is admitted."""


async def admit_create(
    backend: Backend, call: Call, obj: Object, options: WriteOptions, *, check: Callable[[Object], None] = accept
) -> None:
    """Let plugins change `obj`, which is the request's own, check it, and let plugins accept it.

    Raises the ApiError of who refuses, or of `check`.
    """
    info = call.info
    obj.setdefault("metadata", {})
    attributes = Attributes(
        Operation.CREATE,
        call.gvr_resource,
        info.subresource,
        info.namespace,
        info.name,
        call.user,
        obj,
        None,
        options.dry_run,
        call.warnings,
        call.annotations,
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
