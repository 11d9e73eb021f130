"""What /metrics says of configurations that are read again where their files change (apiserver
pkg/server/options/authenticationconfig/metrics, authorizationconfig/metrics)."""

from __future__ import annotations

from hashlib import sha256

from engine.clock import Clock
from engine.metrics import Counter, Family, Gauge


class ReloadMetrics:
    """`what` is authentication or authorization; `identity` is the server's."""

    def __init__(self, what: str, identity: str) -> None:
        name, both = f"apiserver_{what}_config_controller", "split by status and apiserver identity."
        self._identity = hash_of(identity.encode())
        self._clock = Clock()
        self._reloads = Counter(
            f"{name}_automatic_reloads_total",
            f"[BETA] Total number of automatic reloads of {what} configuration {both}",
            "status",
            "apiserver_id_hash",
        )
        self._last = Gauge(
            f"{name}_automatic_reload_last_timestamp_seconds",
            f"[BETA] Timestamp of the last automatic reload of {what} configuration {both}",
            "status",
            "apiserver_id_hash",
        )
        self._what = what
        self._applied = self._info()

    def _info(self) -> Gauge:
        """Says only what is applied now."""
        return Gauge(
            f"apiserver_{self._what}_config_controller_last_config_info",
            f"[ALPHA] Information about the last applied {self._what} configuration with hash as label, split by "
            f"apiserver "
            "apiserver identity.",
            "apiserver_id_hash",
            "hash",
        )

    def reloaded(self, *, succeeded: bool) -> None:
        status = "success" if succeeded else "failure"
        self._reloads.add(status, self._identity)
        self._last.set(status, self._identity, to=self._clock.posix())

    def applied(self, text: bytes) -> None:
        self._applied = self._info()
        self._applied.set(self._identity, hash_of(text), to=1)

    def families(self) -> tuple[Family, ...]:
        return self._reloads, self._last, self._applied


def hash_of(data: bytes) -> str:
    """As labels have what would be too long, or is nobody's business."""
    return f"sha256:{sha256(data).hexdigest()}" if data else ""
