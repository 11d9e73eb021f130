"""The kubelet of one node: wires its parts, watches the Pods that are bound to it, and decides what each input of the
SyncLoop means (hop 11; pkg/kubelet kubelet.go)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import Context
from typing import Any

from engine.api.quantity import Quantity
from engine.api.schema import resolve_version
from engine.api.types import NODES, PODS, SERVICES, Object
from engine.client import WARNING, Client, EventRecorder, Origin, SharedInformer
from engine.config import NodeConfig
from engine.kubelet import pods
from engine.kubelet.admission import Rejection, admit
from engine.kubelet.allocation import AllocationManager
from engine.kubelet.eviction import EvictionManager
from engine.kubelet.instrumented import InstrumentedRuntime
from engine.kubelet.kuberuntime.manager import RuntimeManager
from engine.kubelet.local_storage import LocalStorage, written_by
from engine.kubelet.node.agent import NodeAgent
from engine.kubelet.pleg import Pleg, PodLifecycleEvent
from engine.kubelet.pod_certificates import PodCertificates
from engine.kubelet.pod_manager import PodManager
from engine.kubelet.pod_syncer import Syncer
from engine.kubelet.pod_workers import PodWorkers, WorkType
from engine.kubelet.prober.manager import ProbeManager, ProbeUpdate
from engine.kubelet.references import ObjectReferences
from engine.kubelet.runtime import SimulatedRuntime
from engine.kubelet.runtime.shell.process import Network
from engine.kubelet.runtime.wire import Wire
from engine.kubelet.server import KubeletServer
from engine.kubelet.status.generate import Override, StatusMaker
from engine.kubelet.status.manager import StatusManager
from engine.kubelet.status.pod_resources import RESOURCES_SINCE
from engine.kubelet.status.reasons import ReasonCache
from engine.kubelet.streaming import KubeletStreams
from engine.kubelet.sync_loop import Operation, PodUpdate, SyncLoop
from engine.kubelet.views import KubeletViews
from engine.tasks import Supervisor
from engine.world import World

HOUSEKEEPING_PERIOD = 2.0


class Kubelet:
    """`node_ip` is the machine's address. `pod_cidr` is the range of its Pods where it is not left to the node IPAM
    controller, for which the kubelet then waits. A `runtime` that is handed in outlives the kubelet, as containers
    outlive its restart; its own one goes with it, as a machine that is switched off. `network` gives the view of the
    network that the processes of a Pod have, by its namespace and address; the `wire` goes from node to node."""

    def __init__(
        self,
        client: Client,
        world: World,
        node: NodeConfig,
        *,
        node_ip: str,
        pod_cidr: str = "",
        kubernetes_version: str = "",
        runtime: SimulatedRuntime | None = None,
        network: Callable[[str, str], Network] | None = None,
        wire: Wire | None = None,
        detect_mutations: bool = False,
    ) -> None:
        self.name = node.name
        self._owns_runtime = runtime is None
        memory = Quantity.parse(node.memory)
        self.simulated = runtime or SimulatedRuntime(
            world,
            node_name=node.name,
            node_ip=node_ip,
            network=network,
            wire=wire,
            cpus=Quantity.parse(node.cpu).milli // 1000,
            memory=memory.value,
        )
        self.runtime = InstrumentedRuntime(self.simulated, world, node_name=node.name)
        self.pods = PodManager(world.clock)
        self._world = world
        self._pod_cidr = pod_cidr
        self._recorder = EventRecorder(client, world, "kubelet", node.name)
        self._pod_informer = SharedInformer(
            client, world, PODS, field_selector=f"spec.nodeName={node.name}", detect_mutations=detect_mutations
        )
        self._node_informer = SharedInformer(
            client, world, NODES, field_selector=f"metadata.name={node.name}", detect_mutations=detect_mutations
        )
        self.loop = SyncLoop(self, name=f"kubelet {node.name}")
        self.pleg = Pleg(self.runtime, self.loop.pleg)
        self.probes = ProbeManager(self.runtime, world, self._recorder, self.loop.probes, node_name=node.name)
        self.statuses = StatusManager(client, world, self.pods.get, node_name=node.name)
        self._service_informer = SharedInformer(client, world, SERVICES, detect_mutations=detect_mutations)
        certificates = PodCertificates(client, world.clock, self._recorder, self._node)
        references = ObjectReferences(
            client, world.clock, world.disks, self._service_informer, self._node, certificates, node_name=node.name
        )
        self._references = references
        reasons = ReasonCache()
        self.manager = RuntimeManager(
            self.runtime,
            world.clock,
            self._recorder,
            self.probes,
            references,
            node_name=node.name,
            node_ip=node_ip,
        )
        self.allocation = AllocationManager(self._recorder, world.clock, self._active_pods, references.allocatable)
        version = resolve_version(kubernetes_version)
        major, minor = map(int, version.split(".")[:2])
        maker = StatusMaker(
            reasons,
            self.probes,
            self.runtime,
            self.allocation.conditions,
            self.allocation.enforced,
            node_ip=node_ip,
            tells_resources=(major, minor) >= RESOURCES_SINCE,
        )
        self._syncer = Syncer(
            world,
            self.runtime,
            self.manager,
            self.statuses,
            maker,
            self.probes,
            reasons,
            references,
            self._recorder,
            self.allocation,
            node_name=node.name,
        )
        self.workers = PodWorkers(
            self._syncer, world, wake=self.loop.sync, finished=self._worker_finished, node_name=node.name
        )
        self.agent = NodeAgent(
            client,
            world,
            node,
            self.runtime,
            self._recorder,
            lambda: self._node_informer.lister.get(node.name),
            node_ip=node_ip,
            kubelet_version=f"v{version}",
            memory_pressure=lambda: self.eviction.under_pressure,
        )
        self.eviction = EvictionManager(
            self._recorder,
            world.clock,
            node_name=node.name,
            capacity=memory,
            active=self._active_pods,
            kill=self._evict,
            out_of_memory=self._out_of_memory,
            changed=self.agent.status_changed,
        )
        self.local_storage = LocalStorage(
            world.clock,
            active=self._active_pods,
            written=lambda pod: written_by(self.simulated, pods.uid_of(pod), self.volume_files(pods.uid_of(pod))),
            evict=lambda pod, excess: self.eviction.evict(pod, excess.signal, excess.message),
        )
        self._rejected: dict[str, None] = {}
        self._removed: dict[str, None] = {}
        self._housekeeping_set = False
        self._tasks = Supervisor(f"kubelet {node.name}")
        self._views = KubeletViews(self, world.views)
        self._streams = KubeletStreams(self, world, KubeletServer(self, world, node))

    # -- life

    async def start(self) -> None:
        """Register the node and begin to watch; returns at once, what it waits for it waits for in the background."""
        self._views.offer()
        self._world.streams.offer(self.name, self._streams)
        if self._pod_cidr:
            self._configure_network(self._pod_cidr)
        self._pod_informer.add_handler(self._pod_changed, each_object=True)
        self._node_informer.add_handler(self._node_changed)
        self.pleg.start()
        self.loop.start()
        await self.agent.start()
        self._node_informer.start()
        self._service_informer.start()
        self._pod_informer.start()
        Context().run(self._tasks.spawn, self._adopt(), "adopt")

    async def stop(self) -> None:
        """Stop working."""
        self._views.withdraw()
        self._world.streams.withdraw(self.name)
        await self._streams.close()
        self.eviction.stop()
        self.local_storage.stop()
        for informer in (self._pod_informer, self._node_informer, self._service_informer):
            await informer.stop()
        self.pleg.stop()
        await self.agent.stop()
        await self.loop.stop()
        await self.workers.close()
        await self._tasks.close()
        await self.probes.close()
        await self.statuses.close()
        await self._recorder.close()
        if self._owns_runtime:
            self.simulated.power_off()

    async def _adopt(self) -> None:
        """A runtime that was there before may hold Pods that the API no longer knows: they are ended."""
        await self._pod_informer.wait_for_sync()
        for uid in await self.pleg.relist():
            if self.pods.get(uid) is None:
                self._removed[uid] = None
                self._set_housekeeping()

    # -- what the informers tell

    def _pod_changed(self, old: Object | None, new: Object | None, origin: Origin) -> None:
        update = self.pods.take(old, new, origin)
        if update is not None:
            self.loop.config(update)

    def _node_changed(self, old: Object | None, new: Object | None, origin: Origin) -> None:
        if new is None:
            self.agent.deleted()
        if _attached(old) != _attached(new):
            for uid in self._syncer.volumes_are_attached():
                self.loop.sync(uid)
        cidr = ((new or {}).get("spec") or {}).get("podCIDR", "")
        if cidr and not self.simulated.cni.ready:
            self._configure_network(cidr)

    def _node(self) -> Object | None:
        return self._node_informer.lister.get(self.name) or self.agent.registered

    def _configure_network(self, cidr: str) -> None:
        """The network plugin has its range: the node becomes ready, and what waited for it starts."""
        self.simulated.cni.configure(cidr)
        self.agent.status_changed()
        for uid in self._syncer.network_is_ready():
            self.loop.sync(uid)

    # -- the SyncLoop's handler

    def handle_pod_update(self, update: PodUpdate) -> None:
        operation, pod, origin = update
        uid = pods.uid_of(pod)
        if operation == Operation.REMOVE:
            self._remove(uid, origin)
        elif operation == Operation.ADD:
            self._add(pod, origin)
        elif uid in self._rejected:
            self.statuses.pod_updated(pod)
        elif operation == Operation.RECONCILE:
            self._reconcile(pod, origin)
        else:
            self.allocation.changed(pod)
            self.workers.update_pod(pod, origin)
            self.statuses.pod_updated(pod)
            self._retry_resizes()
            self.eviction.look_soon(pod)

    def _retry_resizes(self) -> None:
        """The node may have got room for a resize that was put off."""
        for uid in self.allocation.retry(self.pods.get) if self.allocation.waits else ():
            self.loop.sync(uid)

    def _add(self, pod: Object, origin: Origin) -> None:
        ended = pods.is_deleted(pod) or pods.phase_of(pod) in pods.TERMINAL_PHASES
        rejection = None if ended else self._admit(pod)
        if rejection is not None:
            self._reject(pod, rejection)
            return
        if not ended:
            self.allocation.add(pod)
            self.allocation.changed(pod)
            self.eviction.look_soon(pod)
            self.local_storage.added(pod)
        self.workers.update_pod(pod, origin)

    def _admit(self, pod: Object) -> Rejection | None:
        node = self._node()
        if node is None:
            return None
        uid = pods.uid_of(pod)
        others = [self.allocation.apply(other) for other in self._active_pods() if pods.uid_of(other) != uid]
        return self.eviction.admit(pod) or admit(pod, node, others)

    def _active_pods(self) -> list[Object]:
        return [pod for pod in self.pods.all() if self.workers.could_have_running_containers(pods.uid_of(pod))]

    def _reject(self, pod: Object, rejection: Rejection) -> None:
        uid = pods.uid_of(pod)
        self._rejected[uid] = None
        self._recorder.event(pod, WARNING, rejection.reason, rejection.message)
        status: Object = {
            **(pod.get("status") or {}),
            "phase": "Failed",
            "reason": rejection.reason,
            "message": f"Pod was rejected: {rejection.message}",
            "conditions": [dict(item) for item in (pod.get("status") or {}).get("conditions") or ()],
        }
        if generation := pod["metadata"].get("generation"):
            status["observedGeneration"] = generation
        self.statuses.set_pod_status(pod, status)
        self.statuses.terminate_pod(pod)

    def _reconcile(self, pod: Object, origin: Origin) -> None:
        """Only the status differs, most often because this kubelet has written it: not a reason to work, unless
        somebody else decided something by it."""
        uid = pods.uid_of(pod)
        worker = self.workers.get(uid)
        if worker is None:
            return
        worker.pod = pod
        ended = pods.phase_of(pod) in pods.TERMINAL_PHASES and worker.state == WorkType.SYNC_POD
        known = self.statuses.get(uid) or {}
        if ended and known.get("phase") != pods.phase_of(pod):
            self.workers.update_pod(pod, origin)
        elif pod["spec"].get("readinessGates"):
            self.workers.sync(uid, origin)
        self.statuses.pod_updated(pod)

    def _evict(self, pod: Object, grace: float, override: Override) -> None:
        self.workers.kill_pod(pods.uid_of(pod), grace=grace, override=override)

    def _out_of_memory(self, pod: Object, name: str) -> None:
        self.simulated.out_of_memory(pods.uid_of(pod), name)

    def _remove(self, uid: str, origin: Origin) -> None:
        self.eviction.forget(uid)
        if self._rejected.pop(uid, "") is None:
            self.statuses.forget(uid)
            return
        self._removed[uid] = None
        if self.workers.get(uid) is None:
            self._set_housekeeping()
        else:
            self.workers.remove_pod(uid, origin)

    def handle_lifecycle_event(self, event: PodLifecycleEvent) -> None:
        if event.type == "ContainerStarted":
            self.probes.note_cause(event.data, event.cause)
            if (pod := self.pods.get(event.pod_uid)) is not None:
                self.eviction.look_soon(pod)
        if event.sync_worthy:
            self.workers.sync(event.pod_uid, Origin(0, event.cause))

    def handle_sync(self, pod_uid: str) -> None:
        self.workers.sync(pod_uid)

    def handle_probe_update(self, update: ProbeUpdate) -> None:
        self.workers.sync(update.pod_uid, Origin(0, update.cause))

    # -- housekeeping

    def _worker_finished(self, uid: str) -> None:
        self._retry_resizes()
        if uid in self._removed:
            self._set_housekeeping()

    def _set_housekeeping(self) -> None:
        """Upstream cleans up every two seconds; here only when there is something to clean up."""
        if not self._housekeeping_set:
            self._housekeeping_set = True
            self._world.clock.call_later(HOUSEKEEPING_PERIOD, self.loop.housekeeping)

    def handle_housekeeping(self) -> None:
        self._housekeeping_set = False
        ready = [uid for uid in self._removed if self._may_clean_up(uid)]
        for uid in ready:
            del self._removed[uid]
            self.workers.forget(uid)
        if ready:
            Context().run(self._tasks.spawn, self._clean_up(ready), "housekeeping")

    def _may_clean_up(self, uid: str) -> bool:
        worker = self.workers.get(uid)
        return worker is None or worker.state == WorkType.FINISHED

    async def _clean_up(self, uids: list[str]) -> None:
        for uid in uids:
            await self._syncer.clean_up(uid)

    # -- the views

    async def fill_volumes(self, pod_uid: str) -> None:
        """Something is about to look into a Pod's files."""
        await self._syncer.fill_volumes(pod_uid)

    def volume_files(self, pod_uid: str) -> Mapping[str, Mapping[str, str]]:
        """What is in a Pod's volumes, by their names."""
        return self._syncer.volume_files(pod_uid)

    @property
    def node_info(self) -> Mapping[str, str]:
        """What the Node's status says of the machine; nothing before it is registered."""
        return ((self._node() or {}).get("status") or {}).get("nodeInfo") or {}

    async def claimed(self, namespace: str, claim: str) -> Quantity | None:
        """How large the volume of a claim is. Raises ApiError."""
        return await self._references.claimed(namespace, claim)

    def view(self, name: str, parameters: Mapping[str, str]) -> Any:
        return self._views.look(name, parameters)


def _attached(node: Object | None) -> object:
    return ((node or {}).get("status") or {}).get("volumesAttached")
