"""Objects that the store has and nobody can read, as after a disk has flipped a bit.

One that is asked for by name is a failure that names its key, a list from the store tells of all that it met; of their
kind there is no cache to list from or to watch until they are gone. Only a delete that says so takes them away. Source:
apiserver pkg/storage/errors.go (StorageError), pkg/storage/etcd3 corrupt_obj_errors, pkg/storage/cacher and KEP-3926.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

from engine.api.errors import ApiError, internal
from engine.api.golang.json import syntax_error
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.storage_keys import shown_key
from engine.clock import Clock

_MOST_CAUSES = 100
_PATIENCE = 0.06  # how fast the time grows that clients are told to wait
_TOO_MANY = {"reason": "FieldValueTooMany", "message": "too many errors, the list is truncated"}


class CorruptObject(Exception):
    """A stored value, of the revision that wrote it, that is no object."""

    def __init__(self, revision: int, why: str) -> None:
        super().__init__(f"object not decodable revision={revision}: {why}")
        self.revision = revision

    @classmethod
    def of(cls, value: bytes, revision: int) -> CorruptObject:
        broken = syntax_error(value) or "json: the value is no object with metadata"
        return cls(revision, f"couldn't get version/kind; json parse error: {broken}")

    def at(self, key: str) -> str:
        """What the storage says of it."""
        where = f"Code: 7, Key: {shown_key(key)}, ResourceVersion: 0"
        return f"StorageError: corrupt object, {where}, AdditionalErrorMsg: {self}"


class Unconverted(NamedTuple):
    """A stored object that a webhook did not convert, and why."""

    object: Object
    why: str


class CorruptObjectError(ApiError):
    """500 for the one object of a key, which is shown as the storage is asked for it: below the prefix of all keys."""

    def __init__(self, key: str, corrupt: CorruptObject) -> None:
        shown = internal(corrupt.at(key.removeprefix("/registry")))
        super().__init__(shown.code, shown.reason, shown.message, details=shown.details)
        self.revision = corrupt.revision


def unreadable(info: ResourceInfo, found: Sequence[tuple[str, CorruptObject]]) -> ApiError:
    """500 for a list that met such objects under these keys; it says what the first of them is (since 1.37).

    Source: corrupt_obj_deleter.go, NewAPIStatusError.
    """
    told = found[:_MOST_CAUSES]
    causes: list[Object] = [
        {"reason": "UnexpectedServerResponse", "message": corrupt.at(key), "field": shown_key(key)}
        for key, corrupt in told
    ]
    message = f"failed to read one or more {info.gvr.group_resource} from the storage: {causes[0]['message']}"
    if len(causes) > 1:
        message += f" (and {len(causes) - 1} more)"
    if len(causes) >= _MOST_CAUSES:  # where upstream stops, without looking whether there are more
        causes.append(_TOO_MANY)
    details: Object = {"name": "list"}  # the operation, where others have a prefix
    if info.gvr.group:
        details["group"] = info.gvr.group
    details |= {"kind": info.gvr.resource, "causes": causes}
    return ApiError(500, "StorageReadError", message, details=details)


class UnreadableKeys:
    """The keys of a resource under which there are such objects, which is why its cache cannot be used."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._keys: set[str] = set()
        self._since = 0.0

    def __bool__(self) -> bool:
        return bool(self._keys)

    def put(self, key: str) -> None:
        if not self._keys:
            self._since = self._clock.monotonic()
        self._keys.add(key)

    def drop(self, key: str) -> bool:
        """Whether it was one."""
        known = key in self._keys
        self._keys.discard(key)
        return known

    def clear(self) -> None:
        self._keys.clear()

    def check(self) -> None:
        """Raises ApiError 429 (cacher.go, calculateRetryAfterForUnreadyCache)."""
        if self._keys:
            seconds = self._clock.monotonic() - self._since
            after = min(int(exp(_PATIENCE * min(seconds, 60.0))), 30)
            message = "storage is (re)initializing"
            details = {"retryAfterSeconds": after}
            raise ApiError(429, "TooManyRequests", message, details=details, retry_after=after)
