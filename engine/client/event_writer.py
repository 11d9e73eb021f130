"""Writes Events best effort and in the background, in the order in which they were said.

Shared by the recorders of core/v1 (`recorder.py`) and events.k8s.io/v1 (`series_recorder.py`), which differ in how an
event looks and in what becomes of one that is said again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextvars import Context
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from engine.api.errors import ApiError
from engine.api.types import GVR, Object
from engine.api.validation.text import dns_subdomain
from engine.client.client import STRATEGIC_PATCH, Client
from engine.client.event_correlator import Correlated
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


class Correlator(Protocol):
    def correlate(self, event: Object) -> Correlated | None:
        """What to write for a new event; None if nothing is."""
        ...

    def update(self, written: Object) -> None:
        """Note how the server answered."""
        ...


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


class EventWriter:
    """The events of one component as one resource, `events` of one of the two groups."""

    def __init__(
        self, client: Client, world: World, resource: GVR, *, correlator: Correlator, component: str, host: str
    ) -> None:
        self.dropped = 0
        self._dropped_now = 0  # since the queue was last empty: said twice, not once for each as client-go does
        self._client = client
        self._world = world
        self._resource = resource
        self._correlator = correlator
        self._component = component
        self._rng = world.rng.stream(f"events/{component}/{host}")
        self._queue: deque[_Queued] = deque()
        self._tasks = Supervisor(f"events {component} {host}".strip())
        self._last_nanos = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def has_room(self, reference: Object, reason: str) -> bool:
        """Whether one more can be said; one that cannot is counted."""
        if len(self._queue) < MAX_QUEUED:
            return True
        if not self._dropped_now:
            name = reference.get("name")
            log.warning("%s: too many queued events, dropping from %s of %s on", self._component, reason, name)
        self.dropped += 1
        self._dropped_now += 1
        return False

    def say(self, event: Object) -> None:
        self._queue.append(_Queued(event, current_span()))
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

    def metadata(self, reference: Object) -> Object:
        """Name and namespace of a new event about something, whose own name may be none for an event
        (tools/record/util GenerateEventName)."""
        name = f"{reference.get('name', '')}.{self._nanos():x}"
        if dns_subdomain(name):
            name = self._rng.uid()
        return {"name": name, "namespace": reference.get("namespace") or "default"}

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
        if self._dropped_now:
            log.warning("%s: %d events were dropped", self._component, self._dropped_now)
            self._dropped_now = 0
        self._idle.set()

    async def _write(self, correlated: Correlated, said_in: Span | None) -> None:
        if said_in is None:
            await self.write_with_retries(correlated)
            return
        event = correlated.event
        metadata = event["metadata"]
        with self._world.tracer.span(
            said_in.hop,
            component=said_in.component,
            verb="event",
            object=f"event/{metadata['namespace']}/{metadata['name']}",
            lane=said_in.lane,
            cause=said_in.context,
            detail={"reason": event["reason"], "message": event.get("message", event.get("note", ""))},
        ):
            await self.write_with_retries(correlated)

    async def write_with_retries(self, correlated: Correlated) -> None:
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
                    self._resource,
                    metadata["name"],
                    patch,
                    namespace=metadata["namespace"],
                    content_type=STRATEGIC_PATCH,
                )
            except ApiError as error:
                if error.code != 404:
                    raise
        fresh = {**event, "metadata": {k: v for k, v in metadata.items() if k != "resourceVersion"}}
        return await self._client.create(self._resource, fresh, namespace=metadata["namespace"])


def _expected(error: ApiError) -> bool:
    """A namespace that is going away, or a name that was taken: nobody's fault."""
    causes = (error.details or {}).get("causes") or ()
    return error.reason == "AlreadyExists" or any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
