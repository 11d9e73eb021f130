"""Services, after upstream's TestValidateServiceCreate, TestValidateServiceUpdate and the dual-stack tables."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.types import Object
from engine.api.validation import validate_create, validate_status_update, validate_update
from tests.api.objects import SERVICE, info, prepared, service

LB = "may only be used when `type` is 'LoadBalancer'"


def wrong(annotations: Object | None = None, **spec: Any) -> list[str]:
    obj = service(**spec)
    obj["metadata"]["annotations"] = annotations or {}
    return [str(cause) for cause in validate_create(info(SERVICE), prepared(SERVICE, obj))]


def addresses(*found: str, **spec: Any) -> Object:
    return {"clusterIP": found[0], "clusterIPs": list(found), **spec}


ROWS: dict[str, tuple[Object, list[str]]] = {
    "headless needs no ports": (addresses("None", ports=[]), []),
    "None before another": (
        addresses("None", "::1"),
        ['spec.clusterIPs: Invalid value: ["None","::1"]: \'None\' must be the first and only value'],
    ),
    "the list without the first": ({"clusterIP": "10.0.0.1"}, ["spec.clusterIPs: Required value"]),
    "the first without the list": (
        {"clusterIPs": ["10.0.0.1"]},
        ['spec.clusterIPs: Invalid value: ["10.0.0.1"]: must be empty when `clusterIP` is not specified'],
    ),
    "another first": (
        addresses("10.0.0.1", clusterIP="10.0.0.2"),
        ['spec.clusterIPs: Invalid value: ["10.0.0.1"]: first value must match `clusterIP`'],
    ),
    "two of a family": (
        addresses("10.0.0.1", "10.0.0.2"),
        ['spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family'],
    ),
    "three addresses": (
        addresses("10.0.0.1", "2001:db8::1", "10.0.0.2"),
        [
            'spec.clusterIPs: Invalid value: ["10.0.0.1","2001:db8::1","10.0.0.2"]: may only hold up to 2 values',
        ],
    ),
    "an address of the other family": (
        addresses("10.0.0.1", ipFamilies=["IPv6"]),
        ['spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`'],
    ),
    "families that are none, and twice": (
        {"ipFamilies": ["IPv4", "IPv4", "x"], "ipFamilyPolicy": "y"},
        [
            'spec.ipFamilies[1]: Duplicate value: "IPv4"',
            'spec.ipFamilies[2]: Unsupported value: "x": supported values: "IPv4", "IPv6"',
            'spec.ipFamilyPolicy: Unsupported value: "y": supported values: "PreferDualStack", "RequireDualStack", '
            '"SingleStack"',
        ],
    ),
    "affinity without seconds": (
        {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 86401}}},
        [
            "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: "
            "must be greater than 0 and less than 86400"
        ],
    ),
    "special external addresses": (
        {"externalIPs": ["0.0.0.0", "127.0.0.1", "169.254.1.1", "224.0.0.1", "225.0.0.1"]},
        [
            'spec.externalIPs[0]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
            'spec.externalIPs[1]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
            'spec.externalIPs[2]: Invalid value: "169.254.1.1": '
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
            'spec.externalIPs[3]: Invalid value: "224.0.0.1": '
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        ],
    ),
    "an external name with addresses": (
        {"type": "ExternalName", "externalName": "a.b.", "clusterIPs": ["10.0.0.1"], "ipFamilyPolicy": "SingleStack"},
        [
            f"spec.{field}: Forbidden: may not be set for ExternalName services"
            for field in ("clusterIPs", "ipFamilyPolicy")
        ],
    ),
    "an external name left out": (
        {"type": "ExternalName", "ports": []},
        ["spec.externalName: Required value"],
    ),
    "fields of load balancers": (
        {"loadBalancerSourceRanges": ["10.0.0.0/8"], "allocateLoadBalancerNodePorts": True, "loadBalancerClass": "a/b"},
        [
            f"spec.LoadBalancerSourceRanges: Forbidden: {LB}",
            f"spec.allocateLoadBalancerNodePorts: Forbidden: {LB}",
            f"spec.loadBalancerClass: Forbidden: {LB}",
        ],
    ),
    "a health check port that is missing": (
        {"type": "LoadBalancer", "externalTrafficPolicy": "Local"},
        ["spec.healthCheckNodePort: Required value"],
    ),
    "a policy for nobody outside": (
        {"externalTrafficPolicy": "Local"},
        ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
    ),
    "a distribution that there is not": (
        {"trafficDistribution": "PreferFar"},
        [
            'spec.trafficDistribution: Unsupported value: "PreferFar": supported values: "PreferClose", '
            '"PreferSameZone", "PreferSameNode"'
        ],
    ),
    "ports of one number": (
        {
            "type": "NodePort",
            "ports": [
                {"name": "a", "port": 80, "nodePort": 30000},
                {"name": "a", "port": 80, "nodePort": 30000},
            ],
        },
        [
            'spec.ports[1].name: Duplicate value: "a"',
            "spec.ports[1].nodePort: Duplicate value: 30000",
            'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,'
            '"NodePort":0}',
        ],
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_is_wrong_with_a_service(name: str) -> None:
    spec, expected = ROWS[name]
    assert wrong(**spec) == expected


def test_annotations_of_a_service() -> None:
    ranges = "service.beta.kubernetes.io/load-balancer-source-ranges"
    assert wrong({ranges: "foo"}, type="LoadBalancer") == [
        f'metadata.annotations[{ranges}]: Invalid value: "foo": must be a valid CIDR value, '
        "(e.g. 10.9.8.0/24 or 2001:db8::/64)"
    ]
    hints, mode = (f"service.kubernetes.io/topology-{each}" for each in ("aware-hints", "mode"))
    assert wrong({hints: "auto", mode: "disabled"}) == [
        f'metadata.annotations[{mode}]: Invalid value: "disabled": '
        f"must match annotations[{hints}] when both are specified"
    ]


V4, V6 = "10.0.0.1", "2001:db8::1"
DUAL = addresses(V4, V6, ipFamilies=["IPv4", "IPv6"], ipFamilyPolicy="PreferDualStack")
SINGLE = addresses(V4, ipFamilies=["IPv4"], ipFamilyPolicy="SingleStack")
UPDATES: dict[str, tuple[Object, Object, list[str]]] = {
    "a second address comes": (SINGLE, DUAL, []),
    "and goes": (DUAL, SINGLE, []),
    "but says so": (
        DUAL,
        {**SINGLE, "ipFamilyPolicy": "PreferDualStack"},
        [
            f"spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be set to 'SingleStack' when releasing "
            f"the secondary {what}"
            for what in ("clusterIP", "ipFamily")
        ],
    ),
    "the first stays": (
        SINGLE,
        addresses("10.0.0.2", ipFamilies=["IPv4"], ipFamilyPolicy="SingleStack"),
        ['spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set'],
    ),
    "a headless one changes families": (
        addresses("None", ipFamilies=["IPv4"]),
        addresses("None", ipFamilies=["IPv6"]),
        [],
    ),
    "from a name to an address": ({"type": "ExternalName", "externalName": "a.b"}, SINGLE, []),
    "the class of a load balancer": (
        {**SINGLE, "type": "LoadBalancer", "loadBalancerClass": "a.io/b"},
        {**SINGLE, "type": "LoadBalancer", "loadBalancerClass": "a.io/c"},
        ['spec.loadBalancerClass: Invalid value: "a.io/c": may not change once set'],
    ),
}


@pytest.mark.parametrize("name", UPDATES)
def test_what_may_change_of_a_service(name: str) -> None:
    before, after, expected = UPDATES[name]
    old, new = (prepared(SERVICE, service(**spec)) for spec in (before, after))
    for obj in (old, new):
        obj["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    assert [str(cause) for cause in validate_update(info(SERVICE), new, old)] == expected


STATUSES: dict[str, tuple[str, Object, list[str]]] = {
    "an address": ("LoadBalancer", {"ip": "1.2.3.4", "ipMode": "VIP"}, []),
    "of no balancer": (
        "ClusterIP",
        {"ip": "1.2.3.4", "ipMode": "VIP"},
        ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"],
    ),
    "without a mode": (
        "LoadBalancer",
        {"ip": "1.2.3.4"},
        ["status.loadBalancer.ingress[0].ipMode: Required value: must be specified when `ip` is set"],
    ),
    "a mode without an address": (
        "LoadBalancer",
        {"ipMode": "VIP"},
        ["status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not set"],
    ),
    "an address for a name": (
        "LoadBalancer",
        {"hostname": "1.2.3.4"},
        ['status.loadBalancer.ingress[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address'],
    ),
}


@pytest.mark.parametrize("name", STATUSES)
def test_where_a_load_balancer_may_be(name: str) -> None:
    kind, entry, expected = STATUSES[name]
    old = prepared(SERVICE, service(type=kind))
    old["metadata"]["resourceVersion"] = "1"
    new = {**copy.deepcopy(old), "status": {"loadBalancer": {"ingress": [entry]}}}
    assert [str(cause) for cause in validate_status_update(info(SERVICE), new, old)] == expected
