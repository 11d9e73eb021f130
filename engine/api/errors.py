"""Failures as Kubernetes reports them: a metav1.Status with code, reason, message and details.

Source of the texts and codes: apimachinery pkg/api/errors and pkg/util/validation/field.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import orjson

from engine.api.golang.floats import shown_float
from engine.api.golang.text import quoted
from engine.api.types import GVK, GVR, Object


class Cause(NamedTuple):
    """One field error: `reason` is metav1.CauseType (`FieldValueInvalid`, ...), `message` its text without the path."""

    reason: str
    message: str
    field: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


_SHOWN = 30  # bytes of a body


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
        if self.details is not None:
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


class KindMissing(ApiError):
    """An object of a custom kind that does not say so. `body` is the object as it was sent."""

    def __init__(self, wanted: str, body: str) -> None:
        self.wanted = wanted
        self.why = f"Object 'Kind' is missing in '{body}'"
        shown = summary_of(body.encode())
        super().__init__(
            400, "BadRequest", f"the object provided is unrecognized (must be of type {wanted}): {self.why} ({shown})"
        )


def summary_of(body: bytes) -> str:
    """The beginning of what was sent, in hex unless it looks like JSON (handlers/rest.go, summarizeData)."""
    if not body:
        return "<empty>"
    start = body[:_SHOWN]
    shown = start.decode("utf-8", "replace") if body[:1] == b"{" else start.hex()
    return f"{shown} ..." if len(body) > _SHOWN else shown


class OtherVersion(ApiError):
    """An object of a custom kind that says another API version than that of the request."""

    def __init__(self, found: str, wanted: str) -> None:
        self.found = found
        super().__init__(
            400,
            "BadRequest",
            f"the API version in the data ({found}) does not match the expected API version ({wanted})",
        )


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized(message: str = "Unauthorized") -> ApiError:
    return ApiError(401, "Unauthorized", message)


def forbidden(gvr: GVR, name: str, why: str) -> ApiError:
    """`why` goes on after `is forbidden: `."""
    subject = f"{gvr.group_resource} {quoted(name)}" if name else gvr.group_resource
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {why}", details=_details(gvr, name))


def not_found(gvr: GVR, name: str) -> ApiError:
    return ApiError(404, "NotFound", f"{gvr.group_resource} {quoted(name)} not found", details=_details(gvr, name))


class PlainTextError(ApiError):
    """A failure that the real server tells by Go's http.Error, as a line of text. `message` is what clients make of
    it."""

    def __init__(self, code: int, text: str) -> None:
        generic = generic_server_response(code, text)
        super().__init__(code, generic.reason, generic.message, details=generic.details)
        self.text = text


# What is told of a status code alone, where no handler has said more: reason and message by code.
_GENERIC = {
    400: ("BadRequest", "the server rejected our request for an unknown reason"),
    401: ("Unauthorized", "the server has asked for the client to provide credentials"),
    403: ("Forbidden", ""),
    404: ("NotFound", "the server could not find the requested resource"),
    405: ("MethodNotAllowed", "the server does not allow this method on the requested resource"),
    406: ("NotAcceptable", ""),
    409: ("Conflict", "the server reported a conflict"),
    410: ("Gone", "the server said the requested resource is no longer available"),
    413: ("RequestEntityTooLarge", ""),
    415: ("UnsupportedMediaType", ""),
    422: ("Invalid", "the server rejected our request due to an error in our request"),
    429: ("TooManyRequests", "the server has received too many requests and has asked us to try again later"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: ("Timeout", "the server was unable to return a response in the time allotted, but may still be processing the "
          "request"),
}  # fmt: skip


def generic_server_response(code: int, server_message: str) -> ApiError:
    """The Status of an answer that is nothing but a code and a line (apimachinery NewGenericServerResponse)."""
    if code >= 500:
        unknown = f"an error on the server ({_shown(server_message)}) has prevented the request from succeeding"
        other = "InternalError", unknown
    else:
        other = "", f"the server responded with the status code {code} but did not return more information"
    reason, message = _GENERIC.get(code, other)
    return ApiError(code, reason, message or server_message, details={})


def path_not_found() -> ApiError:
    """The answer for a resource that the server does not know (not one object that is missing)."""
    return generic_server_response(404, "404: Page Not Found")


def method_not_allowed() -> ApiError:
    """The answer of the router for a method that the path has no route for."""
    return generic_server_response(405, "405: Method Not Allowed")


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
    return ApiError(
        409, "AlreadyExists", f"{gvr.group_resource} {quoted(name)} already exists", details=_details(gvr, name)
    )


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def conflict(gvr: GVR, name: str, why: str = MODIFIED) -> ApiError:
    return ApiError(
        409,
        "Conflict",
        f"Operation cannot be fulfilled on {gvr.group_resource} {quoted(name)}: {why}",
        details=_details(gvr, name),
    )


def expired(message: str) -> ApiError:
    """410 Gone for a continue token or a resourceVersion that is no longer kept."""
    return ApiError(410, "Expired", message)


def too_large(message: str) -> ApiError:
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: {message}")


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    return ApiError(
        415,
        "UnsupportedMediaType",
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}",
    )


def invalid(gvk: GVK, name: str, causes: Iterable[Cause]) -> ApiError:
    """422 with all field errors of the object in one answer."""
    causes = list(causes)
    kind = f"{gvk.kind}.{gvk.group}" if gvk.group else gvk.kind
    details: Object = {"name": name} if name else {}
    if gvk.group:
        details["group"] = gvk.group
    details["kind"] = gvk.kind
    details["causes"] = [{"reason": c.reason, "message": c.message, "field": c.field} for c in causes]
    return ApiError(422, "Invalid", f"{kind} {quoted(name)} is invalid: {joined(causes)}", details=details)


def joined(causes: Iterable[Cause]) -> str:
    """The message of several field errors, which says each once (ErrorList.ToAggregate)."""
    return aggregated(str(cause) for cause in causes)


def aggregated(texts: Iterable[str]) -> str:
    """Several errors as the text of one, which says each once (apimachinery util/errors, Aggregate.Error)."""
    told = list(dict.fromkeys(texts))
    return told[0] if len(told) == 1 else f"[{', '.join(told)}]"


def internal(message: str) -> ApiError:
    return ApiError(
        500, "InternalError", f"Internal error occurred: {message}", details={"causes": [{"message": message}]}
    )


def unavailable(message: str) -> ApiError:
    return ApiError(503, "ServiceUnavailable", message)


# -- field errors (field.Error), in the words of upstream


def _shown(value: Any) -> str:
    """A plain string as Go quotes it, and anything else as encoding/json writes it, which escapes HTML."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Stringer):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        return shown_float(value)
    if isinstance(value, int):
        return str(value)
    return "".join(_HTML.get(character, character) for character in orjson.dumps(value).decode())


