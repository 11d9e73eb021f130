"""/metrics: the figures that this server has, under the names that kube-apiserver gives them.

With them, in one process with the control plane, are the figures of the controllers' work queues and those of the
scheduler, which upstream's components serve themselves: they are read off the views that components offer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.api.wire import Response
from engine.apiserver.backend import Backend
from engine.apiserver.metric_text import CONTENT_TYPE, metric
from engine.apiserver.request_metrics import RequestMetrics
from engine.apiserver.watch_cache import WatchCache
from engine.metrics import Sample
from engine.views import Views

_CONTROLLERS = "controllers/"
_METRICS = "/metrics"


async def metrics(backend: Backend, requests: RequestMetrics) -> Response:
    status = await backend.storage.store.status()
    caches = list(backend.caches)
    lines = [
        *_server(backend.definitions.version, status.db_size),
        *requests.lines(),
        *_watches(caches),
        *_work_queues(backend.world.views),
        *_of_components(backend.world.views),
    ]
    return Response(200, "\n".join([*lines, ""]).encode(), {"content-type": CONTENT_TYPE})


def _server(version: str, size: int) -> Iterator[str]:
    major, minor = version.split(".")[:2]
    yield from metric(
        "kubernetes_build_info",
        "gauge",
        [Sample({"git_version": f"v{version}", "major": major, "minor": minor, "platform": "linux/amd64"}, 1)],
        "[ALPHA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, "
        "build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
    )
    yield from metric(
        "apiserver_storage_size_bytes",
        "gauge",
        [Sample({"storage_cluster_id": "etcd-0"}, size)],
        "[STABLE] Size of the storage database file physically allocated in bytes.",
    )


def _watches(caches: list[WatchCache]) -> Iterator[str]:
    yield from metric(
        "apiserver_storage_objects",
        "gauge",
        [Sample({"resource": cache.resource}, len(cache)) for cache in caches],
        "[STABLE] Number of stored objects at the time of last check split by kind.",
    )
    yield from metric(
        "apiserver_registered_watchers",
        "gauge",
        [Sample({"kind": cache.kind}, cache.watcher_count) for cache in caches],
        "[ALPHA] Number of currently registered watchers for a given resource",
    )
    yield from metric(
        "apiserver_longrunning_requests",
        "gauge",
        list(_open_watches(caches)),
        "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, "
        "scope and component. Not all requests are tracked this way.",
    )
    yield from metric(
        "apiserver_terminated_watchers_total",
        "counter",
        [Sample({"resource": cache.resource}, cache.cut_off) for cache in caches],
        "[ALPHA] Counter of watchers closed due to unresponsiveness broken by resource type.",
    )
    yield from metric(
        "apiserver_watch_cache_events_received_total",
        "counter",
        [Sample({"resource": cache.resource}, cache.received) for cache in caches],
        "[ALPHA] Counter of events received in watch cache broken by resource type.",
    )


def _open_watches(caches: list[WatchCache]) -> Iterator[Sample]:
    for cache in caches:
        scopes: dict[str, int] = {}
        for watcher in cache.watchers:
            interest = watcher.interest
            scope = "resource" if interest.name else "namespace" if interest.namespace else "cluster"
            scopes[scope] = scopes.get(scope, 0) + 1
        for scope, count in sorted(scopes.items()):
            yield Sample(
                {
                    "component": "apiserver",
                    "resource": cache.resource,
                    "scope": scope,
                    "subresource": "",
                    "verb": "WATCH",
                },
                count,
            )


def _work_queues(views: Views) -> Iterator[str]:
    queues: dict[str, dict[str, Any]] = {}
    for name in views:
        if name.startswith(_CONTROLLERS):
            queues[name.removeprefix(_CONTROLLERS)] = views.look(name, {"last": "0"})["queue"]
    for field, kind, suffix, help in (
        ("depth", "gauge", "depth", "[ALPHA] Current depth of workqueue"),
        ("adds", "counter", "adds_total", "[ALPHA] Total number of adds handled by workqueue"),
        ("retries", "counter", "retries_total", "[ALPHA] Total number of retries handled by workqueue"),
    ):
        samples = [Sample({"name": name}, queue[field]) for name, queue in queues.items()]
        yield from metric(f"workqueue_{suffix}", kind, samples, help)


def _of_components(views: Views) -> Iterator[str]:
    """The families that components keep themselves (`engine.metrics`)."""
    for name in views:
        if name.endswith(_METRICS):
            for family in views.look(name, {}):
                yield from metric(
                    family["name"], family["type"], [Sample(**s) for s in family["samples"]], family["help"]
                )
