"""Owners of fields after mutating admission: what a webhook has broken stays what it was, and is told of.

Source: apimachinery pkg/util/managedfields and apiserver pkg/endpoints/handlers/fieldmanager/admission.go.
"""

from __future__ import annotations

from typing import Any

from engine.api.apply import entries_error
from engine.api.types import Object
from engine.apiserver.call import Call
from engine.apiserver.registry.body import warn


def restore_owners(call: Call, obj: Object, before: Any) -> None:
    metadata = obj["metadata"]
    entries = metadata.get("managedFields")
    if entries is before or not (wrong := entries_error(entries)):
        return
    if before is None:
        del metadata["managedFields"]
    else:
        metadata["managedFields"] = before
    text = (
        ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
        f"admission controller; please fix your requests: {wrong}"
    )
    warn(call, [text])
