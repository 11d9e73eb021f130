"""Events that the API server itself has to tell, of objects that it keeps (client-go tools/record and tools/events)."""

from __future__ import annotations

from engine.api.types import EVENTS, GVR, Object
from engine.api.validation.text import dns_subdomain
from engine.apiserver.loopback import Loopback
from engine.world import World

_HOST = "ktui"
SERIES_EVENTS = GVR("events.k8s.io", "v1", "events")


class Says:
    """What one of its controllers says; that an event is lost troubles nobody."""

    def __init__(self, loopback: Loopback, world: World, component: str) -> None:
        self._loopback = loopback
        self._clock = world.clock
        self._rng = world.rng.stream("apiserver").stream(component)
        self._component = component

    async def core(self, obj: Object, reason: str, message: str) -> None:
        """A warning, as the recorder of tools/record writes it."""
        now = self._clock.timestamp()
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": self._metadata(obj),
            "involvedObject": _reference(obj),
            "reason": reason,
            "message": message,
            "source": {"component": self._component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": "Warning",
            "reportingComponent": self._component,
        }
        await self._loopback.ask("POST", EVENTS.path(_namespace(obj)), event)

    async def series(self, obj: Object, reason: str, action: str, note: str) -> None:
        """A warning, as the recorder of tools/events writes it."""
        event = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": self._metadata(obj),
            "eventTime": self._clock.micro_timestamp(),
            "reportingController": self._component,
            "reportingInstance": f"{self._component}-{_HOST}",
            "action": action,
            "reason": reason,
            "regarding": _reference(obj),
            "note": note,
            "type": "Warning",
        }
        await self._loopback.ask("POST", SERIES_EVENTS.path(_namespace(obj)), event)

    def _metadata(self, obj: Object) -> Object:
        """The clock counts microseconds, and a virtual one stands still: the last three digits are drawn."""
        moment = int(self._clock.now().timestamp() * 1_000_000) * 1000 + self._rng.randrange(1000)
        name = f"{obj['metadata']['name']}.{moment:x}"
        return {"name": self._rng.uid() if dns_subdomain(name) else name, "namespace": _namespace(obj)}


def _namespace(obj: Object) -> str:
    return obj["metadata"].get("namespace") or "default"


def _reference(obj: Object) -> Object:
    metadata = obj["metadata"]
    reference = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": metadata["name"]}
    for field in ("namespace", "uid", "resourceVersion"):
        if field in metadata:
            reference[field] = metadata[field]
    return reference
