"""What the cluster's DNS answers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.api.types import Object
from engine.network.dns import answer, resolve

PORTS = [{"name": "http", "protocol": "TCP", "port": 80}]


def service(name: str, **spec: object) -> Object:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"ports": PORTS, **spec}}


SERVICES = {
    "web": service("web", clusterIP="10.96.0.7", clusterIPs=["10.96.0.7", "fd00::7"]),
    "db": service("db", clusterIP="None"),
    "empty": service("empty", clusterIP="None"),
    "out": service("out", type="ExternalName", externalName="example.com"),
    "alias": service("alias", type="ExternalName", externalName="web.default.svc.cluster.local"),
}
SLICE: Object = {
    "addressType": "IPv4",
    "ports": [{"name": "http", "protocol": "TCP", "port": 8080}],
    "endpoints": [
        {"addresses": ["10.244.0.2"], "hostname": "db-0", "conditions": {"ready": True}},
        {"addresses": ["10.244.0.3"], "conditions": {"ready": True}},
        {"addresses": ["10.244.0.4"], "conditions": {"ready": False}},
    ],
}


class Cluster:
    def services(self) -> list[Object]:
        return list(SERVICES.values())

    def service(self, namespace: str, name: str) -> Object | None:
        return SERVICES.get(name) if namespace == "default" else None

    def endpoint_slices(self, namespace: str, name: str) -> Sequence[Object]:
        return [SLICE] if name == "db" else []


SVC = "default.svc.cluster.local"


@pytest.mark.parametrize(
    ("name", "type", "rcode", "data"),
    [
        pytest.param(f"web.{SVC}", "A", "NOERROR", ["10.96.0.7"], id="a service"),
        pytest.param(f"web.{SVC}.", "AAAA", "NOERROR", ["fd00::7"], id="its other family"),
        pytest.param(f"WEB.{SVC}", "A", "NOERROR", ["10.96.0.7"], id="upper case"),
        pytest.param(f"web.{SVC}", "TXT", "NOERROR", [], id="no record of that type"),
        pytest.param(f"nope.{SVC}", "A", "NXDOMAIN", [], id="no such service"),
        pytest.param("web.other.svc.cluster.local", "A", "NXDOMAIN", [], id="another namespace"),
        pytest.param(f"db.{SVC}", "A", "NOERROR", ["10.244.0.2", "10.244.0.3"], id="headless"),
        pytest.param(f"db-0.db.{SVC}", "A", "NOERROR", ["10.244.0.2"], id="a Pod of a set"),
        pytest.param(f"10-244-0-3.db.{SVC}", "A", "NOERROR", ["10.244.0.3"], id="an endpoint by its address"),
        pytest.param(f"db-9.db.{SVC}", "A", "NXDOMAIN", [], id="no such endpoint"),
        pytest.param(f"empty.{SVC}", "A", "NXDOMAIN", [], id="headless with nobody behind"),
        pytest.param(f"_http._tcp.web.{SVC}", "SRV", "NOERROR", [f"0 100 80 web.{SVC}."], id="srv"),
        pytest.param(
            f"_http._tcp.db.{SVC}", "SRV", "NOERROR",
            [f"0 50 8080 db-0.db.{SVC}.", f"0 50 8080 10-244-0-3.db.{SVC}."], id="srv, headless",
        ),
        pytest.param(f"_grpc._tcp.web.{SVC}", "SRV", "NXDOMAIN", [], id="no such port"),
        pytest.param(f"out.{SVC}", "A", "NOERROR", ["example.com."], id="external name"),
        pytest.param("7.0.96.10.in-addr.arpa", "PTR", "NOERROR", [f"web.{SVC}."], id="whose cluster address it is"),
        pytest.param("2.0.244.10.in-addr.arpa", "PTR", "NOERROR", [f"db-0.db.{SVC}."], id="whose endpoint it is"),
        pytest.param(f"7.{'0.' * 29}d.f.ip6.arpa", "PTR", "NOERROR", [f"web.{SVC}."], id="of the other family"),
        pytest.param("9.0.96.10.in-addr.arpa", "PTR", "NXDOMAIN", [], id="nobody's address"),
        pytest.param("10-244-0-9.default.pod.cluster.local", "A", "NOERROR", ["10.244.0.9"], id="a pod"),
        pytest.param("x.default.pod.cluster.local", "A", "NXDOMAIN", [], id="no address"),
        pytest.param("dns-version.cluster.local", "TXT", "NOERROR", ['"1.1.0"'], id="version"),
        pytest.param("example.com", "A", "NXDOMAIN", [], id="outside"),
    ],
)  # fmt: skip
def test_answers(name: str, type: str, rcode: str, data: list[str]) -> None:
    found = answer(Cluster(), name, type)

    assert (found.rcode, [record.data for record in found.records]) == (rcode, data)


@pytest.mark.parametrize(
    ("name", "namespace", "data"),
    [
        pytest.param("web", "default", ["10.96.0.7"], id="in the namespace"),
        pytest.param("web", "other", [], id="not from another"),
        pytest.param("web.default", "other", ["10.96.0.7"], id="with the namespace"),
        pytest.param("web.default.svc", "other", ["10.96.0.7"], id="with svc"),
        pytest.param(f"web.{SVC}", "other", ["10.96.0.7"], id="in full"),
        pytest.param("web.", "default", [], id="a dot at the end asks for no more"),
        pytest.param("alias", "default", ["web.default.svc.cluster.local.", "10.96.0.7"], id="an alias is followed"),
    ],
)
def test_names_are_searched_as_a_pod_searches_them(name: str, namespace: str, data: list[str]) -> None:
    assert [record.data for record in resolve(Cluster(), name, namespace).records] == data
