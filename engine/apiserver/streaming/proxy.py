"""The proxy subresources of Pods and Services: an HTTP request through the API server to what a container answers.

`/api/v1/namespaces/NS/pods/[SCHEME:]NAME[:PORT]/proxy/PATH`.
"""

from __future__ import annotations

import asyncio
from urllib.parse import quote, urlencode

from engine.api.errors import PlainTextError, not_found, unavailable
from engine.api.types import NODES, PODS, Object
from engine.api.wire import Response
from engine.apiserver.actions.admitted import admit_connect
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.body import check_size
from engine.apiserver.storage import StorageLookup
from engine.apiserver.streaming.locations import Locations, Place, split
from engine.streaming import StreamError, Target

_KUBELET = 10250
_TIMEOUT = 30.0
# Of one connection, not of the message.
_HOP_BY_HOP = frozenset(("connection", "keep-alive", "transfer-encoding", "upgrade", "content-length", "date"))
_FORWARDED = ("accept", "accept-language", "user-agent", "content-type", "range")


class PodProxy:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._lookup = StorageLookup(backend.storage, backend.resources)
        self._locations = Locations(self._lookup, backend.definitions.release)

    async def answer(self, call: Call) -> Response:
        """Raises ApiError 400, 404, 503, or that of who does not admit it."""
        await admit_connect(self._backend, call, _options(call))
        resource = call.gvr_resource.gvr
        if resource == NODES:
            return await self._node(call, *split("node", call.info.name))
        to = self._locations.of_pod if resource == PODS else self._locations.of_service
        place = await to(call.info.namespace, call.info.name)
        return _to_root(call) or await self._ask(call, place)

    async def _node(self, call: Call, name: str, port: str) -> Response:
        """What a kubelet itself serves; nothing else of a node listens (pkg/registry/core/node strategy.go
        ResourceLocation). The kubelet is asked by the API server's own right: whoever may `proxy` a node may all."""
        node = await self._lookup.find(NODES, "", name)
        if node is None:
            raise not_found(NODES, name)
        streams = self._backend.world.streams.find(name)
        if streams is None or port not in ("", str(_KUBELET)):
            addresses = (node.get("status") or {}).get("addresses") or ()
            where = next((each["address"] for each in addresses if each["type"] == "InternalIP"), name)
            refused = f"dial tcp {where}:{port or _KUBELET}: connect: connection refused"
            raise unavailable(f"error trying to reach service: {refused}")
        if moved := _to_root(call):
            return moved
        path = "/".join(call.info.parts)
        if path and call.request.path.endswith("/"):
            path += "/"
        answer = await streams.serve(call.request.method, path, call.request.query)
        if answer.status == 404:
            raise PlainTextError(404, answer.body.decode().rstrip("\n"))
        return Response(answer.status, answer.body, dict(answer.headers))

    async def _ask(self, call: Call, place: Place) -> Response:
        metadata, status = place.pod["metadata"], place.pod.get("status") or {}
        streams = self._backend.world.streams.find((place.pod["spec"].get("nodeName")) or "")
        where = f"{status.get('podIP', '')}:{place.port}"
        target = Target(metadata["namespace"], metadata["name"], metadata["uid"])
        received = bytearray()
        arrived = asyncio.Event()

        def output(stream: int, data: bytes) -> None:
            received.extend(data)
            arrived.set()

        if streams is None:
            raise unavailable(f"error trying to reach service: dial tcp {where}: connect: no route to host")
        try:
            connection = streams.port_forward(target, place.port, output=output)
        except StreamError:
            raise unavailable(f"error trying to reach service: dial tcp {where}: connect: connection refused") from None
        try:
            connection.write(_message(call, where))
            async with self._backend.world.clock.timeout(_TIMEOUT):
                await arrived.wait()
        except TimeoutError:
            raise unavailable(f"error trying to reach service: read tcp {where}: i/o timeout") from None
        finally:
            connection.close()
        return _response(bytes(received))


def _options(call: Call) -> Object:
    """What admission is shown: the path that is asked for."""
    subresource = call.gvr_resource.subresources["proxy"]
    path = "/".join(("", *call.info.parts)) if call.info.parts else ""
    if call.request.path.endswith("/") and not path.endswith("/"):
        path += "/"
    return {"kind": subresource.gvk.kind, "apiVersion": subresource.gvk.api_version, **({"path": path} if path else {})}


def _to_root(call: Call) -> Response | None:
    """Where a path ends before that of what is asked begins, one with a slash is to be asked instead (apimachinery
    pkg/util/proxy upgradeaware.go proxyRedirectsforRootPath)."""
    request = call.request
    if call.info.parts or request.path.endswith("/") or request.method not in ("GET", "HEAD"):
        return None
    query = urlencode(request.query, doseq=True)
    return Response(301, b"", {"location": f"{quote(request.path)}/{'?' if query else ''}{query}"})


def _message(call: Call, where: str) -> bytes:
    """Raises ApiError 413: a body is held whole here, where upstream's proxy passes it on in parts."""
    request = call.request
    check_size(request)
    path = "/" + "/".join(quote(part) for part in call.info.parts)
    if request.query:
        path += "?" + urlencode([(name, value) for name, values in request.query.items() for value in values])
    body = request.body if isinstance(request.body, bytes) else b""
    head = [f"{request.method} {path} HTTP/1.1", f"Host: {where}", "Connection: close"]
    head += [f"{name}: {request.headers[name]}" for name in _FORWARDED if name in request.headers]
    if body:
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*head, "", ""]).encode() + body


def _response(data: bytes) -> Response:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip().lower() not in _HOP_BY_HOP:
            headers[name.strip().lower()] = value.strip()
    return Response(int(first.split(" ")[1]), body, headers)
