"""Brings a Pod's sandbox and containers to what its spec asks for, by CRI calls (kuberuntime_manager.go SyncPod,
KillPod; kuberuntime_container.go startContainer, killContainer)."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import NamedTuple

from engine.api.golang.duration import duration_text
from engine.api.types import Object
from engine.client import NORMAL, WARNING, EventRecorder
from engine.clock import Clock
from engine.kubelet import events, pods
from engine.kubelet.cri import ContainerState, ContainerStatus, CriError, Image, Mount, PodSandboxState, Runtime
from engine.kubelet.kuberuntime import errors
from engine.kubelet.kuberuntime.actions import ContainerKill, PodActions, ProbeFailures, compute_pod_actions
from engine.kubelet.kuberuntime.backoff import Backoff
from engine.kubelet.kuberuntime.config import container_config, network_mounts, sandbox_config, short_hostname
from engine.kubelet.kuberuntime.env import PodAddresses, References, environment
from engine.kubelet.kuberuntime.errors import ConfigError, StartError
from engine.kubelet.kuberuntime.image_manager import ImageManager
from engine.kubelet.kuberuntime.lifecycle import HookError, run_handler
from engine.kubelet.kuberuntime.pod_status import PodRuntimeStatus
from engine.kubelet.kuberuntime.resizing import enforced_resources
from engine.kubelet.kuberuntime.restarting import was_removed
from engine.kubelet.kuberuntime.security_context import check_user
from engine.kubelet.volumes import Volumes

MINIMUM_GRACE_PERIOD = 2.0


class StartFailure(NamedTuple):
    """A container that could not be started in this sync."""

    container: str
    reason: str
    message: str
    retry_after: float | None


class SyncResult:
    """What a sync tried to start. `failures` by container; an error of the sandbox fails the whole sync."""

    def __init__(self) -> None:
        self.actions = PodActions()
        self.started: list[str] = []
        self.failures: list[StartFailure] = []
        self.error: CriError | None = None


class RuntimeManager:
    def __init__(
        self,
        runtime: Runtime,
        clock: Clock,
        recorder: EventRecorder,
        probes: ProbeFailures,
        references: References,
        *,
        node_name: str,
        node_ip: str,
    ) -> None:
        self.images = ImageManager(runtime, clock)
        self._runtime = runtime
        self._clock = clock
        self._recorder = recorder
        self._probes = probes
        self._references = references
        self._node_name = node_name
        self._node_ip = node_ip
        self._backoff = Backoff(clock)

    async def pod_status(self, uid: str) -> PodRuntimeStatus:
        return await PodRuntimeStatus.read(self._runtime, uid)

    def forget(self, uid: str) -> None:
        """The Pod is gone: drop its back-offs."""
        self._backoff.forget(uid)
        self.images.forget(uid)

    # -- sync

    async def sync_pod(
        self, pod: Object, status: PodRuntimeStatus, volumes: Volumes, *, restart_all: bool = False
    ) -> SyncResult:
        result = SyncResult()
        actions = result.actions = compute_pod_actions(pod, status, self._probes, restart_all=restart_all)
        if actions.kill_pod:
            if actions.create_sandbox and actions.sandbox_id:
                self._recorder.event(
                    pod, NORMAL, events.SANDBOX_CHANGED, "Pod sandbox changed, it will be killed and re-created."
                )
            await self.kill_pod(pod, status)
            if actions.create_sandbox:
                await self._purge_init_containers(pod, status)
        else:
            for container in actions.containers_to_reset:
                await self._reset(pod, container)
        for kill in actions.containers_to_kill:
            await self._kill_unhealthy(pod, kill)
        for resize in actions.containers_to_resize:
            resources = enforced_resources(pod, resize.container)
            await self._runtime.update_container_resources(resize.status.id, resources)
        sandbox_id, ips = actions.sandbox_id, status.ips
        if actions.create_sandbox:
            try:
                sandbox_id = await self._runtime.run_pod_sandbox(
                    sandbox_config(pod, actions.attempt, node_name=self._node_name)
                )
            except CriError as error:
                self._recorder.event(
                    pod,
                    WARNING,
                    events.FAILED_CREATE_POD_SANDBOX,
                    f"Failed to create pod sandbox: {error}",
                )
                result.error = error
                return result
            ips = (await self._runtime.pod_sandbox_status(sandbox_id)).ips
        start = _Start(self, pod, status, volumes, sandbox_id, ips, result)
        await start.all(actions)
        return result

    async def _purge_init_containers(self, pod: Object, status: PodRuntimeStatus) -> None:
        """Initialization begins afresh in a new sandbox, so what the old one did must not count."""
        names = [container["name"] for container in pods.init_containers_of(pod)]
        for container in status.containers:
            if container.name in names:
                await self._runtime.remove_container(container.id)

    def backoff_key(self, pod: Object, container: Object) -> str:
        return f"{pods.uid_of(pod)}_{container['name']}_{container['image']}"

    def _since(self, moment: datetime | None) -> float:
        """A date as the clock's monotonic seconds."""
        now = self._clock.monotonic()
        return now - (self._clock.now() - moment).total_seconds() if moment is not None else now

    def refuse_in_back_off(self, pod: Object, container: Object, status: PodRuntimeStatus) -> None:
        """Raises StartError if the container has failed too recently; otherwise counts this start."""
        dead = next((c for c in status.of_name(container["name"]) if c.state == ContainerState.EXITED), None)
        if dead is None:
            return
        since = self._since(dead.finished_at)
        key = self.backoff_key(pod, container)
        remaining = self._backoff.remaining_since(key, since)
        if not remaining:
            self._backoff.next(key, since)
            return
        name, seconds = container["name"], duration_text(self._backoff.get(key))
        self._say(
            pod, name, WARNING, events.BACK_OFF,
            f"Back-off restarting failed container {name} in pod {pods.full_name(pod)}",
        )  # fmt: skip
        raise StartError(
            errors.CRASH_LOOP_BACK_OFF,
            f"back-off {seconds} restarting failed container={name} pod={pods.full_name(pod)}",
            retry_after=remaining,
        )

    def _say(self, pod: Object, container: str, kind: str, reason: str, message: str) -> None:
        self._recorder.event(pod, kind, reason, message, field_path=pods.field_path(pod, container))

    # -- start

    async def start_container(
        self,
        pod: Object,
        container: Object,
        status: PodRuntimeStatus,
        volumes: Volumes,
        *,
        sandbox_id: str,
        pod_ips: tuple[str, ...],
    ) -> None:
        """Pull, create, start, postStart. Raises StartError."""
        name = container["name"]
        await self._pull_volumes(pod, container)

        def say(kind: str, reason: str, message: str) -> None:
            self._say(pod, name, kind, reason, message)

        try:
            image = await self.images.ensure_image_exists(pod, container, say)
        except StartError as error:
            await self._report_missing_pull_secrets(pod)
            say(WARNING, events.FAILED, f"Error: {error.reason}")
            raise
        try:
            addresses = PodAddresses(pod_ips, self._node_ip)
            env = await environment(pod, container, self._references, addresses, volumes.files)
            mounts = volumes.mounts(pod, container, env) + self._network_mounts(pod, container, pod_ips)
            check_user(pod, container, image)
        except ConfigError as error:
            say(WARNING, events.FAILED, f"Error: {error}")
            raise StartError(errors.CREATE_CONTAINER_CONFIG_ERROR, str(error)) from None
        container_id = await self._create(pod, container, status, mounts, sandbox_id, image, env)
        say(NORMAL, events.CREATED, "Container created")
        try:
            await self._runtime.start_container(container_id)
        except CriError as error:
            say(WARNING, events.FAILED, f"Error: {error.message}")
            raise StartError(errors.RUN_CONTAINER_ERROR, error.message) from None
        say(NORMAL, events.STARTED, "Container started")
        await self._post_start(pod, container, container_id, pod_ip=pod_ips[0] if pod_ips else "")

    async def _pull_volumes(self, pod: Object, container: Object) -> None:
        """The images that it mounts, which are the Pod's and not its own. Raises StartError."""
        mounted = {mount["name"] for mount in container.get("volumeMounts") or ()}

        def say(kind: str, reason: str, message: str) -> None:
            self._recorder.event(pod, kind, reason, message)

        for volume in pod["spec"].get("volumes") or ():
            if volume["name"] in mounted and (source := volume.get("image")):
                image = {"image": source["reference"], "imagePullPolicy": source.get("pullPolicy")}
                await self.images.ensure_image_exists(pod, image, say)

    async def _report_missing_pull_secrets(self, pod: Object) -> None:
        """An image could not be pulled: perhaps for want of these."""
        names = [reference["name"] for reference in pod["spec"].get("imagePullSecrets") or () if reference.get("name")]
        namespace = pods.namespace_of(pod)
        missing = [name for name in names if await self._references.data("secret", namespace, name) is None]
        if missing:
            self._recorder.event(
                pod,
                WARNING,
                events.FAILED_PULL_SECRET,
                f"Unable to retrieve some image pull secrets ({', '.join(missing)}); attempting to pull the image may "
                "not succeed.",
            )

    def _network_mounts(self, pod: Object, container: Object, pod_ips: tuple[str, ...]) -> tuple[Mount, ...]:
        return network_mounts(pod, container, short_hostname(pod), pod_ips)

    async def _create(
        self,
        pod: Object,
        container: Object,
        status: PodRuntimeStatus,
        mounts: tuple[Mount, ...],
        sandbox_id: str,
        image: Image,
        env: dict[str, str],
    ) -> str:
        config = container_config(
            pod,
            container,
            attempt=_next_attempt(pod, container, status),
            image=container["image"],
            image_ref=image.repo_digests[0] if image.repo_digests else image.id,
            env=env,
            mounts=mounts,
        )
        try:
            return await self._runtime.create_container(sandbox_id, config)
        except CriError as error:
            self._say(pod, container["name"], WARNING, events.FAILED, f"Error: {error.message}")
            raise StartError(errors.CREATE_CONTAINER_ERROR, error.message) from None

    async def _post_start(self, pod: Object, container: Object, container_id: str, *, pod_ip: str) -> None:
        handler = (container.get("lifecycle") or {}).get("postStart")
        if not handler:
            return
        try:
            await run_handler(self._runtime, self._clock, pod, container, container_id, handler, pod_ip=pod_ip)
        except HookError as error:
            self._say(pod, container["name"], WARNING, events.FAILED_POST_START_HOOK, "PostStartHook failed")
            status = await self._runtime.container_status(container_id)
            await self.kill_container(pod, container, status, message="FailedPostStartHook")
            raise StartError(errors.POST_START_HOOK_ERROR, str(error)) from None

    # -- kill

    async def _reset(self, pod: Object, status: ContainerStatus) -> None:
        """Remove a container for its Pod to begin again: without its hook, and without any grace."""
        if status.state != ContainerState.EXITED:
            await self.kill_container(pod, None, status, message="killing", grace=0.0)
        await self._runtime.remove_container(status.id)

    async def _kill_unhealthy(self, pod: Object, kill: ContainerKill) -> None:
        grace = pods.grace_period(pod)
        if kill.probe:
            own = (kill.container.get(f"{kill.probe}Probe") or {}).get("terminationGracePeriodSeconds")
            grace = grace if own is None else float(own)
        await self.kill_container(pod, kill.container, kill.status, message=kill.message, grace=grace)

    async def kill_container(
        self,
        pod: Object,
        container: Object | None,
        status: ContainerStatus,
        *,
        message: str = "",
        grace: float | None = None,
    ) -> None:
        """preStop, then the stop signal, then SIGKILL, all within the grace period."""
        remaining = pods.grace_period(pod) if grace is None else grace
        name = status.name
        self._say(pod, name, NORMAL, events.KILLING, message or f"Stopping container {name}")
        handler = ((container or {}).get("lifecycle") or {}).get("preStop")
        if handler and container is not None and remaining > 0:
            remaining -= await self._pre_stop(pod, container, status, handler, remaining)
        if grace is None or grace > 0:
            remaining = max(remaining, MINIMUM_GRACE_PERIOD)
        await self._runtime.stop_container(status.id, remaining)

    async def _pre_stop(
        self, pod: Object, container: Object, status: ContainerStatus, handler: Object, grace: float
    ) -> float:
        """How long the handler took."""
        began = self._clock.monotonic()
        try:
            async with self._clock.timeout(grace):
                pod_ip = str((pod.get("status") or {}).get("podIP", ""))
                await run_handler(self._runtime, self._clock, pod, container, status.id, handler, pod_ip=pod_ip)
        except TimeoutError:
            pass
        except HookError:
            self._say(pod, status.name, WARNING, events.FAILED_PRE_STOP_HOOK, "PreStopHook failed")
        return self._clock.monotonic() - began

    async def kill_pod(self, pod: Object, status: PodRuntimeStatus, *, grace: float | None = None) -> None:
        """Stop all containers, sidecars last and in reverse order (KEP-753), then the sandboxes."""
        sidecars = [c["name"] for c in pods.init_containers_of(pod) if pods.is_sidecar(c)]
        running = status.running()
        began = self._clock.monotonic()
        await asyncio.gather(
            *(self._kill(pod, container, grace) for container in running if container.name not in sidecars)
        )
        for name in reversed(sidecars):
            for container in running:
                if container.name == name:
                    total = pods.grace_period(pod) if grace is None else grace
                    left = total - (self._clock.monotonic() - began)
                    await self._kill(pod, container, max(left, min(total, MINIMUM_GRACE_PERIOD)))
        for sandbox in status.sandboxes:
            if sandbox.state == PodSandboxState.READY:
                await self._runtime.stop_pod_sandbox(sandbox.id)

    async def _kill(self, pod: Object, status: ContainerStatus, grace: float | None) -> None:
        await self.kill_container(pod, pods.find_container(pod, status.name), status, grace=grace)

    async def remove_pod(self, uid: str) -> None:
        """Remove what is left of a Pod that is gone (container and sandbox garbage collection)."""
        status = await self.pod_status(uid)
        for container in status.containers:
            await self._runtime.remove_container(container.id)
        for sandbox in status.sandboxes:
            await self._runtime.remove_pod_sandbox(sandbox.id)

    async def remove_old_containers(self, status: PodRuntimeStatus) -> None:
        """Keep one dead container of each name (MaxPerPodContainer is 1)."""
        seen: dict[str, int] = {}
        for container in status.containers:
            if container.state == ContainerState.EXITED:
                seen[container.name] = seen.get(container.name, 0) + 1
                if seen[container.name] > 1:
                    await self._runtime.remove_container(container.id)


