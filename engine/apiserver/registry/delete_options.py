"""DeleteOptions, from the body of a delete or from its query (apimachinery pkg/apis/meta/v1/validation)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.api.decoding import Unfit, unmarshalled
from engine.api.errors import ApiError, Cause, bad_request, field_invalid, field_not_supported, invalid
from engine.api.go_schemes import OPTIONS_SCHEME
from engine.api.golang.json import syntax_error
from engine.api.schema import Definitions
from engine.api.types import GVK
from engine.api.wire import JSON
from engine.apiserver.call import Call
from engine.apiserver.registry.body import media_type, read_value
from engine.apiserver.registry.options import dry_run_causes, flag, integer
from engine.apiserver.registry.type_meta import cannot_say

UNSAFE = "ignoreStoreReadErrorWithClusterBreakingPotential"
_NEVER_UNSAFE = ("dryRun", "propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions")
_SCHEMA = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
_KIND = GVK("meta.k8s.io", "v1", "DeleteOptions")
_BAD_SINCE = (1, 35)
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
    asked: Mapping[str, Any] = field(default_factory=dict)  # as they came

    @classmethod
    def of(cls, definitions: Definitions, call: Call) -> DeleteOptions:
        """From the body or, without one, the query. Raises ApiError 400, 415, 422, 500."""
        body = _read(definitions, call)
        if body and call.trail is not None:
            call.trail.asked_with(body)
        if body is None:
            body = _from_query(call)
        causes = _causes(body)
        if causes:
            raise invalid(_KIND, "", causes)
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
            asked=body if grace is None or grace >= 0 else {**body, "gracePeriodSeconds": 1},
        )


def _read(definitions: Definitions, call: Call) -> dict[str, Any] | None:
    """The body. What is wrong with it is told as the decoder says it."""
    request = call.request
    if request.body in (None, b""):
        return None
    if isinstance(request.body, bytes) and media_type(request) in ("", JSON) and (why := syntax_error(request.body)):
        raise _unfit(definitions, f"couldn't get version/kind; json parse error: {why}")
    body = read_value(definitions, request, _KIND)
    if why := cannot_say(body):
        raise _unfit(definitions, why)
    if not isinstance(body, dict):
        return {}  # of null, options without any
    if body.get("kind") not in (None, "", "DeleteOptions"):
        if call.info.verb == "deletecollection":  # which is decoded with all that the server knows
            raise _unfit(definitions, "decoded object cannot be converted to DeleteOptions")
        version = body.get("apiVersion") or "v1"
        raise _unfit(
            definitions, f'no kind "{body["kind"]}" is registered for version "{version}" in scheme "{OPTIONS_SCHEME}"'
        )
    try:
        options = unmarshalled(definitions, definitions[_SCHEMA], body, gvk=_KIND).object
    except Unfit as unfit:
        raise _unfit(definitions, str(unfit)) from None
    return {**options, **{key: body[key] for key in ("kind", "apiVersion") if key in body}}


def _unfit(definitions: Definitions, why: str) -> ApiError:
    """Of a body that is no options; before 1.35 nobody said that it was the client's fault."""
    return bad_request(why) if definitions.release >= _BAD_SINCE else ApiError(500, "", why)


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
    preconditions = {name: value for name in ("uid", "resourceVersion") if (value := request.parameter(name))}
    return {**options, "preconditions": preconditions} if preconditions else options


def _causes(body: dict[str, Any]) -> list[Cause]:
    causes = dry_run_causes(body.get("dryRun") or [])
    policy = body.get("propagationPolicy")
    if policy is not None and body.get("orphanDependents") is not None:
        causes.append(
            field_invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set")
        )
    if policy is not None and policy not in _POLICIES:
        causes.append(field_not_supported("propagationPolicy", policy, (*_POLICIES, "nil")))
    return [*causes, *_unsafe_causes(body)]


def _unsafe_causes(body: dict[str, Any]) -> list[Cause]:
    """To delete what cannot be read goes with no other option."""
    if not body.get(UNSAFE):
        return []
    others = [each for each in _NEVER_UNSAFE if body.get(each) is not None and body[each] != []]
    return [field_invalid(UNSAFE, True, f"cannot be set together with .{each}") for each in others]
