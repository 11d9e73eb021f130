"""What Go writes where there is nothing, and where it stands."""

from __future__ import annotations

import orjson
import pytest

from engine.api.nil_lists import with_nils
from engine.api.types import Object
from engine.api.wire import WatchEvent

RBAC, NETWORKING = "rbac.authorization.k8s.io/v1", "networking.k8s.io/v1"
EXTENSIONS = "apiextensions.k8s.io/v1"
BACKEND = {"resource": {"kind": "Bucket", "name": "b"}}
NAMELESS = {"resource": {"apiGroup": None, "kind": "Bucket", "name": "b"}}
ROWS: dict[str, tuple[str, Object, Object]] = {
    "a role without rules": (f"{RBAC}/Role", {"metadata": {}}, {"metadata": {}, "rules": None}),
    "an aggregated role": (
        f"{RBAC}/ClusterRole",
        {"metadata": {}, "aggregationRule": {}},
        {"metadata": {}, "rules": None, "aggregationRule": {}},
    ),
    "a role with rules": (f"{RBAC}/Role", {"rules": [{"verbs": ["get"]}]}, {"rules": [{"verbs": ["get"]}]}),
    "a token that is bound to nothing": (
        "authentication.k8s.io/v1/TokenRequest",
        {"spec": {"audiences": ["a"], "expirationSeconds": 3600}},
        {"spec": {"audiences": ["a"], "expirationSeconds": 3600, "boundObjectRef": None}},
    ),
    "a slice of no endpoints": (
        "discovery.k8s.io/v1/EndpointSlice",
        {"metadata": {}, "addressType": "IPv4"},
        {"metadata": {}, "addressType": "IPv4", "endpoints": None, "ports": None},
    ),
    "a slice without ports": (
        "discovery.k8s.io/v1/EndpointSlice",
        {"addressType": "IPv4", "endpoints": []},
        {"addressType": "IPv4", "endpoints": [], "ports": None},
    ),
    "endpoints of which nobody knows whether they are ready": (
        "discovery.k8s.io/v1/EndpointSlice",
        {"endpoints": [{"addresses": ["10.0.0.1"], "nodeName": "n"}], "ports": []},
        {"endpoints": [{"addresses": ["10.0.0.1"], "conditions": {}, "nodeName": "n"}], "ports": []},
    ),
    "a set that has no Service": (
        "apps/v1/StatefulSet",
        {"spec": {"replicas": 1, "ordinals": {}, "updateStrategy": {}}},
        {"spec": {"replicas": 1, "serviceName": "", "ordinals": {"start": 0}, "updateStrategy": {}}},
    ),
    "a revision without a number": (
        "apps/v1/ControllerRevision",
        {"metadata": {}, "data": {}},
        {"metadata": {}, "data": {}, "revision": 0},
    ),
    "an event about nothing": (
        "events.k8s.io/v1/Event",
        {"metadata": {}, "reason": "a", "note": "b"},
        {"metadata": {}, "reason": "a", "regarding": {}, "note": "b"},
    ),
    "requests that are in no namespace": (
        "flowcontrol.apiserver.k8s.io/v1/FlowSchema",
        {"spec": {"rules": [{"resourceRules": [{"verbs": ["get"], "clusterScope": True}]}]}},
        {"spec": {"rules": [{"resourceRules": [{"verbs": ["get"], "clusterScope": True, "namespaces": None}]}]}},
    ),
    "a volume that could not be attached at no time": (
        "storage.k8s.io/v1/VolumeAttachment",
        {"status": {"attachError": {"message": "a"}}},
        {"status": {"attachError": {"time": None, "message": "a"}}},
    ),
    "a token for any audience": (
        "storage.k8s.io/v1/CSIDriver",
        {"spec": {"tokenRequests": [{"expirationSeconds": 600}]}},
        {"spec": {"tokenRequests": [{"audience": "", "expirationSeconds": 600}]}},
    ),
    "limits of nothing": ("v1/LimitRange", {"spec": {}}, {"spec": {"limits": None}}),
    "a node without drivers": ("storage.k8s.io/v1/CSINode", {"spec": {}}, {"spec": {"drivers": None}}),
    "a policy for failures without rules": (
        "batch/v1/CronJob",
        {"spec": {"jobTemplate": {"spec": {"podFailurePolicy": {}}}}},
        {"spec": {"jobTemplate": {"spec": {"podFailurePolicy": {"rules": None}}}}},
    ),
    "a driver without topology": (
        "storage.k8s.io/v1/CSINode",
        {"spec": {"drivers": [{"name": "a", "nodeID": "n", "allocatable": {}}]}},
        {"spec": {"drivers": [{"name": "a", "nodeID": "n", "topologyKeys": None, "allocatable": {}}]}},
    ),
    "a claim of another": (
        "v1/PersistentVolumeClaim",
        {"spec": {"dataSource": {"kind": "PersistentVolumeClaim", "name": "a"}, "volumeMode": "Block"}},
        {
            "spec": {
                "dataSource": {"apiGroup": None, "kind": "PersistentVolumeClaim", "name": "a"},
                "volumeMode": "Block",
            }
        },
    ),
    "an ingress to resources": (
        f"{NETWORKING}/Ingress",
        {"spec": {"defaultBackend": BACKEND, "rules": [{"host": "a"}, {"http": {"paths": [{"backend": BACKEND}]}}]}},
        {"spec": {"defaultBackend": NAMELESS, "rules": [{"host": "a"}, {"http": {"paths": [{"backend": NAMELESS}]}}]}},
    ),
    "an autoscaler that has seen nothing": (
        "autoscaling/v2/HorizontalPodAutoscaler",
        {"status": {"desiredReplicas": 0, "conditions": []}},
        {"status": {"desiredReplicas": 0, "currentMetrics": None, "conditions": []}},
    ),
    "a definition whose names nobody has looked at": (
        f"{EXTENSIONS}/CustomResourceDefinition",
        {"status": {"storedVersions": ["v1"]}},
        {"status": {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]}},
    ),
    "a definition whose kind is another's": (
        f"{EXTENSIONS}/CustomResourceDefinition",
        {"status": {"conditions": [], "acceptedNames": {"plural": "as", "listKind": "L"}, "storedVersions": []}},
        {
            "status": {
                "conditions": [],
                "acceptedNames": {"plural": "as", "kind": "", "listKind": "L"},
                "storedVersions": [],
            }
        },
    ),
    "a definition without a version to store": (
        f"{EXTENSIONS}/CustomResourceDefinition",
        {"status": {"conditions": [], "acceptedNames": {"plural": "as", "kind": "A"}}},
        {"status": {"conditions": [], "acceptedNames": {"plural": "as", "kind": "A"}, "storedVersions": None}},
    ),
    "a custom resource of the same kind": ("example.com/v1/Role", {"spec": {}}, {"spec": {}}),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_what_is_not_there_is_written_all_the_same(row: tuple[str, Object, Object]) -> None:
    named, value, expected = row
    version, _, kind = named.rpartition("/")
    typed = {"kind": kind, "apiVersion": version}
    shown = orjson.dumps(with_nils({**typed, **value}))
    assert shown == orjson.dumps({**typed, **expected})
    event = orjson.loads(WatchEvent("ADDED", {**typed, **value}).encoded)
    assert event["object"] == {**typed, **expected}
