"""The one request and the one response that cross the API server's front door (design, section 4).

The HTTPS server and the in-process transport are two thin adapters to these types: over HTTPS a body is bytes,
in-process it is the plain object itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable
from urllib.parse import quote, urlencode

import orjson

from engine.api.golang.json import escaped
from engine.api.nil_lists import with_nils
from engine.api.types import Object

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
BODY_LIMIT = 3 * 1024 * 1024  # bytes (apiserver pkg/server/config.go, MaxRequestBodyBytes)
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class ClientCertificate(NamedTuple):
    """The subject of a client certificate, and whether the transport has verified it: the x509 authenticator's
    input."""

    common_name: str
    organizations: tuple[str, ...] = ()
    fingerprint: str = ""  # SHA-256 of the certificate, in hexadecimal; "" where a subject is all there is
    uids: tuple[str, ...] = ()
    verified: bool = True
    ends: float | None = None  # seconds since 1970; None where a subject is all there is
    of_proxy: bool = False  # whether it is of those who may say for whom they ask


@dataclass(slots=True)
class Request:
    """A request as the chain sees it. Header names are in lower case; query values keep their order and repetition.

    The values of a header that comes several times have ", " between them, those of Impersonate-* and of headers by
    which proxies say for whom they ask a line's end: the name of a group may hold a comma.

    `body` is bytes from a socket, a JSON value from an in-process caller, None for none. `raw_query` is the query as it
    was sent, "" from an in-process caller. One that is `oversized` had a body of more than BODY_LIMIT bytes, which was
    not read: who needs it refuses the request.
    """

    method: str
    path: str
    query: dict[str, list[str]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    certificate: ClientCertificate | None = None
    in_process: bool = False
    remote: str = "127.0.0.1"  # the address that it comes from
    raw_query: str = ""
    oversized: bool = False

    def parameter(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        values = self.query.get(name)
        return values[0] if values else default

    @property
    def target(self) -> str:
        """Path and query as they stand in the request line."""
        path = quote(self.path, safe="/:@!$&'()*+,;=~%")
        return f"{path}?{urlencode(self.query, doseq=True)}" if self.query else path


class WatchEvent:
    """One event of a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.

    `cause` is the traceparent of the write that made it ("" for none), `revision` its store revision, `old` the state
    before, if that is known. The bytes that go to HTTP watchers are made once and shared.
    """

    __slots__ = ("_encoded", "cause", "object", "old", "revision", "type")

    def __init__(
        self, type: str, object: Object, revision: int = 0, cause: str = "", old: Object | None = None
    ) -> None:
        self.type = type
        self.object = object
        self.revision = revision
        self.cause = cause
        self.old = old
        self._encoded: bytes | None = None

    @property
    def encoded(self) -> bytes:
        """The event as a line of JSON."""
        if self._encoded is None:
            self._encoded = escaped(orjson.dumps({"type": self.type, "object": with_nils(self.object)}) + b"\n")
        return self._encoded

    def __repr__(self) -> str:
        metadata = self.object.get("metadata", {})
        return f"<{self.type} {self.object.get('kind')} {metadata.get('name')} rv {metadata.get('resourceVersion')}>"


class EventStream(Protocol):
    """An open watch. Iterating ends when the server ends the watch; `aclose` ends it from this side."""

    def __aiter__(self) -> AsyncIterator[WatchEvent]: ...

    async def aclose(self) -> None: ...


@runtime_checkable
class Metered(Protocol):
    """An event stream that wants to know what of it went over the wire, to show it."""

    def count_bytes(self, size: int) -> None: ...


class ByteStream(Protocol):
    """A body that is sent as it comes (logs, newline-delimited JSON)."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class Socket(Protocol):
    """A WebSocket seen from the server: messages in both directions; or a connection, whose messages are whatever bytes
    have come."""

    async def receive(self) -> bytes | None:
        """The next message (a text message as UTF-8); None when the other side has closed."""
        ...

    async def send(self, message: bytes | str) -> None:
        """Raises ConnectionError if the other side has gone."""
        ...


class Upgrade(Protocol):
    """A connection that becomes a WebSocket or one of SPDY (exec, attach, port-forward) with the given subprotocol; ""
    for none."""

    @property
    def protocol(self) -> str: ...

    async def run(self, socket: Socket) -> None:
        """Serve the socket to the end."""
        ...


@dataclass(slots=True)
class Response:
    """`body` is a JSON value, bytes with a `content-type` header of their own, or None; or a stream is set.

    `causes` are the traceparents of a list's newest objects by resourceVersion, for in-process components only.
    `untyped` says that items of a list keep their kinds, as Go has no types for them that would know.
    `wire` is a JSON body as it is written, where it came over a socket or more than its value counts.
    `sized` is told how many bytes the body came to, by who writes it to a socket.
    `packs` says that a stream is compressed as it goes, for who takes that.
    `relayed` says that it is another server's, and nothing of it to be changed.
    """

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    events: EventStream | None = None
    stream: ByteStream | None = None
    causes: dict[str, str] = field(default_factory=dict)
    upgrade: Upgrade | None = None
    untyped: bool = False
    wire: bytes = b""
    sized: Callable[[int], None] | None = None
    packs: bool = False
    relayed: bool = False


class Handler(Protocol):
    """The front door: the whole chain behind one call. Failures come back as responses with a Status, never raised."""

    async def handle(self, request: Request) -> Response: ...
