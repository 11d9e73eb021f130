"""Deciding a transaction in memory: checks, compares, operations (etcd server/etcdserver `txn` and api/v3rpc `key.go`).

Pure over the draft and the leases: nothing here waits. A transaction is checked whole before its first operation runs,
so that it never stops half-way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import eq, gt, lt, ne
from typing import NamedTuple

from engine.store.draft import Draft
from engine.store.index import Change, Revision, bounds, more
from engine.store.leases import Lessor
from engine.store.types import (
    CompactedError,
    Compare,
    DeleteRange,
    DeleteRangeResponse,
    FutureRevisionError,
    KeyNotFoundError,
    KeyValue,
    LeaseNotFoundError,
    Operation,
    Put,
    PutResponse,
    Range,
    RangeResponse,
    RequestTooLargeError,
    StoreError,
)

MAX_OPERATIONS = 128  # etcd --max-txn-ops
MAX_REQUEST_BYTES = 1536 * 1024  # etcd --max-request-bytes

Response = RangeResponse | PutResponse | DeleteRangeResponse

_OPERATORS: dict[str, Callable[[int | bytes, int | bytes], bool]] = {"=": eq, "!=": ne, ">": gt, "<": lt}


class Decision(NamedTuple):
    """`revision` is None where nothing changed; `historic` are the ranges, by position, to answer after the commit."""

    succeeded: bool
    responses: list[Response]
    revision: Revision | None
    historic: list[tuple[int, Range]]


def decide(
    draft: Draft,
    lessor: Lessor,
    compare: Sequence[Compare],
    *,
    success: Sequence[Operation],
    failure: Sequence[Operation],
    cause: str,
    compacted: int,
) -> Decision:
    """Decide a transaction and stage its changes in the draft. Raises StoreError and then has changed nothing."""
    check_request(compare, success, failure)
    succeeded = True
    for condition in compare:
        if not _holds(draft, condition):
            succeeded = False
            break
    operations = success if succeeded else failure
    for operation in operations:
        if type(operation) is Put:
            _check_put(operation, draft, lessor)
    for operation in operations:
        if type(operation) is Range and operation.revision > 0:
            check_revision(operation.revision, newest=draft.revision, compacted=compacted)
    run = _Run(draft)
    responses = [run.execute(position, operation) for position, operation in enumerate(operations)]
    revision = None
    if run.changes:
        draft.revision = run.revision
        revision = Revision(run.revision, cause, run.changes)
    return Decision(succeeded, responses, revision, run.historic)


def _check_put(put: Put, draft: Draft, lessor: Lessor) -> None:
    """Raises KeyNotFoundError or LeaseNotFoundError."""
    if (put.ignore_value or put.ignore_lease) and draft.get(put.key) is None:
        raise KeyNotFoundError
    if put.lease and lessor.get(put.lease) is None:
        raise LeaseNotFoundError


def check_range(request: Range) -> None:
    if not request.key:
        raise StoreError("etcdserver: key is not provided")


def check_revision(revision: int, *, newest: int, compacted: int) -> None:
    """Raises FutureRevisionError or CompactedError for a revision that cannot be read."""
    if revision > newest:
        raise FutureRevisionError
    if revision < compacted:
        raise CompactedError(compacted)


def check_request(compare: Sequence[Compare], success: Sequence[Operation], failure: Sequence[Operation]) -> None:
    """Raises StoreError for a transaction that no state could make right."""
    if len(compare) > MAX_OPERATIONS or len(success) > MAX_OPERATIONS or len(failure) > MAX_OPERATIONS:
        raise StoreError("etcdserver: too many operations in txn request")
    size = 0
    for part in (compare, success, failure):
        for item in part:
            if not item.key:
                raise StoreError("etcdserver: key is not provided")
            if type(item) is Put:
                if item.ignore_value and item.value:
                    raise StoreError("etcdserver: value is provided")
                if item.ignore_lease and item.lease:
                    raise StoreError("etcdserver: lease is provided")
                size += len(item.key) + len(item.value)
    for operations in (success, failure):
        if len(operations) > 1:
            _check_duplicates(operations)
    if size > MAX_REQUEST_BYTES:
        raise RequestTooLargeError


def _check_duplicates(operations: Sequence[Operation]) -> None:
    """No key may be put twice, or put and deleted, in one branch.

    Etcd's own check overlooks a deletion to the end of all keys: it takes the range end b"\\0" for a key.
    """
    puts: dict[bytes, None] = {}
    for operation in operations:
        if type(operation) is Put:
            if operation.key in puts:
                raise StoreError("etcdserver: duplicate key given in txn request")
            puts[operation.key] = None
    for operation in operations:
        if type(operation) is not DeleteRange:
            continue
        start, end = bounds(operation.key, operation.range_end)
        if any(key >= start and (end is None or key < end) for key in puts):
            raise StoreError("etcdserver: duplicate key given in txn request")


def _holds(draft: Draft, condition: Compare) -> bool:
    kv = draft.get(condition.key)
    target = condition.target
    have: int | bytes
    if kv is None:
        if target == "value":
            return False
        have = 0
    elif target == "mod":
        have = kv.mod_revision
    elif target == "create":
        have = kv.create_revision
    elif target == "version":
        have = kv.version
    elif target == "lease":
        have = kv.lease
    else:
        have = kv.value
    return _OPERATORS[condition.op](have, condition.value)


class _Run:
    """The operations of one transaction, each seeing what those before it wrote."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.revision = draft.revision + 1
        self.changes: list[Change] = []
        self.historic: list[tuple[int, Range]] = []

    def execute(self, position: int, operation: Operation) -> Response:
        if type(operation) is Put:
            return self._put(operation)
        if type(operation) is DeleteRange:
            return self._delete_range(operation)
        assert type(operation) is Range
        return self._range(position, operation)

    @property
    def _seen(self) -> int:
        return self.revision if self.changes else self.revision - 1

    def _put(self, put: Put) -> PutResponse:
        key, value, lease, wants_previous, ignore_value, ignore_lease = put
        prev = self.draft.get(key)
        revision = self.revision
        if prev is None:
            kv = KeyValue(key, value, revision, revision, 1, lease)
        else:
            value, lease = prev.value if ignore_value else value, prev.lease if ignore_lease else lease
            kv = KeyValue(key, value, prev.create_revision, revision, prev.version + 1, lease)
        self.draft.stage(kv)
        self.changes.append(Change(kv, prev))
        return PutResponse(revision, prev if wants_previous else None)

    def _delete_range(self, delete: DeleteRange) -> DeleteRangeResponse:
        deleted = delete_keys(self.draft, self.draft.keys(delete.key, delete.range_end), self.revision)
        self.changes += deleted
        prev_kvs = [change.prev for change in deleted if change.prev is not None] if delete.prev_kv else []
        return DeleteRangeResponse(self._seen, len(deleted), prev_kvs)

    def _range(self, position: int, request: Range) -> RangeResponse:
        if 0 < request.revision < self.revision:
            self.historic.append((position, request))
            return RangeResponse(self._seen, [], False, 0)
        kvs, count = self.draft.range(request)
        return RangeResponse(self._seen, kvs, more(request, count), count)


def delete_keys(draft: Draft, keys: Sequence[bytes], revision: int) -> list[Change]:
    """Stage the deletion of live keys as one revision's changes."""
    changes = []
    for key in keys:
        prev = draft.get(key)
        if prev is not None:
            kv = KeyValue(key, b"", 0, revision, 0)
            draft.stage(kv)
            changes.append(Change(kv, prev))
    return changes
