"""What 1.37 began to let through or to tell rightly, and the release before did not."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.types import GVK, Object
from engine.api.validation import validate_create, validate_status_update, validate_update
from tests.api.objects import POD, pod, prepared

HPA = GVK("autoscaling", "v2", "HorizontalPodAutoscaler")
TO_ZERO = (
    "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas"
)
ATTACHMENT = GVK("storage.k8s.io", "v1", "VolumeAttachment")
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
QUEUE = {"type": "External", "external": {"metric": {"name": "queued"}, "target": {"type": "Value", "value": "1"}}}


def kind(version: str, gvk: GVK) -> ResourceInfo:
    found = ResourceRegistry.for_version(version).by_kind(gvk)
    assert found is not None
    return found


def autoscaler(least: int, metric: Object) -> Object:
    spec = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 3}
    metadata = {"name": "web", "namespace": "default", "uid": "u", "resourceVersion": "1"}
    return prepared(HPA, {"metadata": metadata, "spec": {**spec, "minReplicas": least, "metrics": [metric]}})


def too_few(least: int, allowed: int) -> str:
    return f"spec.minReplicas: Invalid value: {least}: must be greater than or equal to {allowed}"


@pytest.mark.parametrize(
    ("version", "least", "metric", "expected"),
    [
        ("1.37", 0, QUEUE, []),
        ("1.37", 0, CPU, [TO_ZERO]),
        ("1.37", -1, QUEUE, [too_few(-1, 0)]),
        ("1.36", 1, QUEUE, []),
        ("1.36", 0, QUEUE, [too_few(0, 1)]),
        ("1.36", 0, CPU, [too_few(0, 1), TO_ZERO]),
    ],
)
def test_what_is_scaled_to_zero(version: str, least: int, metric: Object, expected: list[str]) -> None:
    of, new = kind(version, HPA), autoscaler(least, metric)
    assert [str(cause) for cause in validate_create(of, new)] == expected
    assert [str(cause) for cause in validate_update(of, new, autoscaler(1, CPU))] == expected


def test_what_was_scaled_to_zero_may_stay_so() -> None:
    old, new = autoscaler(0, QUEUE), autoscaler(0, QUEUE)
    new["spec"]["maxReplicas"] = 4
    assert validate_update(kind("1.36", HPA), new, old) == []


@pytest.mark.parametrize(
    ("version", "user", "largest"),
    [("1.37", 2**31, None), ("1.37", 2**32, 2**32 - 1), ("1.36", 2**31 - 1, None), ("1.36", 2**31, 2**31 - 1)],
)
def test_users_that_a_pod_cannot_ask_for(version: str, user: int, largest: int | None) -> None:
    def runs(**linux: Any) -> Object:
        status = {"name": "web", "user": {"linux": linux}}
        fields = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
        return {**old, "status": {**old["status"], **{field: [copy.deepcopy(status)] for field in fields}}}

    old = prepared(POD, pod())
    old["metadata"]["resourceVersion"] = "1"
    causes = [str(cause) for cause in validate_status_update(kind(version, POD), runs(uid=user, gid=0), old)]
    assert len(causes) == (0 if largest is None else 3)
    assert all(cause.endswith(f"Invalid value: {user}: must be between 0 and {largest}, inclusive") for cause in causes)
    groups = [str(cause) for cause in validate_status_update(kind(version, POD), runs(uid=0, gid=2**31), old)]
    assert [cause.partition(": ")[0].rpartition(".")[2] for cause in groups] == ["gid"] * 3


@pytest.mark.parametrize(("version", "told"), [("1.37", 1024), ("1.36", 262144)])
@pytest.mark.parametrize("field", ["attachError", "detachError"])
def test_how_long_the_message_of_a_volume_that_was_not_attached_may_be(version: str, told: int, field: str) -> None:
    spec = {"attacher": "csi.example.com", "nodeName": "n", "source": {"persistentVolumeName": "p"}}
    old = prepared(ATTACHMENT, {"metadata": {"name": "a", "resourceVersion": "1"}, "spec": spec})
    new = {**old, "status": {"attached": False, field: {"message": "é" * 513}}}
    too_long = f"status.{field}.message: Too long: may not be more than {told} bytes"
    assert [str(cause) for cause in validate_status_update(kind(version, ATTACHMENT), new, old)] == [too_long]
    new["status"][field]["message"] = "é" * 512
    assert list(validate_status_update(kind(version, ATTACHMENT), new, old)) == []
