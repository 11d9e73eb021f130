"""What an update of core's kinds is told, and how often, after upstream's strategies and their tables of updates."""

from __future__ import annotations

import copy

import pytest

from engine.api.types import GVK, Object
from engine.api.validation import validate_update
from engine.api.validation.pod_subresources import validate_resize
from tests.api.objects import POD, SERVICE, container, info, pod, prepared, service

NODE = GVK("", "v1", "Node")
LABEL = (
    "metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "
    "for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
MADE: dict[str, Object] = {
    "ConfigMap": {},
    "Endpoints": {},
    "LimitRange": {},
    "Namespace": {},
    "Node": {},
    "PersistentVolume": {
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}}
    },
    "PersistentVolumeClaim": {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    },
    "Pod": {"spec": pod()["spec"]},
    "ResourceQuota": {},
    "Secret": {},
    "Service": {"spec": service()["spec"]},
    "ServiceAccount": {},
}
# By the REST layer twice, and as often as the kind's strategy looks.
TIMES = {
    **dict.fromkeys(MADE, 4),
    **dict.fromkeys(("LimitRange", "ResourceQuota", "Service"), 3),
}


def stored(gvk: GVK, value: Object) -> Object:
    obj = prepared(gvk, value)
    obj["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    return obj


def update(gvk: GVK, new: Object, old: Object) -> list[str]:
    return [str(cause) for cause in validate_update(info(gvk), new, old)]


@pytest.mark.parametrize("kind", MADE)
def test_a_wrong_label_is_told_as_often_as_upstream_finds_it(kind: str) -> None:
    gvk = GVK("", "v1", kind)
    metadata: Object = {"name": "web", **({"namespace": "default"} if info(gvk).namespaced else {})}
    old = stored(gvk, {"metadata": metadata, **MADE[kind]})
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {**new["metadata"].get("labels", {}), "a b": ""}
    assert update(gvk, new, old) == [LABEL] * TIMES[kind]


def test_owners_are_shown_in_the_order_of_their_fields() -> None:
    old = stored(POD, pod())
    new = copy.deepcopy(old)
    owner = {"uid": "1", "controller": True, "name": "e", "kind": "Event", "apiVersion": "v1"}
    new["metadata"]["ownerReferences"] = [owner, {"apiVersion": "a/b/c", "kind": "K", "name": "k", "uid": "2"}]
    found = update(POD, new, old)
    assert found[:2] == [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"1",'
        '"controller":true}: /v1, Kind=Event is disallowed from being an owner',
        'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
    ]
    assert found == found[:2] * 4


def node(spec: Object, **annotations: str) -> Object:
    named = {f"scheduler.alpha.kubernetes.io/{name}": text for name, text in annotations.items()}
    return {"metadata": {"name": "web", "annotations": named}, "spec": spec}


KEPT = 'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'
NODES: dict[str, tuple[Object, Object, list[str]]] = {
    "a range that is none": (
        node({}),
        node({"podCIDRs": ["10.0.0.0/99"]}),
        [
            'spec.podCIDRs[0]: Invalid value: "10.0.0.0/99": must be a valid CIDR value, '
            "(e.g. 10.9.8.0/24 or 2001:db8::/64)"
        ],
    ),
    "two other ranges": (
        node({"podCIDRs": ["10.0.0.0/24", "fd00::/64"]}),
        node({"podCIDRs": ["10.0.1.0/24", "fd01::/64"]}),
        [KEPT, KEPT],
    ),
    "one range less": (
        node({"podCIDRs": ["10.0.0.0/24", "fd00::/64"]}),
        node({"podCIDRs": ["10.0.1.0/24"]}),
        [KEPT],
    ),
    "taints in an annotation, told by both": (
        node({}),
        node({}, taints='[{"key":"a","effect":"X"}]'),
        [
            "metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].effect: Unsupported value: "
            '"X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'
        ]
        * 2,
    ),
    "taints that are none": (
        node({}),
        node({}, taints='[{"key":5}]'),
        [
            'metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/taints": json: cannot unmarshal '
            "number into Go struct field Taint.key of type string"
        ]
        * 2,
    ),
    "a configuration of nowhere": (
        node({}),
        node({"configSource": {}}),
        ['spec.configSource: Invalid value: {"ConfigMap":null}: exactly one reference subfield must be non-nil'],
    ),
    "a configuration that says what the kubelet finds out": (
        node({}),
        node({"configSource": {"configMap": {"uid": "u", "resourceVersion": "1", "namespace": "a", "name": "b"}}}),
        [
            "spec.configSource.configMap.uid: Forbidden: uid must not be set in spec",
            "spec.configSource.configMap.resourceVersion: Forbidden: resourceVersion must not be set in spec",
            "spec.configSource.configMap.kubeletConfigKey: Required value: kubeletConfigKey must be set",
        ],
    ),
    "Pods that are to avoid a node, of nobody": (
        node({}),
        node({}, preferAvoidPods='{"preferAvoidPods":[{},{"podSignature":{"podController":{"controller":false}}}]}'),
        [
            "metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature: Required value",
            "metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[1].PodSignature.PodController."
            "Controller: Invalid value: false: must point to a controller",
        ]
        * 2,
    ),
}


@pytest.mark.parametrize("name", NODES)
def test_what_may_not_change_of_a_node(name: str) -> None:
    before, after, expected = NODES[name]
    old, new = stored(NODE, before), stored(NODE, after)
    assert update(NODE, new, old) == expected


def test_a_class_of_load_balancers_is_checked_by_the_change_too() -> None:
    old = stored(SERVICE, service())
    new = copy.deepcopy(old)
    new["spec"]["loadBalancerClass"] = "example.com/lb"
    wrong = "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"
    assert update(SERVICE, new, old) == [wrong, wrong]


def test_a_pod_that_an_older_release_let_through_stays_as_it_is() -> None:
    old = stored(POD, pod())
    old["spec"] |= {"hostUsers": False, "hostPID": True}
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"a": "b"}
    assert update(POD, new, old) == []
    new["spec"]["hostIPC"] = True
    assert update(POD, new, old)[0] == "spec.HostIPC: Forbidden: when `hostUsers` is false"


