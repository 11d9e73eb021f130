"""Makes the API status of a Pod (kubelet_pods.go generateAPIPodStatus)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from engine.api.qos import qos_class
from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.kuberuntime.pod_status import PodRuntimeStatus
from engine.kubelet.kuberuntime.restarting import is_restarting_all
from engine.kubelet.status.conditions import OWNED, conditions
from engine.kubelet.status.container_statuses import container_statuses
from engine.kubelet.status.phase import pod_phase
from engine.kubelet.status.pod_resources import allocated_requests, enforced_resources
from engine.kubelet.status.reasons import ReasonCache
from engine.kubelet.status.termination import Leavings, fit_into_pod

DISRUPTION_TARGET = "DisruptionTarget"
# What this kubelet does not make is kept as the API has it.
KEPT = ("nominatedNodeName", "resourceClaimStatuses", "extendedResourceClaimStatus", "startTime", "qosClass")


class Override(NamedTuple):
    """Somebody (an eviction, a deadline) has decided that the Pod fails."""

    reason: str
    message: str
    disruption: str = ""  # the reason of the condition DisruptionTarget, where it is one


class Readiness(Protocol):
    """The prober's part in a status."""

    def update_pod_status(self, pod: Object, status: Object) -> None:
        """Set `ready` and `started` of each container status in place."""
        ...


class StatusMaker:
    def __init__(
        self,
        reasons: ReasonCache,
        readiness: Readiness,
        leavings: Leavings,
        resizes: Callable[[str], list[Object]],
        enforced: Callable[[Object], Object],
        *,
        node_ip: str,
        tells_resources: bool,
    ) -> None:
        self._reasons = reasons
        self._readiness = readiness
        self._leavings = leavings
        self._resizes = resizes  # the conditions of a Pod's resize, by its uid
        self._enforced = enforced  # a Pod's own resources as they are by now
        self._node_ip = node_ip
        self._tells_resources = tells_resources

    def make(
        self,
        pod: Object,
        status: PodRuntimeStatus,
        previous: Object,
        *,
        terminal: bool = False,
        override: Override | None = None,
    ) -> Object:
        """`previous` is the status as it was last known here; the result is a new object throughout."""
        made: Object = {key: previous[key] for key in KEPT if previous.get(key)}
        made.setdefault("qosClass", qos_class(pod))
        if generation := pod["metadata"].get("generation"):
            made["observedGeneration"] = generation
        self._containers(made, pod, status, previous)
        self._addresses(made, pod, status, previous)
        if self._tells_resources:
            if requests := allocated_requests(pod):
                made["allocatedResources"] = requests
            made["resources"] = enforced_resources(pod, status, self._enforced(pod))
        all_statuses = [*made.get("initContainerStatuses", ()), *made["containerStatuses"]]
        fit_into_pod([*all_statuses, *made.get("ephemeralContainerStatuses", ())])
        for item in made.get("ephemeralContainerStatuses", ()):
            item.pop("started", None)  # nobody probes them
        self._readiness.update_pod_status(pod, made)
        made["phase"] = self._phase(pod, all_statuses, previous, terminal=terminal)
        if made["phase"] == previous.get("phase"):
            for key in ("reason", "message"):
                if previous.get(key):
                    made[key] = previous[key]
        if override is not None:
            made.update(phase="Failed", reason=override.reason, message=override.message)
        api = (pod.get("status") or {}).get("conditions") or ()
        others = [condition for condition in api if condition["type"] not in OWNED]
        if not terminal and made["phase"] not in pods.TERMINAL_PHASES:
            others += self._resizes(pods.uid_of(pod))
        others = _with_disruption(pod, others, previous, override)
        made["conditions"] = conditions(pod, status, all_statuses, made["phase"], others, previous)
        return made

    def _containers(self, made: Object, pod: Object, status: PodRuntimeStatus, previous: Object) -> None:
        for field, containers, init in (
            ("initContainerStatuses", pods.init_containers_of(pod), True),
            ("containerStatuses", pods.containers_of(pod), False),
            ("ephemeralContainerStatuses", pods.ephemeral_containers_of(pod), False),
        ):
            if containers or field == "containerStatuses":
                made[field] = container_statuses(
                    pod,
                    status,
                    containers,
                    previous.get(field) or (),
                    init=init,
                    restarting_all=is_restarting_all(previous),
                    reasons=self._reasons,
                    leavings=self._leavings,
                )

    def _phase(self, pod: Object, statuses: list[Object], previous: Object, *, terminal: bool) -> str:
        """A Pod never leaves a terminal phase."""
        for known in (pods.phase_of(pod), str(previous.get("phase", ""))):
            if known in pods.TERMINAL_PHASES:
                return known
        return pod_phase(pod, statuses, terminal=terminal)

    def _addresses(self, made: Object, pod: Object, status: PodRuntimeStatus, previous: Object) -> None:
        made["hostIP"] = self._node_ip
        made["hostIPs"] = [{"ip": self._node_ip}]
        ips = list(status.ips)
        if pods.host_network(pod):
            ips = [self._node_ip]
        if not ips:
            ips = [item["ip"] for item in previous.get("podIPs") or ()]
        if ips:
            made["podIP"] = ips[0]
            made["podIPs"] = [{"ip": ip} for ip in ips]


def _with_disruption(pod: Object, others: list[Object], previous: Object, override: Override | None) -> list[Object]:
    """Once the kubelet has said that it ends the Pod, it goes on saying so."""
    known = next((item for item in previous.get("conditions") or () if item["type"] == DISRUPTION_TARGET), None)
    if known is None and override is not None and override.disruption:
        known = {
            "type": DISRUPTION_TARGET,
            "status": "True",
            "reason": override.disruption,
            "message": override.message,
            "lastProbeTime": None,
        }
        if generation := pod["metadata"].get("generation"):
            known["observedGeneration"] = generation
    if known is None:
        return others
    return [*(item for item in others if item["type"] != DISRUPTION_TARGET), known]
