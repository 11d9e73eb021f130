"""Records core/v1 Events about objects, best effort and in the background (client-go tools/record event.go).

`event` returns at once: a reconcile never waits for what it says. One task writes the events in order.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextvars import Context
from datetime import UTC, datetime
from typing import NamedTuple

from engine.api.errors import ApiError
from engine.api.types import EVENTS, Object
from engine.client.client import STRATEGIC_PATCH, Client
from engine.client.event_correlator import Correlated, EventCorrelator
from engine.tasks import Supervisor
from engine.trace import Span, current_span
from engine.world import World

log = logging.getLogger(__name__)

NORMAL = "Normal"
WARNING = "Warning"

MAX_QUEUED = 1000
MAX_TRIES = 12
RETRY_AFTER = 10.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Queued(NamedTuple):
    event: Object
    said_in: Span | None


def object_reference(obj: Object, *, field_path: str = "") -> Object:
    """The core/v1 ObjectReference of an object, or of a part of it."""
    metadata = obj["metadata"]
    reference: Object = {
        "kind": obj.get("kind", ""),
        "namespace": metadata.get("namespace", ""),
        "name": metadata.get("name", ""),
        "uid": metadata.get("uid", ""),
        "apiVersion": obj.get("apiVersion", ""),
        "resourceVersion": metadata.get("resourceVersion", ""),
        "fieldPath": field_path,
    }
    return {name: value for name, value in reference.items() if value}


class EventRecorder:
    """Events of one component, on one host where it has one."""

    def __init__(self, client: Client, world: World, component: str, host: str = "") -> None:
        self.component = component
        self.dropped = 0
        self._client = client
        self._world = world
        self._host = host
        self._rng = world.rng.stream(f"events/{component}/{host}")
        self._correlator = EventCorrelator(world.clock)
        self._queue: deque[_Queued] = deque()
        self._tasks = Supervisor(f"events {component} {host}".strip())
        self._last_nanos = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def event(
        self,
        obj: Object,
        type: str,
        reason: str,
        message: str,
        *,
        field_path: str = "",
        annotations: dict[str, str] | None = None,
    ) -> None:
        """Say of an object (or of its part at `field_path`, as in `spec.containers{app}`) that something happened."""
        self.event_of(object_reference(obj, field_path=field_path), type, reason, message, annotations=annotations)

    def event_of(
        self, reference: Object, type: str, reason: str, message: str, *, annotations: dict[str, str] | None = None
    ) -> None:
        """As `event`, for one who holds no more than an ObjectReference."""
        if len(self._queue) >= MAX_QUEUED:
            self.dropped += 1
            log.error("%s: too many queued events, dropped %s of %s", self.component, reason, reference.get("name"))
            return
        self._queue.append(_Queued(self._make(reference, type, reason, message, annotations), current_span()))
        if self._idle.is_set():
            self._idle.clear()
            # A context of its own: the writer outlives the span that is open now.
            Context().run(self._tasks.spawn, self._write_all(), "writer")

    async def flush(self) -> None:
        """Wait until all events said so far are written or given up."""
        await self._idle.wait()

    async def close(self) -> None:
        """Stop writing; what is still queued is lost."""
        await self._tasks.close()

    # -- making

    def _make(
        self, reference: Object, type: str, reason: str, message: str, annotations: dict[str, str] | None
    ) -> Object:
        now = self._world.clock.timestamp()
        metadata: Object = {
            "name": f"{reference.get('name', '')}.{self._nanos():x}",
            "namespace": reference.get("namespace") or "default",
        }
        if annotations:
            metadata["annotations"] = dict(annotations)
        source = {"component": self.component, "host": self._host} if self._host else {"component": self.component}
        return {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": metadata,
            "involvedObject": reference,
            "reason": reason,
            "message": message,
            "source": source,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": type,
            "eventTime": None,
            "reportingComponent": self.component,
            "reportingInstance": self._host,
        }

    def _nanos(self) -> int:
        """Nanoseconds since 1970, never twice the same.

        The clock counts microseconds, and a virtual one stands still while two components speak of one object: the last
        three digits are drawn, so that their names differ.
        """
        since = self._world.clock.now() - _EPOCH
        micros = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        self._last_nanos = max(micros * 1000 + self._rng.randrange(1000), self._last_nanos + 1)
        return self._last_nanos

    # -- writing

    async def _write_all(self) -> None:
        while self._queue:
            queued = self._queue.popleft()
            if (correlated := self._correlator.correlate(queued.event)) is not None:
                await self._write(correlated, queued.said_in)
        self._idle.set()

    async def _write(self, correlated: Correlated, said_in: Span | None) -> None:
        if said_in is None:
            await self._write_with_retries(correlated)
            return
        metadata = correlated.event["metadata"]
        with self._world.tracer.span(
            said_in.hop,
            component=said_in.component,
            verb="event",
            object=f"event/{metadata['namespace']}/{metadata['name']}",
            lane=said_in.lane,
            cause=said_in.context,
            detail={"reason": correlated.event["reason"], "message": correlated.event["message"]},
        ):
            await self._write_with_retries(correlated)

    async def _write_with_retries(self, correlated: Correlated) -> None:
        for tries in range(1, MAX_TRIES + 1):
            try:
                self._correlator.update(await self._send(correlated))
                return
            except ApiError as error:
                level = logging.DEBUG if _expected(error) else logging.ERROR
                log.log(level, "server rejected event (will not retry): %s", error)
                return
            except ConnectionError as error:
                log.warning("unable to write event (may retry after sleeping): %s", error)
            # The first wait is drawn, so that not all come at once when the server is back.
            await self._world.clock.sleep(RETRY_AFTER * (self._rng.random() if tries == 1 else 1.0))
        log.error("unable to write event (retry limit exceeded)")

    async def _send(self, correlated: Correlated) -> Object:
        event, patch = correlated
        metadata = event["metadata"]
        if patch is not None:
            try:
                return await self._client.patch(
                    EVENTS, metadata["name"], patch, namespace=metadata["namespace"], content_type=STRATEGIC_PATCH
                )
            except ApiError as error:
                if error.code != 404:
                    raise
        fresh = {**event, "metadata": {k: v for k, v in metadata.items() if k != "resourceVersion"}}
        return await self._client.create(EVENTS, fresh, namespace=metadata["namespace"])


def _expected(error: ApiError) -> bool:
    """A namespace that is going away, or a name that was taken: nobody's fault."""
    causes = (error.details or {}).get("causes") or ()
    return error.reason == "AlreadyExists" or any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
