"""The bar at the top: one cluster in one line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from engine.api.types import Object


@dataclass(slots=True)
class ClusterSummary:
    """`state` is "" while all is well, else what is wrong, or what is awaited, in a few words."""

    name: str = ""
    revision: int = 0
    nodes_ready: int = 0
    nodes: int = 0
    pods: dict[str, int] = field(default_factory=dict)  # ready, waiting, failed
    clock_mode: str = "real"
    clock_speed: float = 1.0
    clock_now: str = ""
    profile: str = ""
    kubernetes_version: str = ""
    state: str = ""
    is_starting: bool = False
    now: datetime | None = None  # the model's date and time

    @property
    def clock_text(self) -> str:
        if self.clock_mode == "paused":
            return "⏸ paused"
        return f"▶ {self.clock_speed:g}×"

    def take(self, status: Object) -> None:
        """Take what the status endpoint says."""
        self.state, self.is_starting = "", False
        self.revision = status["revision"]
        self.profile = status["profile"]
        self.kubernetes_version = f"v{status['kubernetesVersion'].removeprefix('v')}"
        clock = status["clock"]
        self.clock_mode, self.clock_speed, self.clock_now = clock["mode"], clock["speed"], clock["now"][11:19]
        self.now = datetime.fromisoformat(clock["now"])

    def count_nodes(self, nodes: Iterable[Object]) -> None:
        ready = [has_condition(node, "Ready") for node in nodes]
        self.nodes, self.nodes_ready = len(ready), sum(ready)

    def count_pods(self, pods: Iterable[Object]) -> None:
        counts = {"ready": 0, "waiting": 0, "failed": 0}
        for pod in pods:
            counts[pod_state(pod)] += 1
        self.pods = counts


def has_condition(obj: Object, type: str) -> bool:
    conditions = obj.get("status", {}).get("conditions") or ()
    return any(condition["type"] == type and condition["status"] == "True" for condition in conditions)


FAILING = frozenset({"CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "CreateContainerError"})


def pod_state(pod: Object) -> str:
    """`ready` (or done), `waiting` or `failed`: the three signs of the bar."""
    status = pod.get("status", {})
    if status.get("phase") == "Failed":
        return "failed"
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        if container.get("state", {}).get("waiting", {}).get("reason") in FAILING:
            return "failed"
    if status.get("phase") == "Succeeded" or has_condition(pod, "Ready"):
        return "ready"
    return "waiting"
