"""What 1.35 and 1.36 began to let change, and the releases before refuse (validatePodTemplateUpdate of pkg/apis/batch,
ValidateCSINodeUpdate of pkg/apis/storage)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.types import GVK, Object
from engine.api.validation import validate_update
from tests.api.objects import JOB, pod, prepared

CSI_NODE = GVK("storage.k8s.io", "v1", "CSINode")
_RAN: Object = {"startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Suspended", "status": "True"}]}
_PLACED: Object = {"nodeSelector": {"zone": "a"}, "schedulingGates": [{"name": "a.io/b"}]}


def kind(release: str, gvk: GVK) -> ResourceInfo:
    found = ResourceRegistry.for_version(release).by_kind(gvk)
    assert found is not None
    return found


def job(status: Object, *, suspend: bool = True) -> Object:
    metadata = {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "1"}
    template = {"spec": {**pod()["spec"], "restartPolicy": "Never"}}
    made = prepared(JOB, {"metadata": metadata, "spec": {"suspend": suspend, "template": template}})
    return {**made, "status": status}


def paths(release: str, gvk: GVK, new: Object, old: Object) -> list[str]:
    return [cause.field for cause in validate_update(kind(release, gvk), new, old)]


@pytest.mark.parametrize(
    ("release", "status", "placed", "resized"),
    [("1.37", {}, True, True), ("1.36", _RAN, True, True), ("1.35", {}, True, False), ("1.35", _RAN, False, False)],
)
def test_what_changes_of_a_suspended_job(release: str, status: Object, placed: bool, resized: bool) -> None:
    old, elsewhere = job(status), job(status)
    elsewhere["spec"]["template"]["spec"] |= _PLACED
    assert paths(release, JOB, elsewhere, old) == ([] if placed else ["spec.template"])
    larger: Any = job(status)
    larger["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}}
    assert paths(release, JOB, larger, old) == ([] if resized else ["spec.template"])


@pytest.mark.parametrize("release", ["1.35", "1.36"])
def test_a_job_that_runs_stays_where_it_is(release: str) -> None:
    old, new = job({}, suspend=False), job({}, suspend=False)
    new["spec"]["template"]["spec"] |= _PLACED
    assert paths(release, JOB, new, old) == ["spec.template"]


@pytest.mark.parametrize(("release", "expected"), [("1.34", ["spec.drivers"]), ("1.35", []), ("1.37", [])])
def test_how_many_volumes_a_driver_attaches(release: str, expected: list[str]) -> None:
    driver = {"name": "a.io", "nodeID": "n", "topologyKeys": ["zone"], "allocatable": {"count": 1}}
    old = prepared(CSI_NODE, {"metadata": {"name": "n", "resourceVersion": "1"}, "spec": {"drivers": [driver]}})
    new = copy.deepcopy(old)
    new["spec"]["drivers"][0]["allocatable"]["count"] = 2
    assert paths(release, CSI_NODE, new, old) == expected
    new["spec"]["drivers"][0]["nodeID"] = "other"
    assert paths(release, CSI_NODE, new, old) == ["spec.drivers"]
