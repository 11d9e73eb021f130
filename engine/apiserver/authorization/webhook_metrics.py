"""What /metrics says of webhooks that are asked what one may (apiserver plugin/pkg/authorizer/webhook/metrics,
pkg/authorization/cel/metrics.go)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engine.clock import wall
from engine.metrics import Counter, Family, Histogram

_NAME = "apiserver_authorization"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class WebhookMetrics:
    def __init__(self) -> None:
        self._evaluations = Counter(
            f"{_NAME}_webhook_evaluations_total", "[ALPHA] Round-trips to authorization webhooks.", "name", "result"
        )
        self._durations = Histogram(
            f"{_NAME}_webhook_duration_seconds",
            "[ALPHA] Request latency in seconds.",
            "name",
            "result",
            buckets=_SECONDS,
        )
        self.failed_open = Counter(
            f"{_NAME}_webhook_evaluations_fail_open_total",
            "[ALPHA] NoOpinion results due to webhook timeout or error.",
            "name",
            "result",
        )
        self.condition_errors = Counter(
            f"{_NAME}_match_condition_evaluation_errors_total",
            "[ALPHA] Total number of errors when an authorization webhook encounters a match condition error split by "
            "authorizer type and name.",
            "type",
            "name",
        )
        self.exclusions = Counter(
            f"{_NAME}_match_condition_exclusions_total",
            "[ALPHA] Total number of exclusions when an authorization webhook is skipped because match conditions "
            "exclude it.",
            "type",
            "name",
        )
        self._matching = Histogram(
            f"{_NAME}_match_condition_evaluation_seconds",
            "[ALPHA] Authorization match condition evaluation time in seconds, split by authorizer type and name.",
            "type",
            "name",
            buckets=(0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25),
        )

    def evaluated(self, name: str, result: str, seconds: float) -> None:
        self._evaluations.add(name, result)
        self._durations.observe(seconds, name, result)

    @contextmanager
    def matching(self, name: str) -> Iterator[None]:
        """Around the conditions of a webhook."""
        began = wall()
        try:
            yield
        finally:
            self._matching.observe(wall() - began, "Webhook", name)

    def families(self) -> tuple[Family, ...]:
        return (
            self._evaluations,
            self._durations,
            self.failed_open,
            self.condition_errors,
            self.exclusions,
            self._matching,
        )
