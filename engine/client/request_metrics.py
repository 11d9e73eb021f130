"""How many requests clients send and how long the answers take (component-base metrics/prometheus/restclient).

One for all clients of a process, as upstream's components have; durations are this machine's.
"""

from __future__ import annotations

from typing import Any

from engine.api.wire import Request
from engine.clock import wall
from engine.metrics import Counter, Distribution, Histogram

_BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)


class _Answered:
    """Requests of one method with answers of one code; those of all codes share their `durations`."""

    __slots__ = ("count", "durations")

    def __init__(self, durations: Distribution) -> None:
        self.count = 0
        self.durations = durations


class RequestMetrics:
    """`host` is what the requests go to."""

    def __init__(self, host: str) -> None:
        self.host = host
        self._total = Counter(
            "rest_client_requests_total",
            "[ALPHA] Number of HTTP requests, partitioned by status code, method, and host.",
            "code",
            "method",
            "host",
        )
        self._durations = Histogram(
            "rest_client_request_duration_seconds",
            "[ALPHA] Request latency in seconds. Broken down by verb, and host.",
            "verb",
            "host",
            buckets=_BUCKETS,
        )
        self._answered: dict[tuple[str, int], _Answered] = {}

    def count(self, request: Request, status: int, *, began: float) -> None:
        """One that was answered; `began` is when it was sent, by this machine's clock."""
        answered = self._answered.get((method := request.method, status))
        if answered is None:
            answered = self._answered[method, status] = _Answered(self._durations.of(method, self.host))
        answered.count += 1
        answered.durations.observe(wall() - began)

    def families(self) -> list[dict[str, Any]]:
        """In the form of `engine.metrics` views."""
        for (method, status), answered in self._answered.items():
            self._total.set(str(status), method, self.host, to=answered.count)
        return [self._total.to_json(), self._durations.to_json()]
