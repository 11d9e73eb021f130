from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from engine.api.defaults import apply_defaults
from engine.api.resources import ResourceRegistry
from engine.api.types import GVK, Object
from tests.api.objects import (
    DEPLOYMENT,
    JOB,
    POD,
    SERVICE,
    container,
    defaulted,
    deployment,
    info,
    pod,
    service,
)

RBAC = "rbac.authorization.k8s.io"

IMAGES = {
    "nginx": "Always",
    "nginx:latest": "Always",
    "nginx:1.27": "IfNotPresent",
    "registry.example.com:5000/nginx": "Always",
    "registry.example.com:5000/nginx:1.27": "IfNotPresent",
    "nginx@sha256:abc": "IfNotPresent",
    "Example.com/nginx": "Always",
    "localhost:5000/a__b/c-d": "Always",
    "NGINX": "IfNotPresent",
    "my image": "IfNotPresent",
    "0" * 64: "IfNotPresent",
    "a" * 247: "Always",
    "a" * 248: "IfNotPresent",  # library/ before it makes it too long for a path
    f"registry.example.com:5000/{'a' * 255}": "Always",
    f"registry.example.com:5000/{'a' * 256}": "IfNotPresent",
}


def test_a_pod_is_filled_in_as_upstream_does() -> None:
    found = defaulted(POD, container(ports=[{"containerPort": 80}]))
    assert found["spec"] == {
        "containers": [
            {
                "name": "web",
                "image": "nginx:1.27",
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "resources": {},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "IfNotPresent",
            }
        ],
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30,
        "enableServiceLinks": True,
    }


@pytest.mark.parametrize("image", IMAGES)
def test_the_pull_policy_follows_the_tag(image: str) -> None:
    found = defaulted(POD, pod(containers=[{"name": "a", "image": image}]))
    assert found["spec"]["containers"][0]["imagePullPolicy"] == IMAGES[image]


def test_probes() -> None:
    probe = {"httpGet": {"port": 80}, "periodSeconds": 5}
    found = defaulted(POD, container(readinessProbe=probe, livenessProbe={"grpc": {"port": 1}}))
    ready = found["spec"]["containers"][0]["readinessProbe"]
    assert ready == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 5,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    assert found["spec"]["containers"][0]["livenessProbe"]["grpc"]["service"] == ""


