"""resourceVersions and continue tokens (apiserver pkg/storage api_object_versioner.go, continue.go)."""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

import orjson

from engine.api.errors import ApiError, bad_request, expired
from engine.api.types import Object

_VERSION = "meta.k8s.io/v1"
TOO_OLD = "The resourceVersion for the provided list is too old."
CONTINUE_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


def parse_resource_version(text: str) -> int:
    """Raises ApiError 400."""
    if text.isascii() and text.isdigit():
        return int(text)
    raise bad_request(f'Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax')


class Continue(NamedTuple):
    """Where a list goes on: at a revision (-1 for an inconsistent continuation), after a key below the prefix."""

    revision: int
    after: str

    def encode(self) -> str:
        token = orjson.dumps({"v": _VERSION, "rv": self.revision, "start": self.after + "\0"})
        return base64.urlsafe_b64encode(token).rstrip(b"=").decode()

    @classmethod
    def decode(cls, token: str) -> Continue:
        """Raises ApiError 400 for a token that this server did not make."""
        try:
            raw = orjson.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
            version, revision, start = raw["v"], raw["rv"], raw["start"]
        except (ValueError, binascii.Error, KeyError, TypeError):
            raise bad_request("continue key is not valid: the token cannot be decoded") from None
        if version != _VERSION:
            raise bad_request(f'server does not recognize this encoded version "{version}"')
        if not isinstance(revision, int) or not isinstance(start, str) or not start or ".." in start.split("/"):
            raise bad_request("continue key is not valid: incorrect encoded start key")
        return cls(revision, start.removesuffix("\0"))


def continue_expired(after: str) -> ApiError:
    """410 whose Status carries the token of an inconsistent continuation."""
    error = ContinueExpiredError(410, "Expired", CONTINUE_TOO_OLD)
    error.continue_ = Continue(-1, after).encode()
    return error


class ContinueExpiredError(ApiError):
    continue_: str = ""

    @property
    def status(self) -> Object:
        return {**super().status, "metadata": {"continue": self.continue_}}


def too_old() -> ApiError:
    return expired(TOO_OLD)


def too_large(asked: int, current: int) -> ApiError:
    """504 for a revision that has not been made yet (storage/errors.go NewTooLargeResourceVersionError)."""
    message = f"Too large resource version: {asked}, current: {current}"
    return ApiError(
        504,
        "Timeout",
        f"Timeout: {message}",
        details={
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        },
        retry_after=1,
    )
