"""The bar at the top: one cluster in one line."""

from __future__ import annotations

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
    refusing: str = ""  # why the store takes no writes
    members: int = 0  # of etcd
    members_up: int = 0
    leader: str = ""
    state: str = ""
    is_starting: bool = False
    waited: float = 0.0  # seconds for an answer that has not come
    now: datetime | None = None  # the model's date and time

    @property
    def clock_text(self) -> str:
        if self.clock_mode == "paused":
            return "⏸ paused"
        return f"▶ {self.clock_speed:g}×"

    @property
    def etcd_text(self) -> str:
        """The members of the store and who leads them; "" where there is but one."""
        if self.members < 2:
            return ""
        leads = f"leader {self.leader}" if self.leader else "no leader"
        return f"etcd {self.members_up}/{self.members} {leads}"

    def take_store(self, status: Object, members: Object) -> None:
        """Take what the store's status and its members' endpoint say."""
        why = str(status["details"].get("refusing") or ", ".join(status["alarms"]))
        self.refusing = why.rpartition(": ")[2].partition(";")[0]  # without the file, and what is to be done
        told = members["members"]
        down = [each for each in told if each["state"] == "stopped" or each.get("partitioned") or each.get("errors")]
        self.members, self.members_up = len(told), len(told) - len(down)
        self.leader = next((member["name"] for member in told if member["state"] == "leader"), "")

    def take(self, status: Object) -> None:
        """Take what the status endpoint says."""
        self.state, self.is_starting, self.waited = "", False, 0.0
        self.revision = status["revision"]
        self.profile = status["profile"]
        self.kubernetes_version = f"v{status['kubernetesVersion'].removeprefix('v')}"
        nodes = status.get("nodes") or {}
        self.nodes, self.nodes_ready = sum(nodes.values()), nodes.get("ready", 0)
        self.pods = status.get("pods") or {}
        clock = status["clock"]
        self.clock_mode, self.clock_speed, self.clock_now = clock["mode"], clock["speed"], clock["now"][11:19]
        self.now = datetime.fromisoformat(clock["now"])
