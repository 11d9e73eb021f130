"""Whether an aggregated API is available, after upstream's table of its controller."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.api_services import availability, available_locally
from engine.api.types import Object

NOW = "2026-11-28T00:00:00Z"
API: Object = {"spec": {"group": "g.io", "version": "v1", "service": {"namespace": "foo", "name": "bar", "port": 1443}}}


def service(port: int = 1443, name: str = "", **spec: Any) -> Object:
    return {"spec": {"type": "ClusterIP", "clusterIP": "10.0.0.9", "ports": [{"port": port, "name": name}], **spec}}


def endpoints(port_name: str = "", *, ready: bool | None = True, count: int = 1) -> Object:
    conditions: Object = {} if ready is None else {"ready": ready}
    listed = [{"addresses": ["10.1.0.1"], "conditions": conditions}] * count
    return {"endpoints": listed, "ports": [{"name": port_name, "port": 6443}]}


REFUSED = 'Get "https://{0}": dial tcp {1}: connect: connection refused'
CASES: dict[str, tuple[Object | None, list[Object], str, str]] = {
    "no service": (None, [], "ServiceNotFound", 'service/bar in "foo" is not present'),
    "another port": (
        service(6443),
        [endpoints()],
        "ServicePortError",
        'service/bar in "foo" is not listening on port 1443',
    ),
    "no endpoints": (service(), [], "EndpointsNotFound", 'cannot find endpointslices for service/bar in "foo"'),
    "empty endpoints": (
        service(),
        [endpoints(count=0)],
        "MissingEndpoints",
        'endpointslices for service/bar in "foo" have no addresses with port name ""',
    ),
    "endpoints that are not ready": (
        service(),
        [endpoints(ready=False)],
        "MissingEndpoints",
        'endpointslices for service/bar in "foo" have no addresses with port name ""',
    ),
    "endpoints of another name": (
        service(name="testPort"),
        [endpoints("wrongName")],
        "MissingEndpoints",
        'endpointslices for service/bar in "foo" have no addresses with port name "testPort"',
    ),
    "nobody answers": (
        service(name="testPort"),
        [endpoints("other"), endpoints("testPort", ready=None)],
        "FailedDiscoveryCheck",
        "failing or missing response from https://10.0.0.9:1443/apis/g.io/v1: "
        + REFUSED.format("10.0.0.9:1443/apis/g.io/v1", "10.0.0.9:1443"),
    ),
    "a name elsewhere": (
        service(type="ExternalName", externalName="api.example.com"),
        [],
        "FailedDiscoveryCheck",
        "failing or missing response from https://api.example.com:1443/apis/g.io/v1: "
        + REFUSED.format("api.example.com:1443/apis/g.io/v1", "api.example.com:1443"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_api_that_is_not_available(name: str) -> None:
    found, slices, reason, message = CASES[name]
    (condition,) = availability(API, found, slices, now=NOW)["conditions"]
    assert condition == {
        "type": "Available",
        "status": "False",
        "reason": reason,
        "message": message,
        "lastTransitionTime": NOW,
    }


def test_what_is_served_here_is_always_available() -> None:
    (condition,) = available_locally({}, now=NOW)["conditions"]
    assert (condition["status"], condition["reason"]) == ("True", "Local")
    assert condition["message"] == "Local APIServices are always available"
