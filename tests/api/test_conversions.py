from __future__ import annotations

import copy

import pytest

from engine.api.conversions import CONVERSIONS
from engine.api.decoding import decode
from engine.api.types import GVK, Object
from tests.api.objects import DEFINITIONS, defaulted

EVENT, NEW_EVENT = GVK("", "v1", "Event"), GVK("events.k8s.io", "v1", "Event")
SCALER = GVK("autoscaling", "v2", "HorizontalPodAutoscaler")
OLD_SCALER = SCALER._replace(version="v1")

CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
MEMORY = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "100Mi"}},
}
REQUESTS: Object = {
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


_CURRENT = {"averageUtilization": 7, "averageValue": "70m"}


def scaler(*metrics: Object) -> Object:
    return {
        "metadata": {"name": "web"},
        "spec": {
            "maxReplicas": 3,
            "minReplicas": 1,
            "metrics": list(metrics),
            "behavior": {"scaleDown": {"selectPolicy": "Min"}},
        },
        "status": {
            "desiredReplicas": 1,
            "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": _CURRENT}}],
        },
    }


def test_an_event_of_one_group_is_one_of_the_other() -> None:
    new = CONVERSIONS[EVENT, NEW_EVENT](event())
    assert new["regarding"] == {"kind": "Pod", "name": "web"}
    assert new["note"] == "Started container web"
    assert (new["deprecatedCount"], new["reportingController"]) == (2, "kubelet")
    assert decode(DEFINITIONS, NEW_EVENT, new).unknown == []
    assert CONVERSIONS[NEW_EVENT, EVENT](new) == event()


def test_who_reports_is_left_out_of_an_event_of_the_new_group_where_it_is_nobody() -> None:
    stored = defaulted(EVENT, {"metadata": {"name": "a"}, "reportingComponent": "", "action": "Start"})
    assert (stored["reportingComponent"], stored["reportingInstance"]) == ("", "")
    assert not {"reportingController", "reportingInstance"} & CONVERSIONS[EVENT, NEW_EVENT](stored).keys()


@pytest.mark.parametrize("metrics", [[CPU], [CPU, MEMORY], [CPU, REQUESTS]], ids=["cpu", "memory", "object"])
def test_an_autoscaler_survives_the_way_to_v1_and_back(metrics: list[Object]) -> None:
    old = CONVERSIONS[SCALER, OLD_SCALER](scaler(*metrics))
    assert old["spec"]["targetCPUUtilizationPercentage"] == 80
    assert old["status"]["currentCPUUtilizationPercentage"] == 7
    assert decode(DEFINITIONS, OLD_SCALER, old).unknown == []
    back = CONVERSIONS[OLD_SCALER, SCALER](old)
    cpu, *others = metrics
    assert back == scaler(*others, cpu)
    assert decode(DEFINITIONS, SCALER, back).unknown == []


