"""What /metrics says of who acts as somebody else (apiserver filters/impersonation/metrics). Durations are this
machine's."""

from __future__ import annotations

from engine.metrics import Counter, Family, Histogram, exponential_buckets

_BUCKETS = exponential_buckets(0.001, 2, 15)
_DECISIONS = {True: "allowed", False: "denied"}


class ImpersonationMetrics:
    """By mode ("legacy" for the old way) and decision. An attempt that no mode allows has none: ""."""

    def __init__(self) -> None:
        split = "split by mode and decision."
        prefix = "apiserver_impersonation"
        self._attempts = Counter(
            f"{prefix}_attempts_total", f"[ALPHA] Total number of impersonation attempts {split}", "mode", "decision"
        )
        self._attempt = Histogram(
            f"{prefix}_attempts_duration_seconds",
            f"[ALPHA] Latency of impersonation attempts in seconds {split}",
            "mode",
            "decision",
            buckets=_BUCKETS,
        )
        checks = "authorization checks made by the impersonation handler"
        self._checks = Counter(
            f"{prefix}_authorization_attempts_total", f"[ALPHA] Total number of {checks} {split}", "mode", "decision"
        )
        self._check = Histogram(
            f"{prefix}_authorization_attempts_duration_seconds",
            f"[ALPHA] Latency of {checks} in seconds {split}",
            "mode",
            "decision",
            buckets=_BUCKETS,
        )

    def attempted(self, mode: str, seconds: float, *, allowed: bool) -> None:
        self._attempts.add(mode, _DECISIONS[allowed])
        self._attempt.observe(seconds, mode, _DECISIONS[allowed])

    def checked(self, mode: str, seconds: float, *, allowed: bool) -> None:
        self._checks.add(mode, _DECISIONS[allowed])
        self._check.observe(seconds, mode, _DECISIONS[allowed])

    def families(self) -> tuple[Family, ...]:
        return (self._attempts, self._attempt, self._checks, self._check)
