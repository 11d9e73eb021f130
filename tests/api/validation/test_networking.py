"""Ingresses, NetworkPolicies and ServiceCIDRs, new and changed (pkg/apis/networking/validation)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import GVK, Object
from engine.api.validation import validate_status_update, validate_update
from tests.api.objects import info, prepared, problems

INGRESS = GVK("networking.k8s.io", "v1", "Ingress")
POLICY = GVK("networking.k8s.io", "v1", "NetworkPolicy")
CIDRS = GVK("networking.k8s.io", "v1", "ServiceCIDR")
_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    r"end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_BITS = "must not have bits set beyond the prefix length"


def ingress(host: str, *, path: str = "/", service: str = "web") -> Object:
    backend = {"service": {"name": service, "port": {"number": 80}}}
    paths = [{"path": path, "pathType": "Prefix", "backend": backend}]
    spec = {"rules": [{"host": host, "http": {"paths": paths}}]}
    return {"metadata": {"name": "web", "namespace": "default"}, "spec": spec}


def policy(*blocks: Object) -> Object:
    return peers(*({"ipBlock": block} for block in blocks))


def peers(*peers: Object) -> Object:
    spec = {"podSelector": {}, "ingress": [{"from": list(peers)}]}
    return {"metadata": {"name": "web", "namespace": "default"}, "spec": spec}


def ranges(*cidrs: str) -> Object:
    return {"metadata": {"name": "more"}, "spec": {"cidrs": list(cidrs)}}


NEW: dict[str, tuple[GVK, Object, list[str]]] = {
    "an address with leading zeros is no host": (
        INGRESS,
        ingress("010.1.2.3"),
        ['spec.rules[0].host: Invalid value: "010.1.2.3": must be a DNS name, not an IP address'],
    ),
    "nor is one that maps another": (
        INGRESS,
        ingress("::ffff:1.2.3.4"),
        [
            'spec.rules[0].host: Invalid value: "::ffff:1.2.3.4": must be a DNS name, not an IP address',
            f'spec.rules[0].host: Invalid value: "::ffff:1.2.3.4": {_SUBDOMAIN}',
        ],
    ),
    "a resource of nothing": (
        INGRESS,
        {"metadata": {"name": "web", "namespace": "default"}, "spec": {"defaultBackend": {"resource": {}}}},
        ["spec.defaultBackend.resource.kind: Required value", "spec.defaultBackend.resource.name: Required value"],
    ),
    "a Service whose name begins with a digit": (INGRESS, ingress("a.b", service="1web"), []),
    "of a mapped address with more bits than its prefix has, only the first is said": (
        POLICY,
        policy({"cidr": "::ffff:1.1.1.0/24"}),
        [
            'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "::ffff:1.1.1.0/24": must not have an IPv4-mapped '
            "IPv6 address"
        ],
    ),
    "ranges are looked at each, and together": (
        CIDRS,
        ranges("192.168.0.1/24", "192.168.1.1/24"),
        [
            f'spec.cidrs[0]: Invalid value: "192.168.0.1/24": {_BITS}',
            f'spec.cidrs[1]: Invalid value: "192.168.1.1/24": {_BITS}',
            'spec.cidrs: Invalid value: ["192.168.0.1/24","192.168.1.1/24"]: may specify no more than one IP for each '
            "IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
        ],
    ),
    "ranges that are none": (
        CIDRS,
        ranges("a", "b"),
        [
            f'spec.cidrs[{index}]: Invalid value: "{each}": must be a valid CIDR value, (e.g. 10.9.8.0/24 or '
            "2001:db8::/64)"
            for index, each in enumerate("ab")
        ],
    ),
}


@pytest.mark.parametrize("name", NEW)
def test_new(name: str) -> None:
    gvk, obj, expected = NEW[name]
    assert problems(gvk, obj) == expected


_IMMUTABLE = "field is immutable"
CHANGED: dict[str, tuple[GVK, Object, Object, list[str]]] = {
    "a second range": (CIDRS, ranges("192.168.0.0/24"), ranges("192.168.0.0/24", "2001:db8::/64"), []),
    "a second range of the same family, the first changed": (
        CIDRS,
        ranges("192.168.0.0/24"),
        ranges("192.168.1.0/24", "192.168.2.0/24"),
        [
            f'spec.cidrs[0]: Invalid value: "192.168.1.0/24": {_IMMUTABLE}',
            'spec.cidrs: Invalid value: ["192.168.1.0/24","192.168.2.0/24"]: may specify no more than one IP for each '
            "IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
        ],
    ),
    "a block without which nothing is excluded, beside a peer that has no block": (
        POLICY,
        peers({"podSelector": {}}, {"ipBlock": {"cidr": "10.0.0.0/8"}}),
        peers({"podSelector": {}}, {"ipBlock": {"cidr": "10.0.0.0/8", "except": [""]}}),
        [
            'spec.ingress[0].from[1].ipBlock.except[0]: Invalid value: "": must be a valid CIDR value, '
            "(e.g. 10.9.8.0/24 or 2001:db8::/64)"
        ],
    ),
    "a changed range": (
        CIDRS,
        ranges("192.168.0.0/24"),
        ranges("192.168.1.0/24"),
        [f'spec.cidrs[0]: Invalid value: "192.168.1.0/24": {_IMMUTABLE}'],
    ),
    "a range less": (
        CIDRS,
        ranges("192.168.0.0/24", "2001:db8::/64"),
        ranges("192.168.0.0/24"),
        [f'spec.cidrs: Invalid value: ["192.168.0.0/24"]: {_IMMUTABLE}'],
    ),
    "blocks that the policy had before, in another place": (
        POLICY,
        policy({"cidr": "192.168.0.1/16", "except": ["192.168.003.0/24"]}),
        policy({"cidr": "192.168.0.0/16", "except": ["192.168.003.0/24"]}, {"cidr": "192.168.0.1/16"}),
        [],
    ),
    "blocks that it had not": (
        POLICY,
        policy({"cidr": "192.168.0.1/16"}),
        policy({"cidr": "192.168.0.1/16", "except": ["192.168.3.1/24"]}),
        [f'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "192.168.3.1/24": {_BITS}'],
    ),
    "paths of a wildcard that were wrong before": (
        INGRESS,
        ingress("*.a.b", path="/c//"),
        ingress("*.a.b", path=""),
        [],
    ),
    "paths of a wildcard that were right before": (
        INGRESS,
        ingress("*.a.b"),
        ingress("*.a.b", path=""),
        ['spec.rules[0].http.paths[0].path: Invalid value: "": must be an absolute path'],
    ),
}


def changed(gvk: GVK, before: Object, after: Object) -> tuple[Object, Object]:
    old, new = prepared(gvk, before), prepared(gvk, after)
    for obj in (old, new):
        obj["metadata"]["resourceVersion"] = "1"
    return new, old


@pytest.mark.parametrize("name", CHANGED)
def test_changed(name: str) -> None:
    gvk, before, after, expected = CHANGED[name]
    assert [str(cause) for cause in validate_update(info(gvk), *changed(gvk, before, after))] == expected


@pytest.mark.parametrize(("before", "wrong"), [("010.1.1.1", []), ("10.1.1.1", ["must not have leading 0s"])])
def test_a_balancers_address_is_let_be(before: str, wrong: list[str]) -> None:
    def with_address(obj: Object, address: str) -> Object:
        status: Any = {"loadBalancer": {"ingress": [{"ip": address}]}}
        return {**obj, "status": status}

    new, old = changed(INGRESS, ingress("a.b"), ingress("a.b"))
    found = validate_status_update(info(INGRESS), with_address(new, "010.1.1.1"), with_address(old, before))
    path = "status.loadBalancer.ingress[0].ip"
    assert [str(cause) for cause in found] == [f'{path}: Invalid value: "010.1.1.1": {each}' for each in wrong]