def test_requests_come_from_limits_in_a_pod_but_not_in_a_template() -> None:
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}
    found = defaulted(POD, container(resources=resources))
    assert found["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}
    template = {"metadata": {}, "spec": container(resources=resources)["spec"]}
    found = defaulted(DEPLOYMENT, deployment(template=template))
    assert found["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "500m"}
    assert "enableServiceLinks" not in found["spec"]["template"]["spec"]


def test_pod_level_requests_are_what_the_containers_ask_for() -> None:
    containers = [{"name": name, "image": "a:1", "resources": {"requests": {"cpu": "100m"}}} for name in "ab"]
    init = [{"name": "c", "image": "a:1", "resources": {"requests": {"cpu": "150m"}}}]
    limits = {"cpu": "1", "memory": "1Gi"}
    found = defaulted(POD, pod(containers=containers, initContainers=init, resources={"limits": limits}))
    assert found["spec"]["resources"]["requests"] == {"cpu": "200m", "memory": "1Gi"}


_POD_LEVEL_ROWS: dict[str, tuple[Object, list[Object], Object]] = {
    "requests of the containers count though the Pod's limits do not name them": (
        {"limits": {"memory": "1Gi"}},
        [{"requests": {"cpu": "100m"}}, {"requests": {"cpu": "200m", "memory": "64Mi"}}],
        {"limits": {"memory": "1Gi"}, "requests": {"cpu": "300m", "memory": "64Mi"}},
    ),
    "requests of the Pod stay": (
        {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}},
        [{"requests": {"cpu": "100m"}}],
        {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}},
    ),
    "without limits nothing is asked for": (
        {"requests": {"cpu": "1"}},
        [{"requests": {"cpu": "100m", "memory": "1Mi"}}],
        {"requests": {"cpu": "1"}},
    ),
    "huge pages of the containers": (
        {"limits": {"cpu": "1"}},
        [{"limits": {"hugepages-2Mi": "4Mi"}}, {"limits": {"hugepages-2Mi": "2Mi"}}],
        {
            "limits": {"cpu": "1", "hugepages-2Mi": "6Mi"},
            "requests": {"cpu": "1", "hugepages-2Mi": "6Mi"},
        },
    ),
    "huge pages that the Pod asks for": (
        {"limits": {"cpu": "1"}, "requests": {"hugepages-2Mi": "8Mi"}},
        [{"limits": {"hugepages-2Mi": "4Mi"}}],
        {"limits": {"cpu": "1"}, "requests": {"cpu": "1", "hugepages-2Mi": "8Mi"}},
    ),
    "other resources are the containers' own": (
        {"limits": {"cpu": "1"}},
        [{"limits": {"example.com/gpu": "1", "ephemeral-storage": "1Gi"}}],
        {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
    ),
    "limits of all containers are the Pod's, too": (
        {"requests": {"cpu": "1"}},
        [{"limits": {"cpu": "1", "memory": "1Gi"}}, {"limits": {"cpu": "2"}}],
        {"limits": {"cpu": "3"}, "requests": {"cpu": "1"}},
    ),
    "of neither": ({}, [{"limits": {"hugepages-2Mi": "4Mi"}}], {}),
}


@pytest.mark.parametrize("name", _POD_LEVEL_ROWS)
def test_pod_level_resources(name: str) -> None:
    resources, of_containers, expected = _POD_LEVEL_ROWS[name]
    containers = [{"name": f"c{i}", "image": "a:1", "resources": given} for i, given in enumerate(of_containers)]
    found = defaulted(POD, pod(containers=containers, resources=resources))["spec"]["resources"]
    assert found == expected


def test_a_pod_has_no_limits_of_its_containers_before_1_37() -> None:
    containers = [{"name": "a", "image": "a:1", "resources": {"limits": {"cpu": "1"}}}]
    obj = pod(containers=containers, resources={"requests": {"cpu": "1"}})
    older = ResourceRegistry.for_version("1.36").by_kind(POD)
    assert older is not None
    apply_defaults(older, obj)
    assert obj["spec"]["resources"] == {"requests": {"cpu": "1"}}


TWINS: dict[str, tuple[Object, Object]] = {
    "one": ({"podIP": "10.0.0.1"}, {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}),
    "many": (
        {"podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]},
        {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]},
    ),
    "the older one speaks": (
        {"podIP": "10.0.0.9", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]},
        {"podIP": "10.0.0.9", "podIPs": [{"ip": "10.0.0.9"}]},
    ),
    "none": ({}, {}),
}


@pytest.mark.parametrize("name", TWINS)
def test_an_address_and_addresses_are_the_same(name: str) -> None:
    given, expected = TWINS[name]
    assert defaulted(POD, {**pod(), "status": given})["status"] == expected
    ranges = {field.replace("IP", "CIDR"): _plain(value) for field, value in given.items()}
    node = {"metadata": {"name": "a"}, "spec": ranges}
    wanted = {field.replace("IP", "CIDR"): _plain(value) for field, value in expected.items()}
    assert defaulted(GVK("", "v1", "Node"), node)["spec"] == wanted


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else [each["ip"] for each in value]


def test_init_containers_are_no_annotations_any_more() -> None:
    old = {"pod.beta.kubernetes.io/init-containers": "[]", "a": "b"}
    obj = pod()
    obj["metadata"]["annotations"] = old
    assert defaulted(POD, obj)["metadata"]["annotations"] == {"a": "b"}
    made = deployment()
    made["spec"]["template"]["metadata"]["annotations"] = {"pod.alpha.kubernetes.io/init-container-statuses": "[]"}
    assert "annotations" not in defaulted(DEPLOYMENT, made)["spec"]["template"]["metadata"]


