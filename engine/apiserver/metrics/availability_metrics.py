"""What /metrics says of APIServices that cannot be had (kube-aggregator pkg/controllers/status/metrics)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.crd.naming import find_condition, is_true
from engine.api.types import Object
from engine.metrics import Counter, Family, Gauge

_AVAILABLE = "Available"
_MARKED = "of APIServices which are marked as unavailable broken down by APIService name"


class AvailabilityMetrics:
    def __init__(self) -> None:
        name = "aggregator_unavailable_apiservice"
        self._now = Gauge(name, f"[ALPHA] Gauge {_MARKED}.", "name")
        self._became = Counter(f"{name}_total", f"[ALPHA] Counter {_MARKED} and reason.", "name", "reason")

    def judged(self, before: Object, after: Object) -> None:
        """Counts one that was available. What was never so is only told as it is."""
        if not is_true(before, _AVAILABLE) or is_true(after, _AVAILABLE):
            return
        condition = find_condition(after, _AVAILABLE) or {}
        self._became.add(after["metadata"]["name"], condition.get("reason", "UnknownReason"))

    def families(self, api_services: Iterable[Object]) -> tuple[Family, ...]:
        """As the objects are when they are asked for."""
        self._now.replace({each["metadata"]["name"]: int(not is_true(each, _AVAILABLE)) for each in api_services})
        return self._now, self._became
