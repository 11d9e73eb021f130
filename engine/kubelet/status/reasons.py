"""Why a container waits: the last failed start of each, until one succeeds (pkg/kubelet/reason_cache.go)."""

from __future__ import annotations

from engine.kubelet.kuberuntime.manager import SyncResult


class ReasonCache:
    def __init__(self) -> None:
        self._reasons: dict[tuple[str, str], tuple[str, str]] = {}

    def update(self, uid: str, result: SyncResult) -> bool:
        """Take in a sync's result; whether it changed anything that a status shows."""
        changed = False
        for failure in result.failures:
            reason = (failure.reason, failure.message)
            changed = changed or self._reasons.get((uid, failure.container)) != reason
            self._reasons[uid, failure.container] = reason
        for name in result.started:
            self._reasons.pop((uid, name), None)
        return changed

    def get(self, uid: str, name: str) -> tuple[str, str] | None:
        """Reason and message."""
        return self._reasons.get((uid, name))

    def forget(self, uid: str) -> None:
        for key in [key for key in self._reasons if key[0] == uid]:
            del self._reasons[key]
