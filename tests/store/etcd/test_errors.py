"""What failures of gRPC mean to whoever uses the store; no etcd is needed for that."""

from __future__ import annotations

import pytest
from grpc import StatusCode
from grpc.aio import AioRpcError, Metadata

from engine.store.etcd.errors import may_be_elsewhere, translated
from engine.store.types import NoSpaceError, RequestTooLargeError, StoreError, StoreUnavailableError


@pytest.mark.parametrize(
    ("code", "details", "kind", "message", "elsewhere"),
    [
        pytest.param(
            StatusCode.RESOURCE_EXHAUSTED,
            "etcdserver: mvcc: database space exceeded",
            NoSpaceError,
            "etcdserver: mvcc: database space exceeded",
            False,
            id="etcd is full",
        ),
        pytest.param(
            StatusCode.RESOURCE_EXHAUSTED,
            "trying to send message larger than max (2097153 vs. 2097152)",
            RequestTooLargeError,
            "etcdserver: request is too large",
            False,
            id="what is too large for gRPC is too large for etcd",
        ),
        pytest.param(
            StatusCode.UNAVAILABLE,
            "etcdserver: leader changed",
            StoreUnavailableError,
            "etcdserver: leader changed",
            True,
            id="etcd's own words stand",
        ),
        pytest.param(
            StatusCode.INTERNAL,
            "Internal error from Core",
            StoreUnavailableError,
            "etcd at http://a cannot be reached: internal error from core",
            True,
            id="a stream that broke as it was written to",
        ),
        pytest.param(StatusCode.INTERNAL, "bad", StoreError, "bad", False, id="any other fault is none of the network"),
    ],
)
def test_translated(code: StatusCode, details: str, kind: type[StoreError], message: str, elsewhere: bool) -> None:
    error = AioRpcError(code, Metadata(), Metadata(), details=details)
    found = translated(error, "http://a")
    assert (type(found), str(found), may_be_elsewhere(error)) == (kind, message, elsewhere)
