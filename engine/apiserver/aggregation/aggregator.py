"""Hands requests for what other servers serve on to them, as their APIServices say.

Sources: kube-aggregator pkg/apiserver/handler_proxy.go, apimachinery pkg/util/proxy (upgradeaware.go, transport.go).
Bodies of requests are held whole, as all of this server's; those of answers are passed on as they come.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from urllib.parse import urlencode

import aiohttp
import orjson

from engine.api.crd.naming import is_true
from engine.api.errors import PlainTextError
from engine.api.types import Object
from engine.api.wire import JSON, Request, Response, WatchEvent
from engine.apiserver.aggregation.remote_servers import (
    AGGREGATOR,
    DISCOVERY_SECONDS,
    RemoteServers,
    UnreachableError,
)
from engine.apiserver.authentication.request_header import EXTRA, GROUP, UID, USER
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.call import Call
from engine.apiserver.registry.body import check_size
from engine.apiserver.request_info import RequestInfo
from engine.apiserver.routing import away
from engine.apiserver.service_resolver import ResolveError
from engine.config import RequestHeaders

_OF_A_CONNECTION = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-length",
    )
)
_NOT_PASSED_ON = _OF_A_CONNECTION | {"host", "authorization", "expect", USER, UID, GROUP}
_IDENTITY = (EXTRA, "impersonate-")
_DISCOVERY_PARTS = 3
Find = Callable[[str, str], Object | None]  # the APIService of a group and version that is elsewhere


class Aggregator:
    def __init__(self, servers: RemoteServers, find: Find, headers: RequestHeaders) -> None:
        self._servers = servers
        self.given_away = find
        self._believed = frozenset(each.lower() for each in headers.names)
        self._prefixes = tuple(each.lower() for each in headers.extra_headers_prefix)

    def elsewhere(self, info: RequestInfo) -> Object | None:
        """The APIService that gives what is asked for to another server."""
        if info.is_resource:
            return self.given_away(info.group, info.version)
        parts = info.path.split("/", 4)
        return self.given_away(parts[2], parts[3]) if len(parts) > _DISCOVERY_PARTS and parts[1] == "apis" else None

    async def relay(self, call: Call, api_service: Object) -> Response:
        """What the other server answers. Raises PlainTextError 503."""
        if not is_true(api_service, "Available"):
            raise away()
        request = call.request
        check_size(request)
        is_discovery = not call.info.is_resource and call.info.path.strip("/").count("/") == _DISCOVERY_PARTS - 1
        answer = await self._asked(
            api_service,
            request,
            user=call.user,
            target=_target(request),
            seconds=DISCOVERY_SECONDS if is_discovery else None,
        )
        return await _relayed(request, answer, watching=call.info.watching)

    async def openapi(self, request: Request, api_service: Object, target: str) -> Response:
        """An OpenAPI document of another server. Raises PlainTextError 503."""
        answer = await self._asked(api_service, request, user=AGGREGATOR, target=target, seconds=DISCOVERY_SECONDS)
        return await _relayed(request, answer, watching=False)

    async def _asked(
        self, api_service: Object, request: Request, *, user: UserInfo, target: str, seconds: float | None
    ) -> aiohttp.ClientResponse:
        try:
            place = await self._servers.place(api_service)
        except ResolveError:
            raise away() from None
        try:
            return await self._servers.send(
                api_service,
                place,
                request.method,
                target,
                user=user,
                headers=self._headers(request, target, place.shown),
                body=_body(request),
                seconds=seconds,
            )
        except UnreachableError as error:
            raise PlainTextError(503, f"error trying to reach service: {error}") from None

    def _headers(self, request: Request, target: str, host: str) -> Iterator[tuple[str, str]]:
        """Those of the request, without what says who asks and what is of its connection alone."""
        if request.in_process:
            yield "Accept", JSON
            if request.body is not None:
                yield "Content-Type", request.headers.get("content-type", JSON)
        for name, value in request.headers.items():
            if name in _NOT_PASSED_ON or name in self._believed or name.startswith((*_IDENTITY, *self._prefixes)):
                continue
            if not (request.in_process and name in ("accept", "content-type", "accept-encoding")):
                yield name, value
        yield "X-Forwarded-For", request.remote
        yield "X-Forwarded-Uri", target.partition("?")[0]
        yield "X-Forwarded-Host", host
        yield "X-Forwarded-Proto", "https"


def _target(request: Request) -> str:
    """Path and query, whose parameters Go writes in the order of their names."""
    query = urlencode(sorted(request.query.items()), doseq=True)
    return f"{request.path}?{query}" if query else request.path


def _body(request: Request) -> bytes:
    if request.body is None or isinstance(request.body, bytes):
        return request.body or b""
    return orjson.dumps(request.body)


async def _relayed(request: Request, answer: aiohttp.ClientResponse, *, watching: bool) -> Response:
    headers: dict[str, str] = {}
    for name, value in answer.headers.items():
        key = name.lower()
        if key not in _OF_A_CONNECTION:
            headers[key] = f"{headers[key]}, {value}" if key in headers else value
    response = Response(answer.status, None, headers, relayed=True)
    if request.in_process and watching and answer.status == 200:
        response.events = _Events(answer)
    elif request.in_process or "content-length" in answer.headers:
        data = await answer.read()
        is_json = request.in_process and headers.get("content-type", "").startswith(JSON)
        response.body, response.wire = (orjson.loads(data), data) if is_json else (data, b"")
    else:
        response.stream = _Bytes(answer)
    return response


class _Bytes:
    """A body as it comes."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._answer.content.iter_any():
                yield chunk
        except aiohttp.ClientError:
            return  # the other server has gone, in the middle of what it said

    async def aclose(self) -> None:
        self._answer.close()


class _Events:
    """A watch as its events, for who asks in this process."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[WatchEvent]:
        try:
            async for line in self._answer.content:
                event = orjson.loads(line)
                yield WatchEvent(event["type"], event["object"])
        except (aiohttp.ClientError, ValueError):
            return

    async def aclose(self) -> None:
        self._answer.close()
