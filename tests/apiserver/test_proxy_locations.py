"""Where the proxy subresources lead: as upstream's TestServiceRegistryResourceLocation and TestPodStrategy have it."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import ENDPOINT_SLICES, ENDPOINTS, GVR, PODS, SERVICES, Object
from engine.apiserver.streaming.locations import Locations, Place, split

OLD, NEW = (1, 36), (1, 37)


def pod(name: str, *ips: str, ports: tuple[int, ...] = ()) -> Object:
    containers = [{"name": "a"}, {"name": "b", "ports": [{"containerPort": port, "name": "web"} for port in ports]}]
    status = {"podIPs": [{"ip": ip} for ip in ips]}
    return {"metadata": {"name": name}, "spec": {"containers": containers}, "status": status}


def target(name: str, namespace: str = "ns") -> Object:
    return {"kind": "Pod", "name": name, "namespace": namespace}


def endpoints(name: str, *addresses: Object) -> Object:
    ports = [{"name": "http", "port": 8080}, {"name": "", "port": 81}]
    return {"metadata": {"name": name}, "subsets": [{"addresses": list(addresses), "ports": ports}]}


def piece(name: str, *addresses: Object) -> Object:
    return {
        "metadata": {"name": f"{name}-x", "labels": {"kubernetes.io/service-name": name}},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080}, {"name": "", "port": 81}],
        "endpoints": [{"addresses": [each["ip"]], "targetRef": each.get("targetRef")} for each in addresses],
    }


PORTS = [{"name": "http", "port": 80}, {"name": "", "port": 90}]
STRAYS: list[Object] = [
    {"ip": "10.0.0.1"},
    {"ip": "10.0.0.1", "targetRef": target("a", "other")},
    {"ip": "10.0.0.2", "targetRef": target("a")},
    {"ip": "10.0.0.1", "targetRef": target("gone")},
]
LEADS: dict[str, list[Object]] = {
    "web": [*STRAYS, {"ip": "10.0.0.1", "targetRef": target("a")}],
    "astray": STRAYS,
}


class _Given:
    def __init__(self) -> None:
        self._objects: dict[tuple[GVR, str], Object] = {
            (PODS, "a"): pod("a", "10.0.0.1", "fd00::1", ports=(8080, 8081)),
            (PODS, "portless"): pod("portless", "10.0.0.2"),
            (PODS, "pending"): pod("pending"),
            (PODS, "local"): pod("local", "127.0.0.1"),
            (SERVICES, "lonely"): {"metadata": {"name": "lonely"}, "spec": {"ports": PORTS}},
            (ENDPOINTS, "lonely"): {"metadata": {"name": "lonely"}},
            (ENDPOINT_SLICES, "lonely"): {**piece("lonely"), "endpoints": None, "ports": None},
        }
        for name, addresses in LEADS.items():
            self._objects[SERVICES, name] = {"metadata": {"name": name}, "spec": {"ports": PORTS}}
            self._objects[ENDPOINTS, name] = endpoints(name, *addresses)
            self._objects[ENDPOINT_SLICES, name] = piece(name, *addresses)

    async def find(self, gvr: GVR, namespace: str, name: str) -> Object | None:
        assert namespace == "ns"
        return self._objects.get((gvr, name))

    async def all(self, gvr: GVR, namespace: str) -> list[Object]:
        assert namespace == "ns"
        return [each for (kind, _), each in self._objects.items() if kind == gvr]


async def refused(leading: Any) -> tuple[int, str]:
    with pytest.raises(ApiError) as error:
        await leading
    return error.value.code, error.value.message


@pytest.mark.parametrize(
    ("identity", "port"),
    [("a", 8080), ("a:12345", 12345), ("http:a:12345", 12345), (":a:1", 1), ("https:a:", 8080), ("portless", 80),
     ("a:http", 80)],
)  # fmt: skip
async def test_where_pods_are_asked(identity: str, port: int) -> None:
    place = await Locations(_Given(), NEW).of_pod("ns", identity)
    assert (place.port, place.pod["metadata"]["name"]) == (port, "portless" if "portless" in identity else "a")


@pytest.mark.parametrize(
    ("identity", "said"),
    [
        ("nobody", (404, 'pods "nobody" not found')),
        ("pending", (400, "address not allowed")),
        ("local:80", (400, "address not allowed")),
        ("a:web", (503, "error trying to reach service: dial tcp: lookup tcp/web: unknown port")),
        ("ftp:a:80", (400, 'invalid pod request "ftp:a:80"')),
        ("http::80", (400, 'invalid pod request "http::80"')),
    ],
)
async def test_pods_that_are_not_asked(identity: str, said: tuple[int, str]) -> None:
    assert await refused(Locations(_Given(), NEW).of_pod("ns", identity)) == said


@pytest.mark.parametrize("release", [OLD, NEW])
@pytest.mark.parametrize(
    ("identity", "port"),
    [("web", 81), ("web:http", 8080), ("web:80", 8080), ("web:90", 81), ("https:web:80", 8080), ("http:web:", 81)],
)
async def test_where_services_lead(release: tuple[int, int], identity: str, port: int) -> None:
    """To what is the Pod that it is said to be, by the name of the port: no name is that of the port without one."""
    found = await Locations(_Given(), release).of_service("ns", identity)
    assert found == Place(await _Given().find(PODS, "ns", "a"), port)  # type: ignore[arg-type]


@pytest.mark.parametrize("release", [OLD, NEW])
@pytest.mark.parametrize(
    ("identity", "said"),
    [
        ("nobody:80", (404, 'services "nobody" not found')),
        ("web:81", (503, 'no service port 81 found for service "web"')),
        ("web:nope", (503, 'no endpoints available for service "web:nope"')),
        ("https:astray:80", (503, 'no endpoints available for service "https:astray:80"')),
        ("lonely:80", (503, 'no endpoints available for service "lonely"')),
        ("a:b:c:d", (400, 'invalid service request "a:b:c:d"')),
    ],
)
async def test_services_that_lead_nowhere(release: tuple[int, int], identity: str, said: tuple[int, str]) -> None:
    assert await refused(Locations(_Given(), release).of_service("ns", identity)) == said


@pytest.mark.parametrize(("release", "kind"), [(OLD, "endpoints"), (NEW, "services")])
async def test_what_is_missed_without_the_number_of_a_port(release: tuple[int, int], kind: str) -> None:
    """Since 1.37 EndpointSlices tell where a Service leads (upstream's pull request 134860)."""
    assert await refused(Locations(_Given(), release).of_service("ns", "nobody")) == (404, f'{kind} "nobody" not found')


def test_nodes_are_named_alike() -> None:
    assert split("node", "https:n:10250") == ("n", "10250")
    with pytest.raises(ApiError) as error:
        split("node", "")
    assert error.value.message == 'invalid node request ""'
