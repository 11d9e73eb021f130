"""Keeps a component from flooding the cluster with events (client-go tools/record events_cache.go).

Like events that differ in their message only become one after ten in ten minutes; the same event again raises the
count of the first; a source may say 25 things of one object at once and then one every five minutes.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from engine.api.types import Object
from engine.client.ratelimiter import TokenBucket
from engine.clock import Clock

CACHE_ENTRIES = 4096
AGGREGATE_MAX_EVENTS = 10
AGGREGATE_INTERVAL = 600.0
SPAM_BURST = 25
SPAM_QPS = 1 / 300

Key = tuple[str, ...]
V = TypeVar("V")


class Correlated(NamedTuple):
    """The event to write: as a new one, or with `patch` set as a change to the one of that name."""

    event: Object
    patch: Object | None


class _Cache(OrderedDict[Key, V], Generic[V]):
    """The newest entries; the least recently used goes first."""

    def put(self, key: Key, value: V) -> None:
        self[key] = value
        self.move_to_end(key)
        while len(self) > CACHE_ENTRIES:
            self.popitem(last=False)


@dataclass(slots=True)
class _Aggregate:
    last: float
    messages: dict[str, None] = field(default_factory=dict)


class _Observed(NamedTuple):
    name: str
    times: int
    first_timestamp: str
    resource_version: str


class EventCorrelator:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._aggregates: _Cache[_Aggregate] = _Cache()
        self._observed: _Cache[_Observed] = _Cache()
        self._buckets: _Cache[TokenBucket] = _Cache()

    def correlate(self, event: Object) -> Correlated | None:
        """What to write for a new event; None if it is dropped."""
        event, key = self._aggregate(event)
        observed = self._observe(event, key)
        return None if self._is_spam(event) else observed

    def update(self, written: Object) -> None:
        """Note how the server answered."""
        self._observed.put(_event_key(written), _observation(written))

    def _aggregate(self, event: Object) -> tuple[Object, Key]:
        now = self._clock.monotonic()
        key, message = _aggregate_key(event), event["message"]
        record = self._aggregates.get(key)
        if record is None or now - record.last > AGGREGATE_INTERVAL:
            record = _Aggregate(now)
        record.messages[message] = None
        record.last = now
        self._aggregates.put(key, record)
        if len(record.messages) < AGGREGATE_MAX_EVENTS:
            return event, _event_key(event)
        del record.messages[next(iter(record.messages))]
        return _combined(event), key

    def _observe(self, event: Object, key: Key) -> Correlated:
        last = self._observed.get(key)
        patch: Object | None = None
        if last is not None:
            metadata = {**event["metadata"], "name": last.name, "resourceVersion": last.resource_version}
            event = {
                **event,
                "metadata": metadata,
                "firstTimestamp": last.first_timestamp,
                "count": last.times + 1,
            }
            patch = {name: event[name] for name in ("count", "lastTimestamp", "message")}
        self._observed.put(key, _observation(event))
        return Correlated(event, patch)

    def _is_spam(self, event: Object) -> bool:
        key = _spam_key(event)
        bucket = self._buckets.get(key) or TokenBucket(self._clock, qps=SPAM_QPS, burst=SPAM_BURST)
        self._buckets.put(key, bucket)
        return not bucket.try_accept()


def _combined(event: Object) -> Object:
    """The event that stands for many: it says neither who reports it nor what was noted on one of them."""
    metadata = {name: event["metadata"][name] for name in ("name", "namespace")}
    message = f"(combined from similar events): {event['message']}"
    return {**event, "metadata": metadata, "message": message, "reportingComponent": "", "reportingInstance": ""}


def _observation(event: Object) -> _Observed:
    metadata = event["metadata"]
    return _Observed(
        metadata["name"], event.get("count", 1), event.get("firstTimestamp") or "", metadata.get("resourceVersion", "")
    )


def _source(event: Object) -> Key:
    source = event.get("source") or {}
    return source.get("component", ""), source.get("host", "")


def _involved(event: Object, *fields: str) -> Key:
    involved = event["involvedObject"]
    return tuple(involved.get(name, "") for name in fields)


def _event_key(event: Object) -> Key:
    involved = _involved(event, "kind", "namespace", "name", "fieldPath", "uid", "apiVersion")
    said = (event.get(name, "") for name in ("type", "reason", "message"))  # a server's answer leaves out empty ones
    return "event", *_source(event), *involved, *said


def _aggregate_key(event: Object) -> Key:
    involved = _involved(event, "kind", "namespace", "name", "uid", "apiVersion")
    reporting = event.get("reportingComponent", ""), event.get("reportingInstance", "")
    return "aggregate", *_source(event), *involved, event["type"], event["reason"], *reporting


def _spam_key(event: Object) -> Key:
    return "spam", *_source(event), *_involved(event, "kind", "namespace", "name", "uid", "apiVersion")
