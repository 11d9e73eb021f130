"""Objects that the store has and nobody can read, as after a disk has flipped a bit.

One that is asked for by name is a failure that names its key, a list tells of all that it met. Only a delete that says
so takes such an object away. Source: apiserver pkg/storage/errors.go (StorageError), pkg/storage/etcd3
corrupt_obj_errors and KEP-3926.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.errors import ApiError, internal
from engine.api.go_json import syntax_error
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.storage_keys import shown_key

_MOST_CAUSES = 100
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


class CorruptObjectError(ApiError):
    """500 for the one object of a key."""

    def __init__(self, key: str, corrupt: CorruptObject) -> None:
        shown = internal(corrupt.at(key))
        super().__init__(shown.code, shown.reason, shown.message, details=shown.details)
        self.revision = corrupt.revision


def unreadable(info: ResourceInfo, found: Iterable[tuple[str, CorruptObject]]) -> ApiError:
    """500 for a list that met such objects under these keys."""
    causes: list[Object] = [
        {"reason": "UnexpectedServerResponse", "message": corrupt.at(key), "field": shown_key(key)}
        for key, corrupt in found
    ]
    if len(causes) > _MOST_CAUSES:
        causes = [*causes[:_MOST_CAUSES], _TOO_MANY]
    details: Object = {"name": info.storage_prefix.removeprefix("/registry")}
    if info.gvr.group:
        details["group"] = info.gvr.group
    details |= {"kind": info.gvr.resource, "causes": causes}
    message = f"failed to read one or more {info.gvr.group_resource} from the storage"
    return ApiError(500, "StoreReadError", message, details=details)


def initializing() -> ApiError:
    """429 of a cache that cannot be filled (cacher.go)."""
    message = "storage is (re)initializing"
    return ApiError(429, "TooManyRequests", message, details={"retryAfterSeconds": 1}, retry_after=1)
