"""The store's contract: etcd v3 semantics under etcd's names (etcd api/etcdserverpb rpc.proto, api/mvccpb kv.proto).

Every write transaction that changes anything makes one main revision; its operations share it and get sub-revisions.
A write is acknowledged only once it is durable. One interface, several backends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable


class StoreError(Exception):
    """The store refused or failed; the message is etcd's where etcd has one. `reason` is the name of the code that gRPC
    has for it (etcd api/v3rpc/rpctypes/error.go)."""

    reason = "Unknown"


class CompactedError(StoreError):
    """The revision asked for has been compacted. `compact_revision` is the oldest that is still kept."""

    def __init__(self, compact_revision: int) -> None:
        super().__init__("etcdserver: mvcc: required revision has been compacted")
        self.compact_revision = compact_revision


class FutureRevisionError(StoreError):
    def __init__(self) -> None:
        super().__init__("etcdserver: mvcc: required revision is a future revision")


class EmptyRangeError(StoreError):
    """A watch of an interval that ends before it begins."""

    def __init__(self) -> None:
        super().__init__("mvcc: watcher range is empty")


class NoSpaceError(StoreError):
    reason = "ResourceExhausted"

    def __init__(self) -> None:
        super().__init__("etcdserver: mvcc: database space exceeded")


class StoreUnavailableError(StoreError):
    """Writes cannot be made durable now (disk full, file locked, no quorum); reads may go on."""

    reason = "Unavailable"


class LeaseNotFoundError(StoreError):
    def __init__(self) -> None:
        super().__init__("etcdserver: requested lease not found")


class KeyNotFoundError(StoreError):
    """A put was to keep what a key has, and there is no such key."""

    def __init__(self) -> None:
        super().__init__("etcdserver: key not found")


class RequestTooLargeError(StoreError):
    """More than 1.5 MiB in one transaction, etcd's --max-request-bytes."""

    reason = "InvalidArgument"

    def __init__(self) -> None:
        super().__init__("etcdserver: request is too large")


class MessageTooLargeError(RequestTooLargeError):
    """More than etcd's client sends in one message, so that no etcd is asked (etcd client/v3, options.go)."""

    reason = "ResourceExhausted"
    most = 2 * 1024 * 1024

    def __init__(self, size: int) -> None:
        said = f"trying to send message larger than max ({size} vs. {self.most})"
        StoreError.__init__(self, f"rpc error: code = {self.reason} desc = {said}")


class KeyValue(NamedTuple):
    key: bytes
    value: bytes
    create_revision: int
    mod_revision: int
    version: int
    lease: int = 0


class Compare(NamedTuple):
    """`target` of `key` stands in relation `op` to `value`: bytes for `value`, an integer for all others.

    A key that does not exist compares as version, create and mod revision 0; its `value` never compares true.
    """

    key: bytes
    target: Literal["version", "create", "mod", "value", "lease"]
    op: Literal["=", "!=", ">", "<"]
    value: int | bytes


class Put(NamedTuple):
    """With `ignore_value` or `ignore_lease` the key, which must be there, keeps the one it has; then none is given."""

    key: bytes
    value: bytes
    lease: int = 0
    prev_kv: bool = False
    ignore_value: bool = False
    ignore_lease: bool = False


class DeleteRange(NamedTuple):
    """One key, or with `range_end` the half-open interval; b"\\0" as the end means all keys from `key` on."""

    key: bytes
    range_end: bytes = b""
    prev_kv: bool = False


class Range(NamedTuple):
    """One key, or with `range_end` the half-open interval; a revision or limit of 0 or less is the newest or none."""

    key: bytes
    range_end: bytes = b""
    revision: int = 0
    limit: int = 0
    keys_only: bool = False
    count_only: bool = False
    sort_target: Literal["key", "version", "create", "mod", "value"] = "key"
    sort_order: Literal["none", "ascend", "descend"] = "none"


Operation = Put | DeleteRange | Range


@dataclass(frozen=True, slots=True)
class RangeResponse:
    """`revision` is the store's at the time of the answer; `count` is of all keys in the range, whatever the limit."""

    revision: int
    kvs: list[KeyValue]
    more: bool
    count: int


class PutResponse(NamedTuple):
    revision: int
    prev_kv: KeyValue | None = None


