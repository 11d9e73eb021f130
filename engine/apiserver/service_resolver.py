"""Where a server behind a Service really listens (apiserver pkg/util/proxy proxy.go).

It does only where an ExternalName leads, or endpoints that were written by hand. Behind a Service with a selector stand
simulated Pods, in which no server runs.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.api.types import ENDPOINT_SLICES, ENDPOINTS, SERVICES, Object
from engine.apiserver.lookup import Lookup
from engine.apiserver.service_endpoints import Endpoint, leads_from, of_endpoints, of_slices


class ResolveError(Exception):
    """The Service leads nowhere; the message is that of the resolver."""


class SimulatedError(ResolveError):
    """It leads to a simulated Pod, whose name the message tells."""


class Place(NamedTuple):
    """`host` is as it stands in a URL; `shown` is the address, host and port, that the cluster has for it."""

    host: str
    port: int
    shown: str


class ServiceResolver:
    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def resolve(self, namespace: str, name: str, port: int) -> Place:
        """Raises ResolveError."""
        service = await self._lookup.find(SERVICES, namespace, name)
        if service is None:
            raise ResolveError(f'service "{name}" not found')
        spec = service["spec"]
        if spec.get("type") == "ExternalName":
            host = str(spec["externalName"])
            return Place(host, port, f"{host}:{port}")
        if spec.get("clusterIP") == "None" and spec.get("type") == "ClusterIP":
            raise ResolveError('cannot route to service with ClusterIP "None"')
        wanted = next((each for each in spec.get("ports") or () if each["port"] == port), None)
        if wanted is None:
            raise ResolveError(f'no service port {port} found for service "{name}"')
        found = await self._endpoint(service, wanted.get("name", ""))
        if found is None:
            raise ResolveError(f'no endpoints available for service "{name}"')
        if found.target.get("kind") == "Pod":
            raise SimulatedError(str(found.target.get("name")))
        return Place(_in_url(found.ip), found.port, f"{_in_url(str(spec.get('clusterIP') or ''))}:{port}")

    async def _endpoint(self, service: Object, port_name: str) -> Endpoint | None:
        namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
        slices = await self._lookup.all(ENDPOINT_SLICES, namespace)
        if any(leads_from(each, name) for each in slices):
            return next(of_slices(service, slices, port_name), None)
        return next(of_endpoints(await self._lookup.find(ENDPOINTS, namespace, name), port_name), None)


def _in_url(ip: str) -> str:
    return f"[{ip}]" if ":" in ip else ip