_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


class Stringer(NamedTuple):
    """A value that has words of its own, which errors show as they are."""

    text: str


class _Omitted:
    """Stands for a value that an error does not show."""


OMITTED = _Omitted()


def field_required(path: str, detail: str = "") -> Cause:
    return Cause("FieldValueRequired", f"Required value: {detail}" if detail else "Required value", path)


def field_invalid(path: str, value: Any, detail: str) -> Cause:
    shown = "" if value is OMITTED else f" {_shown(value)}:"
    return Cause("FieldValueInvalid", f"Invalid value:{shown} {detail}", path)


def field_not_supported(path: str, value: Any, supported: Sequence[str]) -> Cause:
    quoted = ", ".join(f'"{item}"' for item in supported)
    return Cause("FieldValueNotSupported", f"Unsupported value: {_shown(value)}: supported values: {quoted}", path)


def field_duplicate(path: str, value: Any, detail: str = "") -> Cause:
    shown = "Duplicate value" if value is OMITTED else f"Duplicate value: {_shown(value)}"
    return Cause("FieldValueDuplicate", _with_detail(shown, detail), path)


def field_forbidden(path: str, detail: str = "") -> Cause:
    return Cause("FieldValueForbidden", _with_detail("Forbidden", detail), path)


def field_not_found(path: str, value: Any, detail: str = "") -> Cause:
    return Cause("FieldValueNotFound", _with_detail(f"Not found: {_shown(value)}", detail), path)


def _with_detail(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text


def field_too_long(path: str, limit: int, unit: str = "bytes") -> Cause:
    """`unit` is one for many, of which one has no s. A limit below nothing, which none can keep to, is not told."""
    if limit < 0:
        return Cause("FieldValueTooLong", "Too long: value is too long", path)
    shown = unit.removesuffix("s") if limit == 1 else unit
    return Cause("FieldValueTooLong", f"Too long: may not be more than {limit} {shown}", path)


def field_too_many(path: str, actual: int, limit: int) -> Cause:
    detail = f"must have at most {limit} {_items(limit)}" if limit >= 0 else "has too many items"
    return Cause("FieldValueTooMany", f"Too many: {actual}: {detail}", path)


def _items(count: int) -> str:
    return "item" if count == 1 else "items"


def field_internal(path: str, detail: str) -> Cause:
    return Cause("InternalError", f"Internal error: {detail}", path)


def field_type_invalid(path: str, value: Any, detail: str) -> Cause:
    return Cause("FieldValueTypeInvalid", f"Invalid value: {_shown(value)}: {detail}", path)
