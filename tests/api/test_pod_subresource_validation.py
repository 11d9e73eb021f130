from __future__ import annotations

import copy

import pytest

from engine.api.types import Object
from engine.api.validation.pod_subresources import validate_ephemeral_containers, validate_resize
from tests.api.objects import POD, container, pod, prepared

DEBUG = {
    "name": "debug",
    "image": "busybox:1",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "IfNotPresent",
    "resources": {},
}


def stored(value: Object) -> Object:
    obj = prepared(POD, value)
    obj["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    return obj


def sized(requests: Object, limits: Object | None = None, **fields: object) -> Object:
    resources = {"requests": requests, **({"limits": limits} if limits else {})}
    return stored(container(resources=resources, **fields))


def resize(old: Object, **resources: Object) -> list[str]:
    new = copy.deepcopy(old)
    new["spec"]["containers"][0]["resources"] = resources
    return [str(cause) for cause in validate_resize(new, old)]


def test_cpu_and_memory_may_change() -> None:
    old = sized({"cpu": "100m", "memory": "64Mi"})
    assert resize(old, requests={"cpu": "200m", "memory": "32Mi"}) == []


PATH = "spec.containers[0].resources"
REFUSED: dict[str, tuple[Object, Object, str]] = {
    "a request is taken away": (
        sized({"cpu": "100m", "memory": "64Mi"}),
        {"requests": {"cpu": "100m"}},
        f"{PATH}.requests: Forbidden: resource requests cannot be removed",
    ),
    "the class changes": (
        sized({"cpu": "100m"}),
        {"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": {"cpu": "100m", "memory": "1Gi"}},
        'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
    ),
    "a device is added": (
        sized({"cpu": "1"}),
        {"requests": {"cpu": "1", "example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}},
        "spec: Forbidden: only cpu and memory resources are mutable",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_resize_may_not_do(name: str) -> None:
    old, resources, expected = REFUSED[name]
    assert expected in resize(old, **resources)


@pytest.mark.parametrize("policy", ["NotRequired", "RestartContainer"])
def test_memory_may_shrink_whether_or_not_the_container_restarts_for_it(policy: str) -> None:
    policies = [{"resourceName": "memory", "restartPolicy": policy}]
    old = sized({"memory": "64Mi"}, {"memory": "128Mi"}, resizePolicy=policies)
    assert resize(old, requests={"memory": "64Mi"}, limits={"memory": "100Mi"}) == []


def test_a_static_pod_is_as_its_file_says() -> None:
    old = stored(pod())
    old["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    assert [str(cause) for cause in validate_resize(old, old)] == ["[]: Forbidden: static pods cannot be resized"]
    assert [str(cause) for cause in validate_ephemeral_containers(old, old)] == [
        "[]: Forbidden: static pods do not support ephemeral containers"
    ]


def ephemeral(old: Object, *containers: Object) -> list[str]:
    new = copy.deepcopy(old)
    new["spec"]["ephemeralContainers"] = list(containers)
    return [str(cause) for cause in validate_ephemeral_containers(new, old)]


def test_a_container_may_be_added_for_debugging() -> None:
    assert ephemeral(stored(pod()), DEBUG) == []
    assert ephemeral(stored(pod()), {**DEBUG, "targetContainerName": "nope"}) == [
        'spec.ephemeralContainers[0].targetContainerName: Not found: "nope"'
    ]
    assert ephemeral(stored(pod()), {**DEBUG, "ports": [{"containerPort": 80, "protocol": "TCP"}]}) == [
        "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container"
    ]
    assert ephemeral(stored(pod()), {**DEBUG, "restartPolicy": ""}) == [
        "spec.ephemeralContainers[0].restartPolicy: Forbidden: cannot be set for an Ephemeral Container"
    ]


def test_what_was_added_stays_as_it_is() -> None:
    old = stored(pod())
    old["spec"]["ephemeralContainers"] = [DEBUG]
    assert ephemeral(old, {**DEBUG, "image": "busybox:2"}) == [
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be changed\n'
        '@@ -1,6 +1,6 @@\n {\n  "Name": "debug",\n- "Image": "busybox:1",\n+ "Image": "busybox:2",\n'
        '  "Command": null,\n  "Args": null,\n  "WorkingDir": "",\n'
    ]
    assert ephemeral(old) == [
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n'
    ]
