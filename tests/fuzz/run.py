"""Send requests, one after the other, to an API server in this process, and note what should never have come of one."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any

from engine.api.types import NAMESPACES, SERVICE_ACCOUNTS
from engine.api.wire import ClientCertificate, Request, Response
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.store.sqlite import SqliteStore
from engine.store.types import Range, prefix_end
from engine.world import World
from tests.fuzz.requests import Requests

TIMEOUT = 300.0  # model seconds
_IDENTITY = b"/registry/leases/kube-system/apiserver-"
SETTLED = 0.1
# 5xx that the real server gives too, by the beginning of the message.
REAL = (
    "resourceVersion should not be set on objects to be created",
    "the server is currently unable to handle the request",
    "failed to create typed patch object",
    "failed to convert new object",
    "unknown patch type",
    "Component not found: ",
    "list element types are not identical",
    "map: map[",  # ... does not contain declared merge key
    "Internal error occurred: failed to allocate a serviceIP: range is full",
    "Internal error occurred: the kubelet of node",
    "Internal error occurred: error dialing backend: the kubelet of node",
    "expected a ",  # ..., but received a ...
    "target.",  # a Binding's problems are no Invalid
    "resourceVersion: Invalid value",
    "no endpoints available for service",
    "no service port",
    "error trying to reach service",
    "Too large resource version",
    "Timeout: Too large resource version",
    "unable to find api field in struct",
    "strconv.ParseUint",
    "invalid resource version",
    'no kind "',  # ... is registered: the body of a delete that is of another kind
    "decoded object cannot be converted to DeleteOptions",
    "json: cannot unmarshal",
    "couldn't get version/kind",
    'Internal Server Error: "/',  # ... failed to create RequestInfo: a path that ends at watch or proxy
)
# What is refused only once it is done: how to show the object.
AFTER = "you requested PartialObjectMetadataList, but the requested object is not a list"


@dataclass
class Report:
    sent: int = 0
    codes: dict[int, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


class _Tracebacks(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.append(self.format(record))


async def fuzz(clock: VirtualClock, *, requests: int, seed: int, most_problems: int = 20) -> Report:
    world = World.create(clock=clock, seed=seed)
    store = await SqliteStore.open(None, clock=clock)
    server = ApiServer(world, store)
    await server.start()
    await _prepare(server)
    report, source, tracebacks = Report(), Requests(seed), _Tracebacks()
    logging.getLogger().addHandler(tracebacks)
    try:
        for _ in range(requests):
            request = source.next()
            before, began = store.revision - await _renewals(store), clock.monotonic()
            problem = await _send(server, world, request, report)
            if not problem and clock.monotonic() == began:  # else the server's own loops have had their turn
                problem = _changed(request, store.revision - await _renewals(store) - before)
                if problem:
                    newest = await _newest(store)
                    problem = "" if _is_repair(request, newest) else f"{problem}\n  {newest}"
            # What the server then says of schemas, or its own loops have begun, is not the next request's.
            if "/flowcontrol." in request.path or clock.monotonic() != began:
                for pause in (SETTLED, SETTLED / 100):  # the first may be what lets a loop begin
                    await clock.sleep(pause)
            if tracebacks.seen:
                problem = problem or tracebacks.seen[0]
                tracebacks.seen.clear()
            if problem:
                report.problems.append(f"{_shown(request)}\n  {problem}")
                if len(report.problems) >= most_problems:
                    break
    finally:
        logging.getLogger().removeHandler(tracebacks)
        await server.stop()
        await store.close()
    return report


async def _prepare(server: ApiServer) -> None:
    """What most objects need: a namespace besides the default one, and accounts for Pods."""
    admin = ClientCertificate("kubernetes-admin", ("system:masters",))
    client = Client(InProcessTransport(server, admin), user_agent="fuzz")
    await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fuzz"}})
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    for namespace in ("default", "fuzz", "kube-node-lease"):
        await client.create(SERVICE_ACCOUNTS, account, namespace=namespace)


async def _renewals(store: SqliteStore) -> int:
    """How often the server has written the Lease by which it says that it is there."""
    found = await store.range(Range(_IDENTITY, prefix_end(_IDENTITY)))
    return sum(kv.version for kv in found.kvs)


async def _newest(store: SqliteStore) -> str:
    """The key that was written last."""
    found = await store.range(Range(b"\0", b"\0", keys_only=True))
    newest = max(found.kvs, key=lambda kv: kv.mod_revision)
    return f"revision {newest.mod_revision} of {newest.key.decode()}"


def _is_repair(request: Request, newest: str) -> bool:
    """Whether the server has put an IPAddress back that an earlier request took from a Service, or told of it: it hears
    of it at once, and does it when it comes to it (registry/core/service/ipallocator/controller/repairip.go)."""
    makes_services = request.method in ("POST", "PUT") and "/services" in request.path
    if " of /registry/events/" in newest:
        return "/events" not in request.path
    return " of /registry/ipaddresses/" in newest and not makes_services


_last: list[Response] = []


async def _send(server: ApiServer, world: World, request: Request, report: Report) -> str:
    """What is wrong with the answer; "" for nothing."""
    report.sent += 1
    _last.clear()
    try:
        async with world.clock.timeout(TIMEOUT):
            response = await server.handle(request)
    except TimeoutError:
        return f"no answer within {TIMEOUT:.0f} s"
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"
    _last.append(response)
    report.codes[response.status] = report.codes.get(response.status, 0) + 1
    for stream in (response.events, response.stream):
        if stream is not None:
            await stream.aclose()
    message = _message(response)
    if response.status >= 500 and not _is_real(message):
        return f"{response.status}: {message}"
    return ""


def _is_real(message: str) -> bool:
    """In protobuf the text stands somewhere in the middle."""
    if message.startswith("k8s\0"):
        return any(beginning in message for beginning in REAL)
    return message.startswith(REAL)


def _changed(request: Request, writes: int) -> str:
    """Whether a request wrote that was refused, that only reads, or that was to be tried only."""
    if not writes or not _last:
        return ""
    if _message(_last[0]).startswith(AFTER):
        return ""
    # An address is taken before its Service is looked at, and given back with it.
    given_back = "/services" in request.path and writes % 2 == 0
    # A collection is deleted until one is refused.
    if _last[0].status >= 400 and request.method != "DELETE" and not given_back:
        return f"wrote though it was refused with {_last[0].status}: {_message(_last[0])}"
    if request.method in ("GET", "HEAD"):
        return "wrote though it only reads"
    if request.query.get("dryRun") == ["All"]:
        return "wrote though it was a dry run"
    return ""


def _message(response: Response) -> str:
    body: Any = response.body
    if isinstance(body, dict):
        return str(body.get("message", ""))
    return body.decode(errors="replace") if isinstance(body, bytes) else ""


def _shown(request: Request) -> str:
    who = request.certificate.common_name if request.certificate else "nobody"
    return f"{request.method} {request.path} {request.query} {request.headers} by {who}\n  {request.body!r}"


def run(*, requests: int, seed: int) -> Report:
    clock = VirtualClock()
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        return runner.run(fuzz(clock, requests=requests, seed=seed))
