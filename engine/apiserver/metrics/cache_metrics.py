"""What /metrics says of watch caches and of those who watch (apiserver pkg/storage/cacher/metrics, etcd3/metrics and
endpoints/metrics). Events that are delivered within the process are not sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.api.types import GVR
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.metric_text import metric
from engine.metrics import Sample

_VERSION_DIGITS = 10**15  # a version is shown without what a floating point number would lose

# Name, kind, help and value of what is told of each cache by its group and resource.
_FIGURES: tuple[tuple[str, str, str, Callable[[WatchCache], float]], ...] = (
    (
        "apiserver_init_events_total",
        "counter",
        "[ALPHA] Counter of init events processed in watch cache broken by resource type.",
        lambda cache: cache.initial_events,
    ),
    (
        "apiserver_resource_objects",
        "gauge",
        "[ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, the "
        "value will be -1.",
        len,
    ),
    (
        "apiserver_resource_size_estimate_bytes",
        "gauge",
        "[ALPHA] Estimated size of stored objects in database. Estimate is based on sum of last observed sizes of "
        "serialized objects. In case of a fetching error, the value will be -1.",
        lambda cache: cache.state.bytes,
    ),
    (
        "apiserver_storage_events_received_total",
        "counter",
        "[BETA] Number of etcd events received split by kind.",
        lambda cache: cache.received,
    ),
    (
        "apiserver_terminated_watchers_total",
        "counter",
        "[ALPHA] Counter of watchers closed due to unresponsiveness broken by resource type.",
        lambda cache: cache.cut_off,
    ),
    (
        "apiserver_watch_cache_events_dispatched_total",
        "counter",
        "[ALPHA] Counter of events dispatched in watch cache broken by resource type.",
        lambda cache: cache.received,
    ),
    (
        "apiserver_watch_cache_events_received_total",
        "counter",
        "[ALPHA] Counter of events received in watch cache broken by resource type.",
        lambda cache: cache.received,
    ),
    (
        "apiserver_watch_cache_initializations_total",
        "counter",
        "[ALPHA] Counter of watch cache initializations broken by resource type.",
        lambda cache: cache.fillings,
    ),
    (
        "apiserver_watch_cache_resource_version",
        "gauge",
        "[ALPHA] Current resource version of watch cache broken by resource type. This is truncated to the 15 least "
        "significant digits.",
        lambda cache: cache.revision % _VERSION_DIGITS,
    ),
    (
        "etcd_bookmark_counts",
        "gauge",
        "[ALPHA] Number of etcd bookmarks (progress notify events) split by kind.",
        lambda cache: cache.progressed,
    ),
    (
        "watch_cache_capacity",
        "gauge",
        "[ALPHA] Total capacity of watch cache broken by resource type.",
        lambda cache: cache.ring.size,
    ),
)
# What is only ever added to is there once there was something to add; so is upstream's gauge of bookmarks.
_ADDED_UP = frozenset((name for name, kind, _, _ in _FIGURES if kind == "counter")) | {"etcd_bookmark_counts"}


def cache_lines(caches: WatchCaches) -> Iterator[str]:
    known = list(caches.by_resource())
    yield from metric(
        "apiserver_storage_objects",
        "gauge",
        [Sample({"resource": resource.group_resource}, len(cache)) for resource, cache in known],
        "[STABLE] [DEPRECATED, consider using apiserver_resource_objects instead] Number of stored objects at the time "
        "of last check split by kind. In case of a fetching error, the value will be -1.",
    )
    for name, kind, help, value in _FIGURES:
        figures = [Sample(_labels(resource), value(cache)) for resource, cache in known]
        if name in _ADDED_UP:
            figures = [sample for sample in figures if sample.value]
        yield from metric(name, kind, figures, help)
    yield from metric(
        "apiserver_watch_cache_initialization_duration_seconds",
        "histogram",
        [
            sample
            for resource, cache in known
            if cache.filled.seen
            for sample in cache.filled.samples(_labels(resource))
        ],
        "[ALPHA] Histogram of watch cache initialization duration in seconds, broken by resource type.",
    )
    yield from metric(
        "apiserver_watch_cache_read_wait_seconds",
        "histogram",
        [
            sample
            for resource, cache in known
            if (waited := cache.freshness.waited)
            for sample in waited.samples(_labels(resource))
        ],
        "[ALPHA] Histogram of time spent waiting for a watch cache to become fresh.",
    )
    yield from metric(
        "apiserver_registered_watchers",
        "gauge",
        [Sample({"kind": cache.kind}, cache.watcher_count) for _, cache in known],
        "[ALPHA] Number of currently registered watchers for a given resource",
    )
    sent = [(_of_version(resource), cache.event_sizes) for resource, cache in known if cache.event_sizes.seen]
    yield from metric(
        "apiserver_watch_events_total",
        "counter",
        [Sample(labels, sizes.count) for labels, sizes in sent],
        "[BETA] Number of events sent in watch clients",
    )
    yield from metric(
        "apiserver_watch_events_sizes",
        "histogram",
        [sample for labels, sizes in sent for sample in sizes.samples(labels)],
        "[BETA] Watch event size distribution in bytes",
    )
    yield from metric(
        "apiserver_watch_list_duration_seconds",
        "histogram",
        [
            sample
            for resource, cache in known
            for scope, seconds in sorted(cache.watch_lists.items())
            if seconds.seen
            for sample in seconds.samples(dict(sorted({**_of_version(resource), "scope": scope}.items())))
        ],
        "[BETA] Response latency distribution in seconds for watch list requests broken by group, version, resource "
        "and scope.",
    )
    yield from metric(
        "apiserver_longrunning_requests",
        "gauge",
        [sample for resource, cache in known for sample in _open_watches(resource, cache)],
        "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, "
        "scope and component. Not all requests are tracked this way.",
    )


def _labels(resource: GVR) -> dict[str, str]:
    return {"group": resource.group, "resource": resource.resource}


def _of_version(resource: GVR) -> dict[str, str]:
    return {"group": resource.group, "resource": resource.resource, "version": resource.version}


def _open_watches(resource: GVR, cache: WatchCache) -> Iterator[Sample]:
    scopes: dict[str, int] = {}
    for watcher in cache.watchers:
        scope = watcher.interest.scope
        scopes[scope] = scopes.get(scope, 0) + 1
    for scope, count in sorted(scopes.items()):
        labels = {
            "component": "apiserver",
            "group": resource.group,
            "resource": resource.resource,
            "scope": scope,
            "subresource": "",
            "verb": "WATCH",
            "version": resource.version,
        }
        yield Sample(labels, count)
