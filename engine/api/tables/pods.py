"""The table of Pods: what kubectl's READY, STATUS and RESTARTS say (printers.go, printPod)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from engine.api.selectors import format_labels
from engine.api.tables.columns import META, Column, Field, KindTable, Row, kind_table
from engine.api.tables.formats import condition_true, container_images, container_names
from engine.api.types import Object

_POD_SPEC = "api.core.v1.PodSpec"
_POD_STATUS = "api.core.v1.PodStatus"
_SCHEDULING_GATED = "SchedulingGated"
_NODE_LOST = "NodeLost"
_TERMINAL = ("Succeeded", "Failed")
_NO_AGE = datetime.fromtimestamp(0, UTC)  # for what does not depend on the time


class Summary(NamedTuple):
    ready: int
    total: int
    reason: str
    restarts: int
    last_restart: str  # "" for never


class _Tally:
    """Restarts and when the last of them was."""

    def __init__(self) -> None:
        self.count = 0
        self.last = ""

    def add(self, container: Mapping[str, Any]) -> None:
        self.count += container.get("restartCount", 0)
        ended = (container.get("lastState") or {}).get("terminated") or {}
        self.last = max(self.last, ended.get("finishedAt") or "")  # RFC 3339 in UTC sorts as text


def _ended_reason(terminated: Mapping[str, Any], prefix: str = "") -> str:
    if terminated.get("reason"):
        return f"{prefix}{terminated['reason']}"
    if terminated.get("signal"):
        return f"{prefix}Signal:{terminated['signal']}"
    return f"{prefix}ExitCode:{terminated.get('exitCode', 0)}"


class PodRow(Row):
    """A Pod; `summary` is worked out once for three columns."""

    @cached_property
    def summary(self) -> Summary:
        ready, total, reason, restarts, sidecars = self._init_containers()
        if reason is None or condition_true(self.status, "Initialized"):
            running, main_reason = self._main_containers(sidecars)
            ready += running
            restarts = sidecars
            reason = self._after_main(main_reason or reason or self._phase_reason, running)
        return Summary(ready, total, self._or_deleting(reason), restarts.count, restarts.last)

    @property
    def _phase_reason(self) -> str:
        for condition in self.status.get("conditions") or ():
            if condition.get("type") == "PodScheduled" and condition.get("reason") == _SCHEDULING_GATED:
                return _SCHEDULING_GATED
        return str(self.status.get("reason") or self.status.get("phase", ""))

    def _init_containers(self) -> tuple[int, int, str | None, _Tally, _Tally]:
        """Ready sidecars, how many containers count, the reason while it initialises (None after), the restarts of all
        init containers and those of the sidecars among them."""
        specs = self.spec.get("initContainers") or ()
        sidecars = {spec["name"] for spec in specs if spec.get("restartPolicy") == "Always"}
        total = len(self.spec.get("containers") or ()) + len(sidecars)
        ready, restarts, sidecar_restarts = 0, _Tally(), _Tally()
        for index, container in enumerate(self.status.get("initContainerStatuses") or ()):
            restarts.add(container)
            sidecar = container.get("name") in sidecars
            if sidecar:
                sidecar_restarts.add(container)
            state = container.get("state") or {}
            terminated = state.get("terminated")
            if terminated is not None and not terminated.get("exitCode"):
                continue
            if sidecar and container.get("started"):
                ready += bool(container.get("ready"))
                continue
            return ready, total, self._init_reason(state, index, len(specs)), restarts, sidecar_restarts
        return ready, total, None, restarts, sidecar_restarts

    @staticmethod
    def _init_reason(state: Mapping[str, Any], index: int, count: int) -> str:
        if (terminated := state.get("terminated")) is not None:
            return _ended_reason(terminated, "Init:")
        waiting = (state.get("waiting") or {}).get("reason")
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}"
        return f"Init:{index}/{count}"

    def _main_containers(self, restarts: _Tally) -> tuple[int, str]:
        """How many run and are ready, and the reason of the first container that has one."""
        ready, reason = 0, ""
        for container in reversed(self.status.get("containerStatuses") or ()):
            restarts.add(container)
            state = container.get("state") or {}
            waiting = (state.get("waiting") or {}).get("reason")
            if waiting:
                reason = waiting
            elif (terminated := state.get("terminated")) is not None:
                reason = _ended_reason(terminated)
            elif container.get("ready") and state.get("running") is not None:
                ready += 1
        return ready, reason

    def _after_main(self, reason: str, running: int) -> str:
        """A Pod with a container that ended well and one that still runs is not completed."""
        if reason == "Completed" and running:
            return "Running" if condition_true(self.status, "Ready") else "NotReady"
        return reason

    def _or_deleting(self, reason: str) -> str:
        if not self.deleting:
            return reason
        if self.status.get("reason") == _NODE_LOST:
            return "Unknown"
        return reason if self.status.get("phase") in _TERMINAL else "Terminating"

    @property
    def ready(self) -> str:
        return f"{self.summary.ready}/{self.summary.total}"

    @property
    def restarts(self) -> str:
        count, last = self.summary.restarts, self.summary.last_restart
        return f"{count} ({self.since(last)} ago)" if count and last else str(count)

    @property
    def ip(self) -> str:
        addresses = self.status.get("podIPs") or ()
        return (addresses[0].get("ip") if addresses else None) or "<none>"

    @property
    def readiness_gates(self) -> str:
        gates = self.spec.get("readinessGates") or ()
        if not gates:
            return "<none>"
        passed = sum(condition_true(self.status, gate.get("conditionType", "")) for gate in gates)
        return f"{passed}/{len(gates)}"

    @property
    def conditions(self) -> list[Object]:
        phase = self.status.get("phase")
        if phase == "Succeeded":
            return [_completed("Succeeded", "The pod has completed successfully.")]
        return [_completed("Failed", "The pod failed.")] if phase == "Failed" else []


def _completed(reason: str, message: str) -> Object:
    return {"type": "Completed", "status": "True", "reason": reason, "message": message}


def pod_summary(pod: Object) -> Summary:
    """READY, STATUS and RESTARTS of a Pod, for those who show them without a table."""
    return PodRow(pod, _NO_AGE).summary


def pod_status(pod: Object, now: datetime) -> str:
    """The STATUS of a Pod, for those who show one without a table."""
    return PodRow(pod, now).summary.reason


PODS: KindTable[PodRow] = KindTable(
    PodRow,
    (
        Column("Name", lambda row: row.name, Field(META, "name"), format="name"),
        Column("Ready", lambda row: row.ready, "The aggregate readiness state of this pod for accepting traffic."),
        Column("Status", lambda row: row.summary.reason, "The aggregate status of the containers in this pod."),
        Column(
            "Restarts",
            lambda row: row.restarts,
            "The number of times the containers in this pod have been restarted and when the last container in this "
            "pod has restarted.",
        ),
        Column("Age", lambda row: row.age, Field(META, "creationTimestamp")),
        Column("IP", lambda row: row.ip, Field(_POD_STATUS, "podIP"), priority=1),
        Column("Node", lambda row: row.spec.get("nodeName") or "<none>", Field(_POD_SPEC, "nodeName"), priority=1),
        Column(
            "Nominated Node",
            lambda row: row.status.get("nominatedNodeName") or "<none>",
            Field(_POD_STATUS, "nominatedNodeName"),
            priority=1,
        ),
        Column("Readiness Gates", lambda row: row.readiness_gates, Field(_POD_SPEC, "readinessGates"), priority=1),
    ),
)

POD_TEMPLATES = kind_table(
    Column("Name", lambda row: row.name, Field(META, "name"), format="name"),
    Column(
        "Containers",
        lambda row: container_names(row.object.get("template") or {}),
        "Names of each container in the template.",
    ),
    Column(
        "Images",
        lambda row: container_images(row.object.get("template") or {}),
        "Images referenced by each container in the template.",
    ),
    Column(
        "Pod Labels",
        lambda row: format_labels(((row.object.get("template") or {}).get("metadata") or {}).get("labels")),
        "The labels for the pod template.",
    ),
)
