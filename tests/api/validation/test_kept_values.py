"""What an older release took stays as it is, though no longer taken anew: addresses with leading zeros, for instance.

After upstream's tables of updates of Services, of their balancers and of Endpoints, with StrictIPCIDRValidation, which
is on since 1.36.
"""

from __future__ import annotations

import copy

import pytest

from engine.api.types import GVK, Object
from engine.api.validation import validate_create, validate_status_update, validate_update
from tests.api.objects import SERVICE, info, prepared, service

ENDPOINTS = GVK("", "v1", "Endpoints")
RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
ZEROS = "must not have leading 0s"
NETWORK_ZEROS = "must not have leading 0s in IP or prefix length"
BALANCED = {"type": "LoadBalancer", "externalTrafficPolicy": "Cluster"}
SERVICES: dict[str, tuple[Object, list[str]]] = {
    "addresses outside": (
        {"externalIPs": ["010.9.8.7"]},
        [f'spec.externalIPs[0]: Invalid value: "010.9.8.7": {ZEROS}'],
    ),
    "an address outside that nobody can have": (
        {"externalIPs": ["127.000.000.001"]},
        [f'spec.externalIPs[0]: Invalid value: "127.000.000.001": {ZEROS}'],
    ),
    "an address of the cluster": (
        {"clusterIP": "010.96.0.9", "clusterIPs": ["010.96.0.9"], "ipFamilies": ["IPv4"]},
        [f'spec.clusterIPs[0]: Invalid value: "010.96.0.9": {ZEROS}'],
    ),
    "addresses of both families": (
        {
            "clusterIP": "010.96.0.9",
            "clusterIPs": ["010.96.0.9", "fd00::1"],
            "ipFamilies": ["IPv4", "IPv6"],
            "ipFamilyPolicy": "PreferDualStack",
        },
        [f'spec.clusterIPs[0]: Invalid value: "010.96.0.9": {ZEROS}'],
    ),
    "ranges of sources": (
        {**BALANCED, "loadBalancerSourceRanges": [" 010.0.0.0/8 "]},
        [f'spec.LoadBalancerSourceRanges[0]: Invalid value: "010.0.0.0/8": {NETWORK_ZEROS}'],
    ),
}
# What is told of one even though it was there before.
STILL_WRONG = {
    "an address outside that nobody can have": [
        'spec.externalIPs[0]: Invalid value: "127.000.000.001": may not be in the loopback range (127.0.0.0/8, ::1/128)'
    ]
}


def stored(gvk: GVK, value: Object) -> Object:
    obj = prepared(gvk, value)
    obj["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    return obj


def relabelled(old: Object) -> Object:
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"a": "b"}
    return new


def told(gvk: GVK, new: Object, old: Object) -> list[str]:
    return [str(cause) for cause in validate_update(info(gvk), new, old)]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_keeps_what_it_has_and_gets_nothing_like_it(name: str) -> None:
    spec, expected = SERVICES[name]
    old = stored(SERVICE, service(**spec))
    assert [str(cause) for cause in validate_create(info(SERVICE), old)] == expected
    assert told(SERVICE, relabelled(old), old) == STILL_WRONG.get(name, [])


def test_a_service_keeps_the_ranges_of_its_annotation_while_they_are_written_the_same() -> None:
    old = stored(SERVICE, service(**BALANCED))
    old["metadata"]["annotations"] = {RANGES: "010.0.0.0/8"}
    assert told(SERVICE, relabelled(old), old) == []
    new = relabelled(old)
    new["metadata"]["annotations"][RANGES] += ",10.1.0.0/16"
    path = f"metadata.annotations[{RANGES}]"
    assert told(SERVICE, new, old) == [f'{path}: Invalid value: "010.0.0.0/8": {NETWORK_ZEROS}']


def test_a_balancer_keeps_its_addresses() -> None:
    old = stored(SERVICE, service(**BALANCED))
    old["status"] = {"loadBalancer": {"ingress": [{"ip": "010.0.0.1", "ipMode": "VIP"}]}}
    new = copy.deepcopy(old)
    new["status"]["loadBalancer"]["ingress"].append({"ip": "010.0.0.2", "ipMode": "VIP"})
    assert [str(cause) for cause in validate_status_update(info(SERVICE), new, old)] == [
        f'status.loadBalancer.ingress[1].ip: Invalid value: "010.0.0.2": {ZEROS}'
    ]


def test_endpoints_keep_subsets_that_have_not_changed() -> None:
    old = stored(ENDPOINTS, {"metadata": {"name": "web", "namespace": "default"}})
    old["subsets"] = [{"addresses": [{"ip": "010.0.0.1"}]}]
    assert told(ENDPOINTS, relabelled(old), old) == []
    new = copy.deepcopy(old)
    new["subsets"][0]["addresses"].append({"ip": "10.0.0.2"})
    assert told(ENDPOINTS, new, old) == [f'subsets[0].addresses[0].ip: Invalid value: "010.0.0.1": {ZEROS}']
