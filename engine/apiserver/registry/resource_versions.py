"""resourceVersions and continue tokens (apiserver pkg/storage api_object_versioner.go, continue.go)."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, NamedTuple

import orjson

from engine.api.decoders import json_type
from engine.api.errors import ApiError, bad_request, expired
from engine.api.golang.integer import parse_uint
from engine.api.golang.json import syntax_error
from engine.api.types import Object

_VERSION = "meta.k8s.io/v1"
TOO_OLD = "The resourceVersion for the provided list is too old."
CONTINUE_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


def parse_resource_version(text: str, *, listing: bool = False) -> int:
    """The resourceVersion of a request.

    Raises ApiError: 400 for a list. For get and watch upstream lets the storage's error pass as it is, which makes it
    500 without a reason (kubernetes issue 139485).
    """
    try:
        return parse_uint(text)
    except ValueError as error:
        message = f"resourceVersion: Invalid value: {orjson.dumps(text).decode()}: {error}"
        if listing:
            raise bad_request(f"invalid resource version: {message}") from None
        raise ApiError(500, "", message) from None


_INVALID_TOKEN = "invalid continue token: continue key is not valid"
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9_-]")
_STRUCT = "storage.continueToken"
_MOST_DIGITS = 1000
_FIELDS: dict[str, tuple[type, str]] = {"v": (str, "string"), "rv": (int, "int64"), "start": (str, "string")}


class Continue(NamedTuple):
    """Where a list goes on: at a revision (-1: at the newest, inconsistently), from a key below its prefix on."""

    revision: int
    start: str

    def encode(self) -> str:
        token = json.dumps({"v": _VERSION, "rv": self.revision, "start": self.start}, separators=(",", ":"))
        return base64.urlsafe_b64encode(token.encode()).rstrip(b"=").decode()

    @classmethod
    def decode(cls, token: str) -> Continue:
        """Raises ApiError 400 for a token that this server did not make.

        A start that would leave the list's prefix is refused: the rest of the list is of the place that was authorised.
        """
        version, revision, start = _fields(_decoded_token(token))
        if version != _VERSION:
            raise bad_request(f"{_INVALID_TOKEN}: server does not recognize this encoded version {version}")
        if not revision:
            raise bad_request(f"{_INVALID_TOKEN}: incorrect encoded start resourceVersion (version {_VERSION})")
        if not start:
            raise bad_request(f"{_INVALID_TOKEN}: encoded start key empty (version {_VERSION})")
        if start != "/" and any(part in ("", ".", "..") for part in start.removeprefix("/").split("/")):
            raise bad_request(f"{_INVALID_TOKEN}: {start}")
        return cls(revision, start.removeprefix("/"))


def _decoded_token(token: str) -> Any:
    """The JSON value in a token (Go's base64.RawURLEncoding: no padding). Raises ApiError 400."""
    encoded = token.encode().translate(None, b"\r\n")
    wrong = _NOT_BASE64.search(encoded)
    if wrong is not None or len(encoded) % 4 == 1:
        position = wrong.start() if wrong is not None else len(encoded) - 1
        raise bad_request(f"{_INVALID_TOKEN}: illegal base64 data at input byte {position}")
    text = base64.urlsafe_b64decode(encoded + b"=" * (-len(encoded) % 4))
    if problem := syntax_error(text):
        raise bad_request(f"{_INVALID_TOKEN}: {problem}")
    # Which takes any number; of one that Python would refuse to convert, what is too much for 64 bits already.
    return json.loads(text, parse_int=lambda digits: int(digits[:_MOST_DIGITS]))


def _fields(raw: Any) -> tuple[str, int, str]:
    """Version, revision and start of a token, as far as it has them. Raises ApiError 400."""
    if raw is None:
        return "", 0, ""
    if not isinstance(raw, dict):
        raise bad_request(
            f"{_INVALID_TOKEN}: json: cannot unmarshal {json_type(raw, '')} into Go value of type {_STRUCT}"
        )
    for name, (kind, go_type) in _FIELDS.items():
        value = raw.get(name)
        unfit = kind is int and isinstance(value, int | float) and not (value == value // 1 and abs(value) < 1 << 63)
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool) or unfit):
            what = json_type(value, go_type)
            field = f"{_STRUCT.removeprefix('storage.')}.{name} of type {go_type}"
            raise bad_request(f"{_INVALID_TOKEN}: json: cannot unmarshal {what} into Go struct field {field}")
    return raw.get("v") or "", raw.get("rv") or 0, raw.get("start") or ""


def continue_expired(start: str) -> ApiError:
    """410 whose Status carries the token of an inconsistent continuation."""
    error = ContinueExpiredError(410, "Expired", CONTINUE_TOO_OLD)
    error.continue_ = Continue(-1, start).encode()
    return error


class ContinueExpiredError(ApiError):
    continue_: str = ""

    @property
    def status(self) -> Object:
        return {**super().status, "metadata": {"continue": self.continue_}}


def too_old() -> ApiError:
    return expired(TOO_OLD)


def too_large(asked: int, current: int, *, retry_after: int = 0) -> ApiError:
    """504 for a revision that has not been made yet (storage/errors.go NewTooLargeResourceVersionError)."""
    details: Object = {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]}
    if retry_after:
        details["retryAfterSeconds"] = retry_after
    message = f"Timeout: Too large resource version: {asked}, current: {current}"
    return ApiError(504, "Timeout", message, details=details, retry_after=retry_after or None)


def version_of_update(obj: Object) -> int:
    """The resourceVersion that an object to be updated names, 0 for none. Raises ApiError 500."""
    try:
        return parse_uint(obj["metadata"].get("resourceVersion") or "0")
    except ValueError as error:
        raise ApiError(500, "", str(error)) from None


def version_of_new(text: str) -> int:
    """A resourceVersion that an object to be created brings along; what is no number counts as none."""
    try:
        return parse_uint(text)
    except ValueError:
        return 0
