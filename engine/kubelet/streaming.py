"""The kubelet's port: the streaming endpoints exec, attach and port-forward, and its server beside them (`server`).

Source: pkg/kubelet kubelet_pods.go GetExec, GetAttach, GetPortForward; containerd's internal/cri/server
container_exec.go and sandbox_portforward.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import Context
from typing import TYPE_CHECKING

from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.cri import ContainerState, ContainerStatus
from engine.kubelet.logs import LogError, find_log
from engine.kubelet.runtime.connections import Connection
from engine.kubelet.runtime.container import SimulatedContainer
from engine.kubelet.runtime.sessions import AttachSession, ExecSession
from engine.kubelet.runtime.shell import exists
from engine.kubelet.server import KubeletServer
from engine.streaming import Log, NodeAnswer, Output, Session, StreamError, Target
from engine.tasks import Supervisor
from engine.world import World

if TYPE_CHECKING:
    from engine.kubelet.kubelet import Kubelet


class KubeletStreams:
    """A `NodeStreams`."""

    def __init__(self, kubelet: Kubelet, world: World, server: KubeletServer) -> None:
        self._kubelet = kubelet
        self._server = server
        self._world = world
        self._tasks = Supervisor(f"kubelet {kubelet.name} streams")

    async def close(self) -> None:
        await self._tasks.close()

    def exec(self, target: Target, command: Sequence[str], *, stdin: bool, tty: bool, output: Output) -> Session:
        container = self._container(target)
        if not exists(container.machine, command[0]):
            raise StreamError(f"error executing command in container: {_not_found(container.status.id, command[0])}")
        session = ExecSession(container, command, stdin=stdin, tty=tty, output=output, clock=self._world.clock)
        Context().run(self._tasks.spawn, self._begin(session, container.status.pod_uid), "exec")
        return session

    async def _begin(self, session: ExecSession, pod_uid: str) -> None:
        """The program may look at the Pod's volumes: nobody has needed all that is in them until now."""
        await self._kubelet.fill_volumes(pod_uid)
        session.begin()

    def attach(self, target: Target, *, stdin: bool, tty: bool, output: Output) -> Session:
        return AttachSession(self._container(target), stdin=stdin, output=output)

    def port_forward(self, target: Target, port: int, *, output: Output) -> Session:
        pod = self._pod(target)
        running = [self._kubelet.simulated.container(status.id) for status in self._of(pod, ContainerState.RUNNING)]
        for container in running:
            if container.answers(port):
                return Connection(container, port, output=output, clock=self._world.clock)
        sandbox = running[0].status.sandbox_id if running else ""
        raise StreamError(
            f"error forwarding port {port} to pod {sandbox}, uid : failed to execute portforward in network namespace "
            f'"/var/run/netns/cni-{sandbox[:8]}": failed to connect to localhost:{port} inside namespace "{sandbox}", '
            f"IPv4: dial tcp4 127.0.0.1:{port}: connect: connection refused IPv6 dial tcp6 [::1]:{port}: connect: "
            "connection refused "
        )

    def log(self, target: Target, *, previous: bool) -> Log:
        try:
            return find_log(self._kubelet, target.namespace, target.pod, target.container, previous=previous)
        except LogError as error:
            raise StreamError(str(error)) from None

    async def serve(self, method: str, path: str, query: Mapping[str, Sequence[str]]) -> NodeAnswer:
        return await self._server.answer(method, path, query)

    def _pod(self, target: Target) -> Object:
        pod = self._kubelet.pods.find(target.namespace, target.pod)
        if pod is None or (target.uid and pods.uid_of(pod) != target.uid):
            raise StreamError("pod does not exist", refused=404)
        return pod

    def _of(self, pod: Object, *states: ContainerState) -> list[ContainerStatus]:
        """Its containers that are in one of the states, newest first."""
        found = self._kubelet.simulated.containers_of(pods.uid_of(pod))
        return [status for status in found if not states or status.state in states]

    def _container(self, target: Target) -> SimulatedContainer:
        found = self._of(self._pod(target), ContainerState.RUNNING)
        named = [status for status in found if status.name == target.container]
        if not named:
            raise StreamError(f'container not found ("{target.container}")', refused=500)
        return self._kubelet.simulated.container(named[0].id)


def _not_found(container_id: str, program: str) -> str:
    why = "executable file not found in $PATH" if "/" not in program else "no such file or directory"
    shown = f'exec: "{program}": {why}' if "/" not in program else f'exec: "{program}": stat {program}: {why}'
    return (
        f'failed to exec in container: failed to start exec "{container_id}": OCI runtime exec failed: exec failed: '
        f"unable to start container process: {shown}: unknown"
    )
