"""Failures as Kubernetes reports them: a metav1.Status with code, reason, message and details.

Source of the texts and codes: apimachinery pkg/api/errors and pkg/util/validation/field.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import orjson

from engine.api.types import GVK, GVR, Object


class Cause(NamedTuple):
    """One field error: `reason` is metav1.CauseType (`FieldValueInvalid`, ...), `message` its text without the path."""

    reason: str
    message: str
    field: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class ApiError(Exception):
    """A request that failed. Carries the Status that the client gets; never raised for a bug."""

    def __init__(
        self, code: int, reason: str, message: str, *, details: Object | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.retry_after = retry_after

    @property
    def status(self) -> Object:
        status: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details:
            status["details"] = self.details
        status["code"] = self.code
        return status

    @classmethod
    def from_status(cls, status: Object, code: int = 500) -> ApiError:
        """The error that a Status body stands for; `code` is used where the body has none."""
        details = status.get("details")
        return cls(
            status.get("code") or code,
            status.get("reason", ""),
            status.get("message", ""),
            details=details,
            retry_after=(details or {}).get("retryAfterSeconds"),
        )


def _details(gvr: GVR | None, name: str = "") -> Object:
    details: Object = {}
    if name:
        details["name"] = name
    if gvr is not None:
        if gvr.group:
            details["group"] = gvr.group
        details["kind"] = gvr.resource
    return details


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized(message: str = "Unauthorized") -> ApiError:
    return ApiError(401, "Unauthorized", message)


def forbidden(gvr: GVR, name: str, why: str) -> ApiError:
    """`why` goes on after `is forbidden: `."""
    subject = f'{gvr.group_resource} "{name}"' if name else gvr.group_resource
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {why}", details=_details(gvr, name))


def not_found(gvr: GVR, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{gvr.group_resource} "{name}" not found', details=_details(gvr, name))


def path_not_found() -> ApiError:
    """The answer for a resource that the server does not know (not one object that is missing)."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", details={})


def method_not_supported(gvr: GVR, action: str) -> ApiError:
    return ApiError(
        405,
        "MethodNotAllowed",
        f'{action} is not supported on resources of kind "{gvr.group_resource}"',
        details=_details(gvr),
    )


def not_acceptable(accepted: Sequence[str]) -> ApiError:
    return ApiError(406, "NotAcceptable", f"only the following media types are accepted: {', '.join(accepted)}")


def already_exists(gvr: GVR, name: str) -> ApiError:
    return ApiError(409, "AlreadyExists", f'{gvr.group_resource} "{name}" already exists', details=_details(gvr, name))


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def conflict(gvr: GVR, name: str, why: str = MODIFIED) -> ApiError:
    return ApiError(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {gvr.group_resource} "{name}": {why}',
        details=_details(gvr, name),
    )


def expired(message: str) -> ApiError:
    """410 Gone for a continue token or a resourceVersion that is no longer kept."""
    return ApiError(410, "Expired", message)


def too_large(message: str) -> ApiError:
    return ApiError(413, "RequestEntityTooLarge", message)


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    return ApiError(
        415,
        "UnsupportedMediaType",
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}",
    )


def invalid(gvk: GVK, name: str, causes: Iterable[Cause]) -> ApiError:
    """422 with all field errors of the object in one answer."""
    causes = list(causes)
    texts = [str(cause) for cause in causes]
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    kind = f"{gvk.kind}.{gvk.group}" if gvk.group else gvk.kind
    details: Object = {"name": name} if name else {}
    if gvk.group:
        details["group"] = gvk.group
    details["kind"] = gvk.kind
    details["causes"] = [{"reason": c.reason, "message": c.message, "field": c.field} for c in causes]
    return ApiError(422, "Invalid", f'{kind} "{name}" is invalid: {joined}', details=details)


def internal(message: str) -> ApiError:
    return ApiError(
        500, "InternalError", f"Internal error occurred: {message}", details={"causes": [{"message": message}]}
    )


def unavailable(message: str) -> ApiError:
    return ApiError(503, "ServiceUnavailable", message)


def server_timeout(gvr: GVR, action: str, retry_after: int) -> ApiError:
    return ApiError(
        500,
        "ServerTimeout",
        f"The {action} operation against {gvr.group_resource} could not be completed at this time, please try again.",
        details={**_details(gvr), "retryAfterSeconds": retry_after},
        retry_after=retry_after,
    )


# -- field errors (field.Error), in the words of upstream


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return orjson.dumps(value).decode()
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int | float):
        return str(value)
    return orjson.dumps(value).decode()


def field_required(path: str, detail: str = "") -> Cause:
    return Cause("FieldValueRequired", f"Required value: {detail}" if detail else "Required value", path)


def field_invalid(path: str, value: Any, detail: str) -> Cause:
    return Cause("FieldValueInvalid", f"Invalid value: {_shown(value)}: {detail}", path)


def field_not_supported(path: str, value: Any, supported: Sequence[str]) -> Cause:
    quoted = ", ".join(f'"{item}"' for item in supported)
    return Cause("FieldValueNotSupported", f"Unsupported value: {_shown(value)}: supported values: {quoted}", path)


def field_duplicate(path: str, value: Any) -> Cause:
    return Cause("FieldValueDuplicate", f"Duplicate value: {_shown(value)}", path)


def field_forbidden(path: str, detail: str) -> Cause:
    return Cause("FieldValueForbidden", f"Forbidden: {detail}", path)


def field_not_found(path: str, value: Any) -> Cause:
    return Cause("FieldValueNotFound", f"Not found: {_shown(value)}", path)


def field_too_long(path: str, limit: int) -> Cause:
    return Cause("FieldValueTooLong", f"Too long: may not be more than {limit} bytes", path)


def field_too_many(path: str, actual: int, limit: int) -> Cause:
    return Cause("FieldValueTooMany", f"Too many: {actual}: must have at most {limit} items", path)


def field_type_invalid(path: str, value: Any, detail: str) -> Cause:
    return Cause("FieldValueTypeInvalid", f"Invalid value: {_shown(value)}: {detail}", path)
