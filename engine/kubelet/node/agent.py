"""Registers the node, keeps its status and its lease (kubelet_node_status.go).

The status is looked at every ten seconds and written when it has changed or is five minutes old; what changes it
visibly (the network becoming ready) is written at once. A Node that is deleted stays so: a kubelet registers but once,
when it starts (registrationCompleted; kubernetes issues 71398, 115761). It takes over one that is created by hand.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import Context

from engine.api.errors import ApiError
from engine.api.types import NODES, Object
from engine.client import NORMAL, WARNING, Client, EventRecorder, revision_of
from engine.config import NodeConfig
from engine.kubelet import events
from engine.kubelet.cri import Runtime
from engine.kubelet.node.csi_node import CsiNode
from engine.kubelet.node.lease import RENEW_INTERVAL, RENEW_JITTER, NodeLease
from engine.kubelet.node.status import PRESSURE_EVENTS, NodeFacts, changed, initial_node, is_ready, labels, node_status
from engine.kubelet.status.patch import node_status_patch
from engine.tasks import Supervisor
from engine.world import World

log = logging.getLogger(__name__)

REPORT_FREQUENCY = 300.0
FIRST_RETRY = 0.1
LAST_RETRY = 7.0


class NodeAgent:
    """`current` gives the Node as the informer has it, None before it does."""

    def __init__(
        self,
        client: Client,
        world: World,
        config: NodeConfig,
        runtime: Runtime,
        recorder: EventRecorder,
        current: Callable[[], Object | None],
        *,
        node_ip: str,
        kubelet_version: str,
        memory_pressure: Callable[[], bool],
    ) -> None:
        self.registered: Object | None = None
        self._client = client
        self._world = world
        self._config = config
        self._runtime = runtime
        self._recorder = recorder
        self._current = current
        self._node_ip = node_ip
        self._version = kubelet_version
        self._memory_pressure = memory_pressure
        rng = world.rng.stream(f"node/{config.name}")
        self._machine_id = f"{rng.bits(128):032x}"
        self._system_uuid, self._boot_id = rng.uid(), rng.uid()
        self._rng = rng
        self._lease = NodeLease(client, world.clock, node_name=config.name)
        self._csi_node = CsiNode(client, node_name=config.name, kubernetes_version=kubelet_version.removeprefix("v"))
        self._tasks = Supervisor(f"kubelet {config.name} node")
        self._reported = float("-inf")
        self._last: Object = {}  # the status that was written last, and the revision that this made
        self._last_revision = 0
        self._uid = ""  # of the Node whose status `_last` is
        self._deleted = False
        self._unschedulable = False
        self._updating = False
        self._again = False

    # -- life

    async def start(self) -> None:
        """Register and begin the heartbeats. An API server that does not answer is tried until it does."""
        self.say(events.STARTING, "Starting kubelet.")
        Context().run(self._tasks.spawn, self._run(), "heartbeat")

    async def stop(self) -> None:
        await self._tasks.close()

    async def _run(self) -> None:
        await self._register()
        while True:
            if (node := self._node()) is not None:
                await self._lease.renew(node)
                await self._csi_node.publish(node)
            await self.update_status()
            self._note_schedulable()
            await self._world.clock.sleep(RENEW_INTERVAL * (1 + RENEW_JITTER * self._rng.random()))

    def deleted(self) -> None:
        """The Node is gone."""
        self._deleted = True

    def _node(self) -> Object | None:
        """The Node, None once it is deleted. What was registered stands for it until the informer has it."""
        return self._current() or (None if self._deleted else self.registered)

    def say(self, reason: str, message: str = "", *, kind: str = NORMAL) -> None:
        """An event of the node (whose uid is its name there, as upstream has it)."""
        name = self._config.name
        reference = {"kind": "Node", "name": name, "uid": name, "apiVersion": "v1"}
        self._recorder.event_of(reference, kind, reason, message or f"Node {name} status is now: {reason}")

    # -- registration

    async def _register(self) -> None:
        wait = FIRST_RETRY
        while True:
            try:
                self.registered = await self._try_to_register()
                self._uid = self.registered["metadata"]["uid"]
                self.say(events.NODE_ALLOCATABLE_ENFORCED, "Updated Node Allocatable limit across pods")
                return
            except (ApiError, ConnectionError) as error:
                log.warning("unable to register node %s with API server: %s", self._config.name, error)
            await self._world.clock.sleep(wait)
            wait = min(wait * 2, LAST_RETRY)

    async def _try_to_register(self) -> Object:
        node = initial_node(self._config)
        node["status"] = node_status(await self._facts(), {})
        try:
            created = await self._client.create(NODES, node)
            self._note_transitions({}, node["status"])
            self._last, self._reported = created.get("status") or node["status"], self._world.clock.monotonic()
            self._last_revision = revision_of(created)
            return created
        except ApiError as error:
            if error.code != 409:
                raise
        existing = await self._client.get(NODES, self._config.name)
        wanted = labels(self._config)
        if any((existing["metadata"].get("labels") or {}).get(key) != value for key, value in wanted.items()):
            existing = await self._client.patch(NODES, self._config.name, {"metadata": {"labels": wanted}})
        self._last, self._last_revision = existing.get("status") or {}, revision_of(existing)
        self._note_reboot(self._last)
        return existing

    async def _facts(self) -> NodeFacts:
        return NodeFacts(
            config=self._config,
            node_ip=self._node_ip,
            kubelet_version=self._version,
            machine_id=self._machine_id,
            system_uuid=self._system_uuid,
            boot_id=self._boot_id,
            runtime=await self._runtime.version(),
            conditions=await self._runtime.status(),
            images=await self._runtime.list_images(),
            now=self._world.clock.timestamp(),
            memory_pressure=self._memory_pressure(),
        )

    # -- status

    def status_changed(self) -> None:
        """Something that the status shows has changed: write it soon."""
        if self.registered is not None and not self._updating:
            self._updating = True
            Context().run(self._tasks.spawn, self._update_soon(), "status")
        else:
            self._again = True

    async def _update_soon(self) -> None:
        try:
            await self.update_status()
            while self._again:
                self._again = False
                await self.update_status()
        finally:
            self._updating = False

    async def update_status(self) -> None:
        node = self._node()
        if node is None:
            return
        if node["metadata"]["uid"] != self._uid:
            self._uid, self._last, self._last_revision = node["metadata"]["uid"], {}, 0
        old = self._newest(node)
        new = node_status(await self._facts(), old)
        now = self._world.clock.monotonic()
        if not changed(old, new) and now - self._reported < REPORT_FREQUENCY:
            return
        patch = node_status_patch(node["metadata"]["uid"], old, new)
        try:
            if patch is not None:
                answer = await self._client.patch(NODES, self._config.name, patch, subresource="status")
                new, self._last_revision = answer.get("status") or new, revision_of(answer)
        except (ApiError, ConnectionError) as error:
            log.warning("error updating node status of %s, will retry: %s", self._config.name, error)
            return
        self._note_transitions(old, new)
        self._last, self._reported = new, now

    def _newest(self, node: Object) -> Object:
        """The status as the API has it: others (the node controller of a node that was silent) write it too."""
        if self._last and revision_of(node) <= self._last_revision:
            return self._last
        status: Object = node.get("status") or {}
        return status

    def _note_transitions(self, old: Object, new: Object) -> None:
        before = {condition["type"]: condition["status"] for condition in old.get("conditions") or ()}
        for condition in new["conditions"]:
            kind = condition["type"]
            event = PRESSURE_EVENTS.get((kind, condition["status"]))
            if event is not None and before.get(kind) != condition["status"]:
                self.say(event)
        if before.get("Ready", "False") != ("True" if is_ready(new) else "False"):
            self.say(events.NODE_READY if is_ready(new) else events.NODE_NOT_READY)

    def _note_schedulable(self) -> None:
        """(recordNodeSchedulableEvent)"""
        unschedulable = bool(((self._node() or {}).get("spec") or {}).get("unschedulable"))
        if unschedulable != self._unschedulable:
            self._unschedulable = unschedulable
            self.say(events.NODE_NOT_SCHEDULABLE if unschedulable else events.NODE_SCHEDULABLE)

    def _note_reboot(self, before: Object) -> None:
        """What ran on the node ended with the process that simulated it (nodestatus setters.go MachineInfo)."""
        boot = (before.get("nodeInfo") or {}).get("bootID")
        if boot and boot != self._boot_id:
            message = f"Node {self._config.name} has been rebooted, boot id: {self._boot_id}"
            self.say(events.REBOOTED, message, kind=WARNING)
