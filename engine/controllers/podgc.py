"""The Pod garbage collector: Pods that nobody will ever clean up (pkg/controller/podgc/gc_controller.go).

Every twenty seconds: the oldest of too many that are over, those bound to a Node that is gone, those that were deleted
before they had a Node, and those on a Node that is out of service.
"""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.types import NODES, PODS, Object
from engine.controllers.controller import Controller
from engine.controllers.nodelifecycle.health import ready_status
from engine.controllers.pod_conditions import DISRUPTION_TARGET, pod_conditions
from engine.controllers.pods import is_terminal, phase
from engine.controllers.taints import OUT_OF_SERVICE, taints_of
from engine.trace import Hop

PERIOD = 20.0
# How long a Node may be missing from the cache before its Pods are taken for orphans.
QUARANTINE = 40.0
TERMINATED_THRESHOLD = 12_500


class PodGarbageCollector(Controller):
    name = "pod-garbage-collector"
    kind = "pod"
    workers = 0

    def set_up(self) -> None:
        self._pods = self.lister(PODS)
        self._nodes = self.lister(NODES)
        self._missing: dict[str, float] = {}  # Nodes that Pods name and nobody has, since when

    async def run(self) -> None:
        while True:
            for pod, why in await self._surplus():
                await self._collect(pod, why)
            await self.clock.sleep(PERIOD)

    async def _surplus(self) -> list[tuple[Object, str]]:
        pods = self._pods.list()
        gone = await self._gone_nodes(pods)
        found = [(pod, "") for pod in _terminated(pods)]
        found += [(pod, "PodGC: node no longer exists") for pod in pods if pod["spec"].get("nodeName") in gone]
        found += [(pod, "") for pod in pods if _is_leaving(pod) and not pod["spec"].get("nodeName")]
        found += [(pod, "") for pod in pods if _is_leaving(pod) and self._is_out_of_service(pod)]
        return found

    async def _gone_nodes(self, pods: list[Object]) -> dict[str, None]:
        """Nodes that have been missing for the whole quarantine, and that the API server does not know either."""
        now = self.clock.monotonic()
        named = dict.fromkeys(name for pod in pods if (name := pod["spec"].get("nodeName")))
        self._missing = {name: self._missing.get(name, now) for name in named if self._nodes.get(name) is None}
        due = [name for name, since in self._missing.items() if now - since >= QUARANTINE]
        return dict.fromkeys([name for name in due if not await self._exists(name)])

    async def _exists(self, node: str) -> bool:
        try:
            await self.client.get(NODES, node)
        except ApiError as error:
            return error.code != 404
        return True

    def _is_out_of_service(self, pod: Object) -> bool:
        node = self._nodes.get(pod["spec"].get("nodeName", ""))
        if node is None or ready_status(node) == "True":
            return False
        return any(taint["key"] == OUT_OF_SERVICE for taint in taints_of(node))

    async def _collect(self, pod: Object, why: str) -> None:
        metadata = pod["metadata"]
        with self.world.tracer.span(
            Hop.CONTROLLER,
            component=self.title,
            verb="collect",
            object=f"pod/{metadata['namespace']}/{metadata['name']}",
        ) as span:
            try:
                if not is_terminal(pod):
                    await self._mark_failed(pod, why)
                await self.client.delete(
                    PODS,
                    metadata["name"],
                    namespace=metadata["namespace"],
                    grace_period_seconds=0,
                    preconditions={"uid": metadata["uid"]},
                )
            except (ApiError, ConnectionError) as error:
                span.outcome = getattr(error, "reason", "") or type(error).__name__

    async def _mark_failed(self, pod: Object, why: str) -> None:
        """Its end is written down, for whoever counts failures (a Job)."""
        status: Object = {"phase": "Failed"}
        if why:
            told = {"reason": "DeletionByPodGC", "message": why}
            status["conditions"] = pod_conditions(pod, DISRUPTION_TARGET, "True", now=self.clock.timestamp(), **told)
        metadata = pod["metadata"]
        patch = {"metadata": {"uid": metadata["uid"]}, "status": status}
        await self.client.patch(PODS, metadata["name"], patch, namespace=metadata["namespace"], subresource="status")


def _is_leaving(pod: Object) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def _terminated(pods: list[Object]) -> list[Object]:
    """Of the Pods that are over, those beyond the threshold; evicted ones first, then the oldest."""
    over = [pod for pod in pods if is_terminal(pod)]
    surplus = max(0, len(over) - TERMINATED_THRESHOLD)

    def order(pod: Object) -> tuple[bool, str, str]:
        evicted = phase(pod) == "Failed" and (pod.get("status") or {}).get("reason") == "Evicted"
        return not evicted, pod["metadata"].get("creationTimestamp", ""), pod["metadata"]["name"]

    return sorted(over, key=order)[:surplus]
