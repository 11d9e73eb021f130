"""The API server as its own client (apiserver pkg/server, LoopbackClientConfig): what it keeps of itself goes in by the
front door, through admission and validation, as a child of the span that it is done in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from engine.api.wire import ClientCertificate, Request, Response
from engine.trace import current_span

_LOOPBACK = ClientCertificate("system:apiserver", ("system:masters",))
_USER_AGENT = "kube-apiserver"


class Loopback:
    def __init__(self, handle: Callable[[Request], Awaitable[Response]]) -> None:
        self._handle = handle

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        query: dict[str, list[str]] | None = None,
    ) -> Response:
        headers = {"user-agent": _USER_AGENT, "content-type": content_type}
        if (span := current_span()) is not None:
            headers["traceparent"] = span.traceparent
        request = Request(method, path, query or {}, headers, body, certificate=_LOOPBACK, in_process=True)
        return await self._handle(request)
