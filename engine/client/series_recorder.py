"""Records events.k8s.io/v1 Events, as the scheduler does (client-go tools/events).

What differs from core/v1: an event names the action that was taken, another object that it was taken for, and its
time to the microsecond. The same again makes a series of the first event: told when it begins, then counted here, and
told once more when nothing has come for six minutes, or every half hour so that it does not expire. Whether two are
the same does not depend on their notes.
"""

from __future__ import annotations

from typing import Any

from engine.api.types import GVR, Object
from engine.client.client import Client
from engine.client.event_correlator import Correlated
from engine.client.event_writer import EventWriter, object_reference
from engine.clock import Clock, Timer
from engine.tasks import Supervisor
from engine.world import World

NEW_EVENTS = GVR("events.k8s.io", "v1", "events")

FINISH_TIME = 6 * 60.0
REFRESH_TIME = 30 * 60.0

_KEY = ("type", "action", "reason", "reportingController", "reportingInstance")


class _Said:
    """An event as it stands here; `last` is when it was said for the last time, in model seconds."""

    __slots__ = ("event", "last")

    def __init__(self, event: Object, last: float) -> None:
        self.event = event
        self.last = last


class EventSeries:
    """Tells a first event, and that a second one begins a series."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._said: dict[tuple[Any, ...], _Said] = {}

    def __len__(self) -> int:
        return len(self._said)

    def correlate(self, event: Object) -> Correlated | None:
        key = _key(event)
        said = self._said.get(key)
        if said is None:
            self._said[key] = _Said(event, self._clock.monotonic())
            return Correlated(event, None)
        began = "series" not in said.event
        count = 2 if began else said.event["series"]["count"] + 1
        series = {"count": count, "lastObservedTime": self._clock.micro_timestamp()}
        said.event, said.last = {**said.event, "series": series}, self._clock.monotonic()
        return _counted(said.event) if began else None

    def update(self, written: Object) -> None:
        """What the server makes of an event is nothing to go by: the first one stands as it was said."""

    def finished(self) -> list[Correlated]:
        """Forget what has not been said for six minutes; the last counts of the series among it."""
        limit = self._clock.monotonic() - FINISH_TIME
        over = {key: said for key, said in self._said.items() if said.last < limit}
        for key in over:
            del self._said[key]
        return [_counted(said.event) for said in over.values() if "series" in said.event]

    def running(self) -> list[Correlated]:
        """The counts of all series."""
        return [_counted(said.event) for said in self._said.values() if "series" in said.event]


def _key(event: Object) -> tuple[Any, ...]:
    references = (event["regarding"], event.get("related") or {})
    return (*(event[field] for field in _KEY), *(tuple(sorted(reference.items())) for reference in references))


def _counted(event: Object) -> Correlated:
    return Correlated(event, {"series": event["series"]})


class SeriesRecorder:
    """Events of one component on one host."""

    def __init__(self, client: Client, world: World, component: str, host: str) -> None:
        self._clock = world.clock
        self._component = component
        self._instance = f"{component}-{host}"
        self._series = EventSeries(world.clock)
        self._writer = EventWriter(client, world, NEW_EVENTS, correlator=self._series, component=component, host=host)
        self._tasks = Supervisor(f"event series {component}")
        self._timers: dict[float, Timer] = {}

    def event(
        self, regarding: Object, type: str, reason: str, action: str, note: str, *, related: Object | None = None
    ) -> None:
        """Say of an object that an action was taken, for the sake of `related` where there is one."""
        reference = object_reference(regarding)
        if not self._writer.has_room(reference, reason):
            return
        made: Object = {
            "kind": "Event",
            "apiVersion": "events.k8s.io/v1",
            "metadata": self._writer.metadata(reference),
            "eventTime": self._clock.micro_timestamp(),
            "reportingController": self._component,
            "reportingInstance": self._instance,
            "action": action,
            "reason": reason,
            "regarding": reference,
            "note": note,
            "type": type,
        }
        if related is not None:
            made["related"] = object_reference(related)
        self._writer.say(made)
        self._arm(FINISH_TIME)
        self._arm(REFRESH_TIME)

    async def flush(self) -> None:
        """Wait until all events said so far are written or given up."""
        await self._writer.flush()

    async def close(self) -> None:
        """Stop writing; what is still queued is lost."""
        for timer in self._timers.values():
            timer.cancel()
        await self._tasks.close()
        await self._writer.close()

    def _arm(self, period: float) -> None:
        """One timer of each kind while anything is remembered."""
        if period not in self._timers:
            self._timers[period] = self._clock.call_later(period, lambda: self._look(period))

    def _look(self, period: float) -> None:
        del self._timers[period]
        counted = self._series.finished() if period == FINISH_TIME else self._series.running()
        if len(self._series):
            self._arm(period)
        if counted:
            self._tasks.spawn(self._tell(counted), "counts")

    async def _tell(self, counted: list[Correlated]) -> None:
        for each in counted:
            await self._writer.write_with_retries(each)
