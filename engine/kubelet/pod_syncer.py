"""What a Pod worker does in each of its states (kubelet.go SyncPod, SyncTerminatingPod, SyncTerminatedPod)."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.types import Object
from engine.client import NORMAL, WARNING, EventRecorder
from engine.kubelet import events, pods
from engine.kubelet.allocation import AllocationManager
from engine.kubelet.cri import Runtime
from engine.kubelet.kuberuntime.backoff import Backoff
from engine.kubelet.kuberuntime.env import References
from engine.kubelet.kuberuntime.errors import BACK_OFFS
from engine.kubelet.kuberuntime.manager import RuntimeManager, SyncResult
from engine.kubelet.kuberuntime.pod_status import PodRuntimeStatus
from engine.kubelet.kuberuntime.resizing import changed_resources
from engine.kubelet.kuberuntime.restarting import could_restart_all, is_restarting_all
from engine.kubelet.pod_workers import SyncOutcome
from engine.kubelet.prober.manager import ProbeManager
from engine.kubelet.status.generate import Override, StatusMaker
from engine.kubelet.status.manager import StatusManager
from engine.kubelet.status.reasons import ReasonCache
from engine.kubelet.volumes import MountError, Volumes, follows_objects
from engine.world import World

# A reason that has just come up shows in the status of the next sync, a tick of the SyncLoop later.
SYNC_FREQUENCY = 1.0
# Upstream tries a container that cannot be configured again after so long.
RETRY_AFTER = 10.0
# A volume that cannot be mounted is tried again and again, ever more rarely (util/goroutinemap exponentialbackoff).
FIRST_MOUNT_RETRY, LAST_MOUNT_RETRY = 0.5, 122.0
# A Pod is synced at least so often, plus up to half as much; its volumes then follow the objects they are made of.
RESYNC_PERIOD = 60.0
DEADLINE = Override("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")


class Syncer:
    """The PodSyncer of one node."""

    def __init__(
        self,
        world: World,
        runtime: Runtime,
        manager: RuntimeManager,
        statuses: StatusManager,
        maker: StatusMaker,
        probes: ProbeManager,
        reasons: ReasonCache,
        references: References,
        recorder: EventRecorder,
        allocation: AllocationManager,
        *,
        node_name: str,
    ) -> None:
        self.waiting_for_network: dict[str, None] = {}
        self._waiting_for_volumes: dict[str, None] = {}
        self._world = world
        self._runtime = runtime
        self._manager = manager
        self._statuses = statuses
        self._maker = maker
        self._probes = probes
        self._reasons = reasons
        self._references = references
        self._recorder = recorder
        self._allocation = allocation
        self._rng = world.rng.stream(f"pod-resync/{node_name}")
        self._volume_rng = world.rng.stream(f"volumes/{node_name}")
        self._volumes: dict[str, Volumes] = {}
        self._pods: dict[str, Object] = {}  # as they were when their volumes were made
        self._mount_backoff = Backoff(world.clock, initial=FIRST_MOUNT_RETRY, maximum=LAST_MOUNT_RETRY)

    # -- SyncPod

    async def sync_pod(self, pod: Object) -> SyncOutcome:
        uid, pod = pods.uid_of(pod), self._allocation.apply(pod)
        status = await self._manager.pod_status(uid)
        self._allocation.actuated(pod, in_progress=_is_resizing(pod, status) or not self._allocation.is_enforced(pod))
        override = self._overdue(pod)
        self._probes.add_pod(pod)
        made = self._set_status(pod, status, override=override)
        if made["phase"] in pods.TERMINAL_PHASES:
            if override is not None:
                self._recorder.event(pod, NORMAL, events.DEADLINE_EXCEEDED, override.message)
            return SyncOutcome(terminal=True)
        if not pods.host_network(pod) and not await self._network_ready(pod):
            self.waiting_for_network[uid] = None
            return SyncOutcome(again_after=self._until_deadline(pod))
        volumes = await self._set_up(pod)
        if volumes is None and uid in self._waiting_for_volumes:
            return SyncOutcome(again_after=self._until_deadline(pod))
        if volumes is None:
            return SyncOutcome(again_after=self._earliest(pod, self._mount_backoff.remaining(uid)))
        if could_restart_all(pod):
            pod = {**pod, "status": made}  # it tells how often containers were started that are removed
        result = await self._manager.sync_pod(pod, status, volumes, restart_all=is_restarting_all(made))
        await self._manager.remove_old_containers(await self._manager.pod_status(uid))
        if result.error is not None:
            raise result.error
        again = self._again_after(uid, result)
        if self._allocation.enforce(pod) or result.actions.containers_to_resize:
            again = SYNC_FREQUENCY
        if result.actions.containers_to_reset:
            again = 0.0
        if again is None and follows_objects(pod):
            again = RESYNC_PERIOD * (1 + 0.5 * self._rng.random())
        return SyncOutcome(again_after=self._earliest(pod, again))

    def _again_after(self, uid: str, result: SyncResult) -> float | None:
        changed = self._reasons.update(uid, result)
        if not result.failures:
            return None
        waits = [failure.retry_after if failure.retry_after is not None else RETRY_AFTER for failure in result.failures]
        if any(failure.reason not in BACK_OFFS for failure in result.failures):
            waits.append(RETRY_AFTER)
        return min([*waits, SYNC_FREQUENCY]) if changed else min(waits)

    def _set_status(
        self, pod: Object, status: PodRuntimeStatus, *, terminal: bool = False, override: Override | None = None
    ) -> Object:
        previous = self._statuses.get(pods.uid_of(pod)) or pod.get("status") or {}
        made = self._maker.make(pod, status, previous, terminal=terminal, override=override)
        self._statuses.set_pod_status(pod, made)
        return made

    async def _network_ready(self, pod: Object) -> bool:
        for condition in await self._runtime.status():
            if condition.type == "NetworkReady" and not condition.status:
                self._recorder.event(
                    pod,
                    WARNING,
                    events.NETWORK_NOT_READY,
                    "network is not ready: container runtime network not ready: NetworkReady=false "
                    f"reason:{condition.reason} message:{condition.message}",
                )
                return False
        return True

    # -- volumes

    async def _set_up(self, pod: Object) -> Volumes | None:
        """The Pod's volumes as they now are; None while one of them cannot be mounted."""
        uid = pods.uid_of(pod)
        known = self._volumes.get(uid)
        if known is not None:
            await self._follow(pod, known)
            return known
        if self._mount_backoff.remaining(uid):
            return None
        self._waiting_for_volumes.pop(uid, None)
        if not await self._is_attached(pod):
            self._waiting_for_volumes[uid] = None
            return None
        volumes = Volumes(self._references, self._world.clock, self._volume_rng)
        try:
            await volumes.set_up(pod)
        except MountError as error:
            for message in error.messages:
                self._recorder.event(pod, WARNING, events.FAILED_MOUNT, message)
            self._mount_backoff.next(uid, self._world.clock.monotonic())
            return None
        volumes.filled_at = self._world.clock.monotonic()
        self._volumes[uid], self._pods[uid] = volumes, pod
        if _runs_a_program(pod):
            await volumes.fill(pod)
        return volumes

    async def _is_attached(self, pod: Object) -> bool:
        """Whether all its claims' volumes are (the volume manager's WaitForAttachAndMount)."""
        for volume in pod["spec"].get("volumes") or ():
            claim = pods.claim_of(pod, volume)
            if claim and not await self._references.is_attached(pods.namespace_of(pod), claim):
                return False
        return True

    def volumes_are_attached(self) -> list[str]:
        """The Pods that wait for theirs, which look again."""
        return list(self._waiting_for_volumes)

    async def _follow(self, pod: Object, volumes: Volumes) -> None:
        """Read what volumes are made of again: at the Pod's own changes, and once in a resync period."""
        uid, now = pods.uid_of(pod), self._world.clock.monotonic()
        changed = self._pods.get(uid) is not pod
        self._pods[uid] = pod
        if follows_objects(pod) and (changed or now - volumes.filled_at >= RESYNC_PERIOD):
            volumes.filled_at = now
            await volumes.refresh(pod)

    async def fill_volumes(self, uid: str) -> None:
        """Somebody is about to look into a Pod's files: what they hold for its service account is asked for now."""
        volumes, pod = self._volumes.get(uid), self._pods.get(uid)
        if volumes is not None and pod is not None:
            await volumes.fill(pod)

    def volume_files(self, uid: str) -> Mapping[str, Mapping[str, str]]:
        """What is in a Pod's volumes, by their names."""
        volumes = self._volumes.get(uid)
        return volumes.files if volumes is not None else {}

    def _forget_volumes(self, uid: str) -> None:
        self._waiting_for_volumes.pop(uid, None)
        self._volumes.pop(uid, None)
        self._pods.pop(uid, None)
        self._mount_backoff.forget(uid)

    # -- deadlines

    def _until_deadline(self, pod: Object) -> float | None:
        """Model seconds until activeDeadlineSeconds have passed since the Pod's start."""
        deadline = pod["spec"].get("activeDeadlineSeconds")
        known = self._statuses.get(pods.uid_of(pod)) or pod.get("status") or {}
        if deadline is None or not known.get("startTime"):
            return None
        active = (self._world.clock.now() - pods.parse_time(known["startTime"])).total_seconds()
        return max(0.0, float(deadline) - active)

    def _overdue(self, pod: Object) -> Override | None:
        left = self._until_deadline(pod)
        return DEADLINE if left is not None and left <= 0 else None

    def _earliest(self, pod: Object, again: float | None) -> float | None:
        times = [time for time in (again, self._until_deadline(pod)) if time is not None]
        return min(times) if times else None

    # -- TerminatingPod and TerminatedPod

    async def sync_terminating_pod(self, pod: Object, *, grace: float | None, override: Override | None) -> None:
        """End everything that runs, then say how it ended."""
        uid, pod = pods.uid_of(pod), self._allocation.apply(pod)
        self.waiting_for_network.pop(uid, None)
        status = await self._manager.pod_status(uid)
        self._set_status(pod, status, override=override)
        self._probes.stop_liveness_and_startup(uid)
        await self._manager.kill_pod(pod, status, grace=grace)
        self._probes.remove_pod(uid)
        self._set_status(pod, await self._manager.pod_status(uid), terminal=True, override=override)

    async def sync_terminated_pod(self, pod: Object) -> None:
        uid, pod = pods.uid_of(pod), self._allocation.apply(pod)
        self._set_status(pod, await self._manager.pod_status(uid), terminal=True)
        self._forget_volumes(uid)
        self._statuses.terminate_pod(pod)

    async def clean_up(self, uid: str) -> None:
        """The Pod is gone from the API and nothing of it runs: remove what the node still holds of it."""
        await self._manager.remove_pod(uid)
        self._manager.forget(uid)
        self._probes.remove_pod(uid)
        self._reasons.forget(uid)
        self._statuses.forget(uid)
        self._forget_volumes(uid)
        self._references.forget(uid)
        self._allocation.forget(uid)
        self.waiting_for_network.pop(uid, None)

    def network_is_ready(self) -> list[str]:
        """The Pods that have waited for it."""
        waiting, self.waiting_for_network = list(self.waiting_for_network), {}
        return waiting


def _is_resizing(pod: Object, status: PodRuntimeStatus) -> bool:
    """Whether a running container has not yet what is allocated to it (IsPodResizeInProgress)."""
    running = {container.name: container for container in status.running()}
    return any(
        container["name"] in running and changed_resources(pod, container, running[container["name"]])
        for _, container in pods.all_containers(pod)
    )


def _runs_a_program(pod: Object) -> bool:
    """Whether a container is told what to run: such a program may read what the volumes hold."""
    return any(container.get("command") or container.get("args") for _, container in pods.all_containers(pod))
