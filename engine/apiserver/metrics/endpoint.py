"""/metrics: the figures that this server has, under the names that kube-apiserver gives them.

With them, in one process with the control plane, are the figures of the controllers' work queues and those of the
scheduler, which upstream's components serve themselves: they are read off the views that components offer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any

from engine.api.version_info import build_labels
from engine.api.wire import Response
from engine.apiserver.backend import Backend
from engine.apiserver.fairness import PriorityLevels
from engine.apiserver.metrics.cache_metrics import cache_lines
from engine.apiserver.metrics.process_metrics import process_lines
from engine.apiserver.metrics.request_metrics import RequestMetrics
from engine.metric_text import CONTENT_TYPE, metric
from engine.metrics import Family, Sample
from engine.world import World

TURN = 100  # lines: a few milliseconds
_METRICS = "/metrics"


async def metrics(
    backend: Backend, requests: RequestMetrics, levels: PriorityLevels, families: Iterable[Family]
) -> Response:
    status = await backend.storage.store.status()
    lines = chain(
        _server(backend.definitions.version, status.db_size),
        requests.lines(),
        cache_lines(backend.caches),
        _of(backend.storage.families()),
        _of(levels.metrics.families()),
        _of(backend.admission.metrics.families()),
        _of(families),
        await _of_components(backend.world),
        process_lines(),
    )
    told: list[str] = []
    while part := list(islice(lines, TURN)):
        told += part
        await backend.world.clock.sleep(0)  # other requests go on meanwhile
    return Response(200, "\n".join([*told, ""]).encode(), {"content-type": CONTENT_TYPE})


def _server(version: str, size: int) -> Iterator[str]:
    yield from metric(
        "kubernetes_build_info",
        "gauge",
        [Sample(build_labels(version), 1)],
        "[ALPHA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, "
        "build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
    )
    yield from metric(
        "apiserver_storage_size_bytes",
        "gauge",
        [Sample({"storage_cluster_id": "etcd-0"}, size)],
        "[STABLE] Size of the storage database file physically allocated in bytes.",
    )


def _of(families: Iterable[Family]) -> Iterator[str]:
    for family in families:
        yield from metric(family.name, family.kind, list(family.samples()), family.help)


async def _of_components(world: World) -> Iterator[str]:
    """The families that components keep themselves (`engine.metrics`). Those of one name are one family."""
    families: dict[str, _Gathered] = {}
    for name in [name for name in world.views if name.endswith(_METRICS)]:
        with suppress(KeyError):  # it may have ended meanwhile
            for family in world.views.look(name, {}):
                families.setdefault(family["name"], _Gathered(family["type"], family["help"])).add(family["samples"])
        await world.clock.sleep(0)
    return chain.from_iterable(
        metric(name, gathered.kind, gathered.samples(), gathered.help) for name, gathered in families.items()
    )


class _Gathered:
    """One family from several components: samples of the same labels are added up."""

    def __init__(self, kind: str, help: str) -> None:
        self.kind = kind
        self.help = help
        self._found: dict[tuple[str, tuple[tuple[str, str], ...]], Sample] = {}

    def add(self, samples: Iterable[dict[str, Any]]) -> None:
        for each in samples:
            key = each["suffix"], tuple(each["labels"].items())
            known = self._found.get(key)
            self._found[key] = Sample(each["labels"], each["value"] + (known.value if known else 0), each["suffix"])

    def samples(self) -> list[Sample]:
        return list(self._found.values())
