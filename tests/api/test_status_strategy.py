"""What the API server does to parts of an object that other parts depend on."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import pytest

from engine.api.apply.reset_fields import reset_fields, without
from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.schema import load_definitions
from engine.api.strategies.strategy import (
    prepare_for_approval,
    prepare_for_create,
    prepare_for_status_update,
    prepare_for_update,
)
from engine.api.types import GVK, Object
from tests.api.objects import REGISTRY, info

SIGNING_REQUEST = info(GVK("certificates.k8s.io", "v1", "CertificateSigningRequest"))
CLAIM = info(GVK("resource.k8s.io", "v1", "ResourceClaim"))
SLICE = info(GVK("discovery.k8s.io", "v1", "EndpointSlice"))
BEFORE, NOW = "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"


def with_conditions(*conditions: Object) -> Object:
    return {"metadata": {"name": "a"}, "spec": {}, "status": {"conditions": list(conditions)}}


def condition(kind: str, status: str = "True", **more: str) -> Object:
    return {"type": kind, "status": status, **more}


def test_who_sets_a_condition_need_not_say_when() -> None:
    old = with_conditions(condition("Failed", lastTransitionTime=BEFORE, lastUpdateTime=BEFORE))
    new = with_conditions(condition("Failed"), condition("Odd", lastUpdateTime=BEFORE))
    for prepare in (prepare_for_approval, partial(prepare_for_status_update, SIGNING_REQUEST)):
        changed = copy.deepcopy(new)
        prepare(changed, old, now=NOW)
        assert changed["status"]["conditions"] == [
            condition("Failed", lastUpdateTime=NOW, lastTransitionTime=BEFORE),
            condition("Odd", lastUpdateTime=BEFORE, lastTransitionTime=NOW),
        ]


def test_a_status_does_not_change_what_was_decided() -> None:
    decided = condition("Approved", lastTransitionTime=BEFORE, lastUpdateTime=BEFORE, reason="Known")
    old = with_conditions(decided)
    new = with_conditions(condition("Odd", lastTransitionTime=BEFORE, lastUpdateTime=BEFORE), condition("Approved"))
    prepare_for_status_update(SIGNING_REQUEST, new, old, now=NOW)
    assert new["status"]["conditions"][1] == decided


def claim(*allocated: str, devices: tuple[str, ...] = ("one", "two")) -> Object:
    def named(device: str) -> Object:
        return {"driver": "d", "pool": "p", "device": device}

    status: dict[str, Any] = {"devices": [named(device) for device in devices]}
    if allocated:
        status["allocation"] = {"devices": {"results": [named(device) for device in allocated]}}
    return {"metadata": {"name": "a"}, "spec": {}, "status": status}


def test_what_was_said_of_a_device_goes_with_its_allocation() -> None:
    for allocated, kept in (((), None), (("two",), ["two"]), (("one", "two"), ["one", "two"])):
        new = claim(*allocated)
        prepare_for_status_update(CLAIM, new, claim("one", "two"), now=NOW)
        devices = new["status"].get("devices")
        assert (devices and [each["device"] for each in devices]) == kept


@pytest.mark.parametrize("version", ["1.36", "1.37"])
def test_clients_that_do_not_know_a_pods_claims_leave_them(version: str) -> None:
    pods = ResourceRegistry.for_version(version).by_kind(GVK("", "v1", "Pod"))
    assert pods is not None
    given = {
        "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "web-gpu"}],
        "extendedResourceClaimStatus": {"resourceClaimName": "web-extended", "requestMappings": []},
    }
    other = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "other"}]}
    old = {"metadata": {"name": "a"}, "spec": {}, "status": {"phase": "Running", **given}}
    kept = given if version == "1.37" else {}
    for changed, expected in (({}, kept), (other, {**kept, **other}), ({**given, **other}, {**given, **other})):
        new = {"metadata": {"name": "a"}, "spec": {}, "status": {"phase": "Failed", **changed}}
        prepare_for_status_update(pods, new, old, now=NOW)
        assert new["status"] == {"phase": "Failed", **expected}


def test_the_topology_of_an_old_version_is_not_set_anew() -> None:
    def endpoints(*addresses: str) -> Object:
        made = [{"addresses": [address], "deprecatedTopology": {"a": "b"}} for address in addresses]
        return {"metadata": {"name": "a"}, "addressType": "IPv4", "endpoints": made}

    created = endpoints("10.0.0.1")
    prepare_for_create(SLICE, created)
    assert created["endpoints"] == [{"addresses": ["10.0.0.1"]}]
    old, same, more = endpoints("10.0.0.1"), endpoints("10.0.0.1"), endpoints("10.0.0.1", "10.0.0.2")
    prepare_for_update(SLICE, same, old)
    assert same["endpoints"] == old["endpoints"]
    prepare_for_update(SLICE, more, old)
    assert more["endpoints"] == [{"addresses": ["10.0.0.1"]}, {"addresses": ["10.0.0.2"]}]


def test_what_the_server_serves_itself_is_available_at_once() -> None:
    service: Object = {
        "metadata": {"name": "v1.example.com", "creationTimestamp": NOW},
        "spec": {"group": "example.com", "version": "v1"},
    }
    remote = {**service, "metadata": {**service["metadata"]}, "spec": {**service["spec"], "service": {"name": "a"}}}
    for obj in (service, remote):
        prepare_for_create(info(GVK("apiregistration.k8s.io", "v1", "APIService")), obj)
    (told,) = service["status"]["conditions"]
    assert (told["type"], told["status"], told["reason"], told["lastTransitionTime"]) == (
        "Available",
        "True",
        "Local",
        NOW,
    )
    assert remote["status"] == {}


# What a status may change of the metadata.
_FREE = frozenset({"labels", "annotations", "finalizers", "ownerReferences"})
_WITH_STATUS = [each for each in REGISTRY if "status" in each.subresources and each.stored]
_METADATA_FREE = {
    ("", "Namespace"): _FREE,
    ("", "Node"): _FREE,
    ("", "PersistentVolume"): _FREE,
    ("", "PersistentVolumeClaim"): _FREE,
    ("", "Pod"): _FREE - {"ownerReferences"},
    ("", "ReplicationController"): _FREE,
    ("", "ResourceQuota"): _FREE,
    ("", "Service"): _FREE,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _FREE,
    ("apps", "DaemonSet"): _FREE,
    ("apps", "Deployment"): _FREE - {"labels"},
    ("apps", "ReplicaSet"): _FREE,
    ("apps", "StatefulSet"): _FREE,
    ("autoscaling", "HorizontalPodAutoscaler"): _FREE,
    ("batch", "CronJob"): _FREE,
    ("batch", "Job"): _FREE,
    ("certificates.k8s.io", "CertificateSigningRequest"): _FREE,
    ("networking.k8s.io", "Ingress"): _FREE,
    ("policy", "PodDisruptionBudget"): _FREE,
}


def written(mark: str) -> Object:
    return {
        "metadata": {
            "name": "a",
            "labels": {"a": mark},
            "annotations": {"a": mark},
            "finalizers": [f"a.com/{mark}"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": mark}],
        },
        "spec": {"mark": mark},
        "status": {"mark": mark},
    }


@pytest.mark.parametrize("found", _WITH_STATUS, ids=lambda each: each.kind)
def test_what_a_status_does_not_change_nobody_owns(found: ResourceInfo) -> None:
    old, new = written("old"), written("new")
    prepare_for_status_update(found, new, old, now=NOW)
    changed = {field for field in _FREE if new["metadata"][field] != old["metadata"][field]}
    assert changed == _METADATA_FREE.get((found.gvr.group, found.kind), set())
    assert new["spec"] == old["spec"]
    owned = without(new, reset_fields(found.gvk.api_version, found.kind, "status"))
    assert set(owned.get("metadata", {})) & _FREE == changed
    assert "spec" not in owned
    assert owned["status"] == new["status"]


@pytest.mark.parametrize("found", _WITH_STATUS, ids=lambda each: each.kind)
def test_the_status_that_an_update_does_not_change_nobody_owns(found: ResourceInfo) -> None:
    old, new = written("old"), written("new")
    prepare_for_update(found, new, old)
    assert new["status"] == old["status"]
    assert "status" not in without(new, reset_fields(found.gvk.api_version, found.kind, ""))


def test_before_1_36_any_write_changed_the_status_of_a_service_cidr() -> None:
    found = ResourceRegistry.for_version("1.35").by_kind(GVK("networking.k8s.io", "v1", "ServiceCIDR"))
    schema = load_definitions("1.35").kind(GVK("networking.k8s.io", "v1", "ServiceCIDR"))
    assert found is not None
    old, new = written("old"), written("new")
    prepare_for_update(found, new, old)
    assert new["status"] == {"mark": "new"}
    for subresource in ("", "status"):
        assert without(new, reset_fields("networking.k8s.io/v1", "ServiceCIDR", subresource, schema)) == new


@pytest.mark.parametrize(
    "kind",
    [("apps", "v1", "Deployment"), ("batch", "v1", "CronJob"), ("", "v1", "ResourceQuota")],
    ids=lambda kind: kind[2],
)
def test_a_status_that_is_taken_away_is_an_empty_one(kind: tuple[str, str, str]) -> None:
    """It is a struct in Go and no pointer, so whoever reads it finds it."""
    new: Object = {"metadata": {"name": "a"}, "spec": {}}
    prepare_for_status_update(info(GVK(*kind)), new, {**new, "status": {"observedGeneration": 1}}, now=NOW)
    assert new["status"] == {}