def test_volumes() -> None:
    volumes: list[Object] = [
        {"name": "none"},
        {"name": "secret", "secret": {"secretName": "a"}},
        {"name": "path", "hostPath": {"path": "/a"}},
        {
            "name": "token",
            "projected": {
                "sources": [
                    {"serviceAccountToken": {"path": "token"}},
                    {"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
                ]
            },
        },
    ]
    none, secret, path, token = defaulted(POD, pod(volumes=volumes))["spec"]["volumes"]
    assert none["emptyDir"] == {}
    assert secret["secret"]["defaultMode"] == 0o644
    assert path["hostPath"]["type"] == ""
    assert token["projected"]["sources"][0]["serviceAccountToken"]["expirationSeconds"] == 3600
    assert token["projected"]["sources"][1]["downwardAPI"]["items"][0]["fieldRef"]["apiVersion"] == "v1"


def test_host_network_opens_the_containers_ports_on_the_host() -> None:
    spec = container(ports=[{"containerPort": 80}])["spec"]
    found = defaulted(POD, pod(**spec, hostNetwork=True))
    assert found["spec"]["containers"][0]["ports"][0]["hostPort"] == 80


def test_the_old_name_of_the_service_account_says_the_same() -> None:
    assert defaulted(POD, pod(serviceAccount="robot"))["spec"]["serviceAccountName"] == "robot"
    assert defaulted(POD, pod(serviceAccountName="robot"))["spec"]["serviceAccount"] == "robot"


def test_deployments() -> None:
    spec = defaulted(DEPLOYMENT, deployment())["spec"]
    assert (spec["replicas"], spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (1, 10, 600)
    rolling = {"maxUnavailable": "25%", "maxSurge": "25%"}
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": rolling}
    assert defaulted(DEPLOYMENT, deployment(strategy={"type": "Recreate"}))["spec"]["strategy"] == {"type": "Recreate"}
    assert defaulted(DEPLOYMENT, deployment(replicas=0))["spec"]["replicas"] == 0


SERVICES: dict[str, tuple[Object, Object]] = {
    "plain": (
        {},
        {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster"},
    ),
    "load balancer": (
        {"type": "LoadBalancer"},
        {"externalTrafficPolicy": "Cluster", "allocateLoadBalancerNodePorts": True},
    ),
    "sticky": (
        {"sessionAffinity": "ClientIP"},
        {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}},
    ),
    "ports": (
        {"ports": [{"port": 80}, {"port": 81, "targetPort": "http", "protocol": "UDP"}]},
        {
            "ports": [
                {"port": 80, "protocol": "TCP", "targetPort": 80},
                {"port": 81, "targetPort": "http", "protocol": "UDP"},
            ]
        },
    ),
}


@pytest.mark.parametrize("name", SERVICES)
def test_services(name: str) -> None:
    given, expected = SERVICES[name]
    spec = defaulted(SERVICE, service(**given))["spec"]
    assert {field: spec.get(field) for field in expected} == expected


def test_an_external_name_has_no_traffic_policy() -> None:
    spec = defaulted(SERVICE, service(type="ExternalName", externalName="a.example"))["spec"]
    assert "internalTrafficPolicy" not in spec


_FACTS = (
    *("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion"),
    *("kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"),
)
UNKNOWN_NODE = {"daemonEndpoints": {"kubeletEndpoint": {"Port": 0}}, "nodeInfo": dict.fromkeys(_FACTS, "")}
OTHERS: dict[str, tuple[GVK, Object, Object]] = {
    "a secret's type and plain text": (
        GVK("", "v1", "Secret"),
        {"stringData": {"a": "b"}},
        {"type": "Opaque", "data": {"a": "Yg=="}},
    ),
    "a namespace's label": (
        GVK("", "v1", "Namespace"),
        {"metadata": {"name": "a"}},
        {"metadata": {"name": "a", "labels": {"kubernetes.io/metadata.name": "a"}}, "status": {"phase": "Active"}},
    ),
    "a node's allocatable": (
        GVK("", "v1", "Node"),
        {"status": {"capacity": {"cpu": "4"}}},
        {"status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "4"}, **UNKNOWN_NODE}},
    ),
    "a node of which nothing is known": (GVK("", "v1", "Node"), {}, {"status": UNKNOWN_NODE}),
    "a lease": (GVK("coordination.k8s.io", "v1", "Lease"), {}, {"spec": {}}),
    "a disruption budget": (GVK("policy", "v1", "PodDisruptionBudget"), {}, {"spec": {}}),
    "a claim of no device": (GVK("resource.k8s.io", "v1", "ResourceClaim"), {}, {"spec": {"devices": {}}}),
    "a template of one": (
        GVK("resource.k8s.io", "v1", "ResourceClaimTemplate"),
        {},
        {"spec": {"metadata": {}, "spec": {"devices": {}}}},
    ),
    "groups of a role binding": (
        GVK(RBAC, "v1", "RoleBinding"),
        {"roleRef": {"kind": "Role", "name": "a"}, "subjects": [{"kind": "User", "name": "jane"}]},
        {
            "roleRef": {"kind": "Role", "name": "a", "apiGroup": RBAC},
            "subjects": [{"kind": "User", "name": "jane", "apiGroup": RBAC}],
        },
    ),
    "ports of an endpoint slice": (
        GVK("discovery.k8s.io", "v1", "EndpointSlice"),
        {"ports": [{"port": 80}]},
        {"ports": [{"port": 80, "name": "", "protocol": "TCP"}]},
    ),
    "a network policy's types": (
        GVK("networking.k8s.io", "v1", "NetworkPolicy"),
        {"spec": {"egress": [{}]}},
        {"spec": {"egress": [{}], "podSelector": {}, "policyTypes": ["Ingress", "Egress"]}},
    ),
    "a storage class": (
        GVK("storage.k8s.io", "v1", "StorageClass"),
        {"provisioner": "a"},
        {"provisioner": "a", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
    ),
    "an autoscaler's metric": (
        GVK("autoscaling", "v2", "HorizontalPodAutoscaler"),
        {"spec": {"maxReplicas": 3}},
        {
            "spec": {
                "maxReplicas": 3,
                "minReplicas": 1,
                "metrics": [
                    {
                        "type": "Resource",
                        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
                    }
                ],
            }
        },
    ),
    "limits of a limit range": (
        GVK("", "v1", "LimitRange"),
        {"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1Mi"}}]}},
        {
            "spec": {
                "limits": [
                    {
                        "type": "Container",
                        "max": {"cpu": "2"},
                        "min": {"memory": "1Mi"},
                        "default": {"cpu": "2"},
                        "defaultRequest": {"cpu": "2", "memory": "1Mi"},
                    }
                ]
            }
        },
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_kinds(name: str) -> None:
    gvk, given, expected = OTHERS[name]
    found = defaulted(gvk, given)
    assert {field: found.get(field) for field in expected} == expected


def test_versions_of_definitions() -> None:
    versions: list[Object] = [{"name": "v1", "served": True}, {"name": "v2", "storage": True}]
    found = defaulted(GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), {"spec": {"versions": versions}})
    assert [(each["served"], each["storage"]) for each in found["spec"]["versions"]] == [(True, False), (False, True)]
    assert found["status"]["storedVersions"] == ["v2"]


def test_jobs() -> None:
    template = {"spec": {**pod()["spec"], "restartPolicy": "Never"}}
    spec = defaulted(JOB, {"spec": {"template": template}})["spec"]
    assert (spec["completions"], spec["parallelism"], spec["backoffLimit"]) == (1, 1, 6)
    assert (spec["completionMode"], spec["podReplacementPolicy"]) == ("NonIndexed", "TerminatingOrFailed")
    parallel: Any = defaulted(JOB, {"spec": {"parallelism": 3, "template": template}})["spec"]
    assert "completions" not in parallel


# What has no pointer in Go is filled in also where it is empty.
EMPTY: dict[str, tuple[GVK, Object, Object]] = {
    "strategy": (DEPLOYMENT, {"strategy": {"type": ""}}, {"strategy": {"type": "RollingUpdate"}}),
    "update strategy of a StatefulSet": (
        GVK("apps", "v1", "StatefulSet"),
        {"updateStrategy": {"type": ""}, "podManagementPolicy": ""},
        {"updateStrategy": {"type": "RollingUpdate"}, "podManagementPolicy": "OrderedReady"},
    ),
    "retention": (
        GVK("apps", "v1", "StatefulSet"),
        {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "", "whenScaled": "Delete"}},
        {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"}},
    ),
    "update strategy of a DaemonSet": (
        GVK("apps", "v1", "DaemonSet"),
        {"updateStrategy": {"type": ""}},
        {"updateStrategy": {"type": "RollingUpdate"}},
    ),
    "reclaim policy": (
        GVK("", "v1", "PersistentVolume"),
        {"persistentVolumeReclaimPolicy": ""},
        {"persistentVolumeReclaimPolicy": "Retain"},
    ),
}


@pytest.mark.parametrize("name", EMPTY)
def test_the_empty_string_is_nothing(name: str) -> None:
    gvk, given, expected = EMPTY[name]
    spec = defaulted(gvk, {"metadata": {"name": "a"}, "spec": given})["spec"]
    for field, value in expected.items():
        found = spec[field]
        assert found == value if isinstance(value, str) else found.items() >= value.items()


def test_a_projected_certificate_gets_its_life_with_the_request() -> None:
    certificate = {"signerName": "a.io/b", "keyType": "ED25519"}
    volume = {"name": "v", "projected": {"sources": [{"podCertificate": certificate}]}}
    (source,) = defaulted(POD, pod(volumes=[volume]))["spec"]["volumes"][0]["projected"]["sources"]
    assert source["podCertificate"] == certificate


@pytest.mark.parametrize("volume", [{"hostPath": {"path": "/a"}}, {"name": "v", "secret": {}}, {}, {"name": "v"}])
def test_only_a_volume_of_no_source_is_an_empty_folder(volume: Object) -> None:
    (found,) = defaulted(POD, pod(volumes=[volume]))["spec"]["volumes"]
    assert ("emptyDir" in found) == (not volume.keys() - {"name"})


_FINE = {"cpu": "3.000023m", "memory": "0.0005", "storage": "100m"}
_ROUNDED = {"cpu": "4m", "memory": "1m", "storage": "100m"}
_BOTH = {"limits": _FINE, "requests": _FINE}
_CLAIM = {"spec": {"resources": _BOTH}}
AMOUNTS: dict[str, tuple[GVK, Object]] = {
    "a container's, a Pod's and its overhead's": (
        POD,
        pod(containers=[{"name": "a", "resources": _BOTH}], resources={"limits": _FINE}, overhead=_FINE),
    ),
    "what a Pod is told to have": (
        POD,
        {
            **pod(),
            "status": {
                "allocatedResources": _FINE,
                "resources": _BOTH,
                **{
                    field: [{"name": "a", "allocatedResources": _FINE, "resources": _BOTH}]
                    for field in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
                },
            },
        },
    ),
    "a claim made for a Pod": (POD, pod(volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": _CLAIM}}])),
    "a claim": (
        GVK("", "v1", "PersistentVolumeClaim"),
        {**_CLAIM, "status": {"capacity": _FINE, "allocatedResources": _FINE}},
    ),
    "what a runtime takes": (GVK("node.k8s.io", "v1", "RuntimeClass"), {"overhead": {"podFixed": _FINE}}),
}


@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts_are_kept_in_thousandths(name: str) -> None:
    gvk, value = AMOUNTS[name]
    found = list(resource_lists(defaulted(gvk, {"metadata": {"name": "a"}, **value})))
    assert found == [_ROUNDED] * len(found)
    assert len(found) >= len(list(resource_lists(value)))


def resource_lists(value: object) -> Iterator[Object]:
    """Those of CPU, memory and storage, anywhere below."""
    if isinstance(value, dict):
        if "cpu" in value and "storage" in value:
            yield value
        for item in value.values():
            yield from resource_lists(item)
    elif isinstance(value, list):
        for item in value:
            yield from resource_lists(item)


def test_jobs_of_an_older_release_lack_what_it_lacks() -> None:
    older = ResourceRegistry.for_version("1.27").by_kind(JOB)
    assert older is not None
    job: Object = {"spec": {"template": {"spec": pod()["spec"]}}}
    apply_defaults(older, job)
    assert "podReplacementPolicy" not in job["spec"]


STATEFUL_SET = GVK("apps", "v1", "StatefulSet")
_ROLLING: dict[str, tuple[Object, Object]] = {
    "nothing": ({}, {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxUnavailable": 1}}),
    "a share": (
        {"rollingUpdate": {"maxUnavailable": "20%"}},
        {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxUnavailable": "20%"}},
    ),
    "the type alone": ({"type": "RollingUpdate"}, {"type": "RollingUpdate"}),
    "on delete": ({"type": "OnDelete"}, {"type": "OnDelete"}),
}


@pytest.mark.parametrize("name", _ROLLING)
def test_rolling_updates_of_stateful_sets(name: str) -> None:
    given, expected = _ROLLING[name]
    assert defaulted(STATEFUL_SET, {"spec": {"updateStrategy": given}})["spec"]["updateStrategy"] == expected


def test_stateful_sets_of_an_older_release_say_nothing_of_the_unavailable() -> None:
    """1.35 said it, until it was turned off again in 1.35.4."""
    older = ResourceRegistry.for_version("1.36").by_kind(STATEFUL_SET)
    assert older is not None
    for given, expected in (({}, {"partition": 0}), ({"maxUnavailable": 1}, {"partition": 0, "maxUnavailable": 1})):
        obj: Object = {"spec": {"updateStrategy": {"rollingUpdate": dict(given)}}}
        apply_defaults(older, obj)
        assert obj["spec"]["updateStrategy"]["rollingUpdate"] == expected


@pytest.mark.parametrize("gvk", [POD, DEPLOYMENT, SERVICE], ids=str)
def test_defaults_change_nothing_the_second_time(gvk: GVK) -> None:
    given = {POD: pod, DEPLOYMENT: deployment, SERVICE: service}[gvk]()
    once = defaulted(gvk, given)
    twice = copy.deepcopy(once)
    apply_defaults(info(gvk), twice)
    assert twice == once


_QUEUING = {"queues": 0, "handSize": 0, "queueLengthLimit": 0}
# What has no pointer in Go: group and kind, what is sent, what is kept.
ZEROS: dict[str, tuple[GVK, Object, Object]] = {
    "a precedence": (
        GVK("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema"),
        {"spec": {"matchingPrecedence": 0}},
        {"spec": {"matchingPrecedence": 1000}},
    ),
    "queues": (
        GVK("flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration"),
        {"spec": {"limited": {"lendablePercent": 0, "limitResponse": {"queuing": _QUEUING}}}},
        {
            "spec": {
                "limited": {
                    "nominalConcurrencyShares": 30,
                    "lendablePercent": 0,
                    "limitResponse": {"queuing": {"queues": 64, "handSize": 8, "queueLengthLimit": 50}},
                }
            }
        },
    ),
    "devices": (
        GVK("resource.k8s.io", "v1", "ResourceClaim"),
        {"spec": {"devices": {"requests": [{"name": "", "exactly": {"allocationMode": "", "count": 0}}]}}},
        {"spec": {"devices": {"requests": [{
            "name": "", "exactly": {"allocationMode": "ExactCount", "deviceClassName": "", "count": 1},
        }]}}},
    ),
    "a claim's phase": (
        GVK("", "v1", "PersistentVolumeClaim"), {"status": {"phase": ""}}, {"status": {"phase": "Pending"}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ZEROS)
def test_a_zero_is_nothing_where_go_has_no_pointer(name: str) -> None:
    gvk, sent, kept = ZEROS[name]
    made = defaulted(gvk, sent)
    assert {part: made[part] for part in kept} == kept


def test_the_states_of_a_container_are_there_whatever_is_known_of_them() -> None:
    fields = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
    found = {**pod(), "status": {field: [{"name": "web"}] for field in fields}}
    apply_defaults(info(POD), found)
    assert all(found["status"][field] == [{"name": "web", "state": {}, "lastState": {}}] for field in fields)


def test_a_condition_of_a_service_says_all_that_one_has() -> None:
    found = defaulted(SERVICE, {"status": {"conditions": [{}]}})["status"]["conditions"]
    assert found == [{"type": "", "status": "", "lastTransitionTime": None, "reason": "", "message": ""}]


def test_times_of_containers_are_there_also_where_nobody_has_set_them() -> None:
    states = {"state": {"running": {}}, "lastState": {"terminated": {"exitCode": 137}}}
    found = {**pod(), "status": {"containerStatuses": [states]}}
    apply_defaults(info(POD), found)
    assert found["status"]["containerStatuses"] == [
        {
            "state": {"running": {"startedAt": None}},
            "lastState": {"terminated": {"exitCode": 137, "startedAt": None, "finishedAt": None}},
        }
    ]
