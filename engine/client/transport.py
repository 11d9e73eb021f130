"""How a client reaches the API server: the in-process transport (the HTTPS one is `engine.client.https`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from engine.api.wire import ClientCertificate, Handler, Request, Response
from engine.client.request_metrics import RequestMetrics
from engine.clock import wall


class Transport(Protocol):
    """Sends one request. Failures of the API server are responses; failures to reach it raise `ConnectionError`."""

    async def send(self, request: Request) -> Response: ...

    async def close(self) -> None: ...


class Socket(Protocol):
    """A WebSocket's client side, in whole messages."""

    async def receive(self) -> bytes | None: ...

    async def send(self, message: bytes) -> None: ...

    async def close(self) -> None: ...


@runtime_checkable
class Connects(Protocol):
    """A transport that can open streams (exec, attach, port-forward) as well."""

    async def connect(self, request: Request, protocols: Sequence[str]) -> Socket: ...


class InProcessTransport:
    """Hands requests to a handler in this process, with a client certificate's subject as its credential.

    Skips sockets and byte encoding and nothing else: the handler runs the whole chain.
    """

    def __init__(
        self, handler: Handler, certificate: ClientCertificate, *, metrics: RequestMetrics | None = None
    ) -> None:
        self._handler = handler
        self._certificate = certificate
        self._metrics = metrics

    async def send(self, request: Request) -> Response:
        request.certificate = self._certificate
        request.in_process = True
        began = wall()
        response = await self._handler.handle(request)
        if self._metrics is not None:
            self._metrics.count(request, response.status, began=began)
        return response

    async def close(self) -> None:
        """Nothing to close."""
