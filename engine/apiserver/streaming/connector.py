"""The connect subresources of Pods: from a checked request to a session with the Pod's node.

Source: pkg/registry/core/pod/rest/subresources.go and pod strategy.go (streamLocation). A WebSocket is a GET; since
1.35 it needs the right to create the subresource as well (AuthorizePodWebsocketUpgradeCreatePermission).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from engine.api.errors import ApiError, bad_request, internal, method_not_supported
from engine.api.types import Object
from engine.api.wire import Request, Response, Upgrade
from engine.apiserver.actions.admitted import admit_connect
from engine.apiserver.authorization import Attributes, Verdict, forbidden
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.handshake import agreed, protocols_offered, wants_upgrade
from engine.apiserver.pod_logs import container_named
from engine.apiserver.registry.options import flag
from engine.apiserver.streaming.nodes import check_node
from engine.apiserver.streaming.port_forward import CHANNELS, SPDY, TUNNEL, ChannelPortForward, Open, SpdyPortForward
from engine.apiserver.streaming.remote_command import PROTOCOLS, STDERR, STDIN, STDOUT, RemoteCommand
from engine.apiserver.streaming.spdy_command import SPDY_PROTOCOLS, SpdyCommand
from engine.apiserver.streaming.spdy_handshake import NoUpgrade, agreed_on_spdy
from engine.streaming import NodeStreams, Output, Session, StreamError, Target
from engine.trace import Hop

_OPTIONS = {"exec": "PodExecOptions", "attach": "PodAttachOptions", "portforward": "PodPortForwardOptions"}


class NodeConnector:
    """A `rest.Connector`."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def connect(self, call: Call, find: Callable[[], Awaitable[Object]]) -> Response:
        """Raises ApiError."""
        subresource = call.info.subresource
        if subresource not in _OPTIONS:
            raise ApiError(
                501, "NotImplemented", f"{subresource} is not served by the nodes of this cluster", details={}
            )
        if call.request.method not in ("GET", "POST"):
            raise method_not_supported(call.gvr_resource.gvr, call.info.verb)
        options = _options(call.request, _OPTIONS[subresource])
        await admit_connect(self._backend, call, options)
        await self._check_create(call)
        pod = await find()
        container = "" if subresource == "portforward" else container_named(pod, call.request.parameter("container"))
        node = (pod.get("spec") or {}).get("nodeName", "")
        if not node:
            raise bad_request(f"pod {call.info.name} does not have a host assigned")
        await check_node(self._backend, call, node)
        if not wants_upgrade(call.request):
            raise bad_request("Upgrade request required")
        streams = self._backend.world.streams.find(node)
        if streams is None:
            raise internal(f'error dialing backend: the kubelet of node "{node}" does not answer')
        metadata = pod["metadata"]
        target = Target(metadata["namespace"], metadata["name"], metadata["uid"], container)
        try:
            return Response(101, upgrade=self._upgrade(call, streams, target, node=node))
        except NoUpgrade as refusal:
            return refusal.answer()

    async def _check_create(self, call: Call) -> None:
        if call.info.verb != "get":
            return
        question = Attributes.of(call.user, call.info._replace(verb="create"))
        decision = (await self._backend.authorizer.authorize(question)).decision
        if decision.verdict is not Verdict.ALLOW:
            raise forbidden(question, decision.reason)

    # -- the session

    def _upgrade(self, call: Call, streams: NodeStreams, target: Target, *, node: str) -> Upgrade:
        if call.info.subresource == "portforward":
            return self._port_forward(call, streams, target, node=node)
        request, tty = call.request, bool(flag(call.request, "tty"))
        wanted = [STDIN] if flag(request, "stdin") else []
        if flag(request, "stdout"):
            wanted.append(STDOUT)
        if flag(request, "stderr") and not tty:
            wanted.append(STDERR)
        if not wanted:
            raise bad_request("you must specify at least 1 of stdin, stdout, stderr")
        command = request.query.get("command") or []
        if call.info.subresource == "exec" and not command:
            raise bad_request("you must specify at least 1 command")

        def begin(output: Output) -> Session:
            verb = "Exec" if command else "Attach"
            with self._backend.world.tracer.span(
                Hop.KUBELET, component=f"kubelet {node}", verb=verb, object=call.object, cause=call.cause,
                detail={"container": target.container, "command": command, "tty": tty},
            ):  # fmt: skip
                if command:
                    return streams.exec(target, command, stdin=STDIN in wanted, tty=tty, output=output)
                return streams.attach(target, stdin=STDIN in wanted, tty=tty, output=output)

        if _is_web_socket(request):
            return RemoteCommand(agreed(request, PROTOCOLS), begin, streams=tuple(wanted))
        protocol = agreed_on_spdy(request, SPDY_PROTOCOLS)
        try:
            return SpdyCommand(protocol, begin, streams=tuple(wanted), tty=tty)
        except StreamError as error:
            raise NoUpgrade(error.refused, str(error)) from None

    def _port_forward(self, call: Call, streams: NodeStreams, target: Target, *, node: str) -> Upgrade:
        def open_port(port: int, output: Output) -> Session:
            with self._backend.world.tracer.span(
                Hop.KUBELET, component=f"kubelet {node}", verb="PortForward", object=call.object, cause=call.cause,
                detail={"port": port},
            ):  # fmt: skip
                return streams.port_forward(target, port, output=output)

        opening: Open = open_port
        if not _is_web_socket(call.request):
            return SpdyPortForward(agreed_on_spdy(call.request, (SPDY,)), opening)
        if TUNNEL in protocols_offered(call.request):
            return SpdyPortForward(TUNNEL, opening)
        return ChannelPortForward(agreed(call.request, CHANNELS), _ports(call.request), opening)


def _is_web_socket(request: Request) -> bool:
    return "websocket" in request.headers.get("upgrade", "").lower()


def _ports(request: Request) -> list[int]:
    ports = [word for value in request.query.get("ports") or () for word in value.split(",")]
    if not ports:
        raise bad_request('query parameter "port" is required')
    for port in ports:
        if not port.isdigit() or not 0 < int(port) < 65_536:
            raise bad_request(f"port {port} must be a number between 1 and 65535")
    return [int(port) for port in ports]


def _options(request: Request, kind: str) -> Object:
    """The options as the object that admission is shown."""
    options: Object = {"kind": kind, "apiVersion": "v1"}
    for name in ("stdin", "stdout", "stderr", "tty"):
        if flag(request, name):
            options[name] = True
    if container := request.parameter("container"):
        options["container"] = container
    if command := request.query.get("command"):
        options["command"] = list(command)
    if kind == _OPTIONS["portforward"] and "ports" in request.query:
        options["ports"] = _ports(request)
    return options
