"""The store's operations as etcd's messages and back, with the cause of a revision beside them.

The cause that a transaction is given stands in one key, `CAUSE_KEY`, written in the same transaction: at the main
revision R that key's value is the cause of R if its mod revision is R. etcd's own compaction lets old causes go. The
key is kept out of what ranges and deletions see; it counts as one of the 128 operations that etcd takes in one branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from aetcd import rpc

from engine.store.index import bounds, more
from engine.store.types import (
    Compare,
    DeleteRange,
    DeleteRangeResponse,
    KeyValue,
    Operation,
    Put,
    PutResponse,
    Range,
    RangeResponse,
)

CAUSE_KEY = b"/ktui/cause"
_AFTER_CAUSE = CAUSE_KEY + b"\0"

Response = RangeResponse | PutResponse | DeleteRangeResponse
# Makes one response of those that etcd gives for the requests that one operation became.
Decode = Callable[[list[Any], int], Response]

_RESULTS = {"=": 0, ">": 1, "<": 2, "!=": 3}
_TARGETS = {"version": 0, "create": 1, "mod": 2, "value": 3, "lease": 4}
_FIELDS = {"create": "create_revision", "mod": "mod_revision"}
_SORT_ORDERS = {"none": 0, "ascend": 1, "descend": 2}
_SORT_TARGETS = {"key": 0, "version": 1, "create": 2, "mod": 3, "value": 4}


def key_value(kv: Any) -> KeyValue:
    return KeyValue(kv.key, kv.value, kv.create_revision, kv.mod_revision, kv.version, kv.lease)


def compare(condition: Compare) -> Any:
    field = _FIELDS.get(condition.target, condition.target)
    return rpc.Compare(
        key=condition.key,
        result=_RESULTS[condition.op],
        target=_TARGETS[condition.target],
        **{field: condition.value},
    )


def covers_cause(key: bytes, range_end: bytes) -> bool:
    start, end = bounds(key, range_end)
    return start <= CAUSE_KEY and (end is None or end > CAUSE_KEY)


# -- ranges


def range_request(request: Range, *, limit: int | None = None) -> Any:
    return rpc.RangeRequest(
        key=request.key,
        range_end=request.range_end,
        revision=max(request.revision, 0),
        limit=request.limit if limit is None else limit,
        keys_only=request.keys_only,
        count_only=request.count_only,
        sort_order=_SORT_ORDERS[request.sort_order],
        sort_target=_SORT_TARGETS[request.sort_target],
    )


def range_requests(request: Range) -> list[Any]:
    """The range, and where it holds the key of the causes, whether that is there at the same revision."""
    if not covers_cause(request.key, request.range_end):
        return [range_request(request)]
    own = rpc.RangeRequest(key=CAUSE_KEY, revision=max(request.revision, 0), count_only=True)
    return [range_request(request, limit=request.limit + 1 if request.limit > 0 else 0), own]


def range_response(request: Range, responses: Sequence[Any], revision: int) -> RangeResponse:
    found, *own = responses
    count = found.count - sum(response.count for response in own)
    kvs = [key_value(kv) for kv in found.kvs if not own or kv.key != CAUSE_KEY]
    if request.limit > 0:
        kvs = kvs[: request.limit]
    return RangeResponse(revision, kvs, more(request, count), count)


# -- transactions


class Branch:
    """One branch of a transaction: etcd's requests, and how their responses become the operations' own."""

    def __init__(self, operations: Sequence[Operation], cause: str) -> None:
        self.requests: list[Any] = []
        self._decoders: list[tuple[int, Decode]] = []
        self._deleted: list[tuple[bytes, bytes]] = []
        for operation in operations:
            self._add(operation)
        if cause and (own := self._write_cause(operations, cause)) is not None:
            self.requests.append(own)

    def _add(self, operation: Operation) -> None:
        if isinstance(operation, Put):
            put = rpc.PutRequest(**operation._asdict())
            self._take([rpc.RequestOp(request_put=put)], _put_response)
        elif isinstance(operation, DeleteRange):
            intervals = list(_without_cause(operation))
            self._deleted += intervals
            requests = [
                rpc.DeleteRangeRequest(key=key, range_end=end, prev_kv=operation.prev_kv) for key, end in intervals
            ]
            self._take([rpc.RequestOp(request_delete_range=request) for request in requests], _delete_response)
        else:
            wanted = operation
            requests = range_requests(wanted)
            self._take(
                [rpc.RequestOp(request_range=request) for request in requests],
                lambda responses, revision: range_response(wanted, [r.response_range for r in responses], revision),
            )

    def _take(self, requests: list[Any], decode: Decode) -> None:
        self.requests += requests
        self._decoders.append((len(requests), decode))

    def _write_cause(self, operations: Sequence[Operation], cause: str) -> Any | None:
        """Put the cause if the branch makes a revision: always with a put, else only if anything is deleted."""
        put = rpc.RequestOp(request_put=rpc.PutRequest(key=CAUSE_KEY, value=cause.encode()))
        if any(isinstance(operation, Put) for operation in operations):
            return put
        if not self._deleted:
            return None
        # No live key has version 0, so this holds of intervals that are empty.
        nothing = [rpc.Compare(key=key, range_end=end, result=0, target=0, version=0) for key, end in self._deleted]
        return rpc.RequestOp(request_txn=rpc.TxnRequest(compare=nothing, failure=[put]))

    def decode(self, responses: Sequence[Any], revision: int) -> list[Response]:
        decoded, at = [], 0
        for size, decode in self._decoders:
            own = responses[at : at + size]
            decoded.append(decode(list(own), _revision_of(own[-1]) if own else revision))
            at += size
        return decoded


def _revision_of(response: Any) -> int:
    """What an operation saw: it is below the transaction's revision where nothing was written before it."""
    found: int = getattr(response, response.WhichOneof("response")).header.revision
    return found


def _put_response(responses: list[Any], revision: int) -> PutResponse:
    put = responses[0].response_put
    return PutResponse(revision, key_value(put.prev_kv) if put.HasField("prev_kv") else None)


def _delete_response(responses: list[Any], revision: int) -> DeleteRangeResponse:
    parts = [response.response_delete_range for response in responses]
    prev_kvs = [key_value(kv) for part in parts for kv in part.prev_kvs]
    return DeleteRangeResponse(revision, sum(part.deleted for part in parts), prev_kvs)


def _without_cause(delete: DeleteRange) -> Iterable[tuple[bytes, bytes]]:
    """The intervals of a deletion, as key and range end, that leave the key of the causes alone."""
    if not covers_cause(delete.key, delete.range_end):
        yield delete.key, delete.range_end
        return
    if delete.key < CAUSE_KEY:
        yield delete.key, CAUSE_KEY
    if delete.range_end and (delete.range_end == b"\0" or delete.range_end > _AFTER_CAUSE):
        yield _AFTER_CAUSE, delete.range_end
