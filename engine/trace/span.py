"""What a trace is made of: hops, lanes, spans and the context that links them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar, Token
from datetime import datetime
from enum import IntEnum, StrEnum
from functools import lru_cache
from types import TracebackType
from typing import Any, NamedTuple

from engine.clock import wall
from engine.timestamps import in_microseconds, moment


class Lane(StrEnum):
    """Where a hop is drawn."""

    CLIENT = "client"
    API_SERVER = "api-server"
    ETCD = "etcd"
    CONTROLLERS = "controllers"
    SCHEDULER = "scheduler"
    NODES = "nodes"


class Hop(IntEnum):
    """The twelve hops from keystroke to Ready (design, section 2)."""

    CLIENT = 1
    AUTHENTICATION = 2
    AUTHORIZATION = 3
    MUTATING_ADMISSION = 4
    SCHEMA = 5
    VALIDATING_ADMISSION = 6
    STORE = 7
    WATCH = 8
    CONTROLLER = 9
    SCHEDULER = 10
    KUBELET = 11
    NETWORK = 12

    lane: Lane


for _hop, _lane in {
    Hop.CLIENT: Lane.CLIENT,
    Hop.AUTHENTICATION: Lane.API_SERVER,
    Hop.AUTHORIZATION: Lane.API_SERVER,
    Hop.MUTATING_ADMISSION: Lane.API_SERVER,
    Hop.SCHEMA: Lane.API_SERVER,
    Hop.VALIDATING_ADMISSION: Lane.API_SERVER,
    Hop.STORE: Lane.ETCD,
    Hop.WATCH: Lane.API_SERVER,
    Hop.CONTROLLER: Lane.CONTROLLERS,
    Hop.SCHEDULER: Lane.SCHEDULER,
    Hop.KUBELET: Lane.NODES,
    Hop.NETWORK: Lane.NODES,
}.items():
    _hop.lane = _lane  # an attribute, and no look-up: each span asks


class SpanContext(NamedTuple):
    """The identity of a span, as W3C Trace Context carries it."""

    trace_id: str  # 32 hex digits
    span_id: str  # 16 hex digits

    @staticmethod
    @lru_cache(maxsize=256)  # who writes, what keeps it and who hears of it read the same
    def parse(traceparent: str) -> SpanContext | None:
        """Read a `traceparent` header; None if it is not a valid one (then the request starts a trace of its own)."""
        parts = traceparent.split("-")
        if len(parts) < 4 or parts[0] == "ff" or len(parts[1]) != 32 or len(parts[2]) != 16:
            return None
        try:
            if not int(parts[1], 16) or not int(parts[2], 16):
                return None
        except ValueError:
            return None
        return SpanContext(parts[1], parts[2])


class Span:
    """One thing that happened, with the thing that caused it. The tracer opens it as a context: the block within is
    what happened.

    `started` is the model's time, in seconds since 1970. `wall_ms` is what this machine took, simulated sleeps not
    counted; `model_ms` is the simulated latency alone. `object` is `kind/name` or `kind/namespace/name` in kubectl's
    words; `revision` is the store revision that the span made or was woken by (0 for none); `woken_by` are further
    revisions that one reconcile answered at once. `outcome` is `ok` or the reason of the failure. `detail` is what an
    inspector shows: plain JSON, never changed once the span has ended.
    """

    # What most spans have is the class's, and costs them nothing: each request has a dozen.
    revision = 0
    woken_by: tuple[int, ...] = ()
    wall_ms = 0.0
    model_ms = 0.0
    outcome = "ok"
    sequence = 0  # order of ending, given by the tracer

    # While it is open: what `Latency` adds up and what is needed to close it.
    slept_s = 0.0
    began = 0.0
    outer: Span | None = None
    _token: Token[Span | None] | None = None

    def __init__(
        self,
        id: str,
        trace_id: str,
        parent: str,
        hop: Hop,
        lane: Lane,
        component: str,
        verb: str,
        object: str,
        started: float,
        detail: dict[str, Any],
        ended: Ended | None = None,
    ) -> None:
        self.id = id
        self.trace_id = trace_id
        self.parent = parent
        self.hop = hop
        self.lane = lane
        self.component = component
        self.verb = verb
        self.object = object
        self.started = started
        self.detail = detail
        self._ended = ended

    def __enter__(self) -> Span:
        self._token = CURRENT.set(self)
        self.began = wall()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        wall_ms = (wall() - self.began - self.slept_s) * 1000
        self.wall_ms = wall_ms if wall_ms > 0.0 else 0.0
        if error is not None and self.outcome == "ok":
            self.outcome = getattr(error, "reason", None) or _name(error)
        ended, token = self._ended, self._token
        self.outer = self._ended = self._token = None
        if token is not None:
            CURRENT.reset(token)
        if ended is not None:
            ended(self)

    @property
    def start(self) -> datetime:
        return moment(self.started)

    @property
    def context(self) -> SpanContext:
        return SpanContext(self.trace_id, self.id)

    @property
    def traceparent(self) -> str:
        """What a request that is made now must carry, as a header (W3C Trace Context)."""
        return f"00-{self.trace_id}-{self.id}-01"

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "traceId": self.trace_id,
            "parent": self.parent,
            "hop": int(self.hop),
            "lane": str(self.lane),
            "component": self.component,
            "verb": self.verb,
            "object": self.object,
            "revision": self.revision,
            "wokenBy": list(self.woken_by),
            "start": in_microseconds(self.start),
            "wall_ms": round(self.wall_ms, 3),
            "model_ms": round(self.model_ms, 3),
            "outcome": self.outcome,
            "detail": self.detail,
            "sequence": self.sequence,
        }


# Takes spans that have ended.
Ended = Callable[[Span], None]

# The span that a task is in.
CURRENT: ContextVar[Span | None] = ContextVar("span", default=None)


def _name(error: BaseException) -> str:
    """What was given up is told in Go's word."""
    return "Canceled" if isinstance(error, asyncio.CancelledError) else type(error).__name__
