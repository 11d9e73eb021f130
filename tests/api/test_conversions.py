from __future__ import annotations

import copy

import pytest

from engine.api.conversions import CONVERSIONS
from engine.api.decoding import decode
from engine.api.types import GVK, Object
from tests.api.objects import DEFINITIONS

EVENT, NEW_EVENT = GVK("", "v1", "Event"), GVK("events.k8s.io", "v1", "Event")
SCALER = GVK("autoscaling", "v2", "HorizontalPodAutoscaler")
OLD_SCALER = SCALER._replace(version="v1")

CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
MEMORY = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "100Mi"}},
}
REQUESTS = {
    "type": "Object",
    "object": {
        "describedObject": {"kind": "Service", "name": "web"},
        "metric": {"name": "requests"},
        "target": {"type": "Value", "value": "10"},
    },
}


def event() -> Object:
    return {
        "metadata": {"name": "a", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "web"},
        "reason": "Started",
        "message": "Started container web",
        "source": {"component": "kubelet", "host": "node-1"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "count": 2,
        "type": "Normal",
        "reportingComponent": "kubelet",
    }


def scaler(*metrics: Object) -> Object:
    return {
        "metadata": {"name": "web"},
        "spec": {"maxReplicas": 3, "minReplicas": 1, "metrics": list(metrics), "behavior": {"scaleDown": {}}},
        "status": {
            "desiredReplicas": 1,
            "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 7}}}],
        },
    }


def test_an_event_of_one_group_is_one_of_the_other() -> None:
    new = CONVERSIONS[EVENT, NEW_EVENT](event())
    assert new["regarding"] == {"kind": "Pod", "name": "web"}
    assert new["note"] == "Started container web"
    assert (new["deprecatedCount"], new["reportingController"]) == (2, "kubelet")
    assert decode(DEFINITIONS, NEW_EVENT, new).unknown == []
    assert CONVERSIONS[NEW_EVENT, EVENT](new) == event()


@pytest.mark.parametrize("metrics", [[CPU], [CPU, MEMORY], [CPU, REQUESTS]], ids=["cpu", "memory", "object"])
def test_an_autoscaler_survives_the_way_to_v1_and_back(metrics: list[Object]) -> None:
    old = CONVERSIONS[SCALER, OLD_SCALER](scaler(*metrics))
    assert old["spec"]["targetCPUUtilizationPercentage"] == 80
    assert old["status"]["currentCPUUtilizationPercentage"] == 7
    assert decode(DEFINITIONS, OLD_SCALER, old).unknown == []
    back = CONVERSIONS[OLD_SCALER, SCALER](old)
    assert back == scaler(*metrics)
    assert decode(DEFINITIONS, SCALER, back).unknown == []


def test_what_v1_has_no_field_for_is_in_annotations() -> None:
    annotations = CONVERSIONS[SCALER, OLD_SCALER](scaler(CPU, MEMORY))["metadata"]["annotations"]
    assert annotations["autoscaling.alpha.kubernetes.io/metrics"] == (
        '[{"type":"Resource","resource":{"targetAverageValue":"100Mi","name":"memory"}}]'
    )
    assert annotations["autoscaling.alpha.kubernetes.io/behavior"] == '{"scaleDown":{}}'


def test_broken_annotations_count_as_none() -> None:
    old: Object = {
        "metadata": {"name": "web", "annotations": {"autoscaling.alpha.kubernetes.io/metrics": "{"}},
        "spec": {"maxReplicas": 3},
    }
    assert CONVERSIONS[OLD_SCALER, SCALER](old)["spec"] == {"maxReplicas": 3}


@pytest.mark.parametrize("pair", CONVERSIONS, ids=lambda pair: f"{pair[0].api_version} to {pair[1].api_version}")
def test_the_source_is_left_alone(pair: tuple[GVK, GVK]) -> None:
    source = event() if pair[0].kind == "Event" else scaler(CPU)
    before = copy.deepcopy(source)
    CONVERSIONS[pair](source)
    assert source == before