class _Start:
    """The starting half of one sync."""

    def __init__(
        self,
        manager: RuntimeManager,
        pod: Object,
        status: PodRuntimeStatus,
        volumes: Volumes,
        sandbox_id: str,
        pod_ips: tuple[str, ...],
        result: SyncResult,
    ) -> None:
        self._manager = manager
        self._pod = pod
        self._status = status
        self._volumes = volumes
        self._sandbox_id = sandbox_id
        self._pod_ips = pod_ips
        self._result = result

    async def all(self, actions: PodActions) -> None:
        for container in actions.ephemeral_containers_to_start:
            await self._one(container)
        for container in actions.init_containers_to_start:
            if not await self._one(container) and not pods.is_sidecar(container):
                return
        for container in actions.containers_to_start:
            await self._one(container)

    async def _one(self, container: Object) -> bool:
        """Start a container; a failure is noted and does not stop the others."""
        try:
            self._manager.refuse_in_back_off(self._pod, container, self._status)
            await self._manager.start_container(
                self._pod,
                container,
                self._status,
                self._volumes,
                sandbox_id=self._sandbox_id,
                pod_ips=self._pod_ips,
            )
        except StartError as error:
            self._result.failures.append(
                StartFailure(container["name"], error.reason, error.message, error.retry_after)
            )
            return False
        self._result.started.append(container["name"])
        return True


def _next_attempt(pod: Object, container: Object, status: PodRuntimeStatus) -> int:
    """The restart count of the container to be: one more than the last one's, which the API may remember where the
    runtime does not (a node that came back with nothing)."""
    last = status.find(container["name"])
    if last is not None:
        return last.attempt + 1
    for field in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for known in (pod.get("status") or {}).get(field) or ():
            if known["name"] == container["name"]:
                # Without an id it has not begun, or the loss has been counted already.
                counted = not known.get("containerID") or was_removed(known)
                return int(known.get("restartCount", 0)) + (not counted)
    return 0
