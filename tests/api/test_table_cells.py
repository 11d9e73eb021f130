"""What the cells of each kind say."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.schema import load_definitions
from engine.api.tables import table
from engine.api.types import Object
from tests.api.rows import NOW, ago, condition, info, shown

TEMPLATE = {"spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}}
SELECTOR = {"matchLabels": {"app": "web"}}
CELLS: dict[str, tuple[tuple[str, str, str], Object, dict[str, Any]]] = {
    "Deployment": (
        ("apps", "v1", "Deployment"),
        {
            "spec": {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE},
            "status": {"readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 2},
        },
        {
            "Ready": "2/3",
            "Up-to-date": 3,
            "Available": 2,
            "Containers": "a,b",
            "Images": "x,y",
            "Selector": "app=web",
        },
    ),
    "ReplicaSet": (
        ("apps", "v1", "ReplicaSet"),
        {"spec": {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE}, "status": {"replicas": 2}},
        {"Desired": 3, "Current": 2, "Ready": 0},
    ),
    "StatefulSet": (("apps", "v1", "StatefulSet"), {"spec": {"replicas": 2}}, {"Ready": "0/2"}),
    "DaemonSet": (
        ("apps", "v1", "DaemonSet"),
        {"spec": {"selector": SELECTOR, "template": {"spec": {"nodeSelector": {"a": "b"}}}}},
        {"Desired": 0, "Node Selector": "a=b"},
    ),
    "Job that runs": (
        ("batch", "v1", "Job"),
        {"spec": {"completions": 3, "selector": SELECTOR}, "status": {"succeeded": 1, "startTime": ago(90)}},
        {"Status": "Running", "Completions": "1/3", "Duration": "90s"},
    ),
    "Job that is done": (
        ("batch", "v1", "Job"),
        {
            "spec": {"parallelism": 2},
            "status": {
                "succeeded": 1,
                "startTime": ago(90),
                "completionTime": ago(30),
                "conditions": [condition("Complete")],
            },
        },
        {"Status": "Complete", "Completions": "1/1 of 2", "Duration": "60s"},
    ),
    "Job that has met what it is to reach": (
        ("batch", "v1", "Job"),
        {"status": {"conditions": [condition("SuccessCriteriaMet")]}},
        {"Status": "SuccessCriteriaMet"},
    ),
    "Job that goes": (
        ("batch", "v1", "Job"),
        {"metadata": {"deletionTimestamp": ago(1)}, "status": {"conditions": [condition("SuccessCriteriaMet")]}},
        {"Status": "Terminating"},
    ),
    "CronJob": (
        ("batch", "v1", "CronJob"),
        {"spec": {"schedule": "* * * * *", "suspend": False}, "status": {"active": [{}]}},
        {"Schedule": "* * * * *", "Timezone": "<none>", "Suspend": "False", "Active": 1, "Last Schedule": "<none>"},
    ),
    "NodePort Service": (
        ("", "v1", "Service"),
        {
            "spec": {
                "type": "NodePort",
                "clusterIPs": ["10.96.0.5"],
                "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}],
                "selector": {"app": "web"},
            }
        },
        {
            "Type": "NodePort",
            "Cluster-IP": "10.96.0.5",
            "External-IP": "<none>",
            "Port(s)": "80:30080/TCP,53/UDP",
            "Selector": "app=web",
        },
    ),
    "LoadBalancer that waits": (
        ("", "v1", "Service"),
        {"spec": {"type": "LoadBalancer", "clusterIPs": ["None"]}},
        {"Cluster-IP": "None", "External-IP": "<pending>", "Port(s)": "<none>", "Selector": "<none>"},
    ),
    "LoadBalancer": (
        ("", "v1", "Service"),
        {
            "spec": {"type": "LoadBalancer", "externalIPs": ["9.9.9.9"]},
            "status": {"loadBalancer": {"ingress": [{"ip": "2.2.2.2"}, {"hostname": "a.b"}]}},
        },
        {"External-IP": "2.2.2.2,a.b,9.9.9.9"},
    ),
    "ExternalName": (
        ("", "v1", "Service"),
        {"spec": {"type": "ExternalName", "externalName": "a.b"}},
        {"Cluster-IP": "<none>", "External-IP": "a.b"},
    ),
    "EndpointSlice": (
        ("discovery.k8s.io", "v1", "EndpointSlice"),
        {
            "addressType": "IPv4",
            "ports": [{"port": 80}],
            "endpoints": [{"addresses": [f"10.0.0.{n}"]} for n in range(1, 6)],
        },
        {"AddressType": "IPv4", "Ports": "80", "Endpoints": "10.0.0.1,10.0.0.2,10.0.0.3 + 2 more..."},
    ),
    "empty EndpointSlice": (
        ("discovery.k8s.io", "v1", "EndpointSlice"),
        {"addressType": "IPv4"},
        {"Ports": "<unset>", "Endpoints": "<unset>"},
    ),
    "Endpoints": (
        ("", "v1", "Endpoints"),
        {"subsets": [{"addresses": [{"ip": "10.0.0.1"}, {"ip": "fd::1"}], "ports": [{"port": 80}]}]},
        {"Endpoints": "10.0.0.1:80,[fd::1]:80"},
    ),
    "Node": (
        ("", "v1", "Node"),
        {
            "metadata": {"labels": {"node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "edge"}},
            "spec": {"unschedulable": True},
            "status": {
                "conditions": [condition("Ready")],
                "addresses": [{"type": "InternalIP", "address": "10.1.0.1"}],
                "nodeInfo": {"kubeletVersion": "v1.37.0", "osImage": "ktui"},
            },
        },
        {
            "Status": "Ready,SchedulingDisabled",
            "Roles": "control-plane,edge",
            "Version": "v1.37.0",
            "Internal-IP": "10.1.0.1",
            "External-IP": "<none>",
            "OS-Image": "ktui",
            "Kernel-Version": "<unknown>",
        },
    ),
    "Node that nobody heard of": (("", "v1", "Node"), {}, {"Status": "Unknown", "Roles": "<none>", "Version": ""}),
    "Event": (
        ("", "v1", "Event"),
        {
            "type": "Normal",
            "reason": "Pulled",
            "message": " done\n",
            "lastTimestamp": ago(5),
            "firstTimestamp": ago(65),
            "count": 3,
            "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec.containers{a}"},
            "source": {"component": "kubelet", "host": "n"},
        },
        {
            "Last Seen": "5s",
            "First Seen": "65s",
            "Count": 3,
            "Object": "pod/p",
            "Subobject": "spec.containers{a}",
            "Source": "kubelet, n",
            "Message": "done",
        },
    ),
    "Event of the newer API": (
        ("events.k8s.io", "v1", "Event"),
        {
            "eventTime": ago(10),
            "note": "done",
            "regarding": {"kind": "Node"},
            "reportingController": "c",
            "series": {"count": 7, "lastObservedTime": ago(2)},
        },
        {"Last Seen": "2s", "First Seen": "10s", "Count": 7, "Object": "node", "Source": "c", "Message": "done"},
    ),
    "Namespace": (("", "v1", "Namespace"), {"status": {"phase": "Active"}}, {"Status": "Active", "Age": "5m"}),
    "ConfigMap": (("", "v1", "ConfigMap"), {"data": {"a": "b"}, "binaryData": {"c": ""}}, {"Data": 2}),
    "Secret": (("", "v1", "Secret"), {"type": "Opaque", "data": {"a": ""}}, {"Type": "Opaque", "Data": 1}),
    "ServiceAccount": (("", "v1", "ServiceAccount"), {"secrets": [{"name": "s"}]}, {"Name": "x", "Age": "5m"}),
    "Role": (
        ("rbac.authorization.k8s.io", "v1", "Role"),
        {},
        {"Name": "x", "Created At": ago(300)},
    ),
    "RoleBinding": (
        ("rbac.authorization.k8s.io", "v1", "RoleBinding"),
        {
            "roleRef": {"kind": "ClusterRole", "name": "view"},
            "subjects": [
                {"kind": "User", "name": "u"},
                {"kind": "User", "name": "v"},
                {"kind": "ServiceAccount", "namespace": "n", "name": "s"},
            ],
        },
        {"Role": "ClusterRole/view", "Users": "u, v", "Groups": "", "ServiceAccounts": "n/s"},
    ),
    "PodDisruptionBudget": (
        ("policy", "v1", "PodDisruptionBudget"),
        {"spec": {"minAvailable": "50%"}},
        {"Min Available": "50%", "Max Unavailable": "N/A", "Allowed Disruptions": 0},
    ),
    "Ingress": (
        ("networking.k8s.io", "v1", "Ingress"),
        {"spec": {"ingressClassName": "nginx", "rules": [{"host": "a"}, {}], "tls": [{}]}},
        {"Class": "nginx", "Hosts": "a", "Address": "", "Ports": "80, 443"},
    ),
    "NetworkPolicy for all Pods": (
        ("networking.k8s.io", "v1", "NetworkPolicy"),
        {"spec": {"podSelector": {}}},
        {"Pod-Selector": "<none>"},
    ),
    "HorizontalPodAutoscaler": (
        ("autoscaling", "v2", "HorizontalPodAutoscaler"),
        {
            "spec": {
                "scaleTargetRef": {"kind": "Deployment", "name": "web"},
                "maxReplicas": 5,
                "metrics": [
                    {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}},
                    {"type": "Pods", "pods": {"target": {"averageValue": "1000m"}}},
                    {"type": "External", "external": {"target": {"value": "5"}}},
                ],
            },
            "status": {"currentReplicas": 2, "currentMetrics": [{"resource": {"current": {"averageUtilization": 20}}}]},
        },
        {
            "Reference": "Deployment/web",
            "Targets": "cpu: 20%/80%, <unknown>/1 + 1 more...",
            "MinPods": "<unset>",
            "MaxPods": 5,
            "Replicas": 2,
        },
    ),
    "HorizontalPodAutoscaler whose targets became others": (
        ("autoscaling", "v2", "HorizontalPodAutoscaler"),
        {
            "spec": {
                "metrics": [
                    {"type": "External", "external": {"target": {"value": "5"}}},
                    {"type": "External", "external": {"target": {"averageValue": "5"}}},
                ]
            },
            "status": {
                "currentMetrics": [
                    {"external": {"current": {"averageValue": "3"}}},
                    {"external": {"current": {"value": "3"}}},
                ]
            },
        },
        {"Targets": "<nil>/5, <unknown>/5 (avg)"},
    ),
    "PersistentVolumeClaim": (
        ("", "v1", "PersistentVolumeClaim"),
        {
            "spec": {"volumeName": "pv", "storageClassName": "fast", "volumeMode": "Filesystem"},
            "status": {
                "phase": "Bound",
                "capacity": {"storage": "1024Mi"},
                "accessModes": ["ReadOnlyMany", "ReadWriteOnce"],
            },
        },
        {
            "Status": "Bound",
            "Volume": "pv",
            "Capacity": "1Gi",
            "Access Modes": "RWO,ROX",
            "StorageClass": "fast",
            "VolumeAttributesClass": "<unset>",
            "VolumeMode": "Filesystem",
        },
    ),
    "default StorageClass": (
        ("storage.k8s.io", "v1", "StorageClass"),
        {"metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}, "provisioner": "p"},
        {"Name": "x (default)", "ReclaimPolicy": "Delete", "AllowVolumeExpansion": False},
    ),
    "default IngressClass": (
        ("networking.k8s.io", "v1", "IngressClass"),
        {"metadata": {"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}},
        {"Name": "x (default)", "Controller": ""},
    ),
    "CustomResourceDefinition": (
        ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
        {"spec": {"group": "a.com", "scope": "Cluster", "versions": [{"name": "v2"}, {"name": "v1", "served": False}]}},
        {"Name": "x", "Group": "a.com", "Scope": "Cluster", "Versions": "v1,v2", "Created At": ago(300)},
    ),
    "Lease": (("coordination.k8s.io", "v1", "Lease"), {"spec": {"holderIdentity": "me"}}, {"Holder": "me"}),
    "ResourceQuota": (
        ("", "v1", "ResourceQuota"),
        {"status": {"hard": {"pods": "4", "limits.cpu": "2", "cpu": "1"}, "used": {"pods": "1"}}},
        {"Request": "cpu: 0/1, pods: 1/4", "Limit": "limits.cpu: 0/2"},
    ),
    "ControllerRevision": (
        ("apps", "v1", "ControllerRevision"),
        {
            "metadata": {
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "controller": True}]
            },
            "revision": 2,
        },
        {"Controller": "statefulset.apps/s", "Revision": 2},
    ),
    "CertificateSigningRequest": (
        ("certificates.k8s.io", "v1", "CertificateSigningRequest"),
        {
            "spec": {"signerName": "s", "username": "u", "expirationSeconds": 3600},
            "status": {"conditions": [{"type": "Approved"}], "certificate": "x"},
        },
        {"SignerName": "s", "Requestor": "u", "RequestedDuration": "60m", "Condition": "Approved,Issued"},
    ),
    "PodCertificateRequest": (
        ("certificates.k8s.io", "v1", "PodCertificateRequest"),
        {
            "spec": {"podName": "p", "serviceAccountName": "s", "nodeName": "n", "signerName": "a.io/b"},
            "status": {"conditions": [condition("Issued")]},
        },
        {"PodName": "p", "ServiceAccountName": "s", "NodeName": "n", "SignerName": "a.io/b", "State": "Issued"},
    ),
    "PodCertificateRequest that waits": (
        ("certificates.k8s.io", "v1", "PodCertificateRequest"),
        {"spec": {}},
        {"PodName": "", "State": "Pending"},
    ),
    "DeviceTaintRule": (
        ("resource.k8s.io", "v1", "DeviceTaintRule"),
        {"spec": {"taint": {"key": "a.io/b", "value": "c", "effect": "NoExecute", "timeAdded": ago(90)}}},
        {"Key": "a.io/b", "Value": "c", "Effect": "NoExecute", "TimeAdded": "90s", "Age": "5m"},
    ),
    "DeviceTaintRule without a value": (
        ("resource.k8s.io", "v1", "DeviceTaintRule"),
        {"spec": {"taint": {"key": "a.io/b", "effect": "None"}}},
        {"Value": "", "Effect": "None", "TimeAdded": ""},
    ),
    "StorageVersionMigration": (
        ("storagemigration.k8s.io", "v1", "StorageVersionMigration"),
        {"spec": {"resource": {"group": "apps", "resource": "deployments"}}},
        {"Name": "x", "Resource": "deployments.apps"},
    ),
    "StorageVersionMigration of the core group": (
        ("storagemigration.k8s.io", "v1", "StorageVersionMigration"),
        {"spec": {"resource": {"resource": "pods"}}},
        {"Resource": "pods."},
    ),
    "VolumeAttributesClass, which has no default": (
        ("storage.k8s.io", "v1", "VolumeAttributesClass"),
        {
            "metadata": {"annotations": {"volumeattributesclass.alpha.kubernetes.io/is-default-class": "true"}},
            "driverName": "d",
        },
        {"Name": "x", "DriverName": "d"},
    ),
    "binding of a policy to what a selector finds": (
        ("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding"),
        {
            "spec": {
                "policyName": "p",
                "paramRef": {
                    "selector": {
                        "matchLabels": {"b": "2", "a": "1"},
                        "matchExpressions": [{"key": "c", "operator": "In", "values": ["3", "4"]}],
                    }
                },
            }
        },
        {
            "PolicyName": "p",
            "ParamRef": "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},"
            "MatchExpressions:[]LabelSelectorRequirement{"
            "LabelSelectorRequirement{Key:c,Operator:In,Values:[3 4],},},}",
        },
    ),
    "APIService that is away": (
        ("apiregistration.k8s.io", "v1", "APIService"),
        {
            "spec": {"service": {"namespace": "n", "name": "s"}},
            "status": {"conditions": [condition("Available", "False", "MissingEndpoints")]},
        },
        {"Service": "n/s", "Available": "False (MissingEndpoints)"},
    ),
}


@pytest.mark.parametrize("case", CELLS)
def test_cells(case: str) -> None:
    (group, version, kind), obj, expected = CELLS[case]
    row = shown(group, version, kind, obj)
    assert {name: row[name] for name in expected} == expected


def test_an_address_has_no_age() -> None:
    address = {"spec": {"parentRef": {"resource": "services", "namespace": "n", "name": "s"}}}
    assert shown("networking.k8s.io", "v1", "IPAddress", address) == {"Name": "x", "ParentRef": "services/n/s"}


def test_tables_that_were_others_before() -> None:
    made = table(
        info("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
        [],
        now=NOW,
        list_metadata={},
        definitions=load_definitions("1.36"),
    )
    assert [column["name"] for column in made["columnDefinitions"]] == ["Name", "Created At"]
