"""Calls to etcd's gRPC services over one channel for each endpoint, the next one where one does not answer.

The messages and stubs are those that the client library aetcd generates from etcd's rpc.proto; its own methods leave
out much of what the store needs (the revision of a range, compares of leases and intervals, whole watch responses).
Deadlines are this machine's: the network knows no model time.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# gRPC's C core writes to stderr whatever it finds noteworthy, a refused connection included; errors reach us anyway.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc
from aetcd import rpc
from grpc.aio import AioRpcError

from engine.store.etcd.errors import may_be_elsewhere, never_sent, translated
from engine.store.types import StoreError

DEADLINE = 10.0  # etcd's own answer to a request without a quorum comes after 7 s
RECONNECT = 0.2  # seconds between attempts to follow etcd again
_OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # Two stores of one process share no connection: one that breaks is nobody else's.
    ("grpc.use_local_subchannel_pool", 1),
)


@dataclass(frozen=True, slots=True)
class EtcdTls:
    """kube-apiserver's --etcd-cafile, --etcd-certfile and --etcd-keyfile, for endpoints with https."""

    cafile: Path | None = None
    certfile: Path | None = None
    keyfile: Path | None = None


class Stubs:
    """The services of one endpoint."""

    def __init__(self, endpoint: str, tls: EtcdTls) -> None:
        self.endpoint = endpoint
        self.channel = _channel(endpoint, tls)
        self.kv = rpc.KVStub(self.channel)
        self.watch = rpc.WatchStub(self.channel)
        self.lease = rpc.LeaseStub(self.channel)
        self.maintenance = rpc.MaintenanceStub(self.channel)
        self.cluster = rpc.ClusterStub(self.channel)


def check_endpoint(endpoint: str) -> None:
    """Raises StoreError for what is no etcd endpoint."""
    try:
        parts = urlsplit(endpoint)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.path.strip("/")
        usable = usable and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise StoreError(f'"{endpoint}" is no etcd endpoint; give URLs like http://127.0.0.1:2379, separated by commas')


def _channel(endpoint: str, tls: EtcdTls) -> Any:
    check_endpoint(endpoint)
    parts = urlsplit(endpoint)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    target = f"{host}:{parts.port or 2379}"
    if parts.scheme == "http":
        return grpc.aio.insecure_channel(target, options=_OPTIONS)
    files = (tls.cafile, tls.keyfile, tls.certfile)
    try:
        roots, key, chain = (file.read_bytes() if file is not None else None for file in files)
    except OSError as error:
        raise StoreError(f"cannot read {error.filename} for the connection to etcd: {error.strerror}") from error
    return grpc.aio.secure_channel(target, grpc.ssl_channel_credentials(roots, key, chain), options=_OPTIONS)


class Connection:
    """All endpoints of one etcd cluster, of which one is used until it fails."""

    def __init__(self, endpoints: Sequence[str], tls: EtcdTls | None = None) -> None:
        self._stubs = [Stubs(endpoint, tls or EtcdTls()) for endpoint in endpoints]
        self._current = 0

    @property
    def stubs(self) -> Stubs:
        return self._stubs[self._current]

    @property
    def all(self) -> Sequence[Stubs]:
        return self._stubs

    @property
    def endpoints(self) -> str:
        return ", ".join(stubs.endpoint for stubs in self._stubs)

    async def call(
        self, service: str, method: str, request: Any, *, reading: bool = False, deadline: float = DEADLINE
    ) -> Any:
        """One unary call. What only reads, or was surely never sent, is tried on every endpoint.

        Raises StoreError.
        """
        for attempt in range(len(self._stubs)):
            stubs = self.stubs
            try:
                return await getattr(getattr(stubs, service), method)(request, timeout=deadline)
            except AioRpcError as error:
                self.failed(stubs, error)
                last = attempt == len(self._stubs) - 1
                if last or not (never_sent(error) or (reading and may_be_elsewhere(error))):
                    raise translated(error, stubs.endpoint) from error
        raise StoreError("no etcd endpoint is given")

    def failed(self, stubs: Stubs, error: AioRpcError) -> None:
        """Use the next endpoint from now on, if this one's failure may be its own."""
        if stubs is self.stubs and may_be_elsewhere(error):
            self._current = (self._current + 1) % len(self._stubs)

    @asynccontextmanager
    async def watch(self, create: Any, *, deadline: float | None = None) -> AsyncIterator[Any]:
        """An open watch stream of one watch; iterating it gives etcd's WatchResponses. Raises AioRpcError."""
        stubs = self.stubs
        call = stubs.watch.Watch(timeout=deadline)
        try:
            await call.write(rpc.WatchRequest(create_request=create))
            yield call
        except asyncio.InvalidStateError as error:  # the call had failed before it was written to
            raise AioRpcError(await call.code(), (), (), details=await call.details()) from error
        except AioRpcError as error:
            self.failed(stubs, error)
            raise
        finally:
            call.cancel()

    async def close(self) -> None:
        for stubs in self._stubs:
            await stubs.channel.close()


async def rest(seconds: float) -> None:
    """Wait for seconds of this machine: the network does not stop with the model's clock."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    timer = loop.call_later(seconds, lambda: None if done.done() else done.set_result(None))
    try:
        await done
    finally:
        timer.cancel()
