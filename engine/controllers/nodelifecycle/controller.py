"""The node lifecycle controller (pkg/controller/nodelifecycle/node_lifecycle_controller.go).

The queue keeps the NoSchedule taints of a Node in step with its conditions; every five seconds all Nodes are checked
for signs of life, and those that show none are marked, at a rate that depends on how much of their zone is down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.api.errors import ApiError
from engine.api.types import LEASES, NODES, PODS, Object
from engine.api.wire import MERGE_PATCH
from engine.client import NORMAL, WARNING
from engine.client.ratelimiter import TokenBucket
from engine.controllers.conditions import Conditions, conditions_of, with_condition
from engine.controllers.controller import Controller
from engine.controllers.features import node_monitor_grace_period
from engine.controllers.labels import REGION_LABEL, ZONE_LABEL
from engine.controllers.nodelifecycle.health import Health, observe, ready_status, silent_conditions
from engine.controllers.nodelifecycle.older_labels import older_labels
from engine.controllers.nodelifecycle.tainting import (
    ZoneState,
    eviction_qps,
    no_execute_key,
    no_execute_taints,
    no_schedule_taints,
    zone_state,
)
from engine.controllers.pods import is_ready, ready_condition
from engine.controllers.taints import NO_EXECUTE, NOT_READY, UNREACHABLE, has_taint, taints_of
from engine.metrics import Counter, Family
from engine.trace import Hop

MONITOR_PERIOD = 5.0
TAINT_TRIES = 5
LEASE_NAMESPACE = "kube-node-lease"
NODE_INDEX = "node-name"
EXCLUDE_DISRUPTION = "node.kubernetes.io/exclude-disruption"

Zone = tuple[str, str]  # region and zone


def by_node_name(pod: Object) -> Iterable[str]:
    """Index: Pods by the Node that they are bound to."""
    name = pod["spec"].get("nodeName")
    return (name,) if name else ()


class NodeLifecycleController(Controller):
    name = "node-controller"
    kind = "node"
    view = "node-lifecycle-controller"
    workers = 8

    def set_up(self) -> None:
        self._nodes = self.lister(NODES)
        self._leases = self.lister(LEASES)
        self._pods = self.lister(PODS)
        self.index(PODS, NODE_INDEX, by_node_name)
        self._grace = node_monitor_grace_period(self.config.kubernetes_version)
        self._health: dict[str, Health] = {}
        self._known: dict[str, Object] = {}
        self._unmarked: set[str] = set()  # silent Nodes of which Pods are still to be marked
        self._limits: dict[Zone, tuple[float, TokenBucket]] = {}
        self._evictions = Counter(
            "node_collector_evictions_total",
            "[STABLE] Number of Node evictions that happened since current instance of NodeController started.",
            "zone",
        )
        self.watch(NODES, self._changed)

    def families(self) -> Iterable[Family]:
        return (self._evictions,)

    def _changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None:
            return []
        due = older_labels(new) or no_schedule_taints(new, self.clock.now()) is not None
        return [new["metadata"]["name"]] if due else []

    async def reconcile(self, key: str) -> None:
        node = self._nodes.get(key)
        if node is None:
            return
        if (taints := no_schedule_taints(node, self.clock.now())) is not None:
            self.note(desired=_shown(taints), actual=_shown(taints_of(node)))
            await self._set_taints(node, lambda latest: no_schedule_taints(latest, self.clock.now()))
        if labels := older_labels(node):
            await self.client.patch(NODES, key, {"metadata": {"labels": labels}})

    # -- signs of life

    async def run(self) -> None:
        while True:
            await self._monitor()
            await self.clock.sleep(MONITOR_PERIOD)

    async def _monitor(self) -> None:
        nodes = self._nodes.list()
        self._tell_of_comers_and_goers(nodes)
        nodes = [await self._attempt(node, self._check(node)) for node in nodes]
        for node in nodes:
            name = node["metadata"]["name"]
            if name in self._unmarked and ready_status(node) != "True":
                await self._mark_pods(name)
            else:
                self._unmarked.discard(name)
        await self._taint_zones(nodes)

    async def _attempt(self, node: Object, conditions: Conditions | None) -> Object:
        """Mark a Node that fell silent; a failure is no reason to forget the others. The Node as it is then."""
        if conditions is None:
            return node
        with self.world.tracer.span(
            Hop.CONTROLLER, component=self.title, verb="monitor", object=f"node/{node['metadata']['name']}"
        ) as span:
            try:
                return await self._mark_silent(node, conditions)
            except (ApiError, ConnectionError) as error:
                span.outcome = getattr(error, "reason", "") or type(error).__name__
        return node

    def _tell_of_comers_and_goers(self, nodes: list[Object]) -> None:
        present = {node["metadata"]["name"]: node for node in nodes}
        for name, node in present.items():
            if name not in self._known:
                message = f"Node {name} event: Registered Node {name} in Controller"
                self._event(node, "RegisteredNode", message)
        for name, node in self._known.items():
            if name not in present:
                self._health.pop(name, None)
                self._unmarked.discard(name)
                self._event(node, "RemovingNode", f"Node {name} event: Removing Node {name} from Controller")
        self._known = present

    def _event(self, node: Object, reason: str, message: str) -> None:
        self.recorder.event(node, NORMAL, reason, message)

    def _check(self, node: Object) -> Conditions | None:
        name, now = node["metadata"]["name"], self.clock.now()
        lease = self._leases.get(name, LEASE_NAMESPACE)
        self._health[name] = observe(node, lease, self._health.get(name), now)
        return silent_conditions(node, self._health[name], now=now, grace=self._grace)

    async def _mark_silent(self, node: Object, conditions: Conditions) -> Object:
        was_ready = ready_status(node) == "True"
        status = {**(node.get("status") or {}), "conditions": conditions}
        marked = await self.client.update_status(NODES, {**node, "status": status})
        if was_ready:
            name = node["metadata"]["name"]
            self._event(node, "NodeNotReady", f"Node {name} status is now: NodeNotReady")
            self._unmarked.add(name)
        return marked

    async def _mark_pods(self, node: str) -> None:
        """What could not be marked is tried again at the next look (nodesToRetry)."""
        with self.world.tracer.span(Hop.CONTROLLER, component=self.title, verb="mark", object=f"node/{node}") as span:
            failed = False
            for pod in self._pods.by_index(NODE_INDEX, node):
                try:
                    await self._mark_pod(pod)
                except (ApiError, ConnectionError) as error:
                    span.outcome = getattr(error, "reason", "") or type(error).__name__
                    failed = True
        if not failed:
            self._unmarked.discard(node)

    async def _mark_pod(self, pod: Object) -> None:
        """A Pod on a silent Node is not ready, whatever its kubelet last said."""
        if not is_ready(pod):
            return
        condition = {**(ready_condition(pod) or {}), "status": "False", "lastTransitionTime": self.clock.timestamp()}
        if generation := pod["metadata"].get("generation"):
            condition["observedGeneration"] = generation
        conditions = with_condition(conditions_of(pod["status"]), condition)
        try:
            await self.client.update_status(PODS, {**pod, "status": {**pod["status"], "conditions": conditions}})
        except ApiError as error:
            if error.code != 404:
                raise
            return
        self.recorder.event(pod, WARNING, "NodeNotReady", "Node is not ready")

    # -- driving Pods off

    async def _taint_zones(self, nodes: list[Object]) -> None:
        zones: dict[Zone, list[Object]] = {}
        for node in nodes:
            zones.setdefault(_zone(node), []).append(node)
        counted = {zone: [node for node in members if not _is_excluded(node)] for zone, members in zones.items()}
        states = {zone: zone_state(members) for zone, members in counted.items()}
        judged = [states[zone] for zone, members in counted.items() if members]
        if judged and all(state is ZoneState.FULL for state in judged):
            # Nobody answers: the fault is more likely here. Drive nobody off, and take back what was begun.
            for node in nodes:
                await self._drive_off(node, "")
            return
        for zone, members in zones.items():
            self._evictions.add(_zone_key(zone), by=0)  # a zone is told of as soon as it is known
            await self._taint_zone(zone, members, eviction_qps(states[zone], len(counted[zone])))

    async def _taint_zone(self, zone: Zone, nodes: list[Object], qps: float) -> None:
        bucket = self._bucket(zone, qps)
        for node in nodes:
            key = no_execute_key(node)
            if not ready_status(node) or no_execute_taints(node, key, self.clock.now()) is None:
                continue
            if not key or self._has_either(node):
                await self._drive_off(node, key)
            elif bucket is not None and bucket.try_accept() and await self._drive_off(node, key):
                self._evictions.add(_zone_key(zone))

    @staticmethod
    def _has_either(node: Object) -> bool:
        """Swapping one of the two taints for the other drives nobody off anew."""
        return has_taint(node, NOT_READY, NO_EXECUTE) or has_taint(node, UNREACHABLE, NO_EXECUTE)

    def _bucket(self, zone: Zone, qps: float) -> TokenBucket | None:
        if not qps:
            self._limits.pop(zone, None)
            return None
        known = self._limits.get(zone)
        if known is None or known[0] != qps:
            known = self._limits[zone] = (qps, TokenBucket(self.clock, qps=qps, burst=1))
        return known[1]

    async def _drive_off(self, node: Object, key: str) -> bool:
        """Whether the Node got what it should have."""
        if no_execute_taints(node, key, self.clock.now()) is None:
            return False
        with self.world.tracer.span(
            Hop.CONTROLLER,
            component=self.title,
            verb="taint",
            object=f"node/{node['metadata']['name']}",
            detail={"taint": key},
        ) as span:
            try:
                await self._set_taints(node, lambda latest: no_execute_taints(latest, key, self.clock.now()))
                return True
            except (ApiError, ConnectionError) as error:
                span.outcome = getattr(error, "reason", "") or type(error).__name__
        return False

    async def _set_taints(self, node: Object, make: Callable[[Object], list[Object] | None]) -> None:
        """Write the taints that `make` gives for the Node (None: as it is); once more on a Node that changed."""
        name = node["metadata"]["name"]
        for left in range(TAINT_TRIES, 0, -1):
            taints = make(node)
            if taints is None:
                return
            version = node["metadata"]["resourceVersion"]
            patch = {"metadata": {"resourceVersion": version}, "spec": {"taints": taints or None}}
            try:
                await self.client.patch(NODES, name, patch, content_type=MERGE_PATCH)
                return
            except ApiError as error:
                if error.code != 409 or left == 1:
                    raise
                node = await self.client.get(NODES, name)


def _zone(node: Object) -> Zone:
    """Zones of one name in several regions are several (GetZoneKey)."""
    labels = node["metadata"].get("labels") or {}
    return labels.get(REGION_LABEL, ""), labels.get(ZONE_LABEL, "")


def _zone_key(zone: Zone) -> str:
    """As metrics name it (GetZoneKey); of Nodes without labels nothing."""
    return ":\0:".join(zone) if any(zone) else ""


def _is_excluded(node: Object) -> bool:
    """Not reckoned with when it is told how much of a zone is down."""
    return EXCLUDE_DISRUPTION in (node["metadata"].get("labels") or {})


def _shown(taints: list[Object]) -> list[str]:
    return [f"{taint['key']}:{taint['effect']}" for taint in taints]
