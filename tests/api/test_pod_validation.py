from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.label_syntax import label_key_errors
from engine.api.types import Object
from engine.api.validation import validate_status_update, validate_update
from tests.api.objects import DEPLOYMENT, POD, container, deployment, info, pod, prepared, problems

LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
C = "spec.containers[0]"


def named(**metadata: Any) -> Object:
    value = pod()
    value["metadata"] |= metadata
    return value


CASES: dict[str, tuple[Object, list[str]]] = {
    "nothing wrong": (pod(), []),
    "a name in capitals": (named(name="Web"), [f'metadata.name: Invalid value: "Web": {SUBDOMAIN_TEXT}']),
    "no name": (named(name=""), ["metadata.name: Required value: name or generateName is required"]),
    "a label key": (
        named(labels={"a/b/c": "d"}),
        [f'metadata.labels: Invalid value: "a/b/c": {text}' for text in label_key_errors("a/b/c")],
    ),
    "two controllers": (
        named(
            ownerReferences=[
                {"apiVersion": "v1", "kind": "A", "name": name, "uid": name, "controller": True} for name in "xy"
            ]
        ),
        [
            'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"A","name":"x","uid":"x",'
            '"controller":true},{"apiVersion":"v1","kind":"A","name":"y","uid":"y","controller":true}]: Only one '
            'reference can have Controller set to true. Found "true" in references for A/x and A/y'
        ],
    ),
    "no containers": (pod(containers=[]), ["spec.containers: Required value"]),
    "a container without a name or image": (
        pod(containers=[{}]),
        [f"{C}.name: Required value", f"{C}.image: Required value"],
    ),
    "a container's name": (
        pod(containers=[{"name": "a_b", "image": "a"}]),
        [f'{C}.name: Invalid value: "a_b": {LABEL_TEXT}'],
    ),
    "two containers of one name": (
        pod(containers=[{"name": "a", "image": "a"}, {"name": "a", "image": "a"}]),
        ['spec.containers[1].name: Duplicate value: "a"'],
    ),
    "space around an image": (
        pod(containers=[{"name": "a", "image": " a"}]),
        [f'{C}.image: Invalid value: " a": must not have leading or trailing whitespace'],
    ),
    "a port out of range": (
        container(ports=[{"containerPort": 70000}]),
        [f"{C}.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"],
    ),
    "a port's protocol": (
        container(ports=[{"containerPort": 80, "protocol": "HTTP"}]),
        [f'{C}.ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"'],
    ),
    "one host port twice": (
        container(ports=[{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}]),
        [f'{C}.ports[1].hostPort: Duplicate value: "TCP//80"'],
    ),
    "a pull policy": (
        container(imagePullPolicy="Sometimes"),
        [f'{C}.imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"'],
    ),
    "a variable without a name": (container(env=[{"value": "a"}]), [f"{C}.env[0].name: Required value"]),
    "a variable of two sources": (
        container(env=[{"name": "A", "value": "b", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
        [f'{C}.env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
    ),
    "a field that there is not": (
        container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.foo"}}}]),
        [
            f'{C}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.foo": error converting fieldPath: '
            "field label not supported: spec.foo"
        ],
    ),
    "a mount of no volume": (
        container(volumeMounts=[{"name": "data", "mountPath": "/data"}]),
        [f'{C}.volumeMounts[0].name: Not found: "data"'],
    ),
    "a request above its limit": (
        container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
        [f'{C}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ),
    "a negative request": (
        container(resources={"requests": {"memory": "-1Mi"}}),
        [f'{C}.resources.requests[memory]: Invalid value: "-1Mi": must be greater than or equal to 0'],
    ),
    "a resource that there is not": (
        container(resources={"limits": {"gpu": "1"}}),
        [
            f'{C}.resources.{kind}[gpu]: Invalid value: "gpu": {text}'
            for kind in ("limits", "requests")
            for text in (
                "must be a standard resource type or fully qualified",
                "must be a standard resource for containers",
            )
        ],
    ),
    "half a device": (
        container(resources={"limits": {"example.com/gpu": "500m"}}),
        [
            f'{C}.resources.{kind}[example.com/gpu]: Invalid value: "500m": must be an integer'
            for kind in ("limits", "requests")
        ],
    ),
    "a probe without a handler": (
        container(readinessProbe={"periodSeconds": 1}),
        [f"{C}.readinessProbe: Required value: must specify a handler type"],
    ),
    "a probe of two handlers": (
        container(readinessProbe={"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}}),
        [f"{C}.readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"],
    ),
    "a liveness probe that must succeed twice": (
        container(livenessProbe={"tcpSocket": {"port": 1}, "successThreshold": 2}),
        [f"{C}.livenessProbe.successThreshold: Invalid value: 2: must be 1"],
    ),
    "a probe of an init container": (
        pod(initContainers=[{"name": "i", "image": "a", "readinessProbe": {"tcpSocket": {"port": 1}}}]),
        [
            "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without "
            "restartPolicy=Always"
        ],
    ),
    "an init container named like another": (
        pod(initContainers=[{"name": "web", "image": "a"}]),
        ['spec.initContainers[0].name: Duplicate value: "web"'],
    ),
    "a volume of two sources": (
        pod(volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/a"}}]),
        ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
    ),
    "two volumes of one name": (
        pod(volumes=[{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]),
        ['spec.volumes[1].name: Duplicate value: "v"'],
    ),
    "a step back": (
        pod(volumes=[{"name": "v", "hostPath": {"path": "/a/../b"}}]),
        ["spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'"],
    ),
    "a restart policy": (
        pod(restartPolicy="Maybe"),
        ['spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"'],
    ),
    "a toleration without a key": (
        pod(tolerations=[{"effect": "NoSchedule"}]),
        [
            'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means '
            '"match all values and all keys"'
        ],
    ),
    "a toleration that ends without evicting": (
        pod(tolerations=[{"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 1}]),
        [
            "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when "
            "`tolerationSeconds` is set"
        ],
    ),
    "an affinity of no terms": (
        pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}),
        [
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required "
            "value: must have at least one node selector term"
        ],
    ),
    "a spread of nothing": (
        pod(topologySpreadConstraints=[{"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 0}]),
        ["spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"],
    ),
    "a node before the gates": (
        pod(nodeName="n", schedulingGates=[{"name": "a"}]),
        ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
    ),
    "a host port that is another on the host's network": (
        pod(
            containers=[{"name": "a", "image": "a", "ports": [{"containerPort": 80, "hostPort": 81}]}],
            hostNetwork=True,
        ),
        [f"{C}.ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"],
    ),
    "name servers of its own": (
        pod(dnsPolicy="None"),
        ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
    ),
    "a deadline": (
        pod(activeDeadlineSeconds=0),
        ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
    ),
    "a token without an account": (
        pod(volumes=[{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]),
        [
            "spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when "
            "serviceAccountName is not set"
        ],
    ),
    "ephemeral containers": (
        pod(ephemeralContainers=[{"name": "debug", "image": "a"}]),
        ["spec.ephemeralContainers: Forbidden: cannot be set on create"],
    ),
    "privileged and not": (
        container(securityContext={"runAsUser": -1}),
        [f"{C}.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_with_a_new_pod(name: str) -> None:
    value, expected = CASES[name]
    assert problems(POD, value) == expected


def test_a_template_is_checked_under_its_own_path() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a"}]}}
    assert problems(DEPLOYMENT, deployment(template=template)) == [
        "spec.template.spec.containers[0].image: Required value"
    ]


def stored() -> Object:
    obj = prepared(POD, pod(tolerations=[{"key": "a", "operator": "Exists"}]))
    obj["metadata"] |= {"uid": "u", "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return obj


def updated(**spec: Any) -> list[str]:
    old = stored()
    new = copy.deepcopy(old)
    new["spec"] |= spec
    return [str(cause) for cause in validate_update(info(POD), new, old)]


def test_an_image_may_change() -> None:
    containers = stored()["spec"]["containers"]
    containers[0]["image"] = "nginx:1.28"
    assert updated(containers=containers) == []


def test_a_toleration_may_be_added_and_not_taken() -> None:
    more = [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]
    assert updated(tolerations=more) == []
    assert updated(tolerations=[])[0] == (
        "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"
    )


def test_other_fields_may_not_change() -> None:
    (problem,) = updated(hostname="other")
    assert problem == (
        "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
        "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"
        '@@ -64,7 +64,7 @@\n   "SELinuxChangePolicy": null\n  },\n  "ImagePullSecrets": null,\n- "Hostname": "",\n'
        '+ "Hostname": "other",\n  "Subdomain": "",\n  "Affinity": null,\n  "SchedulerName": "default-scheduler",\n'
    )


def test_containers_may_not_be_added() -> None:
    containers = [*stored()["spec"]["containers"], *prepared(POD, container())["spec"]["containers"]]
    containers[1]["name"] = "more"
    assert updated(containers=containers) == [
        "spec.containers: Forbidden: pod updates may not add or remove containers"
    ]


def test_a_deadline_may_only_come_closer() -> None:
    old = stored()
    old["spec"]["activeDeadlineSeconds"] = 10
    new = copy.deepcopy(old)
    new["spec"]["activeDeadlineSeconds"] = 20
    assert [str(cause) for cause in validate_update(info(POD), new, old)] == [
        "spec.activeDeadlineSeconds: Invalid value: 20: must be less than or equal to previous value"
    ]


def test_metadata_that_may_not_change() -> None:
    old = stored()
    new = copy.deepcopy(old)
    new["metadata"] |= {"uid": "other", "resourceVersion": ""}
    assert [str(cause) for cause in validate_update(info(POD), new, old)] == [
        'metadata.resourceVersion: Invalid value: "": must be specified for an update',
        'metadata.uid: Invalid value: "other": field is immutable',
    ] * 2  # by the REST layer and by the strategy


def test_no_finalizer_is_added_to_what_is_being_deleted() -> None:
    old = stored()
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    new = copy.deepcopy(old)
    new["metadata"]["finalizers"] = ["example.com/wait"]
    assert [str(cause) for cause in validate_update(info(POD), new, old)] == [
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new "
        'finalizers []string{"example.com/wait"}'
    ] * 2


def test_a_finished_container_stays_finished_unless_it_is_restarted() -> None:
    old = prepared(POD, pod(restartPolicy="Never"))
    old["metadata"]["resourceVersion"] = "1"
    old["status"]["containerStatuses"] = [{"name": "web", "state": {"terminated": {"exitCode": 0}}}]
    new = copy.deepcopy(old)
    new["status"]["containerStatuses"][0]["state"] = {"running": {}}
    assert [str(cause) for cause in validate_status_update(info(POD), new, old)] == [
        "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"
    ]
    for spec in (old["spec"], new["spec"]):
        spec["restartPolicy"] = "Always"
    assert validate_status_update(info(POD), new, old) == []


def test_a_pods_class_may_not_change() -> None:
    old = stored()
    new = copy.deepcopy(old)
    new["status"]["qosClass"] = "Guaranteed"
    assert [str(cause) for cause in validate_status_update(info(POD), new, old)] == [
        'status.qosClass: Invalid value: "Guaranteed": field is immutable'
    ]
