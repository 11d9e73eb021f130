from __future__ import annotations

import copy

import pytest

from engine.api.resources import ResourceRegistry
from engine.api.types import GVK, Object
from engine.api.warnings import deprecation, warnings_on_create, warnings_on_update
from tests.api.objects import DEPLOYMENT, POD, container, deployment, info, pod, prepared

ENDPOINTS = GVK("", "v1", "Endpoints")

CASES: dict[str, tuple[Object, list[str]]] = {
    "nothing": (pod(), []),
    "a name with dots": (
        {**pod(), "metadata": {"name": "a.b", "namespace": "default"}},
        [
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label "
            "is recommended: [must not contain dots]"
        ],
    ),
    "an old node label": (
        pod(nodeSelector={"beta.kubernetes.io/os": "linux"}),
        ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
    ),
    "a variable twice": (
        container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
        ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ),
    "a port twice": (
        container(ports=[{"containerPort": 80}, {"containerPort": 80, "name": "http"}]),
        ["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"],
    ),
    "half a byte": (
        container(resources={"requests": {"memory": "500m"}}),
        ['spec.containers[0].resources.requests[memory]: fractional byte value "500m" is invalid, must be an integer'],
    ),
    "a secret twice": (
        pod(imagePullSecrets=[{"name": "a"}, {"name": "a"}]),
        ['spec.imagePullSecrets[1].name: duplicate name "a"'],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_pods_that_will_surprise(name: str) -> None:
    value, expected = CASES[name]
    assert warnings_on_create(info(POD), prepared(POD, value)) == expected


def test_templates_are_warned_of_under_their_path_and_when_they_change() -> None:
    old = prepared(DEPLOYMENT, deployment())
    new = copy.deepcopy(old)
    new["spec"]["template"]["spec"]["nodeSelector"] = {"beta.kubernetes.io/arch": "amd64"}
    expected = [
        "spec.template.spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "
        '"kubernetes.io/arch" instead'
    ]
    assert warnings_on_create(info(DEPLOYMENT), new) == expected
    assert warnings_on_update(info(DEPLOYMENT), new, old) == expected
    assert warnings_on_update(info(DEPLOYMENT), new, new) == []


def test_deprecated_kinds() -> None:
    assert deprecation(info(POD)) == ""
    assert deprecation(info(ENDPOINTS)) == "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
    older = ResourceRegistry.for_version("1.30")
    endpoints = older.by_kind(ENDPOINTS)
    schemas = older.get("flowcontrol.apiserver.k8s.io", "v1beta3", "flowschemas")
    assert endpoints is not None
    assert schemas is not None
    assert deprecation(endpoints) == ""
    assert deprecation(schemas) == (
        "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema is deprecated in v1.29+, unavailable in v1.32+; use "
        "flowcontrol.apiserver.k8s.io/v1 FlowSchema"
    )
