"""pods/NAME/log: what a node's kubelet keeps of a container, through the streams that it offers.

Source: pkg/registry/core/pod/rest/log.go and strategy.go (LogLocation), pkg/kubelet/kuberuntime/logs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from engine.api.errors import ApiError, Cause, bad_request, field_forbidden, field_invalid, invalid
from engine.api.golang.time import TimeError
from engine.api.golang.time import seconds as seconds_of
from engine.api.types import GVK, Object
from engine.api.validation.problems import NO_FIELD
from engine.api.wire import Request, Response
from engine.apiserver.handshake import agreed, wants_web_socket
from engine.apiserver.read_socket import PROTOCOLS, ReadSocket
from engine.apiserver.registry.options import flag, integer
from engine.streaming import Log, LogLine, StreamError, Target
from engine.world import World

_TEXT = "text/plain"
_OPTIONS = GVK("", "v1", "PodLogOptions")
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
# How often a log that is followed is looked at, in model seconds (kubelet logs.go, blockForNewLogs without fsnotify).
_FOLLOW_PERIOD = 0.25
_LONGEST = 9_223_372_036  # seconds of a time.Duration


@dataclass(frozen=True, slots=True)
class LogOptions:
    container: str = ""
    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    since: datetime | None = None
    tail: int | None = None
    limit: int | None = None

    @classmethod
    def of(cls, request: Request, now: datetime, name: str) -> LogOptions:
        """Of the log of the Pod with this name. Raises ApiError 400 or 422."""
        tail, limit = integer(request, "tailLines"), integer(request, "limitBytes")
        seconds = integer(request, "sinceSeconds")
        since_time = _moment(request.parameter("sinceTime"))
        causes: list[Cause] = []
        if tail is not None and tail < 0:
            causes.append(field_invalid("tailLines", tail, "must be greater than or equal to 0"))
        if limit is not None and limit < 1:
            causes.append(field_invalid("limitBytes", limit, "must be greater than 0"))
        if seconds is not None and since_time:
            causes.append(field_forbidden(NO_FIELD, "at most one of `sinceTime` or `sinceSeconds` may be specified"))
        elif seconds is not None and seconds < 1:
            causes.append(field_invalid("sinceSeconds", seconds, "must be greater than 0"))
        if "stream" in request.query:  # PodLogsQuerySplitStreams is off
            causes.append(field_forbidden("stream", "may not be specified"))
        if causes:
            raise invalid(_OPTIONS, name, causes)
        since = now - timedelta(seconds=min(seconds, _LONGEST)) if seconds is not None else since_time
        return cls(
            container=request.parameter("container"),
            follow=bool(flag(request, "follow")),
            previous=bool(flag(request, "previous")),
            timestamps=bool(flag(request, "timestamps")),
            since=since,
            tail=tail,
            limit=limit,
        )


def _moment(text: str) -> datetime | None:
    """None for what old clients send where there is none, too (metav1.Time, UnmarshalQueryParameter)."""
    if text in ("", "null"):
        return None
    try:
        return datetime.fromisoformat(seconds_of(text))
    except TimeError as error:
        raise bad_request(str(error)) from None


CheckNode = Callable[[str], Awaitable[None]]


class PodLogs:
    """Answers log requests; a `Connector`'s part."""

    def __init__(self, world: World) -> None:
        self._world = world

    def options(self, request: Request, name: str) -> LogOptions:
        """What is asked of the log of the Pod with this name, which need not be there. Raises ApiError 400 or 422."""
        return LogOptions.of(request, self._world.clock.now(), name)

    async def answer(self, request: Request, pod: Object, options: LogOptions, check: CheckNode) -> Response:
        """Raises ApiError 400 in the kubelet's words, 404 where there is no node, 500 where it does not answer."""
        container = container_named(pod, options.container)
        node = (pod.get("spec") or {}).get("nodeName")
        if not node:
            return Response(204, b"")
        await check(node)
        source = _Source(self._log(pod, node, container, options), options)
        first = source.read()
        follow = options.follow and not source.closed
        if wants_web_socket(request):
            log = _Log(source, first, self._world, follow=follow)
            return Response(101, upgrade=ReadSocket(agreed(request, PROTOCOLS), log))
        headers = {"content-type": _TEXT}
        if follow:
            return Response(200, headers=headers, stream=_Log(source, first, self._world, follow=True))
        return Response(200, first, headers)

    def _log(self, pod: Object, node: str, container: str, options: LogOptions) -> Log:
        streams = self._world.streams.find(node)
        if streams is None:
            raise ApiError(
                500, "InternalError", f'Internal error occurred: the kubelet of node "{node}" does not answer'
            )
        target = Target(pod["metadata"]["namespace"], pod["metadata"]["name"], pod["metadata"]["uid"], container)
        try:
            return streams.log(target, previous=options.previous)
        except StreamError as error:
            raise bad_request(str(error)) from None


def container_named(pod: Object, wanted: str) -> str:
    """The container that a request is for: the only one if it names none. Raises ApiError 400."""
    spec = pod.get("spec") or {}
    names = [container["name"] for field in _CONTAINERS for container in spec.get(field) or ()]
    if wanted:
        if wanted not in names:
            raise bad_request(f"container {wanted} is not valid for pod {pod['metadata']['name']}")
        return wanted
    if len(spec["containers"]) == 1:
        return str(spec["containers"][0]["name"])
    name = pod["metadata"]["name"]
    raise bad_request(f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]")


class _Source:
    """One container's log, read from where it was left."""

    def __init__(self, log: Log, options: LogOptions) -> None:
        self.closed = False
        self._log = log
        self._options = options
        self._read = 0
        self._sent = 0

    def read(self) -> bytes:
        """What has been written since the last time."""
        fresh, first = list(self._log.read(self._read)), not self._read
        self._read = self._log.written
        options = self._options
        if options.since is not None:
            fresh = [line for line in fresh if datetime.fromisoformat(line.timestamp) >= options.since]
        if first and options.tail is not None:
            fresh = fresh[len(fresh) - options.tail :] if options.tail < len(fresh) else fresh
        text = "".join(self._shown(line) for line in fresh).encode()
        if options.limit is not None:
            text = text[: options.limit - self._sent]
        self._sent += len(text)
        self.closed = self._log.closed or (options.limit is not None and self._sent >= options.limit)
        return text

    def _shown(self, line: LogLine) -> str:
        end = "" if line.text.endswith("\n") or line.partial else "\n"
        return f"{line.timestamp} {line.text}{end}" if self._options.timestamps else line.text + end


class _Log:
    """A log as it is: what there is and, where it is followed, what is written until its container ends."""

    def __init__(self, source: _Source, first: bytes, world: World, *, follow: bool) -> None:
        self._source = source
        self._first = first
        self._world = world
        self._ended = not follow

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        first, self._first = self._first, b""
        if first:
            return first
        while not self._ended and not self._source.closed:
            await self._world.clock.sleep(_FOLLOW_PERIOD)
            if text := self._source.read():
                return text
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self._ended = True
