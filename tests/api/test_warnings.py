from __future__ import annotations

import copy

import pytest

from engine.api.resources import ResourceRegistry
from engine.api.types import GVK, Object
from engine.api.warnings import deprecation, warnings_on_create, warnings_on_status_update, warnings_on_update
from tests.api.objects import DEPLOYMENT, JOB, POD, SERVICE, container, deployment, info, pod, prepared, service

ENDPOINTS = GVK("", "v1", "Endpoints")
QUOTA = GVK("", "v1", "ResourceQuota")

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
    "a port's name twice": (
        pod(
            containers=[
                {"name": name, "image": "i:1", "ports": [{"containerPort": number, "name": "http"}]}
                for number, name in enumerate("ab", start=80)
            ]
        ),
        [
            'spec.containers[1].ports[0]: duplicate port name "http" with spec.containers[0].ports[0], services and '
            "probes that select ports by name will use spec.containers[0].ports[0]"
        ],
    ),
    "addresses in two ways of writing": (
        pod(dnsConfig={"nameservers": ["FD00::1"]}, hostAliases=[{"ip": "fd00:0::1", "hostnames": ["a"]}]),
        [
            'spec.dnsConfig.nameservers[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
            'spec.hostAliases[0].ip: IPv6 address "fd00:0::1" should be in RFC 5952 canonical format ("fd00::1")',
        ],
    ),
    "a preferred node of a value that no label has": (
        pod(
            affinity={
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 1,
                            "preference": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]},
                        }
                    ]
                }
            }
        ),
        [
            "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference."
            "matchExpressions[0].values[0]: b c is invalid, a valid label must be an empty string or consist of "
            "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
            "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
            "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        ],
    ),
    "half a byte": (
        container(resources={"requests": {"memory": "500m"}}),
        ['spec.containers[0].resources.requests[memory]: fractional byte value "500m" is invalid, must be an integer'],
    ),
    "a port of the same number for the host too": (
        container(ports=[{"containerPort": 80}, {"containerPort": 80, "hostPort": 8080}]),
        ["spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]"],
    ),
    "a port of the host at one address and at all": (
        container(
            ports=[
                {"containerPort": 80, "hostPort": 8080},
                {"containerPort": 80, "hostPort": 8080, "hostIP": "10.0.0.1"},
            ]
        ),
        ["spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]"],
    ),
    "a port of another container": (
        pod(
            containers=[
                {"name": name, "image": "nginx", "ports": [{"containerPort": 80}]} for name in ("first", "second")
            ]
        ),
        ["spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]"],
    ),
    "an address of the host without its port": (
        container(ports=[{"containerPort": 80, "hostIP": "10.0.0.1"}]),
        [
            "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP "
            "HostIP:10.0.0.1}"
        ],
    ),
    "a variable that builds on itself": (
        container(env=[{"name": "PATH", "value": "/bin"}, {"name": "PATH", "value": "/opt:$(PATH)"}]),
        [],
    ),
    "a variable that is only itself": (
        container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)"}]),
        ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ),
    "old node labels in affinity and spreading": (
        pod(
            affinity={
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "beta.kubernetes.io/arch", "operator": "Exists"}]}
                        ]
                    }
                }
            },
            topologySpreadConstraints=[
                {
                    "maxSkew": 1,
                    "topologyKey": "failure-domain.beta.kubernetes.io/zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                }
            ],
        ),
        [
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
            ".matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use "
            '"kubernetes.io/arch" instead',
            "spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since "
            'v1.17; use "topology.kubernetes.io/zone" instead',
            "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod",
        ],
    ),
    "affinity to no Pod": (
        pod(
            affinity={
                "podAntiAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 1, "podAffinityTerm": {"topologyKey": "zone"}}
                    ]
                }
            }
        ),
        [
            "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm"
            ".labelSelector: a null labelSelector results in matching no pod"
        ],
    ),
    "annotations of old": (
        {
            **pod(),
            "metadata": {
                "name": "web",
                "annotations": {
                    "scheduler.alpha.kubernetes.io/critical-pod": "",
                    "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
                },
            },
        },
        [
            "metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "
            '"priorityClassName" field instead',
            "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "
            '"seccompProfile" field instead',
        ],
    ),
    "files that hide one another": (
        pod(
            volumes=[
                {
                    "name": "all",
                    "projected": {
                        "sources": [
                            {"serviceAccountToken": {"path": "token"}},
                            {"secret": {"name": "keys", "items": [{"key": "a", "path": "token/a"}]}},
                        ]
                    },
                },
                {
                    "name": "config",
                    "configMap": {"name": "web", "items": [{"key": "a", "path": "x"}, {"key": "b", "path": "x"}]},
                },
            ]
        ),
        [
            'volume "all" (Projected): overlapping paths: "token/a" (Secret "keys") with "token" (ServiceAccountToken)',
            'volume "config" (ConfigMap "web"): overlapping paths: "x" with "x"',
        ],
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
    new["metadata"]["generation"] = 2
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


OTHERS: dict[str, tuple[GVK, Object, list[str]]] = {
    "a headless Service that asks for what it cannot have": (
        SERVICE,
        service(clusterIP="None", sessionAffinity="ClientIP", externalIPs=["10.0.0.9"]),
        [
            "spec.externalIPs is ignored for headless services",
            "spec.SessionAffinity is ignored for headless services",
        ],
    ),
    "an address that is not canonical": (
        SERVICE,
        service(externalIPs=["2001:db8:0::1"]),
        [
            'spec.externalIPs[0]: IPv6 address "2001:db8:0::1" should be in RFC 5952 canonical format ("2001:db8::1")',
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
        ],
    ),
    "addresses of more than one reading, which only updates and balancers may have": (
        SERVICE,
        service(
            clusterIP="192.012.2.2",
            clusterIPs=["192.012.2.2", "::ffff:192.12.2.2"],
            loadBalancerIP="010.1.1.1",
            loadBalancerSourceRanges=[
                "192.12.2.0/24",
                "192.012.2.0/24",
                "192.12.2.0/024",
                "::ffff:192.12.2.0/120",
                "192.12.2.8/24",
                "192.012.2.8/24",
                "2001:db8:0:0::/64",
                "192.12.2.0/33",
                "any",
            ],
        ),
        [
            *(
                f'spec.{path}: non-standard {noun} "{value}" will be considered invalid in a future Kubernetes '
                f'release: use "{right}"'
                for path, noun, value, right in (
                    ("clusterIPs[0]", "IP address", "192.012.2.2", "192.12.2.2"),
                    ("clusterIPs[1]", "IP address", "::ffff:192.12.2.2", "192.12.2.2"),
                    ("loadBalancerIP", "IP address", "010.1.1.1", "10.1.1.1"),
                    ("loadBalancerSourceRanges[1]", "CIDR value", "192.012.2.0/24", "192.12.2.0/24"),
                    ("loadBalancerSourceRanges[2]", "CIDR value", "192.12.2.0/024", "192.12.2.0/24"),
                    ("loadBalancerSourceRanges[3]", "CIDR value", "::ffff:192.12.2.0/120", "192.12.2.0/24"),
                )
            ),
            'spec.loadBalancerSourceRanges[4]: CIDR value "192.12.2.8/24" is ambiguous in this context (should be '
            '"192.12.2.0/24" or "192.12.2.8/32"?)',
            'spec.loadBalancerSourceRanges[5]: CIDR value "192.012.2.8/24" is ambiguous in this context (should be '
            '"192.12.2.0/24" or "192.12.2.8/32"?)',
            'spec.loadBalancerSourceRanges[5]: non-standard CIDR value "192.012.2.8/24" will be considered invalid in '
            'a future Kubernetes release: use "192.12.2.0/24"',
            'spec.loadBalancerSourceRanges[6]: IPv6 CIDR value "2001:db8:0:0::/64" should be in RFC 5952 canonical '
            'format ("2001:db8::/64")',
        ],
    ),
    "an external name of another type": (
        SERVICE,
        service(externalName="example.com", trafficDistribution="PreferClose"),
        [
            'spec.externalName is ignored when spec.type is not "ExternalName"',
            'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
        ],
    ),
    "an Ingress with its class in an annotation": (
        GVK("networking.k8s.io", "v1", "Ingress"),
        {"metadata": {"name": "web", "annotations": {"kubernetes.io/ingress.class": "nginx"}}, "spec": {}},
        ["annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"],
    ),
    "an EndpointSlice of names": (
        GVK("discovery.k8s.io", "v1", "EndpointSlice"),
        {"metadata": {"name": "web"}, "addressType": "FQDN", "endpoints": []},
        ["addressType: FQDN endpoints are deprecated"],
    ),
    "a volume of old": (
        GVK("", "v1", "PersistentVolume"),
        {
            "metadata": {"name": "a", "annotations": {"volume.beta.kubernetes.io/storage-class": "slow"}},
            "spec": {"persistentVolumeReclaimPolicy": "Recycle", "rbd": {"monitors": ["a"], "image": "b"}},
        },
        [
            "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "
            '"storageClassName" attribute instead',
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended "
            "approach is to use dynamic provisioning.",
            "spec.rbd: deprecated in v1.28, non-functional in v1.31+",
        ],
    ),
    "a slice of a driver in capitals": (
        GVK("resource.k8s.io", "v1", "ResourceSlice"),
        {"metadata": {"name": "a"}, "spec": {"driver": "GPU.example.com", "pool": {"name": "a"}, "allNodes": True}},
        ['spec.driver: driver names should be lowercase; "GPU.example.com" contains uppercase characters'],
    ),
    "a StorageClass by an old label": (
        GVK("storage.k8s.io", "v1", "StorageClass"),
        {
            "metadata": {"name": "a"},
            "provisioner": "example.com",
            "allowedTopologies": [
                {"matchLabelExpressions": [{"key": "failure-domain.beta.kubernetes.io/region", "values": ["a"]}]}
            ],
        },
        [
            "allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use "
            '"topology.kubernetes.io/region" instead'
        ],
    ),
    "a RuntimeClass by an old label": (
        GVK("node.k8s.io", "v1", "RuntimeClass"),
        {
            "metadata": {"name": "a"},
            "handler": "a",
            "scheduling": {"nodeSelector": {"beta.kubernetes.io/os": "linux"}},
        },
        ['scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead'],
    ),
    "a ServiceAccount that enforces its secrets": (
        GVK("", "v1", "ServiceAccount"),
        {"metadata": {"name": "a", "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}},
        [
            "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate "
            "namespaces to isolate access to mounted secrets"
        ],
    ),
    "a quota of more requests than limits": (
        QUOTA,
        {
            "metadata": {"name": "a"},
            "spec": {
                "hard": {
                    "cpu": "2",
                    "limits.cpu": "1",
                    "requests.memory": "3Gi",
                    "memory": "1Gi",
                    "limits.memory": "2Gi",
                    "storage": "9Gi",
                    "limits.storage": "1Gi",
                    "requests.ephemeral-storage": "2Gi",
                    "limits.ephemeral-storage": "2Gi",
                }
            },
        },
        [
            "ResourceQuota cpu (2) should be less than limits.cpu (1)",
            "ResourceQuota requests.memory (3Gi) should be less than limits.memory (2Gi)",
        ],
    ),
    "a Job of very many indexes": (
        JOB,
        {
            "metadata": {"name": "a"},
            "spec": {
                "completions": 100_001,
                "parallelism": 10_001,
                "completionMode": "Indexed",
                "template": {"spec": {**pod()["spec"], "restartPolicy": "Never"}},
            },
        },
        [
            "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
            "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        ],
    ),
    "a PodTemplate": (
        GVK("", "v1", "PodTemplate"),
        {"metadata": {"name": "a"}, "template": {"spec": pod(terminationGracePeriodSeconds=-1)["spec"]}},
        [
            "template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be "
            "treated as 1"
        ],
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_kinds(name: str) -> None:
    gvk, value, expected = OTHERS[name]
    assert warnings_on_create(info(gvk), prepared(gvk, value)) == expected


STATUS: dict[str, tuple[GVK, Object, list[str]]] = {
    "a Pod": (
        POD,
        {"status": {"podIPs": [{"ip": "10.0.0.1"}, {"ip": "FD00::1"}], "hostIPs": [{"ip": "FD00::2"}]}},
        [
            'status.podIPs[1].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
            'status.hostIPs[0].ip: IPv6 address "FD00::2" should be in RFC 5952 canonical format ("fd00::2")',
        ],
    ),
    "a Service, whatever its spec": (
        SERVICE,
        {"spec": {"externalIPs": ["FD00::1"]}, "status": {"loadBalancer": {"ingress": [{"ip": "FD00::2"}]}}},
        ['status.loadBalancer.ingress[0]: IPv6 address "FD00::2" should be in RFC 5952 canonical format ("fd00::2")'],
    ),
    "a Node, whatever its spec": (GVK("", "v1", "Node"), {"spec": {"externalID": "x"}}, []),
}


@pytest.mark.parametrize("name", STATUS)
def test_a_changed_status(name: str) -> None:
    gvk, obj, expected = STATUS[name]
    assert warnings_on_status_update(info(gvk), obj) == expected


def test_a_quota_is_warned_of_when_it_is_new_and_since_1_35() -> None:
    quota: Object = {"metadata": {"name": "a"}, "spec": {"hard": {"requests.cpu": "2", "limits.cpu": "1"}}}
    assert warnings_on_update(info(QUOTA), quota, {**quota, "spec": {}}) == []
    for release, expected in (("1.34", 0), ("1.35", 1)):
        older = ResourceRegistry.for_version(release).by_kind(QUOTA)
        assert older is not None
        assert len(warnings_on_create(older, quota)) == expected


def test_a_changed_service_is_warned_of_like_a_new_one() -> None:
    old = prepared(SERVICE, service())
    new = prepared(SERVICE, service(externalName="example.com"))
    assert warnings_on_update(info(SERVICE), new, old) == [
        'spec.externalName is ignored when spec.type is not "ExternalName"'
    ]


def test_a_schedule_that_has_a_zone_is_warned_of_at_each_change() -> None:
    kind, template = GVK("batch", "v1", "CronJob"), {"spec": {"template": {"spec": pod()["spec"]}}}
    old = prepared(kind, {"metadata": {"name": "a"}, "spec": {"schedule": "TZ=UTC 0 * * * *", "jobTemplate": template}})
    assert warnings_on_create(info(kind), old) == []
    assert warnings_on_update(info(kind), old, old) == [
        "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
        "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
    ]
