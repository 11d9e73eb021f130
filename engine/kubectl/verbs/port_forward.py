"""`port-forward`: connections to a local port go on to a Pod's, each through a WebSocket of its own.

Source of the behaviour: kubectl pkg/cmd/portforward and client-go tools/portforward; the channels are those of kubelet
pkg/kubelet/portforward/websocket.go (data and error, each begun with the port).
"""

from __future__ import annotations

import asyncio

from engine.api.types import Object
from engine.kubectl.arguments import split_arguments
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, UsageError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.forwarded_ports import Address, Ports, addresses_of, number_of, ports_of, words_of
from engine.kubectl.scheme import CLIENT_SCHEME
from engine.kubectl.session import Session
from engine.kubectl.streaming import connect
from engine.kubectl.workload_pods import pod_of
from engine.tasks import Supervisor

DATA, ERROR = 0, 1
PROTOCOLS = ("v4.channel.k8s.io",)
HEAD = 2  # bytes of the port that begin each channel


async def run(session: Session) -> None:
    if len(session.arguments) < 2:
        raise UsageError("TYPE/NAME and list of ports are required for port-forward")
    if session.flags.seconds("pod-running-timeout") <= 0:
        raise UsageError("--pod-running-timeout must be higher than zero")
    word, *texts = session.arguments
    pairs, _, _ = split_arguments([word], session.program)
    kind, name = pairs[0] if pairs else ("pods", word)
    pod = await pod_of(session, kind, name, scheme=CLIENT_SCHEME)
    resource = await session.resolve(kind)
    target = await session.get(resource, name, session.namespace)
    words = [words_of(text) for text in texts]
    numbers = [number_of(remote, target, pod) for _, remote in words]
    if (phase := (pod.get("status") or {}).get("phase", "")) != "Running":
        raise CommandError(f"unable to forward port because pod is not running. Current status={phase}")
    addresses = addresses_of(session.flags.many("address"))
    ports = [
        ports_of(number if ":" not in text and not local.isdigit() else local, number)
        for text, (local, _), number in zip(texts, words, numbers, strict=True)
    ]
    await _Forwarder(session, pod, addresses).run(ports)


class _Forwarder:
    def __init__(self, session: Session, pod: Object, addresses: list[Address]) -> None:
        self._session = session
        self._pod = pod
        self._addresses = addresses
        self._tasks = Supervisor("port-forward")
        self._path = ""
        self._servers: list[asyncio.Server] = []
        self._taken: set[asyncio.StreamWriter] = set()  # connections that are still open

    async def run(self, ports: list[Ports]) -> None:
        """Listen until the command is stopped. Raises CommandError where no port can be listened on."""
        metadata = self._pod["metadata"]
        pods = await self._session.resolve("pods")
        self._path = self._session.path_of(pods, metadata["namespace"], metadata["name"], "portforward")
        try:
            if not any([await self._listen(each) for each in ports]):
                shown = " ".join(map(str, ports))
                raise CommandError(f"unable to listen on any of the requested ports: [{shown}]")
            await asyncio.get_running_loop().create_future()
        finally:
            for server in self._servers:
                server.close()
            await self._tasks.close()
            for writer in self._taken:  # of which the carrying ended before it began
                writer.close()

    async def _listen(self, ports: Ports) -> bool:
        """Whether the port can be listened on where it has to be; says so where not."""
        refused: list[str] = []
        listening, failing = set[bool](), set[bool]()
        for address in self._addresses:
            try:
                server = await asyncio.start_server(
                    lambda r, w: self._handle(r, w, ports.remote), address.host, ports.local
                )
            except OSError as error:
                refused.append(address.refused(ports.local, error))
                failing.add(address.loopback)
                continue
            listening.add(address.loopback)
            self._servers.append(server)
            ports.local = server.sockets[0].getsockname()[1]
            self._session.out(f"Forwarding from {address.at(ports.local)} -> {ports.remote}")
            self._session.stdout.flush()
        if failing - listening:
            why = f"Listeners failed to create with the following errors: [{' '.join(refused)}]"
            self._session.err(f"Unable to listen on port {ports.local}: {why}")
        return not failing - listening

    def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, remote: int) -> None:
        self._taken.add(writer)
        self._session.out(f"Handling connection for {writer.get_extra_info('sockname')[1]}")
        self._session.stdout.flush()
        self._tasks.spawn(self._carry(reader, writer, remote), "connection")

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, remote: int) -> None:
        try:
            socket = await connect(self._session, self._path, {"ports": [str(remote)]}, PROTOCOLS)
        except (ConnectionError, CommandError) as error:
            self._session.err(f"error: {error}")
            self._close(writer)
            return
        tasks = Supervisor("connection")

        async def upward() -> None:
            while data := await reader.read(1 << 15):
                await socket.send(bytes([DATA]) + data)
            await socket.close()

        tasks.spawn(upward(), "upward")
        heads = {DATA: HEAD, ERROR: HEAD}
        try:
            while message := await socket.receive():
                channel, data = message[0], message[1:]
                skipped = min(heads.get(channel, 0), len(data))
                heads[channel] = heads.get(channel, 0) - skipped
                if data := data[skipped:]:
                    if channel == ERROR:
                        self._session.err(f"error forwarding port {remote}: {data.decode(errors='replace')}")
                        break
                    writer.write(data)
                    await writer.drain()
        finally:
            await tasks.close()
            await socket.close()
            self._close(writer)

    def _close(self, writer: asyncio.StreamWriter) -> None:
        self._taken.discard(writer)
        writer.close()


COMMAND = Command(
    name="port-forward",
    short="Forward one or more local ports to a pod",
    usage="TYPE/NAME [options] [LOCAL_PORT:]REMOTE_PORT [...[LOCAL_PORT_N:]REMOTE_PORT_N]",
    run=run,
    interrupted=0,
    flags=(
        Flag("address", Type.STRINGS, default=["localhost"], help="Addresses to listen on."),
        Flag("pod-running-timeout", Type.DURATION, default=60.0, help="How long to wait for a running Pod."),
    ),
    examples=("port-forward pod/web-5d8c 8080:80", "port-forward service/web 8080:80"),
)
