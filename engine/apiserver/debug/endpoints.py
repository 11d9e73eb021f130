"""The debug endpoints: JSON, or a stream of newline-delimited JSON. Whatever the screen shows comes from here.

| path | answer |
| --- | --- |
| status | name, versions, revision, profile, seed, clock, counts of nodes and pods by state |
| clock | GET, or PUT {"speed": x}, {"action": "pause" | "resume" | "step"} or both (see `debug.stepping`) |
| trace | {"spans", "ended"}; with follow=true a stream of spans, the kept ones after `after` first |
| traces | the spans of `trace`, or of the newest request for `kind`, `namespace`, `name` |
| payloads | request and response of the span that `span` names (the `payload` of a hop-2 span) |
| watches | every cache with its ring and its open watches |
| nodes | every Node with its Pods as states: the node map |
| views, views/NAME | the views that components offer; with `under` all of a kind at once |
| store/... | see `debug.store`, `debug.etcd` and `debug.members` |
"""

from __future__ import annotations

from functools import cache
from typing import Any

from engine.api.errors import ApiError, bad_request, path_not_found
from engine.api.wire import Request, Response
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.debug import etcd
from engine.apiserver.debug.census import Census
from engine.apiserver.debug.node_map import NodeMap
from engine.apiserver.debug.parameters import body_of, count
from engine.apiserver.debug.payloads import Payloads
from engine.apiserver.debug.stepping import step
from engine.apiserver.debug.store import StoreEndpoints
from engine.apiserver.debug.streams import SpanStream
from engine.clock import Clock
from engine.config import ClusterConfig
from engine.trace.archive import TraceSource

PREFIX = "/debug/ktui"
NDJSON = "application/x-ndjson"


class DebugEndpoints:
    def __init__(self, backend: Backend, config: ClusterConfig, traces: TraceSource, *, payloads: Payloads) -> None:
        self._payloads = payloads
        self._backend = backend
        self._config = config
        self._traces = traces
        self._store = StoreEndpoints(backend.storage.store, backend.world.clock)
        self._census = Census(backend)
        self._node_map = NodeMap(backend)

    async def answer(self, call: Call) -> Response:
        """Raises ApiError 404, 405."""
        request = call.request
        parts = request.path.removeprefix(PREFIX).strip("/").split("/")
        if parts[0] == "clock":
            return await self._clock(request)
        if parts[0] == "store" and len(parts) == 2:
            return await self._store.answer(parts[1], request)
        if request.method not in ("GET", "HEAD"):
            raise ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        match parts:
            case ["status"]:
                return Response(200, {**self.status(), **await self._census.take()})
            case ["trace"]:
                return self._trace(request)
            case ["traces"]:
                return await self._find(request)
            case ["payloads"]:
                return self._payload(request)
            case ["watches"]:
                return Response(200, {"caches": [cache.describe() for cache in self._backend.caches]})
            case ["nodes"]:
                return Response(200, {"nodes": await self._node_map.take()})
            case ["views"]:
                return self._views(request)
            case ["views", *name]:
                return self._view("/".join(name), request)
            case [""]:
                return Response(200, {"paths": _PATHS})
        raise path_not_found()

    def status(self) -> dict[str, Any]:
        world, config = self._backend.world, self._config
        return {
            "name": config.name,
            "version": _version(),
            "kubernetesVersion": self._backend.definitions.version,
            "revision": self._backend.storage.store.revision,
            "profile": world.latency.name,
            "seed": world.rng.seed,
            "clock": _clock(world.clock),
        }

    def _trace(self, request: Request) -> Response:
        tracer = self._backend.world.tracer
        after = count(request, "after")
        if request.parameter("follow") in ("true", "1"):
            return Response(200, headers={"content-type": NDJSON}, stream=SpanStream(tracer, after=after))
        spans = [span.to_json() for span in tracer.recent if span.sequence > after]
        return Response(200, {"spans": spans, "ended": tracer.ended})

    async def _find(self, request: Request) -> Response:
        trace = request.parameter("trace")
        if not trace:
            kind, name = request.parameter("kind"), request.parameter("name")
            if not kind or not name:
                raise bad_request("give a trace, or a kind and a name")
            namespace = request.parameter("namespace")
            trace = await self._traces.find("/".join(filter(None, (kind.lower(), namespace, name))))
        spans = await self._traces.spans(trace) if trace else []
        return Response(200, {"trace": trace, "spans": spans})

    def _payload(self, request: Request) -> Response:
        span = request.parameter("span")
        found = self._payloads.look(span)
        if found is None:
            details = {"kind": "payloads", "name": span}
            raise ApiError(404, "NotFound", f'payload "{span}" not found', details=details)
        return Response(200, found)

    def _views(self, request: Request) -> Response:
        """The names; with `under` what all views show whose names begin so."""
        views, under = self._backend.world.views, request.parameter("under")
        if not under:
            return Response(200, {"views": list(views)})
        parameters = {key: values[0] for key, values in request.query.items() if values}
        return Response(
            200, {"shown": {name: views.look(name, parameters) for name in views if name.startswith(under)}}
        )

    def _view(self, name: str, request: Request) -> Response:
        parameters = {key: values[0] for key, values in request.query.items() if values}
        try:
            return Response(200, self._backend.world.views.look(name, parameters))
        except KeyError:
            raise ApiError(
                404, "NotFound", f'view "{name}" not found', details={"kind": "views", "name": name}
            ) from None

    async def _clock(self, request: Request) -> Response:
        clock = self._backend.world.clock
        if request.method == "PUT":
            wanted = body_of(request)
            if wanted.get("action") == "step" and "speed" not in wanted:
                hop = await step(self._backend.world, wanted.get("over"))
                return Response(200, {**_clock(clock), "hop": hop})
            _steer(clock, wanted)
        elif request.method not in ("GET", "HEAD"):
            raise ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        return Response(200, _clock(clock))


_OF_THE_STORE = ("keys", "log", "members", "status", "transactions", "value", *etcd.METHODS)
_PATHS = sorted(
    f"{PREFIX}/{name}"
    for name in (
        *("clock", "nodes", "payloads", "status", "trace", "traces", "views", "watches"),
        *(f"store/{name}" for name in _OF_THE_STORE),
    )
)


@cache
def _version() -> str:
    """Read once from the package's files: every screen asks for the status all the time."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ktui")
    except PackageNotFoundError:
        return "0.0.0"


def _clock(clock: Clock) -> dict[str, Any]:
    return {
        "mode": clock.mode,
        "speed": clock.speed,
        "resumeSpeed": clock.resume_speed,
        "now": clock.micro_timestamp(),
        "monotonic": clock.monotonic(),
    }


def _steer(clock: Clock, wanted: dict[str, Any]) -> None:
    """Raises ApiError 400."""
    action, speed = wanted.get("action"), wanted.get("speed")
    try:
        if isinstance(speed, int | float) and not isinstance(speed, bool):
            clock.set_speed(float(speed))
            if action == "pause":
                clock.pause()
        elif action == "pause":
            clock.pause()
        elif action == "resume":
            clock.resume()
        else:
            raise bad_request('give a "speed", or an "action" of pause, resume or step')
    except ValueError as error:
        raise bad_request(str(error)) from None
