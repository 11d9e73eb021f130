"""What /metrics says of the store as the API server uses it (apiserver pkg/storage/etcd3/metrics, cacher/metrics): how
often each operation was asked for and how long it took, and what lists cost.

Durations are this machine's, as those of requests.
"""

from __future__ import annotations

from types import TracebackType

from engine.api.types import GVR
from engine.clock import wall
from engine.metrics import Counter, Distribution, Family, Histogram

_BUCKETS = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
)  # fmt: skip
_OPERATION = ("operation", "group", "resource")
_RESOURCE = ("group", "resource")
_UNIFIED_SINCE = (1, 37)  # lists that caches answered are told beside those that the store did, by a label


class StorageMetrics:
    def __init__(self, *, release: tuple[int, int] = (99, 0)) -> None:
        self._unified = release >= _UNIFIED_SINCE
        where, how = (("storage",), ("storage", "index")) if self._unified else ((), ())
        self._durations = Histogram(
            "etcd_request_duration_seconds",
            "[ALPHA] Etcd request latency in seconds for each operation and object type.",
            *_OPERATION,
            buckets=_BUCKETS,
        )
        self._of: dict[tuple[str, ...], Asked] = {}
        self._looks: dict[tuple[str, ...], Looks] = {}
        self._requests = Counter(
            "etcd_requests_total", "[ALPHA] Etcd request counts for each operation and object type.", *_OPERATION
        )
        self._errors = Counter(
            "etcd_request_errors_total",
            "[ALPHA] Etcd failed request counts for each operation and object type.",
            *_OPERATION,
        )
        self._lists = _counter("apiserver_storage_list_total", "Number of LIST requests served from storage", *how)
        self._fetched = _counter(
            "apiserver_storage_list_fetched_objects_total",
            "Number of objects read from storage in the course of serving a LIST request",
            *how,
        )
        self._evaluated = _counter(
            "apiserver_storage_list_evaluated_objects_total",
            "Number of objects tested in the course of serving a LIST request from storage",
            *where,
        )
        self._returned = _counter(
            "apiserver_storage_list_returned_objects_total",
            "Number of objects returned for a LIST request from storage",
            *where,
        )
        self._cache_lists = _counter(
            "apiserver_cache_list_total", "Number of LIST requests served from watch cache", "index"
        )
        self._cache_fetched = _counter(
            "apiserver_cache_list_fetched_objects_total",
            "Number of objects read from watch cache in the course of serving a LIST request",
            "index",
        )
        self._cache_returned = _counter(
            "apiserver_cache_list_returned_objects_total",
            "Number of objects returned for a LIST request from watch cache",
        )

        self._consistent_reads = Counter(
            "apiserver_watch_cache_consistent_read_total",
            "[ALPHA] Counter for consistent reads from cache.",
            *_RESOURCE,
            "success",
            "fallback",
        )

    def request(self, operation: str, resource: GVR) -> _Request:
        """Measures what the store is asked for; one that fails is counted as such."""
        labels = (operation, resource.group, resource.resource)
        found = self._of.get(labels)
        if found is None:
            found = self._of[labels] = Asked(self._durations.of(*labels))
        return _Request(found)

    def looks(self, operation: str, resource: GVR) -> Looks:
        """Counts what the store was asked for without a wait."""
        labels = (operation, resource.group, resource.resource)
        found = self._looks.get(labels)
        if found is None:
            found = self._looks[labels] = Looks(self._requests, self._durations.of(*labels), labels)
        return found

    def listed(self, resource: GVR, *, fetched: int, evaluated: int, returned: int) -> None:
        """A list, or a page of one, that the store answered."""
        self._listed(resource, *(("etcd", "") if self._unified else ()), fetched=fetched, returned=returned)
        self._evaluated.add(*self._at(resource, "etcd"), by=evaluated)

    def _listed(self, resource: GVR, *where: str, fetched: int, returned: int) -> None:
        labels = (resource.group, resource.resource)
        self._lists.add(*labels, *where)
        self._fetched.add(*labels, *where, by=fetched)
        self._returned.add(*labels, *where[:1], by=returned)

    def _at(self, resource: GVR, storage: str) -> tuple[str, ...]:
        return (resource.group, resource.resource, *((storage,) if self._unified else ()))

    def listed_from_cache(self, resource: GVR, *, index: str, fetched: int, returned: int) -> None:
        if self._unified:
            self._listed(resource, "watchcache", index, fetched=fetched, returned=returned)
            self._evaluated.add(*self._at(resource, "watchcache"), by=0)
            return
        labels = (resource.group, resource.resource)
        self._cache_lists.add(*labels, index)
        self._cache_fetched.add(*labels, index, by=fetched)
        self._cache_returned.add(*labels, by=returned)

    def read_consistently(self, resource: GVR, *, success: bool, fallback: bool) -> None:
        """A list of the newest state; with `fallback` the cache was late, and the store was asked."""
        self._consistent_reads.add(resource.group, resource.resource, str(success).lower(), str(fallback).lower())

    def families(self) -> tuple[Family, ...]:
        for looks in self._looks.values():
            looks.settle()
        for labels, asked in self._of.items():
            if asked.seen:
                self._requests.add(*labels, by=asked.seen)
            if asked.failed:
                self._errors.add(*labels, by=asked.failed)
            asked.seen = asked.failed = 0
        before = (self._cache_lists, self._cache_fetched, self._cache_returned)
        return (
            self._durations,
            self._requests,
            self._errors,
            self._lists,
            self._fetched,
            self._evaluated,
            self._returned,
            *(() if self._unified else before),
            self._consistent_reads,
        )


class Looks:
    """Requests of the store that took no time, of which is told when somebody asks."""

    __slots__ = ("_durations", "_labels", "_requests", "_seen")

    def __init__(self, requests: Counter, durations: Distribution, labels: tuple[str, ...]) -> None:
        self._requests = requests
        self._durations = durations
        self._labels = labels
        self._seen = 0

    def add(self) -> None:
        self._seen += 1

    def settle(self) -> None:
        if self._seen:
            self._requests.add(*self._labels, by=self._seen)
            self._durations.observe(0.0, times=self._seen)
        self._seen = 0


class Asked:
    """Requests of the store for one operation on one resource, since somebody looked."""

    __slots__ = ("durations", "failed", "seen")

    def __init__(self, durations: Distribution) -> None:
        self.durations = durations
        self.seen = self.failed = 0


class _Request:
    """One of them. A class and not a generator: every write makes several."""

    __slots__ = ("_asked", "_began")

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._began = wall()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        asked = self._asked
        asked.seen += 1
        if kind is not None and issubclass(kind, Exception):
            asked.failed += 1
        asked.durations.observe(wall() - self._began)


def _counter(name: str, help: str, *labels: str) -> Counter:
    return Counter(name, f"[ALPHA] {help}", *_RESOURCE, *labels)
