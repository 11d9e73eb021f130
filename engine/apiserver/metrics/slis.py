"""/metrics/slis: what the health checks said, for who measures how much of the time a server was well.

Only /healthz, /livez and /readyz as a whole are counted, and only checks that they did not leave out. Source:
component-base metrics/prometheus/slis, apiserver pkg/server/healthz (handleRootHealth).
"""

from __future__ import annotations

from engine.api.wire import Response
from engine.metric_text import CONTENT_TYPE, metric
from engine.metrics import Counter, Gauge

SLIS = "/metrics/slis"


class HealthcheckMetrics:
    def __init__(self) -> None:
        self._newest = Gauge(
            "kubernetes_healthcheck", "[STABLE] This metric records the result of a single healthcheck.", "name", "type"
        )
        self._all = Counter(
            "kubernetes_healthchecks_total",
            "[STABLE] This metric records the results of all healthcheck.",
            "name",
            "type",
            "status",
        )

    def observe(self, name: str, root: str, *, ok: bool) -> None:
        self._newest.set(name, root, to=int(ok))
        self._all.add(name, root, "success" if ok else "error")

    def families(self) -> tuple[Gauge, ...]:
        return self._newest, self._all


def slis(metrics: HealthcheckMetrics) -> Response:
    lines: list[str] = []
    for family in metrics.families():
        lines += metric(family.name, family.kind, list(family.samples()), family.help)
    return Response(200, "\n".join([*lines, ""]).encode(), {"content-type": CONTENT_TYPE})
