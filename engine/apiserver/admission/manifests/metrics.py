"""What /metrics says of admission that is read from files (apiserver pkg/admission/plugin/manifest/metrics)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256

from engine.clock import Clock
from engine.metrics import Counter, Family, Gauge, Sample

_NAME = "apiserver_manifest_admission_config_controller"
_RELOADS = "automatic reload of admission manifest configuration split by status, plugin, and apiserver identity."
_LABELS = ("status", "plugin", "apiserver_id_hash")


class ManifestMetrics:
    """Of the server with this identity."""

    def __init__(self, clock: Clock, identity: str) -> None:
        self._clock = clock
        self._looks = list[Callable[[], object]]()
        self._identity = f"sha256:{sha256(identity.encode()).hexdigest()}"
        what = _RELOADS.replace("reload ", "reloads ", 1)
        self._reloads = Counter(f"{_NAME}_automatic_reloads_total", f"[ALPHA] Total number of {what}", *_LABELS)
        self._times = Gauge(
            f"{_NAME}_automatic_reload_last_timestamp_seconds", f"[ALPHA] Timestamp of the last {_RELOADS}", *_LABELS
        )
        self._newest = _Newest(
            f"{_NAME}_last_config_info",
            "[ALPHA] Information about the last applied admission manifest configuration with hash as label, split by "
            "plugin and apiserver identity.",
            *("plugin", "apiserver_id_hash", "hash"),
        )

    def follow(self, look: Callable[[], object]) -> None:
        """Who is to look at its files before figures of them are told."""
        self._looks.append(look)

    def families(self) -> Iterator[Family]:
        for look in self._looks:
            look()
        yield from (self._reloads, self._times, self._newest)

    def failed(self, plugin: str) -> None:
        self._count("failure", plugin)

    def loaded(self, plugin: str, hash_: str) -> None:
        self._count("success", plugin)
        self._newest.hashes[plugin] = self._identity, hash_

    def _count(self, status: str, plugin: str) -> None:
        labels = status, plugin, self._identity
        self._reloads.add(*labels)
        self._times.set(*labels, to=self._clock.now().timestamp())


class _Newest(Family):
    """One sample for each plugin: what it had before is gone."""

    kind = "gauge"

    def __init__(self, name: str, help: str, *labels: str) -> None:
        super().__init__(name, help, *labels)
        self.hashes: dict[str, tuple[str, str]] = {}

    def samples(self) -> Iterator[Sample]:
        for plugin, hashes in sorted(self.hashes.items()):
            yield Sample(self._named((plugin, *hashes)), 1)
