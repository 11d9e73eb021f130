"""What /metrics says of auditing (apiserver pkg/audit/metrics.go)."""

from __future__ import annotations

import logging

from engine.metrics import Counter, Family

log = logging.getLogger(__name__)


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

        self._errors = Counter(
            "apiserver_audit_error_total",
            "[ALPHA] Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected "
            "by the error.",
            "plugin",
        )
        self.rejected = Counter(
            "apiserver_audit_requests_rejected_total",
            "[ALPHA] Counter of apiserver requests rejected due to an error in audit logging backend.",
        )

    def failed(self, plugin: str, events: int, why: str) -> None:
        """Of events that could not be told of."""
        self._errors.add(plugin, by=events)
        log.error("Error in audit plugin '%s' affecting %d audit events: %s", plugin, events, why)

    def families(self) -> tuple[Family, ...]:
        return self.events, self._errors, self.levels, self.rejected
