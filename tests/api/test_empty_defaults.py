"""What is no pointer in Go gets its default where a client says "" as well (pkg/apis/core/v1/defaults_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import GVK, Object
from tests.api.objects import defaulted

VOLUME, ENDPOINTS = GVK("", "v1", "PersistentVolume"), GVK("", "v1", "Endpoints")
DEVICES = "resource.k8s.io", "v1"
_TOLERATES = [{"key": "a"}, {"key": "b", "operator": ""}, {"key": "c", "operator": "Exists"}]
_TOLERATED = [{"key": "a", "operator": "Equal"}, {"key": "b", "operator": "Equal"}, {"key": "c", "operator": "Exists"}]
_ASKED = {"allocationMode": "ExactCount", "count": 1, "tolerations": _TOLERATED}


def source(**fields: Any) -> Object:
    return {"spec": fields}


ROWS: dict[str, tuple[GVK, Object, Object]] = {
    "what is tolerated of the devices of a claim": (
        GVK(*DEVICES, "ResourceClaim"),
        {
            **source(devices={"requests": [{"exactly": {"tolerations": _TOLERATES}}]}),
            "status": {"allocation": {"devices": {"results": [{"tolerations": _TOLERATES}]}}},
        },
        {
            **source(devices={"requests": [{"exactly": _ASKED}]}),
            "status": {"allocation": {"devices": {"results": [{"tolerations": _TOLERATED}]}}},
        },
    ),
    "what is tolerated of the devices of claims to come": (
        GVK(*DEVICES, "ResourceClaimTemplate"),
        source(spec={"devices": {"requests": [{"firstAvailable": [{"tolerations": _TOLERATES}]}]}}),
        source(spec={"devices": {"requests": [{"firstAvailable": [_ASKED]}]}}),
    ),
    "the divisor of an amount": (
        GVK("", "v1", "Pod"),
        source(
            containers=[
                {"name": "a", "env": [{"name": "E", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]}
            ],
            volumes=[
                {
                    "name": "v",
                    "downwardAPI": {"items": [{"path": "p", "resourceFieldRef": {"resource": "limits.cpu"}}]},
                },
                {"name": "w", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
            ],
        ),
        source(
            containers=[
                {"env": [{"valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}}]},
            ],
            volumes=[
                {"downwardAPI": {"items": [{"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}]}},
                {"ephemeral": {"volumeClaimTemplate": {"metadata": {}, "spec": {"volumeMode": "Filesystem"}}}},
            ],
        ),
    ),
    "the conditions of an endpoint": (
        GVK("discovery.k8s.io", "v1", "EndpointSlice"),
        {"endpoints": [{"addresses": ["10.0.0.1"]}]},
        {"endpoints": [{"addresses": ["10.0.0.1"], "conditions": {}}]},
    ),
    "the Service of a StatefulSet": (GVK("apps", "v1", "StatefulSet"), source(replicas=2), source(serviceName="")),
    "what an event is about": (GVK("events.k8s.io", "v1", "Event"), {"reason": "a"}, {"regarding": {}}),
    "an interface": (
        VOLUME,
        source(iscsi={"targetPortal": "a", "iqn": "b", "iscsiInterface": ""}),
        source(iscsi={"iscsiInterface": "default"}),
    ),
    "a pool": (
        VOLUME,
        source(rbd={"image": "i", "pool": "", "user": "", "keyring": ""}),
        source(rbd={"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}),
    ),
    "a mode": (
        VOLUME,
        source(scaleIO={"gateway": "g", "storageMode": "", "fsType": ""}),
        source(scaleIO={"storageMode": "ThinProvisioned", "fsType": "xfs"}),
    ),
    "a protocol": (
        ENDPOINTS,
        {"subsets": [{"ports": [{"port": 80, "protocol": ""}]}]},
        {"subsets": [{"ports": [{"port": 80, "protocol": "TCP"}]}]},
    ),
}


def _contains(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return all(name in found and _contains(found[name], value) for name, value in wanted.items())
    if isinstance(wanted, list):
        return all(_contains(one, other) for one, other in zip(found, wanted, strict=True))
    return bool(found == wanted)


@pytest.mark.parametrize("name", ROWS)
def test_an_empty_text_is_none(name: str) -> None:
    gvk, value, expected = ROWS[name]
    found = defaulted(gvk, {"metadata": {"name": "web", "namespace": "default"}, **value})
    assert _contains(found, expected), found


@pytest.mark.parametrize(
    "gvk",
    [
        GVK(*DEVICES, "DeviceClass"),
        GVK("storage.k8s.io", "v1", "CSINode"),
        GVK("", "v1", "Node"),
        GVK("", "v1", "ResourceQuota"),
    ],
    ids=lambda gvk: gvk.kind,
)
def test_a_spec_that_is_not_said_is_an_empty_one(gvk: GVK) -> None:
    """Where nothing in it is needed; Go writes the struct all the same."""
    assert defaulted(gvk, {"metadata": {"name": "a"}})["spec"] == {}
