"""Where the proxy subresources of Pods and Services lead.

Source: pkg/registry/core/pod strategy.go ResourceLocation, pkg/registry/core/service storage.go ResourceLocation and
isValidAddress, apimachinery pkg/util/net port_split.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import NamedTuple

from engine.api.errors import bad_request, not_found, unavailable
from engine.api.types import ENDPOINT_SLICES, ENDPOINTS, PODS, SERVICES, Object
from engine.apiserver.lookup import Lookup
from engine.apiserver.service_endpoints import Endpoint, leads_from, of_endpoints, of_slices

_NUMBER = re.compile("[+-]?[0-9]+")
_KNOWN_PORTS = {"http": 80, "https": 443, "domain": 53, "ssh": 22}  # of those that Go has in itself
_SLICES_SINCE = (1, 37)  # EndpointSlices tell where a Service leads, not Endpoints


class Place(NamedTuple):
    pod: Object
    port: int


class Locations:
    def __init__(self, lookup: Lookup, release: tuple[int, int]) -> None:
        self._lookup = lookup
        self._slices = release >= _SLICES_SINCE

    async def of_pod(self, namespace: str, identity: str) -> Place:
        """Raises ApiError 400, 404 or 503. Ports have no names here but those that every system knows."""
        name, port = split("pod", identity)
        pod = await self._lookup.find(PODS, namespace, name)
        if pod is None:
            raise not_found(PODS, name)
        if not any(map(_may_be_asked, _ips(pod)[:1])):
            raise bad_request("address not allowed")
        if not port:
            ports = [each for container in pod["spec"]["containers"] for each in (container.get("ports") or ())[:1]]
            return Place(pod, int(ports[0]["containerPort"]) if ports else 80)
        if not _NUMBER.fullmatch(port) and port not in _KNOWN_PORTS:
            raise unavailable(f"error trying to reach service: dial tcp: lookup tcp/{port}: unknown port")
        return Place(pod, _KNOWN_PORTS.get(port) or int(port))

    async def of_service(self, namespace: str, identity: str) -> Place:
        """Raises ApiError 400, 404 or 503. A port goes by its name, or its number; none is that without a name."""
        name, port = split("service", identity)
        if _NUMBER.fullmatch(port):
            ports = (await self._service(namespace, name))["spec"].get("ports") or ()
            wanted = next((each for each in ports if each["port"] == int(port)), None)
            if wanted is None:
                raise unavailable(f'no service port {int(port)} found for service "{name}"')
            port = wanted.get("name", "")
        some, found = await self._behind(namespace, name, port)
        if not some:
            raise unavailable(f'no endpoints available for service "{name}"')
        for endpoint in found:
            pod = await self._pod(namespace, endpoint)
            if pod is not None:
                return Place(pod, endpoint.port)
        raise unavailable(f'no endpoints available for service "{identity}"')

    async def _behind(self, namespace: str, name: str, port: str) -> tuple[bool, Iterator[Endpoint]]:
        """Whether there is anything behind a Service, and what of it has the port."""
        if not self._slices:
            endpoints = await self._lookup.find(ENDPOINTS, namespace, name)
            if endpoints is None:
                raise not_found(ENDPOINTS, name)
            return bool(endpoints.get("subsets")), of_endpoints(endpoints, port)
        service = await self._service(namespace, name)
        slices = [each for each in await self._lookup.all(ENDPOINT_SLICES, namespace) if leads_from(each, name)]
        return any(each.get("endpoints") for each in slices), of_slices(service, slices, port)

    async def _service(self, namespace: str, name: str) -> Object:
        service = await self._lookup.find(SERVICES, namespace, name)
        if service is None:
            raise not_found(SERVICES, name)
        return service

    async def _pod(self, namespace: str, endpoint: Endpoint) -> Object | None:
        """The Pod that an endpoint is said to be, if it is."""
        if endpoint.target.get("namespace") != namespace:
            return None
        pod = await self._lookup.find(PODS, namespace, endpoint.target.get("name", ""))
        return pod if pod is not None and endpoint.ip in _ips(pod) else None


def split(kind: str, identity: str) -> tuple[str, str]:
    """Name and port of `[SCHEME:]NAME[:PORT]`. Raises ApiError 400."""
    parts = identity.split(":")
    if len(parts) == 3 and parts[0] in ("http", "https", ""):
        parts = parts[1:]
    if len(parts) > 2 or not parts[0]:
        raise bad_request(f'invalid {kind} request "{identity}"')
    return parts[0], parts[1] if len(parts) == 2 else ""


def _ips(pod: Object) -> list[str]:
    return [each.get("ip", "") for each in (pod.get("status") or {}).get("podIPs") or ()]


def _may_be_asked(ip: str) -> bool:
    """As Go's IsGlobalUnicast."""
    try:
        address = ip_address(ip)
    except ValueError:
        return False
    local = address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified
    return not local and ip != "255.255.255.255"
