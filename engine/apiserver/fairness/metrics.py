"""What /metrics says of the priority levels (apiserver pkg/util/flowcontrol/metrics/metrics.go)."""

from __future__ import annotations

from collections.abc import Iterator

from engine.metrics import Counter, Distribution, Family, Gauge, Histogram, Told

QUEUE_FULL, CONCURRENCY_LIMIT, TIME_OUT, CANCELLED = "queue-full", "concurrency-limit", "time-out", "cancelled"

_PREFIX = "apiserver_flowcontrol_"
_FLOW = ("priority_level", "flow_schema")
_SUBSYSTEM = "API Priority and Fairness subsystem"
_OF_SUBSYSTEM = f"the {_SUBSYSTEM}"
_STAGE = "(initial stage for a WATCH, any stage otherwise)"
_SECONDS = (0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30)
_LENGTHS = (0, 10, 25, 50, 100, 250, 500, 1000)


class FlowFigures:
    """How many requests were let go on, how many of them without a wait though others may have to, and how many are at
    it: told when somebody looks, since each request is counted in seven metrics. `regular` and `watching` are how long
    those took that are over."""

    __slots__ = ("at_once", "dispatched", "estimated", "executing", "regular", "watching")

    def __init__(self) -> None:
        self.dispatched = self.at_once = self.executing = self.estimated = 0
        self.regular, self.watching = Distribution(_SECONDS), Distribution(_SECONDS)


class FairnessMetrics:
    def __init__(self) -> None:
        self._flows: dict[tuple[str, str], FlowFigures] = {}
        self.rejected = _counter(
            "rejected_requests_total", f"[BETA] Number of requests rejected by {_SUBSYSTEM}", "reason"
        )
        self.dispatched = _counter("dispatched_requests_total", f"[BETA] Number of requests executed by {_SUBSYSTEM}")
        self.waiting = _gauge(
            "current_inqueue_requests",
            f"[BETA] Number of requests currently pending in queues of {_OF_SUBSYSTEM}",
        )
        self.executing = _gauge(
            "current_executing_requests",
            "[BETA] Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in "
            + _OF_SUBSYSTEM,
        )
        self.seats = _gauge(
            "current_executing_seats",
            f"[BETA] Concurrency (number of seats) occupied by the currently executing {_STAGE} requests in "
            + _OF_SUBSYSTEM,
        )
        self.waits = Histogram(
            f"{_PREFIX}request_wait_duration_seconds",
            "[BETA] Length of time a request spent waiting in its queue",
            *_FLOW,
            "execute",
            buckets=_SECONDS,
        )
        self.lengths = Histogram(
            f"{_PREFIX}request_queue_length_after_enqueue",
            f"[ALPHA] Length of queue in {_OF_SUBSYSTEM}, as seen by each request after it is enqueued",
            *_FLOW,
            buckets=_LENGTHS,
        )
        self.in_use = _gauge(
            "request_concurrency_in_use",
            f"[ALPHA] Concurrency (number of seats) occupied by the currently executing {_STAGE} requests in "
            + _OF_SUBSYSTEM,
        )
        self.estimated = Histogram(
            f"{_PREFIX}work_estimated_seats",
            "[ALPHA] Number of estimated seats (maximum of initial and final seats) associated with requests in API "
            "Priority and Fairness",
            *_FLOW,
            buckets=(1, 2, 4, 8, 16, 32, 64, 100),
        )
        self.limit = Gauge(
            f"{_PREFIX}request_concurrency_limit",
            "[ALPHA] Nominal number of execution seats configured for each priority level",
            "priority_level",
        )
        self.nominal = Gauge(
            f"{_PREFIX}nominal_limit_seats",
            "[BETA] Nominal number of execution seats configured for each priority level",
            "priority_level",
        )
        self.lower = Gauge(
            f"{_PREFIX}lower_limit_seats",
            "[ALPHA] Configured lower bound on number of execution seats available to each priority level",
            "priority_level",
        )
        self.upper = Gauge(
            f"{_PREFIX}upper_limit_seats",
            "[ALPHA] Configured upper bound on number of execution seats available to each priority level",
            "priority_level",
        )

    def limits(self, level: str, nominal: int, lower: int, upper: int) -> None:
        self.nominal.set(level, to=nominal)
        self.limit.set(level, to=nominal)
        self.lower.set(level, to=lower)
        self.upper.set(level, to=upper)

    def flow(self, level: str, schema: str) -> FlowFigures:
        """What is counted of the requests of a FlowSchema at a level."""
        found = self._flows.get((level, schema))
        if found is None:
            found = self._flows[level, schema] = FlowFigures()
        return found

    def families(self) -> Iterator[Family]:
        for labels, figures in self._flows.items():
            self.dispatched.set(*labels, to=figures.dispatched)
            self.executing.set(*labels, to=figures.executing)
            self.seats.set(*labels, to=figures.executing)
            self.in_use.set(*labels, to=figures.executing)
            if figures.dispatched > figures.estimated:  # each takes one seat
                self.estimated.of(*labels).observe(1, times=figures.dispatched - figures.estimated)
                figures.estimated = figures.dispatched
            if figures.at_once:
                self.lengths.of(*labels).observe(1, times=figures.at_once)
                self.waits.of(*labels, "true").observe(0, times=figures.at_once)
            figures.at_once = 0
        yield from (self.rejected, self.dispatched, self.waiting, self.executing, self.seats)
        yield from (self.waits, self.lengths, self.nominal, self.lower, self.upper)
        yield from (self.in_use, self.estimated, self.limit, self._executions())

    def _executions(self) -> Family:
        told = Told(
            f"{_PREFIX}request_execution_seconds",
            "[ALPHA] Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution in "
            + _OF_SUBSYSTEM,
            *_FLOW,
            "type",
        )
        for labels, figures in self._flows.items():
            told.add(figures.regular, *labels, "regular")
            told.add(figures.watching, *labels, "watch")
        return told


def _counter(name: str, help: str, *labels: str) -> Counter:
    return Counter(f"{_PREFIX}{name}", help, *_FLOW, *labels)


def _gauge(name: str, help: str) -> Gauge:
    return Gauge(f"{_PREFIX}{name}", help, *_FLOW)
