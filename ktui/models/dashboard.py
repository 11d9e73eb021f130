"""The Dashboard's figures over time: gauges as they are, counters as rates per second of the model."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ktui.models.grid_row import GridRow
from ktui.models.prometheus import Page, quantile, read, since

Json = Mapping[str, Any]
TITLES = ("FIGURE", "NOW", "MOST", "OVER TIME")
EVERY_SECONDS = 1.0  # of this machine, between two samples
UNSEEN_SECONDS = 5.0  # while nobody looks: a page of metrics is a long one for both processes
KEPT = 240
LEAST_CELLS, MOST_CELLS = 14, 60  # of a sparkline
SHORT_GAP = 20  # samples that may be missing before one says nothing of the time since the one before
BLOCKS = " ▁▂▃▄▅▆▇█"

# Of each figure: what it is called, its unit ("/s" for a rate), and what it tells.
FIGURES: Mapping[str, tuple[str, str]] = {
    "pods ready": ("", "Pods that are ready or done"),
    "pods starting": ("", "Pods that are not ready yet"),
    "pods failing": ("", "Pods that failed, or whose containers cannot run"),
    "nodes ready": ("", "Nodes that report themselves healthy"),
    "revisions": ("/s", "writes to etcd, in a second of the model"),
    "watch events": ("/s", "changes that the watch caches took in"),
    "streams": ("", "open watches"),
    "streams cut off": ("/s", "watches that were too slow"),
    "reconciles": ("/s", "keys that controllers worked off"),
    "keys in line": ("", "in the work queues of all controllers"),
    "keys to retry": ("", "that failed and wait for another try"),
    "reconcile errors": ("/s", "reconciles that failed"),
    "scheduling attempts": ("/s", "Pods that the scheduler tried to place"),
    "pods in queue": ("", "that wait for the scheduler, gated ones too"),
    "requests": ("/s", "that the API server answered, watches left out"),
    "request p50": (" ms", "half of the requests of the last ten seconds took no longer"),
    "request p99": (" ms", "all but one in a hundred of the requests of the last ten seconds took no longer"),
    "store p99": (" ms", "the same of the requests of the API server to etcd"),
    "reconcile p99": (" ms", "the same of the work on a key by a controller"),
    "attempt p99": (" ms", "the same of the scheduler's attempts to place a Pod"),
    "store size": (" KiB", "what etcd has on disk"),
    "round trip": (" ms", "what the API server takes to answer this screen, on this machine"),
}

EVENTS = "apiserver_watch_cache_events_received_total"
STREAMS = "apiserver_registered_watchers"
CUT_OFF = "apiserver_terminated_watchers_total"
SIZE = "apiserver_storage_size_bytes"
REQUEST = "apiserver_request_duration_seconds"
LATENCIES = (  # the figure, its share, and the histogram that it is read from
    ("request p50", 0.5, REQUEST),
    ("request p99", 0.99, REQUEST),
    ("store p99", 0.99, "etcd_request_duration_seconds"),
    ("reconcile p99", 0.99, "workqueue_work_duration_seconds"),
    ("attempt p99", 0.99, "scheduler_scheduling_attempt_duration_seconds"),
)
WINDOW_SECONDS = 10.0  # that a latency is read over


def digest(metrics: str) -> Page:
    """What is plotted of a page of metrics."""
    histograms = {histogram for _, _, histogram in LATENCIES}
    return read(metrics, totals=(EVENTS, STREAMS, CUT_OFF, SIZE), histograms=histograms)


Series = Sequence[float | None]


@dataclass(slots=True)
class DashboardModel:
    """A series has one value for each second, the newest last; None where none could be had."""

    series: dict[str, deque[float | None]] = field(default_factory=dict)
    _pages: deque[tuple[float, Page]] = field(default_factory=deque)  # each with its time
    _last: dict[str, float] = field(default_factory=dict)
    _last_at: float | None = None
    _model_at: float = 0.0

    def take(self, sample: Json) -> bool:
        """Take a sample, unless the last one is too fresh; says whether it did."""
        if self._last_at is not None and sample["at"] - self._last_at < EVERY_SECONDS:
            return False
        model_now = sample["status"]["clock"]["monotonic"]
        self._pages.append((sample["at"], sample["metrics"]))
        while len(self._pages) > 1 and self._pages[1][0] <= sample["at"] - WINDOW_SECONDS:
            self._pages.popleft()
        missing = 0 if self._last_at is None else round((sample["at"] - self._last_at) / EVERY_SECONDS) - 1
        values, elapsed = {**dict(figures(sample)), **dict(self._latencies())}, model_now - self._model_at
        for name, value in values.items():
            is_rate = FIGURES[name][0] == "/s"
            if is_rate:
                if name not in self._last:
                    continue
                value = max(0.0, value - self._last[name]) / elapsed if elapsed > 0 else 0.0
            known = self.series.setdefault(name, deque(maxlen=KEPT))
            if known:  # a rate is that of all the time since the last sample
                known.extend([value if is_rate or missing < SHORT_GAP else None] * min(missing, KEPT))
            known.append(value)
        self._last, self._last_at, self._model_at = values, sample["at"], model_now
        return True

    def is_stale(self, now: float) -> bool:
        """Whether nobody who looks at it keeps it current."""
        return self._last_at is None or now - self._last_at >= UNSEEN_SECONDS

    def _latencies(self) -> Iterator[tuple[str, float]]:
        """In milliseconds; of what nobody counts there are none."""
        last, oldest = self._pages[-1][1].buckets, self._pages[0][1].buckets
        for name, share, histogram in LATENCIES:
            if histogram in last:
                counted = last[histogram]
                before = oldest.get(histogram, {}) if len(self._pages) > 1 else {}
                yield name, quantile(share, since(counted, before)) * 1000

    def rows(self, cells: int = LEAST_CELLS) -> list[GridRow]:
        """A row of each figure, its sparkline as wide as that."""
        return [_row(name, self.series[name], cells) for name in FIGURES if self.series.get(name)]


def figures(sample: Json) -> Iterator[tuple[str, float]]:
    """The sample's raw values, counters as they stand."""
    status, page = sample["status"], sample["metrics"]
    metrics = page.totals
    pods, nodes = status.get("pods") or {}, status.get("nodes") or {}
    yield "pods ready", pods.get("ready", 0)
    yield "pods starting", pods.get("waiting", 0)
    yield "pods failing", pods.get("failed", 0)
    yield "nodes ready", nodes.get("ready", 0)
    yield "revisions", status["revision"]
    yield "watch events", metrics.get(EVENTS, 0)
    yield "streams", metrics.get(STREAMS, 0)
    yield "streams cut off", metrics.get(CUT_OFF, 0)
    queues = [shown["queue"] for shown in sample["controllers"].values()]
    yield "reconciles", sum(shown["reconciles"] for shown in sample["controllers"].values())
    yield "keys in line", sum(queue["depth"] for queue in queues)
    yield "keys to retry", sum(bool(waiting["retries"]) for queue in queues for waiting in queue["waiting"])
    yield "reconcile errors", sum(shown["errors"] for shown in sample["controllers"].values())
    if sample["attempts"] is not None:
        yield "scheduling attempts", sample["attempts"]["total"]
    if sample["queue"] is not None:
        counts = sample["queue"]["counts"]
        yield "pods in queue", counts["active"] + counts["backoff"] + counts["unschedulable"]
    yield "requests", max(page.buckets.get(REQUEST, {}).values(), default=0.0)
    yield "store size", metrics.get(SIZE, 0) / 1024
    yield "round trip", sample["roundTripMs"]


