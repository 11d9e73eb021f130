from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import invalid
from engine.api.types import GVK, Object
from engine.api.validation import validate_create
from tests.api.objects import (
    DEPLOYMENT,
    JOB,
    POD,
    SERVICE,
    container,
    deployment,
    info,
    pod,
    prepared,
    problems,
    service,
)

CONFIG_MAP = GVK("", "v1", "ConfigMap")
SECRET = GVK("", "v1", "Secret")
NODE = GVK("", "v1", "Node")
CLAIM = GVK("", "v1", "PersistentVolumeClaim")
STATEFUL_SET = GVK("apps", "v1", "StatefulSet")
CRON_JOB = GVK("batch", "v1", "CronJob")
RBAC = "rbac.authorization.k8s.io"


def meta(**fields: Any) -> Object:
    return {"metadata": {"name": "web", "namespace": "default"}, **fields}


def cluster(**fields: Any) -> Object:
    return {"metadata": {"name": "web"}, **fields}


def job_template() -> Object:
    return {"spec": {**pod()["spec"], "restartPolicy": "OnFailure"}}


CASES: dict[str, tuple[GVK, Object, list[str]]] = {
    "a negative number of replicas": (
        DEPLOYMENT,
        deployment(replicas=-1),
        ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"],
    ),
    "a selector that misses its template": (
        DEPLOYMENT,
        deployment(selector={"matchLabels": {"app": "db"}}),
        [
            'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
        ],
    ),
    "no selector": (
        DEPLOYMENT,
        deployment(selector=None),
        [
            "spec.selector: Required value",
            'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
        ],
    ),
    "a strategy that there is not": (
        DEPLOYMENT,
        deployment(strategy={"type": "Foo"}),
        [
            'spec.strategy: Unsupported value: {"Type":"Foo","RollingUpdate":null}: supported values: "Recreate", '
            '"RollingUpdate"',
        ],
    ),
    "a selector in its own order": (
        DEPLOYMENT,
        deployment(
            selector={
                "matchExpressions": [{"operator": "Foo", "key": "app"}],
                "matchLabels": {"app": "web"},
            }
        ),
        [
            'spec.selector.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator',
            'spec.selector: Invalid value: {"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app","operator":'
            '"Foo"}]}: invalid label selector',
        ],
    ),
    "a finalizer of nobody": (
        CONFIG_MAP,
        {"metadata": {"name": "a", "namespace": "b", "finalizers": ["orphan", "a.example/b", "foo"]}},
        [
            'metadata.finalizers[2]: Invalid value: "foo": name is neither a standard finalizer name nor is it fully '
            "qualified"
        ],
    ),
    "processes of the Pod and of the node": (
        POD,
        pod(hostPID=True, shareProcessNamespace=True),
        [
            "spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot "
            "both be enabled"
        ],
    ),
    "a privileged container that may not become so": (
        POD,
        container(securityContext={"privileged": True, "allowPrivilegeEscalation": False}),
        [
            'spec.containers[0].securityContext: Invalid value: {"Capabilities":null,"Privileged":true,'
            '"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,'
            '"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,'
            '"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true'
        ],
    ),
    "a quota of an unknown scope": (
        GVK("", "v1", "ResourceQuota"),
        meta(spec={"scopes": ["Foo"]}),
        ['spec.scopes: Invalid value: ["Foo"]: unsupported scope'],
    ),
    "a range that is none": (
        NODE,
        cluster(spec={"podCIDR": "foo"}),
        [
            'spec.podCIDRs[0]: Invalid value: "foo": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
        ],
    ),
    "endpoints of an unknown kind": (
        GVK("discovery.k8s.io", "v1", "EndpointSlice"),
        meta(addressType="Foo", endpoints=[{"addresses": ["a"]}]),
        ['addressType: Unsupported value: "Foo": supported values: "FQDN", "IPv4", "IPv6"'],
    ),
    "a zone that there is not": (
        CRON_JOB,
        meta(
            spec={"schedule": "* * * * *", "timeZone": "Foo/Bar", "jobTemplate": {"spec": {"template": job_template()}}}
        ),
        ['spec.timeZone: Invalid value: "Foo/Bar": unknown time zone Foo/Bar'],
    ),
    "an empty selector": (
        DEPLOYMENT,
        deployment(selector={}),
        ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
    ),
    "an update of nothing": (
        DEPLOYMENT,
        deployment(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
        [
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
        ],
    ),
    "no percentage": (
        DEPLOYMENT,
        deployment(strategy={"rollingUpdate": {"maxSurge": "half"}}),
        [
            'spec.strategy.rollingUpdate.maxSurge: Invalid value: "half": a valid percent string must be a numeric '
            "string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
        ],
    ),
    "a rolling update of a recreation": (
        DEPLOYMENT,
        deployment(strategy={"type": "Recreate", "rollingUpdate": {}}),
        [
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
        ],
    ),
    "a deadline before readiness": (
        DEPLOYMENT,
        deployment(progressDeadlineSeconds=5, minReadySeconds=10),
        ["spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"],
    ),
    "a Deployment of Pods that end": (
        DEPLOYMENT,
        deployment(
            template={
                "metadata": {"labels": {"app": "web"}},
                "spec": {**pod()["spec"], "restartPolicy": "Never"},
            }
        ),
        ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ),
    "a stateful set's claims are volumes": (
        STATEFUL_SET,
        deployment(
            template={
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [
                        {"name": "a", "image": "a", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
                    ]
                },
            },
            volumeClaimTemplates=[
                {
                    "metadata": {"name": "data"},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                }
            ],
        ),
        [],
    ),
    "a Service without ports": (SERVICE, service(ports=[]), ["spec.ports: Required value"]),
    "a headless Service needs none": (SERVICE, service(ports=[], clusterIP="None", clusterIPs=["None"]), []),
    "ports without names": (
        SERVICE,
        service(ports=[{"port": 80}, {"port": 81}]),
        ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
    ),
    "a port twice": (
        SERVICE,
        service(ports=[{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]),
        [
            'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,'
            '"NodePort":0}'
        ],
    ),
    "a node port inside": (
        SERVICE,
        service(ports=[{"port": 80, "nodePort": 30000}]),
        ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ),
    "a kind of Service": (
        SERVICE,
        service(type="Magic"),
        [
            'spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", "LoadBalancer", '
            '"NodePort"'
        ],
    ),
    "an external name": (
        SERVICE,
        service(type="ExternalName"),
        ["spec.externalName: Required value"],
    ),
    "an address that is none": (
        SERVICE,
        service(externalIPs=["1.2.3"]),
        ['spec.externalIPs[0]: Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ),
    "a Service's name": (
        SERVICE,
        {**service(), "metadata": {"name": "1.a", "namespace": "default"}},
        ['metadata.name: Invalid value: "1.a": must not contain dots'],
    ),
    "a Service whose name begins with a digit": (
        SERVICE,
        {**service(), "metadata": {"name": "1a", "namespace": "default"}},
        [],
    ),
    "a key of a ConfigMap": (
        CONFIG_MAP,
        meta(data={"a b": ""}),
        [
            "data[a b]: Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' "
            "or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
        ],
    ),
    "too large a ConfigMap": (
        CONFIG_MAP,
        meta(data={"a": "x" * (1024 * 1024 + 1)}),
        ["[]: Too long: may not be more than 1048576 bytes"],
    ),
    "a ReplicationController whose selector has keys that no label has": (
        GVK("", "v1", "ReplicationController"),
        {
            "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}},
            "spec": {
                "selector": {"a=b": "c"},
                "template": {
                    "metadata": {"labels": {"a=b": "c"}},
                    "spec": {"containers": [{"name": "web", "image": "nginx"}]},
                },
            },
        },
        [
            'spec.template.labels: Invalid value: "a=b": name part must consist of alphanumeric characters, '
            "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  "
            "or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
        ],
    ),
    "a name that goes on after two dots": (
        GVK("rbac.authorization.k8s.io", "v1", "Role"),
        {"metadata": {"generateName": "..", "name": "..abcde", "namespace": "default"}},
        [],
    ),
    "a certificate without its key": (
        SECRET,
        meta(type="kubernetes.io/tls", data={"tls.crt": "YQ=="}),
        ["data[tls.key]: Required value"],
    ),
    "a taint twice": (
        NODE,
        cluster(spec={"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}]}),
        [
            'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: '
            "taints must be unique by key and effect pair"
        ],
    ),
    "a namespaced object without its namespace": (
        CONFIG_MAP,
        {"metadata": {"name": "a"}},
        ["metadata.namespace: Required value"],
    ),
    "a namespace of what has none": (
        NODE,
        {"metadata": {"name": "a", "namespace": "b"}},
        ["metadata.namespace: Forbidden: not allowed on this type"],
    ),
    "a Job of Pods that go on": (
        JOB,
        {"metadata": {"name": "a", "namespace": "b", "uid": "u"}, "spec": {"template": {"spec": pod()["spec"]}}},
        ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ),
    "an indexed Job of unknown size": (
        JOB,
        {
            "metadata": {"name": "a", "namespace": "b", "uid": "u"},
            "spec": {"completionMode": "Indexed", "parallelism": 2, "template": job_template()},
        },
        ["spec.completions: Required value: when completion mode is Indexed"],
    ),
    "no schedule": (
        CRON_JOB,
        meta(spec={"schedule": "often", "jobTemplate": {"spec": {"template": job_template()}}}),
        ['spec.schedule: Invalid value: "often": expected exactly 5 fields, found 1: [often]'],
    ),
    "a budget both ways": (
        GVK("policy", "v1", "PodDisruptionBudget"),
        meta(spec={"minAvailable": 1, "maxUnavailable": 1}),
        [
            'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,'
            '"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set'
        ],
    ),
    "a rule without verbs": (
        GVK(RBAC, "v1", "Role"),
        meta(rules=[{"apiGroups": [""], "resources": ["pods"]}]),
        ["rules[0].verbs: Required value"],
    ),
    "a subject that is none": (
        GVK(RBAC, "v1", "ClusterRoleBinding"),
        cluster(
            roleRef={"kind": "ClusterRole", "name": "a"},
            subjects=[{"kind": "Robot", "name": "a"}, {"kind": "ServiceAccount", "name": "a"}],
        ),
        [
            'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
            "subjects[1].namespace: Required value",
        ],
    ),
    "a role of any name": (
        GVK(RBAC, "v1", "ClusterRole"),
        {"metadata": {"name": "system:A_b"}, "rules": []},
        [],
    ),
    "a path of a role's name": (
        GVK(RBAC, "v1", "ClusterRole"),
        {"metadata": {"name": "a/b"}, "rules": []},
        ["metadata.name: Invalid value: \"a/b\": may not contain '/'"],
    ),
    "an Ingress of nothing": (
        GVK("networking.k8s.io", "v1", "Ingress"),
        meta(spec={}),
        ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"],
    ),
    "a port range backwards": (
        GVK("networking.k8s.io", "v1", "NetworkPolicy"),
        meta(spec={"ingress": [{"ports": [{"port": 80, "endPort": 79}]}]}),
        [
            "spec.ingress[0].ports[0].endPort: Invalid value: 79: must be greater than or equal to `port`",
        ],
    ),
    "an exception outside of its block": (
        GVK("networking.k8s.io", "v1", "NetworkPolicy"),
        meta(spec={"ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/16", "except": ["10.1.0.0/24"]}}]}]}),
        [
            'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.1.0.0/24": '
            "must be a strict subset of `cidr`",
        ],
    ),
    "a claim of nothing": (
        CLAIM,
        meta(spec={}),
        [
            "spec.accessModes: Required value: at least 1 access mode is required",
            "spec.resources[storage]: Required value",
        ],
    ),
    "a lease of no time": (
        GVK("coordination.k8s.io", "v1", "Lease"),
        meta(spec={"leaseDurationSeconds": 0}),
        ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
    ),
    "a slice of another family": (
        GVK("discovery.k8s.io", "v1", "EndpointSlice"),
        meta(addressType="IPv6", endpoints=[{"addresses": ["10.0.0.1"]}], ports=[]),
        ['endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address'],
    ),
    "an event of another namespace": (
        GVK("", "v1", "Event"),
        meta(involvedObject={"namespace": "other"}),
        ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
    ),
    "too high a priority": (
        GVK("scheduling.k8s.io", "v1", "PriorityClass"),
        cluster(value=2_000_000_000),
        ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
    ),
    "a custom resource's name": (
        GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
        {
            "metadata": {"name": "widgets"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        },
        ['metadata.name: Invalid value: "widgets": must be spec.names.plural+"."+spec.group'],
    ),
    "an autoscaler of nothing": (
        GVK("autoscaling", "v2", "HorizontalPodAutoscaler"),
        meta(spec={"minReplicas": 3, "maxReplicas": 2, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}),
        [
            "spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`",
            'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
        ],
    ),
    "a binding to no node": (
        GVK("", "v1", "Binding"),
        meta(target={"kind": "Pod"}),
        [
            'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
            "target.name: Required value",
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_with_a_new_object(name: str) -> None:
    gvk, value, expected = CASES[name]
    assert problems(gvk, value) == expected


def test_a_deployment_with_nothing_in_it() -> None:
    value = {"metadata": {"name": "web", "namespace": "default"}, "spec": {}}
    assert problems(DEPLOYMENT, value) == [
        "spec.selector: Required value",
        "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
        "spec.template.spec.containers: Required value",
    ]


def test_everything_wrong_is_told_at_once() -> None:
    obj = prepared(DEPLOYMENT, deployment(replicas=-1, minReadySeconds=-1))
    error = invalid(DEPLOYMENT, "web", validate_create(info(DEPLOYMENT), obj))
    assert error.code == 422
    assert error.message == (
        'Deployment.apps "web" is invalid: [spec.replicas: Invalid value: -1: must be greater than or equal to 0, '
        "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0]"
    )
