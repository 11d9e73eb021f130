"""What a container that has ended says of why (kuberuntime_container.go getTerminationMessage)."""

from __future__ import annotations

from typing import Protocol

from engine.api.types import Object
from engine.kubelet.cri import TERMINATION_LOG, ContainerStatus
from engine.kubelet.cri.services import ContainerLog

# In bytes: of the file, of the log, and of all containers of a Pod together.
MAX_MESSAGE, MAX_LOG, MAX_OF_POD = 4096, 2048, 12 * 1024
MAX_LOG_LINES = 80


class Leavings(Protocol):
    """What the runtime still has of containers that have ended."""

    def read_file(self, container_id: str, path: str) -> str | None: ...

    def log(self, container_id: str) -> ContainerLog | None: ...


def termination_message(status: ContainerStatus, container: Object, leavings: Leavings) -> str:
    """The runtime's own words, then the end of the file that the container may write; of one that failed without a
    word there and asks for it, the end of its log."""
    path = container.get("terminationMessagePath") or TERMINATION_LOG
    told = _end(leavings.read_file(status.id, path) or "", MAX_MESSAGE)
    asks = container.get("terminationMessagePolicy") == "FallbackToLogsOnError"
    if not told and asks and status.exit_code and (log := leavings.log(status.id)) is not None:
        lines = log.read(max(0, log.written - MAX_LOG_LINES))
        told = _end("".join(line.text if line.partial else f"{line.text}\n" for line in lines), MAX_LOG)
    return ": ".join(filter(None, (status.message, told)))


def fit_into_pod(statuses: list[Object]) -> None:
    """Each container gets its share of what a Pod may say (status_manager.go normalizeStatus)."""
    share = MAX_OF_POD // max(1, len(statuses))
    for status in statuses:
        for state in ("state", "lastState"):
            ended = (status.get(state) or {}).get("terminated") or {}
            if len(text := ended.get("message", "").encode()) > share:
                status[state] = {"terminated": {**ended, "message": text[:share].decode(errors="ignore")}}


def _end(text: str, size: int) -> str:
    return text if len(text) <= size // 4 else text.encode()[-size:].decode(errors="ignore")
