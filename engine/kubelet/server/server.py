"""The routes of the kubelet's server that can be read (pkg/kubelet/server server.go, stats/handler.go).

Who may ask what is not decided here: the API server asks as itself, as the kubelet's client that may do all, once it
has found that its own caller may `proxy` the node.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import orjson

from engine.api.errors import ApiError
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.config import NodeConfig
from engine.kubelet import kernel, pods
from engine.kubelet.cri import ContainerState
from engine.kubelet.node.status import EPHEMERAL_STORAGE, OS_IMAGE
from engine.kubelet.server.cadvisor import cadvisor_lines
from engine.kubelet.server.configz import configuration
from engine.kubelet.server.measured import Measured, Meter
from engine.kubelet.server.own_metrics import Served, own_lines
from engine.kubelet.server.probes import probe_lines
from engine.kubelet.server.resource import resource_lines
from engine.kubelet.server.summary import Disk, cpu_and_memory, summary
from engine.kubelet.server.system_logs import read_log
from engine.metric_text import CONTENT_TYPE
from engine.streaming import NodeAnswer
from engine.world import World

if TYPE_CHECKING:
    from engine.kubelet.kubelet import Kubelet

Query = Mapping[str, Sequence[str]]

_PLAIN = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}
_JSON = {"content-type": "application/json"}
_INDENT = re.compile(rb"(?m)^( +)\1")
_LINES_AT_ONCE = 200  # of text, between which others have their turn
_CHECKS = ("ping", "log", "syncloop")
# What Go's own router says of a path that nobody serves, and what go-restful says within a service of its own.
_NOBODY = NodeAnswer(404, b"404 page not found\n", _PLAIN)
_NO_ROUTE = NodeAnswer(404, b"404: Page Not Found", {"content-type": "text/plain"})
_ONLY_GET = NodeAnswer(405, b"405: Method Not Allowed", {"allow": "GET", "content-type": "text/plain"})
_SERVICES = ("pods", "stats", "runningpods", "logs")
# What cAdvisor calls the version of itself that a node of today is built with.
_CADVISOR = "v0.53.0"


class KubeletServer:
    def __init__(self, kubelet: Kubelet, world: World, node: NodeConfig) -> None:
        self._kubelet = kubelet
        self._clock = world.clock
        self._node = node
        self._memory, self._cpu = Quantity.parse(node.memory), Quantity.parse(node.cpu)
        self._meter = Meter(kubelet, world.clock.now())
        self._served: dict[Served, int] = {}
        self._routes: Mapping[str, Callable[[Query], Awaitable[NodeAnswer]]] = {
            "pods": self._pods,
            "runningpods": self._running_pods,
            "stats/summary": self._summary,
            "metrics": self._own_metrics,
            "metrics/cadvisor": self._cadvisor,
            "metrics/resource": self._resource,
            "metrics/probes": self._probes,
            "configz": self._configz,
        }

    async def answer(self, method: str, path: str, query: Query) -> NodeAnswer:
        """`path` has no slash before it."""
        self._count(method, path)
        root = path.partition("/")[0]
        if root == "healthz":
            return _health(path, query)
        route = self._routes.get(path.rstrip("/") if root in _SERVICES else path)
        if root in _SERVICES and method not in ("GET", "HEAD"):
            return _ONLY_GET if route is not None or root == "logs" else _NO_ROUTE
        if path.startswith("logs/"):
            return read_log(self._kubelet, path.removeprefix("logs/"))
        if route is None:
            return _NO_ROUTE if root in _SERVICES else _NOBODY
        return await route(query)

    def _count(self, method: str, path: str) -> None:
        root = path.partition("/")[0]
        bucket = path if root == "metrics" and path in self._routes else root
        known = bucket in self._routes or root in ("healthz", *_SERVICES)
        of = Served(method, bucket if known else "other")
        self._served[of] = self._served.get(of, 0) + 1

    # -- Pods

    async def _pods(self, query: Query) -> NodeAnswer:
        found = self._kubelet.pods.all()
        return _pod_list([{field: pod[field] for field in pod if field not in ("kind", "apiVersion")} for pod in found])

    async def _running_pods(self, query: Query) -> NodeAnswer:
        """What the runtime knows of: no more than names and images."""
        found = []
        for pod in self._kubelet.pods.all():
            metadata = {field: pod["metadata"][field] for field in ("name", "namespace", "uid")}
            running = [
                {"name": status.name, "image": status.image, "resources": {}}
                for status in reversed(self._kubelet.simulated.containers_of(pods.uid_of(pod)))
                if status.state == ContainerState.RUNNING
            ]
            if running:
                found.append({"metadata": metadata, "spec": {"containers": running}, "status": {}})
        return _pod_list(found)

    # -- statistics and metrics

    async def _summary(self, query: Query) -> NodeAnswer:
        measured = self._meter.look(self._clock.now())
        if (query.get("only_cpu_and_memory") or [""])[0] == "true":
            return _indented(cpu_and_memory(measured, self._node.name, self._memory))
        measured = await self._meter.weighed(measured, self._clock)
        claims = await self._claims(measured)
        return _indented(summary(measured, self._node.name, self._memory, self._disk(measured), claims))

    async def _own_metrics(self, query: Query) -> NodeAnswer:
        measured = await self._measure()
        claims, version = await self._claims(measured), self._kubelet.node_info.get("kubeletVersion", "")
        return await self._text(own_lines(self._kubelet, measured, self._disk(measured), claims, self._served, version))

    async def _cadvisor(self, query: Query) -> NodeAnswer:
        info = self._kubelet.node_info
        names = {"boot_id": "bootID", "machine_id": "machineID", "system_uuid": "systemUUID"}
        machine = {label: info.get(field, "") for label, field in names.items()}
        version = {
            "cadvisorRevision": "", "cadvisorVersion": _CADVISOR, "dockerVersion": "",
            "kernelVersion": kernel.RELEASE, "osVersion": OS_IMAGE,
        }  # fmt: skip
        measured = await self._measure()
        lines = cadvisor_lines(measured, self._cpu, self._memory, version=version, machine=machine)
        return await self._text(lines)

    async def _resource(self, query: Query) -> NodeAnswer:
        return await self._text(resource_lines(self._meter.look(self._clock.now())))

    async def _probes(self, query: Query) -> NodeAnswer:
        return await self._text(probe_lines(self._kubelet.probes.workers(), self._meter.started))

    async def _measure(self) -> Measured:
        return await self._meter.weighed(self._meter.look(self._clock.now()), self._clock)

    async def _text(self, lines: Iterator[str]) -> NodeAnswer:
        written = []
        for number, line in enumerate(lines):
            if number % _LINES_AT_ONCE == _LINES_AT_ONCE - 1:
                await self._clock.sleep(0)
            written.append(line)
        return NodeAnswer(200, "\n".join([*written, ""]).encode(), {"content-type": CONTENT_TYPE})

    def _disk(self, measured: Measured) -> Disk:
        return Disk(Quantity.parse(EPHEMERAL_STORAGE), measured)

    async def _claims(self, measured: Measured) -> dict[tuple[str, str], Quantity]:
        found = {}
        for pod in measured.pods:
            for volume in pod.pod["spec"].get("volumes") or ():
                key = pods.namespace_of(pod.pod), pods.claim_of(pod.pod, volume)
                if key[1] and key not in found and (size := await self._size(*key)) is not None:
                    found[key] = size
        return found

    async def _size(self, namespace: str, claim: str) -> Quantity | None:
        try:
            return await self._kubelet.claimed(namespace, claim)
        except ApiError:
            return None

    # -- the rest

    async def _configz(self, query: Query) -> NodeAnswer:
        return NodeAnswer(200, orjson.dumps({"kubeletconfig": configuration(self._node)}), _JSON)


def _health(path: str, query: Query) -> NodeAnswer:
    """All is well with a kubelet that answers (apiserver pkg/server/healthz)."""
    name = path.partition("/")[2]
    if name and name not in _CHECKS:
        return _NOBODY
    if name or "verbose" not in query:
        return NodeAnswer(200, b"ok", _PLAIN)
    lines = "".join(f"[+]{check} ok\n" for check in _CHECKS)
    return NodeAnswer(200, f"{lines}healthz check passed\n".encode(), _PLAIN)


def _pod_list(items: Sequence[Object]) -> NodeAnswer:
    listed: Object = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items or None}
    return NodeAnswer(200, orjson.dumps(listed), _JSON)


def _indented(document: Object) -> NodeAnswer:
    """As go-restful writes what it is given: by one space."""
    by_two = orjson.dumps(document, option=orjson.OPT_INDENT_2)
    return NodeAnswer(200, _INDENT.sub(rb"\1", by_two), _JSON)
