"""The service proxy of a node: watches Services and EndpointSlices and keeps the node's rules (hop 12; pkg/proxy).

What has changed is gathered and programmed together, a Service at a time: at once after a pause, else at most once a
second (kube-proxy's minSyncPeriod). Rules are the same on all nodes but for what is local to one, so one proxy can show
those of other nodes too: `other_nodes` gives it more `network/NODE/rules` views, worked out when they are looked at.

Where a profile gives the network no latency, a Pod finds what has changed programmed: it starts within the second for
which changes are gathered, as no Pod of a real cluster does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import Context
from typing import Any

from engine.api.types import ENDPOINT_SLICES, NODES, SERVICES, Object
from engine.client import Client, Origin, SharedInformer, first_cause, object_key, woken_by
from engine.network import dns
from engine.network.rules import Endpoint, NodeView, Rule, RuleTable, of_address, service_key, service_rules
from engine.tasks import Supervisor
from engine.trace import Hop, Span
from engine.world import World

MIN_SYNC_PERIOD = 1.0
MAX_TRACES = 10
BY_SERVICE = "service"


class ServiceProxy:
    def __init__(self, client: Client, world: World, node_name: str, *, other_nodes: Sequence[str] = ()) -> None:
        self.table = RuleTable()
        self.syncs = 0
        self._world = world
        self._node_name = node_name
        self._other_nodes = tuple(other_nodes)
        self._component = f"kube-proxy {node_name}"
        self._services = SharedInformer(client, world, SERVICES)
        self._slices = SharedInformer(client, world, ENDPOINT_SLICES)
        one = "" if other_nodes else f"metadata.name={node_name}"
        self._nodes = SharedInformer(client, world, NODES, field_selector=one)
        self._informers = (self._services, self._slices, self._nodes)
        self._slices.add_index(BY_SERVICE, lambda piece: [service_key(piece)])
        self._dirty: dict[str, list[Origin]] = {}
        self._syncing = False
        self._last_sync = float("-inf")
        self._zone = ""
        self._rng = world.rng.stream(f"kube-proxy/{node_name}")
        self._affinity: dict[tuple[str, str], tuple[Endpoint, float]] = {}  # by rule's port and source: until when
        self._tasks = Supervisor(self._component)

    # -- life

    async def start(self) -> None:
        for node in (self._node_name, *self._other_nodes):
            self._world.views.offer(f"network/{node}/rules", self._rules_view(node))
        self._world.views.offer("network/dns", self._dns_view)
        self._services.add_handler(self._service_changed, each_object=True)
        self._slices.add_handler(self._slice_changed, each_object=True)
        self._nodes.add_handler(self._node_changed)
        for informer in self._informers:
            informer.start()

    async def stop(self) -> None:
        for node in (self._node_name, *self._other_nodes):
            self._world.views.withdraw(f"network/{node}/rules")
        self._world.views.withdraw("network/dns")
        for informer in self._informers:
            await informer.stop()
        await self._tasks.close()

    # -- what the informers tell

    def _service_changed(self, old: Object | None, new: Object | None, origin: Origin) -> None:
        service = new or old
        if service is not None:
            self._mark(object_key(service), origin)

    def _slice_changed(self, old: Object | None, new: Object | None, origin: Origin) -> None:
        for piece in (old, new):
            if piece is not None and (key := service_key(piece)):
                self._mark(key, origin)

    def _node_changed(self, old: Object | None, new: Object | None, origin: Origin) -> None:
        if new is None or new["metadata"]["name"] != self._node_name:
            return
        zone = _zone_of(new)
        if zone != self._zone:
            self._zone = zone
            for service in self._services.lister.list():
                self._mark(object_key(service), origin)

    def _mark(self, key: str, origin: Origin) -> None:
        origins = self._dirty.setdefault(key, [])
        if origin not in origins:
            origins.append(origin)
        if not self._syncing:
            self._syncing = True
            Context().run(self._tasks.spawn, self._sync(), "sync")

    # -- programming

    async def _sync(self) -> None:
        """Program what is dirty until nothing is."""
        await self._services.wait_for_sync()
        await self._slices.wait_for_sync()
        try:
            while self._dirty:
                since = self._world.clock.monotonic() - self._last_sync
                if since < MIN_SYNC_PERIOD:
                    await self._world.clock.sleep(MIN_SYNC_PERIOD - since)
                if self._dirty:  # a Pod may have asked meanwhile
                    await self._program()
        finally:
            self._syncing = False

    async def _program(self) -> None:
        """One pass over all that has changed. Its latency is that of the pass and is booked to its first Service."""
        for number, (key, origins) in enumerate(self._begin_pass().items()):
            first, *others = _by_trace(origins)
            with self._span(key, first) as span:
                if number == 0:
                    await self._world.latency.pause("network")
                span.detail = detail = self._set_rules(key)
            # One pass answers changes of several traces: each of them ends with a span of its own.
            for more in others:
                with self._span(key, more) as span:
                    span.detail = detail

    def _program_at_once(self) -> None:
        for key, origins in self._begin_pass().items():
            detail = self._set_rules(key)
            for group in _by_trace(origins):
                with self._span(key, group) as span:
                    span.detail = detail

    def _begin_pass(self) -> dict[str, list[Origin]]:
        """What is to be programmed, by the keys of Services: why."""
        self._last_sync = self._world.clock.monotonic()
        self.syncs += 1
        dirty, self._dirty = self._dirty, {}
        return dirty

    def _set_rules(self, key: str) -> dict[str, Any]:
        """Program a Service; what there is to tell of it."""
        rules = self._rules_of(key, NodeView(self._node_name, self._zone))
        return {"changed": self.table.set(key, rules), "rules": [rule.to_json() for rule in rules]}

    def _span(self, key: str, origins: Sequence[Origin]) -> AbstractContextManager[Span]:
        return self._world.tracer.span(
            Hop.NETWORK,
            component=self._component,
            verb="sync-proxy-rules",
            object=f"service/{key}",
            cause=first_cause(origins),
            revision=origins[0].revision if origins else 0,
            woken_by=woken_by(origins),
        )

    def _rules_of(self, key: str, node: NodeView) -> tuple[Rule, ...]:
        service = self._services.lister.by_key(key)
        if service is None:
            return ()
        return service_rules(service, self._slices.lister.by_index(BY_SERVICE, key), node)

    # -- what DNS asks (dns.Records)

    def service(self, namespace: str, name: str) -> Object | None:
        return self._services.lister.get(name, namespace)

    def services(self) -> Sequence[Object]:
        return self._services.lister.list()

    def endpoint_slices(self, namespace: str, name: str) -> Sequence[Object]:
        return self._slices.lister.by_index(BY_SERVICE, f"{namespace}/{name}")

    # -- what is sent to a Service

    def rule(self, ip: str, port: int, node: str) -> Rule | None:
        """What becomes on a node of packets to a virtual address, "" being each of the node's own. Addresses are the
        same on all nodes, so those of this one tell which Service it is."""
        if self._dirty and self._world.latency.is_over_at_once("network"):
            Context().run(self._program_at_once)
        rule = self.table.find(ip, port)
        if rule is None or node == self._node_name:
            return rule
        return of_address(self._rules_of(rule.service.partition(":")[0], self._view_of(node)), ip, port)

    def choose(self, rule: Rule, endpoints: Sequence[Endpoint], source: str) -> Endpoint:
        """The endpoint that gets what is sent to a rule's address: any of them, the same for a source while its
        affinity lasts."""
        if not rule.affinity_seconds:
            return self._rng.choice(endpoints)
        now = self._world.clock.monotonic()
        chosen, until = self._affinity.get((rule.service, source), (None, now))
        if chosen is None or until <= now or chosen not in endpoints:
            chosen = self._rng.choice(endpoints)
        self._affinity[rule.service, source] = (chosen, now + rule.affinity_seconds)
        return chosen

    # -- views

    def _rules_view(self, node_name: str) -> Any:
        def look(parameters: Mapping[str, str]) -> Object:
            rules = self.table.rules() if node_name == self._node_name else self._rules_on(node_name)
            return {
                "node": node_name,
                "syncs": self.syncs,
                "pending": sorted(self._dirty),
                "rules": [rule.to_json() for rule in rules],
            }

        return look

    def _rules_on(self, node_name: str) -> list[Rule]:
        view = self._view_of(node_name)
        return [rule for key in sorted(self.table.by_service) for rule in self._rules_of(key, view)]

    def _view_of(self, node_name: str) -> NodeView:
        node = self._nodes.lister.get(node_name)
        return NodeView(node_name, _zone_of(node) if node is not None else "")

    def _dns_view(self, parameters: Mapping[str, str]) -> Object:
        """`name`, `type` (A) and `namespace` (default): what a Pod there would be answered."""
        name, type = parameters.get("name", ""), parameters.get("type", "A")
        found = dns.resolve(self, name, parameters.get("namespace", "default"), type)
        return {"question": {"name": name, "type": type}, "rcode": found.rcode,
                "answers": [record._asdict() for record in found.records]}  # fmt: skip


def _by_trace(origins: Sequence[Origin]) -> list[list[Origin]]:
    """Origins by the trace that they belong to; one group at least."""
    groups: dict[str, list[Origin]] = {}
    for origin in origins:
        groups.setdefault(origin.cause.trace_id if origin.cause is not None else "", []).append(origin)
    return list(groups.values())[:MAX_TRACES] or [[]]


def _zone_of(node: Object) -> str:
    return str((node["metadata"].get("labels") or {}).get("topology.kubernetes.io/zone", ""))
