"""DeleteOptions, from the body of a delete or from its query (apimachinery pkg/apis/meta/v1/validation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.api.errors import Cause, bad_request, field_invalid, field_not_supported, invalid
from engine.api.schema import Definitions
from engine.api.types import GVK
from engine.apiserver.call import Call
from engine.apiserver.registry.body import read_value
from engine.apiserver.registry.options import dry_run_causes, flag, integer

UNSAFE = "ignoreStoreReadErrorWithClusterBreakingPotential"
_NEVER_UNSAFE = ("dryRun", "propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions")
_POLICIES = ("Foreground", "Background", "Orphan")


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    grace: int | None = None
    policy: str = ""
    orphan: bool | None = None
    uid: str | None = None
    resource_version: str | None = None
    dry_run: bool = False
    ignore_read_error: bool = False

    @classmethod
    def of(cls, definitions: Definitions, call: Call) -> DeleteOptions:
        """From the body or, without one, the query. Raises ApiError 400 or 422."""
        request = call.request
        body = read_value(definitions, request)
        if body and call.trail is not None:
            call.trail.asked_with(body)
        if body is not None and not isinstance(body, dict):
            raise bad_request("the body of a delete must be DeleteOptions")
        if not body:
            body = _from_query(call)
        elif body.get("kind", "DeleteOptions") != "DeleteOptions":
            raise bad_request(f'no kind "{body["kind"]}" is registered for DeleteOptions')
        causes = _causes(body)
        if causes:
            raise invalid(GVK("meta.k8s.io", "v1", "DeleteOptions"), "", causes)
        preconditions = body.get("preconditions") or {}
        grace = body.get("gracePeriodSeconds")
        return cls(
            grace=1 if grace is not None and grace < 0 else grace,
            policy=body.get("propagationPolicy") or "",
            orphan=body.get("orphanDependents"),
            uid=preconditions.get("uid"),
            resource_version=preconditions.get("resourceVersion"),
            dry_run=bool(body.get("dryRun")),
            ignore_read_error=bool(body.get(UNSAFE)),
        )


def _from_query(call: Call) -> dict[str, Any]:
    request = call.request
    options: dict[str, Any] = {"dryRun": request.query.get("dryRun", [])}
    if (grace := integer(request, "gracePeriodSeconds")) is not None:
        options["gracePeriodSeconds"] = grace
    if policy := request.parameter("propagationPolicy"):
        options["propagationPolicy"] = policy
    if (orphan := flag(request, "orphanDependents")) is not None:
        options["orphanDependents"] = orphan
    if (unsafe := flag(request, UNSAFE)) is not None:
        options[UNSAFE] = unsafe
    return options


def _causes(body: dict[str, Any]) -> list[Cause]:
    causes = dry_run_causes(body.get("dryRun") or [])
    policy = body.get("propagationPolicy")
    if policy is not None and body.get("orphanDependents") is not None:
        causes.append(
            field_invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set")
        )
    if policy is not None and policy not in _POLICIES:
        causes.append(field_not_supported("propagationPolicy", policy, (*_POLICIES, "nil")))
    grace = body.get("gracePeriodSeconds")
    if grace is not None and (not isinstance(grace, int) or isinstance(grace, bool)):
        raise bad_request("json: cannot unmarshal into Go struct field DeleteOptions.gracePeriodSeconds of type int64")
    return [*causes, *_unsafe_causes(body)]


def _unsafe_causes(body: dict[str, Any]) -> list[Cause]:
    """To delete what cannot be read goes with no other option."""
    if not body.get(UNSAFE):
        return []
    others = [each for each in _NEVER_UNSAFE if body.get(each) is not None and body[each] != []]
    return [field_invalid(UNSAFE, True, f"cannot be set together with .{each}") for each in others]
