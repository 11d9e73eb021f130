"""gRPC failures as the store's errors, with etcd's own messages (etcd api/v3rpc/rpctypes error.go)."""

from __future__ import annotations

from grpc import StatusCode
from grpc.aio import AioRpcError

from engine.store.types import (
    CompactedError,
    FutureRevisionError,
    KeyNotFoundError,
    LeaseNotFoundError,
    NoSpaceError,
    RequestTooLargeError,
    StoreError,
    StoreUnavailableError,
)

_BY_MESSAGE: dict[str, type[StoreError]] = {
    "etcdserver: mvcc: required revision is a future revision": FutureRevisionError,
    "etcdserver: mvcc: database space exceeded": NoSpaceError,
    "etcdserver: key not found": KeyNotFoundError,
    "etcdserver: requested lease not found": LeaseNotFoundError,
    "etcdserver: request is too large": RequestTooLargeError,
}
_AWAY = (StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED, StatusCode.CANCELLED)
# What gRPC's asyncio says, as INTERNAL, of a stream whose connection was lost as it was written to.
_BROKEN = "Internal error from Core"


def translated(error: AioRpcError, endpoint: str) -> StoreError:
    """What a failed call means. A CompactedError does not know the compacted revision yet: etcd does not tell here."""
    message = error.details() or ""
    if message == "etcdserver: mvcc: required revision has been compacted":
        return CompactedError(0)
    if message in _BY_MESSAGE:
        return _BY_MESSAGE[message]()
    if error.code() == StatusCode.RESOURCE_EXHAUSTED and "larger than max" in message:
        return RequestTooLargeError()
    if error.code() in _AWAY or message == _BROKEN:
        return StoreUnavailableError(message if message.startswith("etcdserver: ") else _unreachable(error, endpoint))
    return StoreError(message or f"etcdserver: {error.code().name.lower()}")


def _unreachable(error: AioRpcError, endpoint: str) -> str:
    if error.code() == StatusCode.DEADLINE_EXCEEDED:
        return f"etcd at {endpoint} does not answer: context deadline exceeded"
    return f"etcd at {endpoint} cannot be reached: {reason(error)}"


def reason(error: AioRpcError) -> str:
    """Why a connection failed, without gRPC's own words around it."""
    message = str(error.details() or error.code().name.lower())
    for part in reversed(message.split(": ")):
        if part and not part.startswith("ipv"):
            return part.split(" (")[0].lower()
    return message


def never_sent(error: AioRpcError) -> bool:
    """Whether a request surely has not reached any etcd, so that a write may be tried elsewhere."""
    return error.code() == StatusCode.UNAVAILABLE and "failed to connect to all addresses" in (error.details() or "")


def may_be_elsewhere(error: AioRpcError) -> bool:
    """Whether another endpoint may do better."""
    return error.code() in (StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED) or error.details() == _BROKEN
