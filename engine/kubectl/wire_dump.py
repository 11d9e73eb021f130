"""`-v=6` and more: what goes over the wire, told on stderr as kubectl tells it; credentials are hidden (hop 01).

6 tells method, URL, status and time; 7 adds the request's headers, 8 the response's headers and both bodies, cut at
1024 characters; 9 tells a curl command and cuts at 10240; 10 cuts nothing. Streams are told without their bodies.

Source of the behaviour: client-go transport/round_trippers.go, rest/request.go (truncateBody) and klog's text format.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, TextIO

import orjson

from engine.api.wire import Request, Response
from engine.client.transport import Transport
from engine.clock import Clock
from engine.kubectl import klog

TIMES, HEADERS, BODIES, CURL, EVERYTHING = 6, 7, 8, 9, 10
LIMITS = {BODIES: 1024, CURL: 10240}
HIDDEN = frozenset(("authorization",))
UNTOLD = frozenset(("traceparent",))  # not of kubectl: ours, for the trace


class WireDump:
    """A transport that tells of what passes through it."""

    def __init__(
        self, inner: Transport, *, level: int, stderr: TextIO, clock: Clock, server: str = "", scheme: str = ""
    ) -> None:
        self.inner = inner
        self._level = level
        self._stderr = stderr
        self._clock = clock
        self._server = server
        self._scheme = scheme  # what the transport authenticates with: Bearer, Basic, or ""

    async def send(self, request: Request) -> Response:
        url = self._server + request.target
        sent = self._headers(request)
        if self._level >= BODIES:
            self._say("helper.go:113", _pair("Request Body", body=self._cut(_text(request.body))))
        if self._level >= CURL:
            self._say("round_trippers.go:527", _pair("Request", curlCommand=_curl(request.method, url, sent)))
        elif self._level >= HEADERS:
            shown = _pair("Request", verb=request.method, url=url, headers=_lines(sent))
            self._say("round_trippers.go:527", shown)
        started = self._clock.monotonic()
        response = await self.inner.send(request)
        took = int((self._clock.monotonic() - started) * 1000)
        self._tell(request, response, url=url, took=took)
        return response

    async def close(self) -> None:
        await self.inner.close()

    def _tell(self, request: Request, response: Response, *, url: str, took: int) -> None:
        fields: dict[str, Any] = {}
        if self._level == TIMES or self._level >= CURL:
            fields |= {"verb": request.method, "url": url}
        fields["status"] = f"{response.status} {_phrase(response.status)}"
        if self._level >= BODIES:
            headers = {name: value for name, value in response.headers.items() if name.lower() not in UNTOLD}
            fields["headers"] = _lines({_canonical(name): value for name, value in sorted(headers.items())})
        self._say("round_trippers.go:632", f"{_pair('Response', **fields)} milliseconds={took}")
        if self._level >= BODIES and response.events is None and response.stream is None:
            self._say("helper.go:113", _pair("Response Body", body=self._cut(_text(response.body))))

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {_canonical(name): value for name, value in request.headers.items() if name not in UNTOLD}
        if self._scheme:
            headers["Authorization"] = self._scheme
        for name in headers:
            if name.lower() in HIDDEN:
                headers[name] = f"{headers[name].split(' ')[0]} <masked>"
        return dict(sorted(headers.items()))

    def _cut(self, text: str) -> str:
        limit = LIMITS.get(self._level)
        if limit is None or len(text) <= limit:
            return text
        return f"{text[:limit]} [truncated {len(text) - limit} chars]"

    def _say(self, place: str, text: str) -> None:
        """A line in klog's format."""
        self._stderr.write(klog.line("I", self._clock.now(), place, text) + "\n")


def _pair(title: str, **fields: Any) -> str:
    return " ".join([f'"{title}"', *(f"{name}={_value(str(value))}" for name, value in fields.items())])


def _value(text: str) -> str:
    """Quoted; text of several lines as a block between `<` and `>`."""
    if "\n" not in text:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    block = "".join(f"\t{line}\n" for line in text.removesuffix("\n").split("\n"))
    return f"<\n{block} >"


def _lines(headers: Mapping[str, str]) -> str:
    return "".join(f"{name}: {value}\n" for name, value in headers.items())


def _curl(method: str, url: str, headers: Mapping[str, str]) -> str:
    told = " ".join(f'-H "{name}: {value}"' for name, value in headers.items())
    return f"curl -v -X{method}  {told} '{url}'\n"


def _canonical(name: str) -> str:
    return "-".join(part.capitalize() for part in name.split("-"))


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else ""


def _text(body: Any) -> str:
    if body is None:
        return ""
    if isinstance(body, bytes):
        return body.decode(errors="replace")
    return body if isinstance(body, str) else orjson.dumps(body).decode() + "\n"
