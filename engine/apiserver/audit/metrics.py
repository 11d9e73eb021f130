"""What /metrics says of auditing (apiserver pkg/audit/metrics.go)."""

from __future__ import annotations

from engine.metrics import Counter, Family


class AuditMetrics:
    def __init__(self) -> None:
        self.events = Counter(
            "apiserver_audit_event_total",
            "[ALPHA] Counter of audit events generated and sent to the audit backend.",
        )
        self.levels = Counter(
            "apiserver_audit_level_total",
            "[ALPHA] Counter of policy levels for audit events (1 per request).",
            "level",
        )

        self._rejected = Counter(
            "apiserver_audit_requests_rejected_total",
            "[ALPHA] Counter of apiserver requests rejected due to an error in audit logging backend.",
        )

    def families(self) -> tuple[Family, ...]:
        return self.events, self.levels, self._rejected
