"""Quotas, limits, nodes, events, storage and what else a cluster is made of, after upstream's tables of these kinds."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.types import GVK, Object
from engine.api.validation import validate_update
from tests.api.objects import defaulted, info, prepared, problems

_TOLERATION = {"key": "a", "operator": "Exists", "effect": "NoExecute"}
STORAGE = "storage.k8s.io"
_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    r"end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
QUOTA, LIMITS, NODE = (GVK("", "v1", kind) for kind in ("ResourceQuota", "LimitRange", "Node"))
EVENT, NEW_EVENT = GVK("", "v1", "Event"), GVK("events.k8s.io", "v1", "Event")
CLASS, DRIVER, CSI_NODE = (GVK(STORAGE, "v1", kind) for kind in ("StorageClass", "CSIDriver", "CSINode"))
ATTACHMENT, ATTRIBUTES = (GVK(STORAGE, "v1", kind) for kind in ("VolumeAttachment", "VolumeAttributesClass"))
CAPACITY = GVK(STORAGE, "v1", "CSIStorageCapacity")
VOLUME, CLAIM = (GVK("", "v1", kind) for kind in ("PersistentVolume", "PersistentVolumeClaim"))
ROLE_BINDING = GVK("rbac.authorization.k8s.io", "v1", "RoleBinding")
SLICE, ENDPOINTS = GVK("discovery.k8s.io", "v1", "EndpointSlice"), GVK("", "v1", "Endpoints")
CLUSTER_ROLE = GVK("rbac.authorization.k8s.io", "v1", "ClusterRole")
RUNTIME = GVK("node.k8s.io", "v1", "RuntimeClass")
ADDRESS = GVK("networking.k8s.io", "v1", "IPAddress")
CIDRS = GVK("networking.k8s.io", "v1", "ServiceCIDR")
INGRESS_CLASS = GVK("networking.k8s.io", "v1", "IngressClass")
HPA = GVK("autoscaling", "v2", "HorizontalPodAutoscaler")


def spec(**fields: Any) -> Object:
    return {"spec": fields}


def limit(**fields: Any) -> Object:
    return spec(limits=[{"type": "Container", **fields}])


def volume(**fields: Any) -> Object:
    return spec(**{"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **fields})


def claim(**fields: Any) -> Object:
    return spec(**{"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"], **fields})


def endpoints(*found: Object, kind: str = "IPv4", **fields: Any) -> Object:
    return {"addressType": kind, "endpoints": list(found), **fields}


def metric(**source: Any) -> Object:
    return spec(maxReplicas=5, scaleTargetRef=TARGET, metrics=[source])


TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


SCOPE = "spec.scopes: Invalid value:"
NEEDS_ONE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
ROWS: dict[str, tuple[GVK, Object, list[str]]] = {
    "a quota of conflicting scopes": (
        QUOTA,
        spec(hard={"pods": "1"}, scopes=["Terminating", "NotTerminating"]),
        [f'{SCOPE} ["Terminating","NotTerminating"]: conflicting scopes'],
    ),
    "a quota of a scope that its resource has not": (
        QUOTA,
        spec(hard={"services": "1"}, scopes=["Terminating"]),
        [f'{SCOPE} ["Terminating"]: unsupported scope applied to resource'],
    ),
    "a quota of ephemeral storage by scope": (
        QUOTA,
        spec(hard={"limits.ephemeral-storage": "1Gi", "cpu": "1"}, scopes=["NotBestEffort"]),
        [f'{SCOPE} ["NotBestEffort"]: unsupported scope applied to resource'],
    ),
    "a quota of huge pages by scope": (
        QUOTA,
        spec(hard={"hugepages-2Mi": "2Mi", "pods": "1"}, scopes=["Terminating"]),
        [f'{SCOPE} ["Terminating"]: unsupported scope applied to resource'],
    ),
    "a quota of best effort cpu": (
        QUOTA,
        spec(hard={"cpu": "1"}, scopes=["BestEffort"]),
        [f'{SCOPE} ["BestEffort"]: unsupported scope applied to resource'],
    ),
    "a quota by priority": (
        QUOTA,
        spec(
            hard={"cpu": "1"},
            scopeSelector={"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}]},
        ),
        [],
    ),
    "a quota by values of no scope": (
        QUOTA,
        spec(
            hard={"cpu": "1"},
            scopeSelector={"matchExpressions": [{"scopeName": "Terminating", "operator": "In", "values": []}]},
        ),
        [
            "spec.scopeSelector.matchExpressions.operator: Invalid value: \"In\": must be 'Exists' when scope is any "
            "of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
            "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
            "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is "
            "'In' or 'NotIn' for scope selector",
        ],
    ),
    "a default above the most": (
        LIMITS,
        limit(max={"cpu": "1"}, default={"cpu": "2"}, defaultRequest={"cpu": "1"}),
        ['spec.limits[0].default[cpu]: Invalid value: "1": default value 2 is greater than max value 1'],
    ),
    "a ratio below one": (
        LIMITS,
        spec(limits=[{"type": "Pod", "maxLimitRequestRatio": {"memory": "800m"}}]),
        ['spec.limits[0].maxLimitRequestRatio[memory]: Invalid value: "800m": ratio 800m is less than 1'],
    ),
    "a ratio above the bounds": (
        LIMITS,
        spec(limits=[{"type": "Pod", "max": {"cpu": "2"}, "min": {"cpu": "1"}, "maxLimitRequestRatio": {"cpu": "10"}}]),
        ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "10": ratio 10 is greater than max/min = 2.000000'],
    ),
    "defaults of what is not shared": (
        LIMITS,
        limit(default={"example.com/gpu": "2"}, defaultRequest={"example.com/gpu": "1"}),
        [
            'spec.limits[0].defaultRequest[example.com/gpu]: Invalid value: "1": '
            "default value 2 must equal to defaultRequest value 1 in example.com/gpu"
        ],
    ),
    "a node of two ranges of a family": (
        NODE,
        spec(podCIDRs=["10.0.0.0/24", "10.0.0.0/24"]),
        [
            'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.0.0/24"]: '
            "may specify no more than one CIDR for each IP family",
        ],
    ),
    "a node of a range that is none": (
        NODE,
        spec(podCIDRs=["10.0.0.0/24", "bad"]),
        [
            'spec.podCIDRs[1]: Invalid value: "bad": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
            "spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:"
            "invalid CIDR[1]: <nil> (invalid CIDR address: bad)",
            'spec.podCIDRs: Invalid value: ["10.0.0.0/24","bad"]: may specify no more than one CIDR for each IP family',
        ],
    ),
    "a new node that says what it can do": (
        NODE,
        {"status": {"nodeInfo": {"swap": {"capacity": 0}}, "declaredFeatures": ["Second", "First", "no"]}},
        [
            "metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero",
            'status.declaredFeatures[1]: Invalid value: "First": list must be sorted alphabetically',
            'status.declaredFeatures[2]: Invalid value: "no": invalid feature name "no": must start with an '
            "UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
            "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
        ],
    ),
    "an event of another namespace": (
        EVENT,
        {"involvedObject": {"namespace": "other"}},
        ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
    ),
    "an event with a time says who reports it": (
        EVENT,
        {"involvedObject": {"namespace": "default"}, "eventTime": "2026-01-01T00:00:00.000000Z"},
        [
            "reportingComponent: Required value",
            'reportingComponent: Invalid value: "": name part must be non-empty',
            "reportingComponent: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or "
            "'.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
            "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            "reportingInstance: Required value",
            "action: Required value",
            "reason: Required value",
        ],
    ),
    "a new event with fields of old ones": (
        NEW_EVENT,
        {
            "regarding": {"namespace": "default"},
            "eventTime": "2026-01-01T00:00:00.000000Z",
            "reportingController": "a.io/b",
            "reportingInstance": "c",
            "action": "d",
            "reason": "e",
            "type": "Foo",
            "series": {"count": 1, "lastObservedTime": "2026-01-01T00:00:00.000000Z"},
            "deprecatedCount": 3,
            "deprecatedFirstTimestamp": "2026-01-01T00:00:00Z",
        },
        [
            'series.count: Invalid value: "": should be at least 2',
            'type: Invalid value: "": has invalid value: Foo',
            'firstTimestamp: Invalid value: "": needs to be unset',
            'count: Invalid value: "": needs to be unset',
        ],
    ),
    "a class of topologies twice": (
        CLASS,
        {
            "provisioner": "a.io/b",
            "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a", "a"]}]}] * 2,
        },
        [
            'allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"',
            'allowedTopologies[1].matchLabelExpressions[0].values[1]: Duplicate value: "a"',
            'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
        ],
    ),
    "attributes of nothing": (
        ATTRIBUTES,
        {"driverName": "", "parameters": {}},
        [
            "driverName: Required value",
            "parameters: Required value: must contain at least one key/value pair",
        ],
    ),
    "terms that ask nothing": (
        CLASS,
        {"provisioner": "a.io/b", "allowedTopologies": [{}]},
        ['allowedTopologies[0].matchLabelExpressions: Duplicate value: ""'],
    ),
    "a driver whose tokens are secret, and who asks for none": (
        DRIVER,
        spec(serviceAccountTokenInSecrets=True, volumeLifecycleModes=[]),
        [
            "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no "
            "tokenRequests are specified"
        ],
    ),
    "an attachment with much to say": (
        ATTACHMENT,
        spec(attacher="", nodeName="n", source={"persistentVolumeName": "A"}),
        [
            f'spec.source.persistentVolumeName: Invalid value: "A": {_SUBDOMAIN}',
            "spec.attacher: Required value",
        ],
    ),
    "a driver's tokens": (
        DRIVER,
        spec(
            tokenRequests=[{"audience": "a"}, {"audience": "a"}, {"audience": "b", "expirationSeconds": 5}],
            fsGroupPolicy="Foo",
            nodeAllocatableUpdatePeriodSeconds=9,
        ),
        [
            'spec.fsGroupPolicy: Unsupported value: "Foo": supported values: "File", "None", "ReadWriteOnceWithFSType"',
            'spec.tokenRequests[1].audience: Duplicate value: "a"',
            "spec.tokenRequests[2].expirationSeconds: Invalid value: 5: "
            "may not specify a duration less than 10 minutes",
            "spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds",
        ],
    ),
    "a driver on a node twice": (
        CSI_NODE,
        spec(
            drivers=[
                {"name": "a.io", "nodeID": "n", "topologyKeys": ["k", "k"]},
                {"name": "a.io", "nodeID": "", "allocatable": {"count": -1}},
            ]
        ),
        [
            'spec.drivers[0]: Duplicate value: "k"',
            "spec.drivers[1].nodeID: Required value",
            "spec.drivers[1].allocatable.count: Invalid value: -1: must be greater than or equal to 0",
            'spec.drivers[1].name: Duplicate value: "a.io"',
        ],
    ),
    "an attachment of nothing": (
        ATTACHMENT,
        spec(attacher="a/b", nodeName="n", source={}),
        [
            f"spec.source: Required value: {NEEDS_ONE}",
            'spec.attacher: Invalid value: "a/b": an RFC 1123 subdomain must consist of alphanumeric characters, '
            "'-' or '.', and must start and end with an alphanumeric character (e.g. 'Example.com', regex used for "
            "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        ],
    ),
    "an attachment of an inline volume": (
        ATTACHMENT,
        spec(
            attacher="a.io",
            nodeName="n",
            source={
                "inlineVolumeSpec": {
                    "accessModes": ["ReadWriteOnce"],
                    "capacity": {"storage": "1Gi"},
                    "hostPath": {"path": "/a"},
                    "volumeMode": "Block",
                }
            },
        ),
        [
            "spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes",
            "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
            "spec.source.inlineVolumeSpec.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in "
            "the context of inline volumes",
        ],
    ),
    "a capacity of less than nothing": (
        CAPACITY,
        {"storageClassName": "a", "capacity": "-1Gi"},
        ['capacity: Invalid value: "-1Gi": must be greater than or equal to 0'],
    ),
    "a volume of a host's root that is recycled": (
        VOLUME,
        volume(hostPath={"path": "/a/.."}, persistentVolumeReclaimPolicy="Recycle"),
        [
            "spec.hostPath.path: Invalid value: \"/a/..\": must not contain '..'",
            "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
        ],
    ),
    "a volume of nothing": (
        VOLUME,
        spec(accessModes=["ReadWriteOncePod", "ReadWriteMany"]),
        [
            "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
            "spec.capacity: Required value",
            'spec.capacity: Unsupported value: null: supported values: "storage"',
            "spec: Required value: must specify a volume type",
        ],
    ),
    "a volume of an empty capacity": (
        VOLUME,
        volume(hostPath={"path": "/a"}, capacity={}),
        ["spec.capacity: Required value", 'spec.capacity: Unsupported value: {}: supported values: "storage"'],
    ),
    "a local volume anywhere": (
        VOLUME,
        volume(local={"path": "/a"}),
        ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
    ),
    "a driver's secret of no namespace": (
        VOLUME,
        volume(
            csi={"driver": "a.io", "volumeHandle": "h", "nodeStageSecretRef": {}, "nodePublishSecretRef": {"name": "s"}}
        ),
        ["spec.csi.nodePublishSecretRef.namespace: Required value"],
    ),
    "attributes of a volume that no driver has": (
        VOLUME,
        volume(hostPath={"path": "/a"}, volumeAttributesClassName=""),
        [
            "spec.volumeAttributesClassName: Required value: an empty string is disallowed",
            "spec.csi: Required value: has to be specified when using volumeAttributesClassName",
        ],
    ),
    "a claim from two sources": (
        CLAIM,
        claim(
            dataSource={"kind": "PersistentVolumeClaim", "name": "a"},
            dataSourceRef={"kind": "PersistentVolumeClaim", "name": "b"},
        ),
        ["spec: Invalid value: {}: must match dataSourceRef"],
    ),
    "a claim from something of no group": (
        CLAIM,
        claim(dataSourceRef={"kind": "Foo", "name": "a"}),
        [
            f'spec.{field}: Invalid value: "Foo": '
            "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
            for field in ("dataSource", "dataSourceRef")
        ],
    ),
    "endpoints of the other family": (
        SLICE,
        endpoints({"addresses": ["2001:db8::1"]}),
        ['endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address'],
    ),
    "endpoints of a name without a domain": (
        SLICE,
        endpoints({"addresses": ["foo"]}, kind="FQDN"),
        [
            'endpoints[0].addresses[0]: Invalid value: "foo": '
            "should be a domain with at least two segments separated by dots"
        ],
    ),
    "hints twice": (
        SLICE,
        endpoints({"addresses": ["1.2.3.4"], "hints": {"forZones": [{"name": "a"}, {"name": "a"}]}}),
        ['endpoints[0].hints.forZones[1].name: Duplicate value: "a"'],
    ),
    "ports of no application": (
        SLICE,
        endpoints(ports=[{"name": "", "appProtocol": "a/b/c"}]),
        [
            'ports[0].appProtocol: Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters, '
            "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
            "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS "
            "subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ],
    ),
    "an address that is none, told twice": (
        ENDPOINTS,
        {"subsets": [{"addresses": [{"ip": "x"}], "ports": [{"port": 80}]}]},
        [
            'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or '
            "2001:db8::ffff)",
            'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
        ],
    ),
    "a role that gathers from nowhere": (
        CLUSTER_ROLE,
        {"aggregationRule": {"clusterRoleSelectors": []}},
        [
            "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if "
            "aggregationRule is non-nil"
        ],
    ),
    "a runtime's tolerations": (
        RUNTIME,
        {"handler": "h", "scheduling": {"tolerations": [_TOLERATION, {**_TOLERATION, "tolerationSeconds": 5}]}},
        [
            'scheduling.tolerations[1]: Duplicate value: {"Key":"a","Operator":"Exists","Value":"",'
            '"Effect":"NoExecute","TolerationSeconds":5}'
        ],
    ),
    "an address of nobody": (ADDRESS, spec(), ["spec.parentRef: Required value"]),
    "a network not in its own words": (
        CIDRS,
        spec(cidrs=["10.0.0.1/8"]),
        ['spec.cidrs[0]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length'],
    ),
    "two networks of a family": (
        CIDRS,
        spec(cidrs=["10.0.0.0/8", "11.0.0.0/8"]),
        [
            'spec.cidrs: Invalid value: ["10.0.0.0/8","11.0.0.0/8"]: may specify no more than one IP for '
            "each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
        ],
    ),
    "ports of a slice are told of before its endpoints, hints of many zones alone": (
        SLICE,
        {
            "addressType": "IPv6",
            "ports": [{"name": "A"}],
            "endpoints": [
                {
                    "addresses": ["2001:0db8::1"],
                    "hints": {"forZones": [{"name": str(each)} for each in range(9)], "forNodes": [{"name": ""}]},
                }
            ],
        },
        [
            'ports[0].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric '
            "characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
            "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
            'endpoints[0].addresses[0]: Invalid value: "2001:0db8::1": must be in canonical form ("2001:db8::1")',
            "endpoints[0].hints.forZones: Too many: 9: must have at most 8 items",
        ],
    ),
    "a subject without a name": (
        ROLE_BINDING,
        {"roleRef": {"kind": "Role", "name": "a"}, "subjects": [{"kind": "User"}]},
        ["subjects[0].name: Required value"],
    ),
    "parameters of a cluster in a namespace": (
        INGRESS_CLASS,
        spec(controller="a.io/b", parameters={"kind": "K", "name": "a/b", "scope": "Cluster", "namespace": "n"}),
        [
            "spec.parameters.name: Invalid value: \"a/b\": may not contain '/'",
            "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'",
        ],
    ),
    "a metric of two targets": (
        HPA,
        metric(
            type="Resource",
            resource={"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50, "averageValue": "1"}},
        ),
        [
            "spec.metrics[0].resource.target.averageValue: Forbidden: "
            "may not set both a target raw value and a target utilization"
        ],
    ),
    "a metric of another kind than it says": (
        HPA,
        metric(
            type="Pods",
            external={"metric": {"name": ""}, "target": {"type": "Value", "value": "0"}},
        ),
        [
            "spec.metrics[0].external.metric.name: Required value: must specify a metric name",
            'spec.metrics[0].external.target.value: Invalid value: "0": must be positive',
            "spec.metrics[0].pods: Required value: must populate information for the given metric source",
        ],
    ),
    "what is to be scaled, in a version of none": (
        HPA,
        spec(maxReplicas=-1, scaleTargetRef={**TARGET, "apiVersion": "a/b/c"}),
        [
            "spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`",
            'spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
            "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1",
        ],
    ),
    "a ReplicationController to be scaled": (
        HPA,
        spec(maxReplicas=1, scaleTargetRef={"kind": "ReplicationController", "name": "web"}),
        [],
    ),
    "an object to be measured, of the core group or of an odd one": (
        HPA,
        spec(
            maxReplicas=1,
            scaleTargetRef=TARGET,
            metrics=[
                {
                    "type": "Object",
                    "object": {
                        "describedObject": {"kind": "Service", "name": "web", "apiVersion": version},
                        "metric": {"name": "hits"},
                        "target": {"type": "Value", "value": "1"},
                    },
                }
                for version in ("v1", "a/b/c")
            ],
        ),
        [
            'spec.metrics[1].object.describedObject.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion '
            "string: a/b/c"
        ],
    ),
    "a behavior of no policies": (
        HPA,
        spec(
            maxReplicas=5,
            scaleTargetRef=TARGET,
            behavior={"scaleUp": {"policies": []}, "scaleDown": {"policies": None}},
        ),
        ["spec.behavior.scaleUp.policies: Required value: must specify at least one Policy"],
    ),
    "a role of roles that cannot be selected": (
        GVK("rbac.authorization.k8s.io", "v1", "ClusterRole"),
        {"aggregationRule": {"clusterRoleSelectors": [{"matchExpressions": [{"key": "a", "operator": "Is"}]}]}},
        [
            "aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "
            '"Is": not a valid selector operator',
            "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.",
        ],
    ),
    "a metric of no type": (
        HPA,
        metric(resource={"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}, type=""),
        [
            "spec.metrics[0].type: Required value: must specify a metric source type",
            *(
                'spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", '
                '"Object", "Pods", "Resource"',
            )
            * 2,
        ],
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_is_wrong_with_a_new_object(name: str) -> None:
    gvk, value, expected = ROWS[name]
    metadata: Object = {"name": "10.0.0.1" if gvk == ADDRESS else "web"}
    if info(gvk).namespaced:
        metadata["namespace"] = "default"
    assert problems(gvk, {"metadata": metadata, **value}) == expected


def _grow(obj: Object) -> None:
    obj["spec"]["resources"]["requests"]["storage"] = "2Gi"


def _shrink(obj: Object) -> None:
    obj["spec"]["resources"]["requests"]["storage"] = "1Mi"


def _in_zone(zone: str) -> Object:
    expression = {"key": "zone", "operator": "In", "values": [zone]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


def _tell_of_another(obj: Object) -> None:
    obj["regarding"] |= {"kind": "Pod", "name": "a"}
    for field in ("note", "deprecatedCount", "deprecatedSource"):
        del obj[field]


KEPT = "field is immutable"
HAPPENED: Object = {
    "regarding": {"apiVersion": "v1", "kind": "Node", "namespace": "default"},
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "note": "Something",
    "reason": "Because",
    "action": "Do",
    "type": "Normal",
    "reportingController": "c",
    "reportingInstance": "i",
}
BOUND: Object = {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}
IMMUTABLE = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"
)
UPDATES: dict[str, tuple[GVK, Object, Any, list[str]]] = {
    "a bound claim grows": (CLAIM, {**claim(), **BOUND}, _grow, []),
    "but not below what it has": (
        CLAIM,
        {**claim(), **BOUND},
        _shrink,
        ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"],
    ),
    "a pending claim does not grow": (
        CLAIM,
        claim(),
        _grow,
        [
            f'spec: Forbidden: {IMMUTABLE}@@ -6,7 +6,7 @@\n  "Resources": {{\n   "Limits": null,\n   "Requests": {{\n'
            '-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": "",\n'
        ],
    ),
    "a claim is given a class": (CLAIM, claim(), lambda obj: obj["spec"].update(storageClassName="a"), []),
    "a volume keeps its source": (
        VOLUME,
        volume(hostPath={"path": "/a"}),
        lambda obj: obj["spec"].update(hostPath={"path": "/b", "type": ""}),
        [
            "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n"
            '@@ -2,7 +2,7 @@\n  "GCEPersistentDisk": null,\n  "AWSElasticBlockStore": null,\n  "HostPath": {\n'
            '-  "Path": "/a",\n+  "Path": "/b",\n   "Type": ""\n  },\n  "Glusterfs": null,\n'
        ],
    ),
    "a volume stays where it is": (
        VOLUME,
        volume(hostPath={"path": "/a"}, nodeAffinity=_in_zone("a")),
        lambda obj: obj["spec"].update(nodeAffinity=_in_zone("b")),
        [
            'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{"MatchExpressions":[{"Key":"zone",'
            '"Operator":"In","Values":["b"]}],"MatchFields":null}]}}: field is immutable, except for updating from '
            "beta label to GA"
        ],
    ),
    "a volume gets a secret for its growth": (
        VOLUME,
        volume(csi={"driver": "a.io", "volumeHandle": "h"}),
        lambda obj: obj["spec"]["csi"].update(controllerExpandSecretRef={"name": "a", "namespace": "b"}),
        [],
    ),
    "labels of a volume's nodes become stable": (
        VOLUME,
        volume(
            hostPath={"path": "/a"},
            nodeAffinity={
                "required": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "beta.kubernetes.io/os", "operator": "In", "values": ["linux"]}]}
                    ]
                }
            },
        ),
        lambda obj: obj["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0].update(
            key="kubernetes.io/os"
        ),
        [],
    ),
    "a class keeps its provisioner": (
        CLASS,
        {"provisioner": "a.io/b"},
        lambda obj: obj.update(provisioner="a.io/c", volumeBindingMode="WaitForFirstConsumer"),
        [
            "provisioner: Invalid value: null: field is immutable",
            "volumeBindingMode: Invalid value: null: field is immutable",
        ],
    ),
    "a driver attaches as it did": (
        DRIVER,
        spec(),
        lambda obj: obj["spec"].update(attachRequired=False),
        ["spec.attachedRequired: Invalid value: false: field is immutable"],
    ),
    "endpoints of old are let be": (
        SLICE,
        {"addressType": "IPv4", "endpoints": [{"addresses": ["010.1.1.1"]}]},
        lambda obj: obj.update(ports=[{"name": "", "protocol": "TCP"}]),
        [],
    ),
    "a driver on a node counts anew": (
        CSI_NODE,
        spec(drivers=[{"name": "a.io", "nodeID": "n"}]),
        lambda obj: obj["spec"]["drivers"][0].update(allocatable={"count": 3}),
        [],
    ),
    "but is known by one name": (
        CSI_NODE,
        spec(drivers=[{"name": "a.io", "nodeID": "n"}]),
        lambda obj: obj["spec"]["drivers"][0].update(nodeID="m"),
        [
            'spec.drivers: Invalid value: {"Name":"a.io","NodeID":"m","TopologyKeys":null,"Allocatable":null}: '
            "field is immutable"
        ],
    ),
    "an event tells of something else": (
        NEW_EVENT,
        {**HAPPENED, "deprecatedCount": 2, "deprecatedSource": {"component": "c"}},
        _tell_of_another,
        [
            'involvedObject: Invalid value: {"Kind":"Pod","Namespace":"default","Name":"a","UID":"","APIVersion":"v1",'
            f'"ResourceVersion":"","FieldPath":""}}: {KEPT}',
            f'message: Invalid value: "": {KEPT}',
            f'source: Invalid value: {{"Component":"","Host":""}}: {KEPT}',
            f"count: Invalid value: 0: {KEPT}",
        ],
    ),
    "an event is related to nothing, which it was not before": (
        NEW_EVENT,
        HAPPENED,
        lambda obj: obj.update(related={}),
        [
            'related: Invalid value: {"Kind":"","Namespace":"","Name":"","UID":"","APIVersion":"","ResourceVersion":"",'
            f'"FieldPath":""}}: {KEPT}'
        ],
    ),
    "a node keeps its provider": (
        NODE,
        spec(providerID="a"),
        lambda obj: obj["spec"].update(providerID="b"),
        ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
    ),
}


@pytest.mark.parametrize("name", UPDATES)
def test_what_may_change(name: str) -> None:
    gvk, value, change, expected = UPDATES[name]
    metadata: Object = {"name": "web", "uid": "u", "resourceVersion": "1"}
    if info(gvk).namespaced:
        metadata["namespace"] = "default"
    old = defaulted(gvk, {"metadata": metadata, **value})
    new = copy.deepcopy(old)
    change(new)
    assert [str(cause) for cause in validate_update(info(gvk), new, old)] == expected


@pytest.mark.parametrize(
    ("gvk", "about", "expected"),
    [
        (EVENT, "involvedObject", ["involvedObject.namespace"]),
        (NEW_EVENT, "regarding", ["involvedObject.namespace", "metadata.labels", "eventTime", "type"]),
    ],
)
def test_an_event_is_looked_at_before_its_metadata(gvk: GVK, about: str, expected: list[str]) -> None:
    """And those of an old one not at all where something else is wrong with it."""
    event: Object = {"metadata": {"name": "a", "namespace": "default", "labels": {"a b": "c"}}}
    refused = problems(gvk, {**event, about: {"namespace": "other"}})
    assert [cause.partition(":")[0] for cause in refused] == expected
    refused = problems(EVENT, {**event, "involvedObject": {"namespace": "default"}})
    assert [cause.partition(":")[0] for cause in refused] == ["metadata.labels"]


def test_what_was_to_be_scaled_already_may_be_anything() -> None:
    old = prepared(HPA, {"metadata": {"name": "web", "namespace": "default"}, **spec(maxReplicas=1)})
    old["metadata"]["resourceVersion"] = "1"
    for version, kind, wrong in (("", "Deployment", False), ("", "StatefulSet", True), ("a/b/c", "Deployment", True)):
        old["spec"]["scaleTargetRef"] = {"kind": "Deployment", "name": "web"}
        new = copy.deepcopy(old)
        new["spec"] |= {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": version, "kind": kind, "name": "web"}}
        causes = [str(cause) for cause in validate_update(info(HPA), new, old)]
        assert [cause.partition(":")[0] for cause in causes] == ["spec.scaleTargetRef.apiVersion"] * wrong
