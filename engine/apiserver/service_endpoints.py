"""Where a Service leads, as its EndpointSlices tell (apiserver pkg/util/proxy proxy.go ResolveEndpoint), and its
Endpoints where it has no slice. Upstream draws one of those that will do; here they are in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from engine.api.types import Object

SERVICE_LABEL = "kubernetes.io/service-name"


class Endpoint(NamedTuple):
    """`target` is the reference to the Pod behind it, empty where there is none."""

    ip: str
    port: int
    target: Object


def of_slices(service: Object, slices: Iterable[Object], port_name: str) -> Iterator[Endpoint]:
    """Those that are ready and have the port, of the Service's own IP family first."""
    family = next(iter(service["spec"].get("ipFamilies") or ()), "")
    for piece in sorted(slices, key=lambda each: each["addressType"] != family):
        if piece["addressType"] == "FQDN" or not leads_from(piece, service["metadata"]["name"]):
            continue
        for port in piece.get("ports") or ():
            if port.get("name", "") != port_name or port.get("port") is None:
                continue
            for endpoint in piece.get("endpoints") or ():
                if (endpoint.get("conditions") or {}).get("ready") is not False:
                    yield Endpoint(endpoint["addresses"][0], int(port["port"]), endpoint.get("targetRef") or {})


def of_endpoints(endpoints: Object | None, port_name: str) -> Iterator[Endpoint]:
    for subset in (endpoints or {}).get("subsets") or ():
        for port in subset.get("ports") or ():
            if port.get("name", "") == port_name:
                for address in subset.get("addresses") or ():
                    yield Endpoint(address["ip"], int(port["port"]), address.get("targetRef") or {})


def leads_from(piece: Object, service: str) -> bool:
    """Whether a slice is that of a Service of its namespace."""
    return bool((piece["metadata"].get("labels") or {}).get(SERVICE_LABEL) == service)