ANNOTATION = "autoscaling.alpha.kubernetes.io/"
_UTILIZATION = {"type": "Utilization", "averageUtilization": 60}
_AVERAGE = {"type": "AverageValue", "averageValue": "2"}
KEPT: dict[str, tuple[Object, str]] = {
    "memory": (MEMORY, '{"type":"Resource","resource":{"name":"memory","targetAverageValue":"100Mi"}}'),
    "an object's average": (
        {"type": "Object", "object": {**REQUESTS["object"], "target": _AVERAGE}},
        '{"type":"Object","object":{"target":{"kind":"Service","name":"web"},"metricName":"requests",'
        '"targetValue":"0","averageValue":"2"}}',
    ),
    "Pods": (
        {
            "type": "Pods",
            "pods": {"metric": {"name": "a", "selector": {"matchLabels": {"b": "c"}}}, "target": _AVERAGE},
        },
        '{"type":"Pods","pods":{"metricName":"a","targetAverageValue":"2","selector":{"matchLabels":{"b":"c"}}}}',
    ),
    "a container": (
        {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "web", "target": _UTILIZATION}},
        '{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":60,'
        '"container":"web"}}',
    ),
    "something else": (
        {"type": "External", "external": {"metric": {"name": "a", "selector": {}}, "target": _AVERAGE}},
        '{"type":"External","external":{"metricName":"a","metricSelector":{},"targetAverageValue":"2"}}',
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_v1_has_no_field_for_is_in_annotations(name: str) -> None:
    metric, text = KEPT[name]
    old = CONVERSIONS[SCALER, OLD_SCALER](scaler(metric))
    assert old["metadata"]["annotations"][f"{ANNOTATION}metrics"] == f"[{text}]"
    (back,) = CONVERSIONS[OLD_SCALER, SCALER](old)["spec"]["metrics"]
    assert back == metric


_CPU_AMOUNT = {"type": "Resource", "resource": {"name": "cpu", "target": _AVERAGE}}


def test_the_utilisation_of_the_cpu_need_not_come_first() -> None:
    obj = scaler(_CPU_AMOUNT, CPU)
    amount = {"type": "Resource", "resource": {"name": "cpu", "current": {"averageValue": "1"}}}
    obj["status"]["currentMetrics"] = [amount, *obj["status"]["currentMetrics"], amount]
    old = CONVERSIONS[SCALER, OLD_SCALER](obj)
    assert old["spec"]["targetCPUUtilizationPercentage"] == 80
    assert old["status"]["currentCPUUtilizationPercentage"] == 7
    assert CONVERSIONS[OLD_SCALER, SCALER](old) == obj


def test_what_an_object_has_is_a_value_or_an_average() -> None:
    obj = scaler(CPU)
    named: Object = {"describedObject": {"kind": "Service", "name": "web"}, "metric": {"name": "requests"}}
    obj["status"]["currentMetrics"] = [
        {"type": "Object", "object": {**named, "current": {field: "0"}}} for field in ("value", "averageValue")
    ]
    assert CONVERSIONS[OLD_SCALER, SCALER](CONVERSIONS[SCALER, OLD_SCALER](obj)) == obj


def test_behavior_that_says_nothing_is_kept() -> None:
    obj = scaler(CPU)
    obj["spec"]["behavior"] = {}
    assert CONVERSIONS[OLD_SCALER, SCALER](CONVERSIONS[SCALER, OLD_SCALER](obj)) == obj


def test_behavior_is_kept_by_its_names_in_go() -> None:
    behavior: Object = {"scaleDown": {"selectPolicy": "Max", "policies": [{"type": "Pods", "value": 1}]}}
    obj = scaler(CPU)
    obj["spec"]["behavior"] = behavior
    obj["metadata"]["annotations"] = {f"{ANNOTATION}metrics": "stale"}
    old = CONVERSIONS[SCALER, OLD_SCALER](obj)
    annotations = old["metadata"]["annotations"]
    assert annotations[f"{ANNOTATION}behavior"] == (
        '{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max",'
        '"Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":0}],"Tolerance":null}}'
    )
    assert f"{ANNOTATION}metrics" not in annotations
    behavior["scaleDown"]["policies"][0]["periodSeconds"] = 0
    assert CONVERSIONS[OLD_SCALER, SCALER](old)["spec"]["behavior"] == behavior


def test_annotations_of_v1_are_nobodys_own() -> None:
    spec = {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}
    annotations = {f"{ANNOTATION}metrics": "[]", "a": "b"}
    obj = defaulted(SCALER, {"metadata": {"name": "web", "annotations": annotations}, "spec": spec})
    assert obj["metadata"]["annotations"] == {"a": "b"}


# What v1's annotations say that does not fit their types.
BROKEN: dict[str, tuple[str, str]] = {
    "no JSON": ("metrics", "{"),
    "nothing": ("metrics", ""),
    "no list": ("metrics", '{"a":1}'),
    "a list of numbers": ("metrics", "[1]"),
    "a metric about a number": ("metrics", '[{"type":"Object","object":5}]'),
    "a number for text": ("metrics", '[{"type":5}]'),
    "text for a number": ("metrics", '[{"type":"Resource","resource":{"targetAverageUtilization":"x"}}]'),
    "no quantity": ("metrics", '[{"type":"Pods","pods":{"metricName":"a","targetAverageValue":"x"}}]'),
    "no selector": ("metrics", '[{"type":"Pods","pods":{"metricName":"a","selector":[]}}]'),
    "a status of text": ("current-metrics", '["x"]'),
    "conditions of numbers": ("conditions", "[1]"),
    "one condition": ("conditions", '{"type":"Ready"}'),
    "behavior of numbers": ("behavior", '{"ScaleUp":5}'),
    "policies of numbers": ("behavior", '{"ScaleUp":{"Policies":[1]}}'),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_annotations_count_as_none(name: str) -> None:
    annotation, text = BROKEN[name]
    metadata = {"name": "web", "annotations": {f"{ANNOTATION}{annotation}": text}}
    new = CONVERSIONS[OLD_SCALER, SCALER]({"metadata": metadata, "spec": {"maxReplicas": 3}})
    assert new == {"metadata": {"name": "web"}, "spec": {"maxReplicas": 3, "metrics": [CPU]}, "status": {}}


def test_of_annotations_counts_what_their_types_have() -> None:
    annotations = {
        f"{ANNOTATION}metrics": '[{"type":"Pods","a":1,"pods":{"metricName":"b","targetAverageValue":1000}},null]',
        f"{ANNOTATION}behavior": '{"ScaleUp":{"Policies":null,"SelectPolicy":"Min","d":1},"ScaleDown":null}',
    }
    new = CONVERSIONS[OLD_SCALER, SCALER]({"metadata": {"name": "web", "annotations": annotations}, "spec": {}})
    pods = {"metric": {"name": "b"}, "target": {"type": "AverageValue", "averageValue": "1k"}}
    assert new["spec"] == {
        "metrics": [{"type": "Pods", "pods": pods}, {"type": ""}],
        "behavior": {"scaleUp": {"selectPolicy": "Min"}},
    }


@pytest.mark.parametrize("pair", CONVERSIONS, ids=lambda pair: f"{pair[0].api_version} to {pair[1].api_version}")
def test_the_source_is_left_alone(pair: tuple[GVK, GVK]) -> None:
    source = event() if pair[0].kind == "Event" else scaler(CPU)
    before = copy.deepcopy(source)
    CONVERSIONS[pair](source)
    assert source == before
