"""What is dropped of Jobs, autoscalers, Leases, storage, EndpointSlices and statuses because its feature is off.

Rows after the strategy_test.go files of upstream's pkg/registry.
"""

from __future__ import annotations

import copy

import pytest

from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.strategies.strategy import prepare_for_create, prepare_for_status_update, prepare_for_update
from engine.api.types import GVK, Object

_AUTOSCALER = GVK("autoscaling", "v2", "HorizontalPodAutoscaler")
_CRON_JOB, _JOB = GVK("batch", "v1", "CronJob"), GVK("batch", "v1", "Job")
_DRIVER = GVK("storage.k8s.io", "v1", "CSIDriver")
_LEASE = GVK("coordination.k8s.io", "v1", "Lease")
_SLICE = GVK("discovery.k8s.io", "v1", "EndpointSlice")
_ATTACHMENT = GVK("storage.k8s.io", "v1", "VolumeAttachment")
_GROUPED: Object = {"scheduling": {"schedulingPolicy": {"gang": {"minCount": 2}}}}
_TOLERANT: Object = {"behavior": {"scaleUp": {"selectPolicy": "Max", "tolerance": "0.2"}, "scaleDown": {}}}
_CODES: Object = {"attachError": {"message": "m", "errorCode": 8}}
_COUNTED: Object = {"replicas": 1, "terminatingReplicas": 1}

# By release: the kind, what is asked for, and what is left of it.
SPECS: dict[str, tuple[str, GVK, Object, Object]] = {
    "groups of a Job's Pods": ("1.37", _JOB, {"completions": 2, **_GROUPED}, {"completions": 2}),
    "groups of a CronJob's Pods": (
        "1.37",
        _CRON_JOB,
        {"schedule": "@daily", "jobTemplate": {"spec": {"completions": 2, **_GROUPED}}},
        {"schedule": "@daily", "jobTemplate": {"spec": {"completions": 2}}},
    ),
    "who may hold a Lease": (
        "1.37",
        _LEASE,
        {"holderIdentity": "a", "strategy": "OldestEmulationVersion", "preferredHolder": "b"},
        {"holderIdentity": "a"},
    ),
    "Pods that wait for a driver": ("1.36", _DRIVER, {"preventPodSchedulingIfMissing": True}, {}),
    "Pods that wait for a driver, since": (
        "1.37",
        _DRIVER,
        {"preventPodSchedulingIfMissing": True},
        {"preventPodSchedulingIfMissing": True},
    ),
    "how often a driver is asked": ("1.34", _DRIVER, {"nodeAllocatableUpdatePeriodSeconds": 60}, {}),
    "how often a driver is asked, since": (
        "1.35",
        _DRIVER,
        {"nodeAllocatableUpdatePeriodSeconds": 60},
        {"nodeAllocatableUpdatePeriodSeconds": 60},
    ),
    "a tolerance": (
        "1.34",
        _AUTOSCALER,
        _TOLERANT,
        {"behavior": {"scaleUp": {"selectPolicy": "Max"}, "scaleDown": {}}},
    ),
    "a tolerance, since": ("1.35", _AUTOSCALER, _TOLERANT, _TOLERANT),
    "who else manages a Job": ("1.31", _JOB, {"managedBy": "example.com/queue"}, {}),
    "when a Job has succeeded": ("1.30", _JOB, {"successPolicy": {"rules": [{"succeededCount": 1}]}}, {}),
    "limits for each index": ("1.28", _JOB, {"backoffLimitPerIndex": 1, "maxFailedIndexes": 2}, {}),
}


def kind(release: str, gvk: GVK) -> ResourceInfo:
    found = ResourceRegistry.for_version(release).by_kind(gvk)
    assert found is not None
    return found


def made(spec: Object) -> Object:
    metadata = {"name": "a", "uid": "u", "generation": 1}
    return {"metadata": metadata, "spec": {"manualSelector": True, **copy.deepcopy(spec)}}


def wanted(obj: Object) -> Object:
    spec: Object = copy.deepcopy(obj["spec"])
    for field in ("manualSelector", "template"):
        spec.pop(field, None)
    return spec


@pytest.mark.parametrize("name", SPECS)
def test_what_is_dropped_of_a_spec(name: str) -> None:
    release, gvk, spec, expected = SPECS[name]
    info, obj = kind(release, gvk), made(spec)
    prepare_for_create(info, obj)
    assert wanted(obj) == expected
    changed, old = made(spec), made(expected)
    prepare_for_update(info, changed, old)
    assert wanted(changed) == expected, "no update sets it either"
    assert changed["metadata"].get("generation", 1) == 1, "nor counts it"
    kept, old = made(spec), made(spec)
    prepare_for_update(info, kept, old)
    assert wanted(kept) == spec, "what is there already stays"


def test_each_field_of_a_lease_stays_by_itself() -> None:
    new, old = made({"strategy": "a", "preferredHolder": "b"}), made({"strategy": "a"})
    prepare_for_update(kind("1.37", _LEASE), new, old)
    assert wanted(new) == {"strategy": "a"}


@pytest.mark.parametrize(("release", "kept"), [("1.33", False), ("1.34", True), ("1.37", True)])
def test_hints_of_nodes(release: str, kept: bool) -> None:
    info, hints = kind(release, _SLICE), {"forZones": [{"name": "z"}], "forNodes": [{"name": "n"}]}
    endpoints = [{"addresses": ["10.0.0.1"], "hints": hints}, {"addresses": ["10.0.0.2"]}]
    obj: Object = {"metadata": {"name": "a"}, "addressType": "IPv4", "endpoints": endpoints}
    new, old = copy.deepcopy(obj), copy.deepcopy(obj)
    prepare_for_create(info, new)
    assert ("forNodes" in new["endpoints"][0]["hints"]) is kept
    again = copy.deepcopy(obj)
    prepare_for_update(info, again, old)
    assert again["endpoints"] == endpoints


STATUSES: list[tuple[str, GVK, Object, Object]] = [
    ("1.34", GVK("apps", "v1", "Deployment"), _COUNTED, {"replicas": 1}),
    ("1.35", GVK("apps", "v1", "Deployment"), _COUNTED, _COUNTED),
    ("1.34", GVK("apps", "v1", "ReplicaSet"), _COUNTED, {"replicas": 1}),
    ("1.34", _ATTACHMENT, {"attached": False, **_CODES}, {"attached": False, "attachError": {"message": "m"}}),
    ("1.35", _ATTACHMENT, {"attached": False, **_CODES}, {"attached": False, **_CODES}),
]


@pytest.mark.parametrize(("release", "gvk", "status", "expected"), STATUSES)
def test_what_is_dropped_of_a_status(release: str, gvk: GVK, status: Object, expected: Object) -> None:
    info = kind(release, gvk)
    new, old = {**made({}), "status": copy.deepcopy(status)}, made({})
    prepare_for_status_update(info, new, old, now="2026-01-01T00:00:00Z")
    assert new["status"] == expected
    again, old = ({**made({}), "status": copy.deepcopy(status)} for _ in range(2))
    prepare_for_status_update(info, again, old, now="2026-01-01T00:00:00Z")
    assert again["status"] == status