class DeleteRangeResponse(NamedTuple):
    revision: int
    deleted: int
    prev_kvs: list[KeyValue]


class TxnResponse(NamedTuple):
    """`responses` has one entry for each operation of the branch that ran."""

    succeeded: bool
    revision: int
    responses: list[RangeResponse | PutResponse | DeleteRangeResponse]


class Event(NamedTuple):
    """`cause` is what the transaction was given (a traceparent); a DELETE has a key-value with no value."""

    type: Literal["PUT", "DELETE"]
    kv: KeyValue
    prev_kv: KeyValue | None = None
    cause: str = ""


# etcd's WatchCreateRequest.FilterType: the events that the watcher does not want.
WatchFilter = Literal["noput", "nodelete"]


class WatchResponse(NamedTuple):
    """All events of one or more whole revisions, in order; none of them for a progress notification.

    `revision` is the newest that the watcher has now seen.
    """

    revision: int
    events: list[Event]


class Watcher(Protocol):
    """Iterating yields responses in order and raises CompactedError when the watcher has been overtaken."""

    def __aiter__(self) -> AsyncIterator[WatchResponse]: ...

    async def __anext__(self) -> WatchResponse: ...

    def request_progress(self) -> None:
        """Ask for a response without events that says how far the watcher is; it comes once it has caught up, and where
        it starts in the future, not before whoever goes on behind that response would miss the start."""
        ...

    async def aclose(self) -> None: ...


@dataclass(slots=True)
class StoreStatus:
    """Sizes in bytes. `details` is what the backend can tell besides, for the debug endpoints."""

    backend: str
    version: str
    revision: int
    compact_revision: int
    db_size: int
    db_size_in_use: int
    keys: int
    alarms: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class InMemory(Protocol):
    """A store that knows at once how its keys stand, as `range` would tell it."""

    def mod_revision(self, key: bytes) -> int:
        """The revision that wrote a key last; 0 where there is none."""
        ...


class Store(Protocol):
    """See the module. Keys are whole `/registry/...` paths in UTF-8; values are JSON."""

    @property
    def revision(self) -> int:
        """The newest committed main revision; 1 for an empty store, as in etcd."""
        ...

    async def range(self, request: Range) -> RangeResponse:
        """Raises CompactedError or FutureRevisionError for a revision that is not kept."""
        ...

    async def txn(
        self,
        compare: Sequence[Compare],
        success: Sequence[Operation],
        failure: Sequence[Operation] = (),
        *,
        cause: str = "",
    ) -> TxnResponse:
        """Atomic compare-and-swap; returns once durable. `cause` is kept with the revision.

        Raises NoSpaceError, StoreUnavailableError.
        """
        ...

    async def watch(
        self,
        key: bytes,
        range_end: bytes = b"",
        *,
        start_revision: int = 0,
        prev_kv: bool = False,
        filters: Collection[WatchFilter] = (),
    ) -> Watcher:
        """Events from `start_revision` on (0: from now). Raises CompactedError if that is no longer kept,
        EmptyRangeError for no interval."""
        ...

    async def cause(self, revision: int) -> str:
        """The cause that the transaction of a revision was given; "" if there was none or it is no longer kept."""
        ...

    async def compact(self, revision: int, *, physical: bool = False) -> None:
        """Let go of the history before a revision; with `physical`, return only once its space is free for reuse."""
        ...

    async def lease_grant(self, ttl: int, lease_id: int = 0) -> int:
        """A lease of `ttl` model seconds; returns its id."""
        ...

    async def lease_keep_alive(self, lease_id: int) -> int: ...

    async def lease_revoke(self, lease_id: int) -> None: ...

    async def lease_time_to_live(self, lease_id: int) -> tuple[int, int, list[bytes]]:
        """Remaining and granted seconds and the attached keys; remaining is -1 for a lease that is not there."""
        ...

    async def status(self) -> StoreStatus: ...

    async def snapshot(self, file: Path) -> None: ...

    async def defrag(self) -> None: ...

    async def close(self) -> None: ...


def prefix_end(prefix: bytes) -> bytes:
    """The range end that makes `prefix` a prefix query (etcd clientv3 GetPrefixRangeEnd)."""
    end = bytearray(prefix)
    for index in range(len(end) - 1, -1, -1):
        if end[index] < 0xFF:
            end[index] += 1
            return bytes(end[: index + 1])
    return b"\0"
