"""Where a Service leads, as its EndpointSlices tell."""

from __future__ import annotations

from typing import Any

from engine.api.types import Object
from engine.apiserver.service_endpoints import of_slices

SERVICE: Object = {"metadata": {"name": "web"}, "spec": {"ipFamilies": ["IPv6", "IPv4"]}}


def piece(address: str, *, service: str = "web", kind: str = "IPv4", port: str | None = None, **spec: Any) -> Object:
    ports = [{"port": 80, **({} if port is None else {"name": port})}]
    metadata = {"labels": {"kubernetes.io/service-name": service}}
    return {"metadata": metadata, "addressType": kind, "endpoints": [{"addresses": [address]}], "ports": ports, **spec}


def addresses(*slices: Object, port: str = "") -> list[str]:
    return [endpoint.ip for endpoint in of_slices(SERVICE, slices, port)]


def test_those_of_the_services_own_family_come_first() -> None:
    assert addresses(piece("10.0.0.1"), piece("fd00::1", kind="IPv6")) == ["fd00::1", "10.0.0.1"]


def test_what_leads_nowhere_is_left_out() -> None:
    assert addresses(
        piece("10.0.0.1", service="other"),
        piece("10.0.0.2", port="other"),
        piece("a.example.com", kind="FQDN"),
        piece("10.0.0.3", ports=[]),
        piece("10.0.0.4", ports=[{"name": ""}]),
        piece("10.0.0.5", endpoints=[]),
        piece("10.0.0.6", endpoints=[{"addresses": ["10.0.0.6"], "conditions": {"ready": False}}]),
        piece("10.0.0.7", endpoints=[{"addresses": ["10.0.0.7", "10.0.0.8"], "conditions": {"ready": True}}]),
    ) == ["10.0.0.7"]


def test_ports_go_by_their_names() -> None:
    assert addresses(piece("10.0.0.1", port="http"), piece("10.0.0.2", port="https"), port="https") == ["10.0.0.2"]