# -- resizing

GUARANTEED = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
SIDECAR = {"name": "side", "image": "i:1", "restartPolicy": "Always", "resources": GUARANTEED}


def sized(**fields: object) -> Object:
    made = container(resources=GUARANTEED, **fields)
    made["spec"]["initContainers"] = [SIDECAR]
    return stored(POD, made)


def test_a_resize_is_told_what_was_taken_away_first() -> None:
    old = sized()
    new = copy.deepcopy(old)
    for field in ("containers", "initContainers"):
        new["spec"][field][0]["resources"] = {"requests": {"cpu": "1", "ephemeral-storage": "1Gi"}}
    found = [str(cause) for cause in validate_resize(new, old)]
    assert found[1:] == [
        "spec.initContainers[0].resources.requests: Forbidden: resource requests cannot be removed",
        "spec.initContainers[0].resources.limits: Forbidden: resource limits cannot be removed",
        "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
        "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed",
        "spec: Forbidden: only cpu and memory resources are mutable",
        "spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable",
    ]
    assert found[0].endswith("Pod QOS Class may not change as a result of resizing")


RESIZED: dict[str, tuple[Object, Object, list[str]]] = {
    "an init container that ends": ({}, {}, []),
    "one that would start anew": (
        {"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]},
        {},
        [
            "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer "
            "cannot be resized"
        ],
    ),
    "what is not resized of one": (
        {},
        {"image": "i:2"},
        ["spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable"],
    ),
}


@pytest.mark.parametrize("name", RESIZED)
def test_init_containers_are_resized_before_they_run(name: str) -> None:
    fields, changes, expected = RESIZED[name]
    made = container(resources=GUARANTEED)
    made["spec"]["initContainers"] = [{"name": "init", "image": "i:1", "resources": GUARANTEED}]
    old = stored(POD, made)
    old["spec"]["initContainers"][0] |= fields  # as an older release took it
    new = copy.deepcopy(old)
    twice = {"cpu": "2", "memory": "1Gi"}
    new["spec"]["initContainers"][0] |= {"resources": {"requests": twice, "limits": twice}, **changes}
    assert [str(cause) for cause in validate_resize(new, old)] == expected


WHOLE: dict[str, tuple[Object | None, list[str]]] = {
    "more": ({"requests": {"cpu": "3", "memory": "2Gi"}, "limits": {"cpu": "3", "memory": "2Gi"}}, []),
    "a limit less": (
        {"requests": {"cpu": "2", "memory": "2Gi"}, "limits": {"cpu": "2"}},
        ["spec.resources.limits: Forbidden: pod-level resource limits cannot be removed"],
    ),
    "huge pages": (
        {
            "requests": {"cpu": "2", "memory": "2Gi", "hugepages-2Mi": "2Mi"},
            "limits": {"cpu": "2", "memory": "2Gi", "hugepages-2Mi": "2Mi"},
        },
        ["spec: Forbidden: only cpu and memory resources are mutable at pod-level"],
    ),
    "nothing": (None, ["spec.resources: Forbidden: pod-level resources cannot be removed"]),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_pod_is_resized_as_a_whole(name: str) -> None:
    resources, expected = WHOLE[name]
    old = stored(POD, pod(resources={side: {"cpu": "2", "memory": "2Gi"} for side in ("requests", "limits")}))
    new = copy.deepcopy(old)
    if resources is None:
        del new["spec"]["resources"]
    else:
        new["spec"]["resources"] = resources
    found = [str(cause) for cause in validate_resize(new, old)]
    assert [cause for cause in found if "QOS" not in cause] == expected


def test_a_gate_that_is_new_twice_is_told_once() -> None:
    old = stored(POD, pod(schedulingGates=[{"name": "a"}]))
    new = copy.deepcopy(old)
    new["spec"]["schedulingGates"] = [{"name": "b"}, {"name": "b"}]
    found = [cause for cause in update(POD, new, old) if "only deletion" in cause]
    assert found == [
        "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'"
    ]


def test_how_a_container_is_resized_stays() -> None:
    old = sized(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}])
    new = copy.deepcopy(old)
    del new["spec"]["containers"][0]["resizePolicy"]
    wrong = "spec: Forbidden: only cpu and memory resources are mutable"
    assert [str(cause) for cause in validate_resize(new, old)] == [wrong]


def test_containers_stay_where_they_are() -> None:
    old = sized()
    new = copy.deepcopy(old)
    new["spec"]["containers"][0]["name"] = "db"
    new["spec"]["initContainers"].append({**new["spec"]["initContainers"][0], "name": "more"})
    assert [str(cause) for cause in validate_resize(new, old)] == [
        "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize",
        "spec.initContainers: Forbidden: initContainers may not be added or removed on resize",
    ]
