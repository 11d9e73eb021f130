"""Records core/v1 Events about objects, best effort and in the background (client-go tools/record event.go).

`event` returns at once: a reconcile never waits for what it says. One task writes the events in order.
"""

from __future__ import annotations

from engine.api.types import EVENTS, Object
from engine.client.client import Client
from engine.client.event_correlator import EventCorrelator
from engine.client.event_writer import NORMAL, WARNING, EventWriter, object_reference
from engine.world import World

__all__ = ["NORMAL", "WARNING", "EventRecorder", "object_reference"]


class EventRecorder:
    """Events of one component, on one host where it has one."""

    def __init__(self, client: Client, world: World, component: str, host: str = "") -> None:
        self.component = component
        self._world = world
        self._host = host
        self._writer = EventWriter(
            client, world, EVENTS, correlator=EventCorrelator(world.clock), component=component, host=host
        )

    @property
    def dropped(self) -> int:
        return self._writer.dropped

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
        if self._writer.has_room(reference, reason):
            self._writer.say(self._make(reference, type, reason, message, annotations))

    async def flush(self) -> None:
        """Wait until all events said so far are written or given up."""
        await self._writer.flush()

    async def close(self) -> None:
        """Stop writing; what is still queued is lost."""
        await self._writer.close()

    def _make(
        self, reference: Object, type: str, reason: str, message: str, annotations: dict[str, str] | None
    ) -> Object:
        now = self._world.clock.timestamp()
        metadata = self._writer.metadata(reference)
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