def figure_text(name: str, value: float) -> str:
    text = f"{value:,.1f}" if value != int(value) and value < 1000 else f"{value:,.0f}"
    return f"{text}{FIGURES[name][0]}"


def newest(values: Series) -> float:
    """The last sample; 0 where there is none."""
    return values[-1] or 0.0 if values else 0.0


def highest(values: Series) -> float:
    return max((value for value in values if value is not None), default=0.0)


def spark(values: Series, cells: int) -> str:
    """The last values as blocks, the highest the whole block."""
    shown = [value or 0.0 for value in list(values)[-cells:]]
    most = highest(shown)
    return "".join(BLOCKS[max(int(value > 0), round(value / most * 8)) if most else 0] for value in shown).rjust(cells)


def plot(values: Series, *, width: int, height: int) -> list[str]:
    """The last values as columns over `height` lines, the uppermost first."""
    shown = [value or 0.0 for value in list(values)[-width:]]
    most = highest(shown)
    eighths = [max(int(value > 0), round(value / most * height * 8)) if most else 0 for value in shown]
    return [
        "".join(BLOCKS[max(0, min(8, level - line * 8))] for level in eighths).rjust(width)
        for line in reversed(range(height))
    ]


def _row(name: str, values: Series, spark_cells: int) -> GridRow:
    now = newest(values)
    tone = "error" if now and name in ("pods failing", "keys to retry", "reconcile errors", "streams cut off") else ""
    cells = (name, figure_text(name, now), figure_text(name, highest(values)), spark(values, spark_cells))
    return GridRow(name, cells, tone or "foreground")
