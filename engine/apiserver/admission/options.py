"""The options of a request as admission is told them: CreateOptions, UpdateOptions and DeleteOptions of meta.k8s.io.

Source: apiserver pkg/endpoints/handlers (create.go, update.go, patch.go, delete.go). A patch is told as the update or
the creation that it comes to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.types import Object
from engine.api.wire import Request
from engine.apiserver.admission.attributes import Operation

_KINDS = {Operation.CREATE: "CreateOptions", Operation.UPDATE: "UpdateOptions"}
_PLAIN: dict[Operation, Object] = {
    operation: {"kind": kind, "apiVersion": "meta.k8s.io/v1"} for operation, kind in _KINDS.items()
}
_OF_DELETION = ("gracePeriodSeconds", "preconditions", "orphanDependents", "propagationPolicy", "dryRun",
                "ignoreStoreReadErrorWithClusterBreakingPotential")  # fmt: skip


def options_of_write(request: Request, operation: Operation) -> Object:
    """What the query says. Frozen: all that say nothing share one."""
    if not request.query:
        return _PLAIN[operation]
    told: Object = {"kind": _KINDS[operation], "apiVersion": "meta.k8s.io/v1"}
    if dry_run := request.query.get("dryRun"):
        told["dryRun"] = list(dry_run)
    for name in ("fieldManager", "fieldValidation"):
        if value := request.parameter(name):
            told[name] = value
    return told


def options_of_delete(asked: Mapping[str, Any], grace: int | None) -> Object:
    """`grace` is how long the object is given, where that is decided already, in place of what was asked for."""
    told: Object = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
    for name in _OF_DELETION:
        value = grace if name == "gracePeriodSeconds" and grace is not None else asked.get(name)
        if value is not None and value != []:
            told[name] = value
    return told
