"""The simulated runtime of one node: CRI's calls, each taking the model time of its latency step.

It keeps sandboxes and containers as containerd does: dead ones stay until they are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from engine.api.types import Object
from engine.kubelet.cri import (
    ContainerConfig,
    ContainerEvent,
    ContainerEventType,
    ContainerState,
    ContainerStatus,
    CriError,
    ExecResult,
    Identity,
    Image,
    PodSandboxConfig,
    PodSandboxState,
    PodSandboxStatus,
    PullProgress,
    RuntimeCondition,
    VersionResponse,
)
from engine.kubelet.runtime import cni, web
from engine.kubelet.runtime.catalog import profile_of
from engine.kubelet.runtime.container import KILLED, SimulatedContainer, new_machine
from engine.kubelet.runtime.images import ImageStore
from engine.kubelet.runtime.logs import LogFile
from engine.kubelet.runtime.reference import parse_reference
from engine.kubelet.runtime.sandbox_network import SandboxNetwork
from engine.kubelet.runtime.shell import Call, exists, start
from engine.kubelet.runtime.shell.process import FOREVER, Io, Network, NoNetwork, OutOfMemoryError, Process
from engine.kubelet.runtime.shell.processes import Processes
from engine.kubelet.runtime.wire import Wire
from engine.trace import Hop, SpanContext, current_context
from engine.world import World

VERSION = VersionResponse("containerd", "2.1.4")


class SimulatedRuntime:
    """`network` gives the view of the network that a Pod's processes have, by namespace and address; the `wire` carries
    what others ask of its Pods. `cpus` and `memory`, in bytes, are the machine's."""

    def __init__(
        self,
        world: World,
        *,
        node_name: str,
        node_ip: str,
        network: Callable[[str, str], Network] | None = None,
        wire: Wire | None = None,
        cpus: int = 4,
        memory: int = 8 << 30,
    ) -> None:
        self.cni = cni.Cni()
        self.images = ImageStore(world.clock, world.latency)
        self._world = world
        self._node_name = node_name
        self._node_ip = node_ip
        self._cpus = cpus
        self._memory = memory
        self._network = network or (lambda namespace, address: NoNetwork())
        self._wire = wire or Wire()
        # The same seed must not give a node that comes back the ids that it has given before.
        self._rng = world.rng.stream(f"runtime/{node_name}/{world.clock.micro_timestamp()}")
        self._sandboxes: dict[str, PodSandboxStatus] = {}
        self._containers: dict[str, SimulatedContainer] = {}
        self._by_pod: dict[str, dict[str, None]] = {}  # pod uid to container ids, oldest first
        self._processes: dict[str, Processes] = {}  # of sandboxes whose containers share them
        self._sandboxes_of: dict[str, dict[str, None]] = {}
        self._subscribers: dict[Callable[[ContainerEvent], None], None] = {}

    # -- the runtime itself

    async def version(self) -> VersionResponse:
        return VERSION

    async def status(self) -> Sequence[RuntimeCondition]:
        ready = self.cni.ready
        network = RuntimeCondition("NetworkReady", ready, "" if ready else "NetworkPluginNotReady",
                                   "" if ready else cni.NOT_INITIALIZED)  # fmt: skip
        return (RuntimeCondition("RuntimeReady", True), network)

    def power_off(self) -> None:
        """The machine is gone, and all that runs on it."""
        self._subscribers.clear()
        for sandbox in self._sandboxes.values():
            self._unplug(sandbox)
        for container in self._containers.values():
            container.power_off()

    def get_container_events(self, subscriber: Callable[[ContainerEvent], None]) -> Callable[[], None]:
        self._subscribers[subscriber] = None
        return lambda: self._subscribers.pop(subscriber, None)

    def _tell(self, kind: ContainerEventType, id: str, pod_uid: str, *, sandbox: bool = False,
              cause: SpanContext | None = None) -> None:  # fmt: skip
        event = ContainerEvent(kind, id, pod_uid, sandbox, cause or current_context())
        for subscriber in list(self._subscribers):
            subscriber(event)

    def _new_id(self) -> str:
        return f"{self._rng.bits(256):064x}"

    # -- sandboxes

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> str:
        await self._world.latency.pause("cri-sandbox")
        sandbox_id = self._new_id()
        ips = (self._node_ip,) if config.host_network else (await self._cni_add(sandbox_id, config),)
        status = PodSandboxStatus(sandbox_id, config, PodSandboxState.READY, self._world.clock.now(), ips)
        self._sandboxes[sandbox_id] = status
        self._sandboxes_of.setdefault(config.uid, {})[sandbox_id] = None
        for address in ips:
            self._wire.plug(address, sandbox_id, partial(self._served, sandbox_id))
        self._tell(ContainerEventType.STARTED, sandbox_id, config.uid, sandbox=True)
        return sandbox_id

    async def _cni_add(self, sandbox_id: str, config: PodSandboxConfig) -> str:
        with self._world.tracer.span(
            Hop.KUBELET,
            component=f"kubelet {self._node_name}",
            verb="CNI ADD",
            object=f"pod/{config.namespace}/{config.name}",
        ) as span:
            await self._world.latency.pause("cni-add")
            address = self.cni.add(sandbox_id)
            span.detail = {"sandbox": sandbox_id, "ip": address, "podCIDR": self.cni.cidr}
            return address

    async def stop_pod_sandbox(self, sandbox_id: str) -> None:
        sandbox = self._sandboxes.get(sandbox_id)
        if sandbox is None or sandbox.state == PodSandboxState.NOTREADY:
            return
        await self._world.latency.pause("cri-stop")
        for container in self._of_sandbox(sandbox_id):
            container.kill()
        sandbox.state = PodSandboxState.NOTREADY
        self._unplug(sandbox)
        if not sandbox.config.host_network:
            self.cni.delete(sandbox.ips)
        self._tell(ContainerEventType.STOPPED, sandbox_id, sandbox.pod_uid, sandbox=True)

    def _unplug(self, sandbox: PodSandboxStatus) -> None:
        for address in sandbox.ips:
            self._wire.unplug(address, sandbox.id)

    def _served(self, sandbox_id: str, port: int, data: bytes, source: str) -> bytes | None:
        """What the container that listens at a port answers; None if none does."""
        for container in self._of_sandbox(sandbox_id):
            if container.running and container.answers(port):
                return web.answer_once(container, port, data, self._world.clock.now(), source)
        return None

    async def remove_pod_sandbox(self, sandbox_id: str) -> None:
        sandbox = self._sandboxes.get(sandbox_id)
        if sandbox is None:
            return
        await self.stop_pod_sandbox(sandbox_id)
        await self._world.latency.pause("cri-remove")
        for container in self._of_sandbox(sandbox_id):
            self._forget_container(container)
        self._sandboxes.pop(sandbox_id, None)
        self._processes.pop(sandbox_id, None)
        _drop(self._sandboxes_of, sandbox.pod_uid, sandbox_id)
        self._tell(ContainerEventType.DELETED, sandbox_id, sandbox.pod_uid, sandbox=True)

    async def pod_sandbox_status(self, sandbox_id: str) -> PodSandboxStatus:
        try:
            return self._sandboxes[sandbox_id]
        except KeyError:
            raise CriError(
                "NotFound", f'an error occurred when try to find sandbox "{sandbox_id}": not found'
            ) from None

    async def list_pod_sandbox(self, *, pod_uid: str = "") -> Sequence[PodSandboxStatus]:
        ids = self._sandboxes_of.get(pod_uid, {}) if pod_uid else self._sandboxes
        return [self._sandboxes[id] for id in reversed(list(ids))]

    def sandbox_of(self, pod_uid: str) -> PodSandboxStatus | None:
        """The Pod's newest."""
        newest = next(reversed(self._sandboxes_of.get(pod_uid, {})), None)
        return self._sandboxes[newest] if newest is not None else None

    def _of_sandbox(self, sandbox_id: str) -> list[SimulatedContainer]:
        uid = self._sandboxes[sandbox_id].pod_uid
        return [self._containers[id] for id in list(self._by_pod.get(uid, {}))
                if self._containers[id].status.sandbox_id == sandbox_id]  # fmt: skip

    # -- containers

    async def create_container(self, sandbox_id: str, config: ContainerConfig) -> str:
        await self._world.latency.pause("cri-create")
        sandbox = await self.pod_sandbox_status(sandbox_id)
        image = self.images.image_status(config.image)
        if image is None:
            raise CriError("NotFound", f'failed to get image from containerd "{config.image}": image not found')
        reference = parse_reference(config.image)
        profile = profile_of(reference)
        status = ContainerStatus(
            self._new_id(),
            sandbox_id,
            sandbox.pod_uid,
            config,
            ContainerState.CREATED,
            self._world.clock.now(),
            image=reference.full,
            image_ref=image.repo_digests[0],
            image_id=image.id,
            identity=Identity(profile.uid if config.user is None else config.user, config.group, config.groups),
        )
        machine = new_machine(
            status,
            profile,
            reference,
            sandbox=sandbox,
            clock=self._world.clock,
            network=self._network_of(sandbox),
            processes=self._processes_of(sandbox, config),
            cpus=self._cpus,
            memory=self._memory,
        )
        self._containers[status.id] = SimulatedContainer(status, profile, machine, self._world.clock, self._exited)
        self._by_pod.setdefault(sandbox.pod_uid, {})[status.id] = None
        self._tell(ContainerEventType.CREATED, status.id, sandbox.pod_uid)
        return status.id

    def _processes_of(self, sandbox: PodSandboxStatus, config: ContainerConfig) -> Processes:
        """The PID namespace: its own, that of the container that it debugs, or one for all of the Pod's."""
        if sandbox.config.shares_processes:
            shared = self._processes.setdefault(sandbox.id, Processes())
            if not shared:
                shared.enter(["/pause"])
            return shared
        mates = [self._containers[id] for id in self._by_pod.get(sandbox.pod_uid, {})]
        target = next((each for each in mates if each.running and each.status.name == config.pid_target), None)
        return target.machine.processes if target is not None else Processes()

    def _network_of(self, sandbox: PodSandboxStatus) -> Network:
        outer = self._network(sandbox.config.namespace, sandbox.ips[0])
        return SandboxNetwork(outer, partial(self._served, sandbox.id))

    async def start_container(self, container_id: str) -> None:
        container = self._container(container_id)
        await self._world.latency.pause("cri-start")
        container.start()
        self._tell(ContainerEventType.STARTED, container_id, container.status.pod_uid)
        container.run()

    def _exited(self, container: SimulatedContainer) -> None:
        status = container.status
        self._tell(ContainerEventType.STOPPED, status.id, status.pod_uid, cause=container.cause)

    async def stop_container(self, container_id: str, timeout: float) -> None:
        container = self._container(container_id)
        await self._world.latency.pause("cri-stop")
        if timeout > 0:
            container.signal("TERM")
            if await container.wait(timeout):
                return
        container.signal("KILL")

    async def remove_container(self, container_id: str) -> None:
        container = self._containers.get(container_id)
        if container is None:
            return
        await self._world.latency.pause("cri-remove")
        container.kill()
        self._forget_container(container)

    async def update_container_resources(self, container_id: str, resources: Object) -> None:
        container = self._container(container_id)
        await self._world.latency.pause("cri-update")
        container.status.config = replace(container.status.config, resources=resources)

    def _forget_container(self, container: SimulatedContainer) -> None:
        status = container.status
        if self._containers.pop(status.id, None) is not None:
            _drop(self._by_pod, status.pod_uid, status.id)
            self._tell(ContainerEventType.DELETED, status.id, status.pod_uid)

    async def list_containers(self, *, pod_uid: str = "") -> Sequence[ContainerStatus]:
        ids = self._by_pod.get(pod_uid, {}) if pod_uid else self._containers
        return [self._containers[id].status for id in reversed(list(ids))]

    async def container_status(self, container_id: str) -> ContainerStatus:
        return self._container(container_id).status

    def container(self, container_id: str) -> SimulatedContainer:
        """The container itself, for what talks to its processes. Raises CriError."""
        return self._container(container_id)

    def containers_of(self, pod_uid: str) -> list[ContainerStatus]:
        """Newest first."""
        return [self._containers[id].status for id in reversed(list(self._by_pod.get(pod_uid, {})))]

    def _container(self, container_id: str) -> SimulatedContainer:
        try:
            return self._containers[container_id]
        except KeyError:
            raise CriError(
                "NotFound", f'an error occurred when try to find container "{container_id}": not found'
            ) from None

    def out_of_memory(self, pod_uid: str, name: str) -> None:
        """The kernel kills what runs in a container that uses more memory than it may."""
        for status in self.containers_of(pod_uid):
            if status.name == name:
                self._container(status.id).kill("OOMKilled")

    # -- exec

    async def exec_sync(self, container_id: str, command: Sequence[str], timeout: float | None = None) -> ExecResult:
        container = self._container(container_id)
        if not container.running:
            raise CriError("Unknown", f"failed to exec in container: container {container_id} is not running")
        if not command or not exists(container.machine, command[0]):
            program = command[0] if command else ""
            raise CriError(
                "Unknown",
                f'failed to exec in container: failed to start exec "{container_id}": OCI runtime exec failed: '
                f'exec failed: unable to start container process: exec: "{program}": '
                "executable file not found in $PATH: unknown",
            )
        out: list[str] = []
        err: list[str] = []
        directory = container.status.config.working_dir or "/"
        call = Call(container.machine, list(command), Io(out.append, err.append, ""), container.machine.env, directory)
        pid = container.machine.processes.enter(command)
        try:
            started = start(call)
            code = started if isinstance(started, int) else await self._drive(started, timeout)
        except OutOfMemoryError:
            container.kill("OOMKilled")
            code = KILLED
        finally:
            container.machine.processes.leave(pid)
        return ExecResult("".join(out), "".join(err), code)

    async def _drive(self, process: Process, timeout: float | None) -> int:
        """Run a process to its end in this task."""
        try:
            async with self._world.clock.timeout(timeout):
                seconds = next(process)
                while seconds < FOREVER or timeout is not None:
                    await self._world.clock.sleep(min(seconds, 10.0**9))
                    seconds = process.send(None)
        except StopIteration as end:
            return int(end.value or 0)
        except TimeoutError:
            process.close()
            raise CriError(
                "DeadlineExceeded", f"failed to exec in container: timeout {_go_seconds(timeout or 0)} exceeded: "
                "context deadline exceeded",
            ) from None  # fmt: skip
        return 0

    # -- images

    async def list_images(self) -> Sequence[Image]:
        return self.images.list_images()

    async def image_status(self, image: str) -> Image | None:
        return self.images.image_status(image)

    async def pull_image(self, image: str) -> str:
        return await self.images.pull_image(image)

    async def remove_image(self, image: str) -> None:
        self.images.remove_image(image)

    def pulls(self) -> Sequence[PullProgress]:
        return self.images.pulls()

    # -- what the node itself gives

    def network_probe(self, container_id: str, port: int, path: str | None = None) -> tuple[str, str]:
        container = self._containers.get(container_id)
        if container is None or not container.running or not container.answers(port):
            return "refused", "connect: connection refused"
        if path is None:
            return "ok", ""
        return "status", str(container.http_status(path))

    def snapshot(self) -> Object:
        return {
            "sandboxes": [
                {
                    "id": sandbox.id,
                    "pod": f"{sandbox.config.namespace}/{sandbox.config.name}",
                    "state": sandbox.state.value,
                    "ips": list(sandbox.ips),
                    "attempt": sandbox.config.attempt,
                }
                for sandbox in self._sandboxes.values()
            ],
            "containers": [_shown(container) for container in self._containers.values()],
            "podCIDR": self.cni.cidr,
            "ips": self.cni.used(),
        }

    def log(self, container_id: str) -> LogFile | None:
        container = self._containers.get(container_id)
        return container.log if container is not None else None

    def read_file(self, container_id: str, path: str) -> str | None:
        container = self._containers.get(container_id)
        return container.machine.files.get(path) if container is not None else None


def _shown(container: SimulatedContainer) -> Object:
    status = container.status
    return {
        "id": status.id,
        "sandbox": status.sandbox_id,
        "name": status.name,
        "attempt": status.attempt,
        "image": status.image,
        "state": status.state.value,
        "exitCode": status.exit_code,
        "reason": status.reason,
        "listening": sorted(container.machine.listening),
        "logLines": len(container.log.lines),
    }


def _drop(index: dict[str, dict[str, None]], key: str, value: str) -> None:
    values = index.get(key)
    if values is not None:
        values.pop(value, None)
        if not values:
            del index[key]


def _go_seconds(seconds: float) -> str:
    return f"{seconds:g}s"
