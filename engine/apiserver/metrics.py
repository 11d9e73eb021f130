"""/metrics: the figures that this server has, under the names that kube-apiserver gives them."""

from __future__ import annotations

from collections.abc import Iterator

from engine.api.wire import Response
from engine.apiserver.backend import Backend

_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def metrics(backend: Backend) -> Response:
    status = await backend.storage.store.status()
    version = backend.definitions.version
    lines = [
        *_metric("kubernetes_build_info", "gauge", [({"git_version": f"v{version}"}, 1)]),
        *_metric("apiserver_storage_size_bytes", "gauge", [({"storage_cluster_id": "etcd-0"}, status.db_size)]),
        *_metric(
            "apiserver_storage_objects",
            "gauge",
            [({"resource": cache.resource}, len(cache)) for cache in backend.caches],
        ),
        *_metric(
            "apiserver_registered_watchers",
            "gauge",
            [({"kind": cache.kind}, cache.watcher_count) for cache in backend.caches],
        ),
        *_metric(
            "apiserver_terminated_watchers_total",
            "counter",
            [({"resource": cache.resource}, cache.cut_off) for cache in backend.caches],
        ),
        *_metric(
            "apiserver_watch_cache_events_received_total",
            "counter",
            [({"resource": cache.resource}, cache.received) for cache in backend.caches],
        ),
    ]
    return Response(200, "\n".join([*lines, ""]).encode(), {"content-type": _TYPE})


def _metric(name: str, kind: str, samples: list[tuple[dict[str, str], float]]) -> Iterator[str]:
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        shown = ",".join(f'{label}="{text}"' for label, text in labels.items())
        yield f"{name}{{{shown}}} {value}"
