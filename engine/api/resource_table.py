"""What the published schemas do not say of a built-in kind: its scope, short names, categories, verbs and subresources.

Source: the REST storage of each kind in pkg/registry, as api/discovery/*.json records it, and the etcd layout that
test/integration/etcd/data.go checks. `engine.api.resources` joins this table with the schemas of a version.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from engine.api.types import GVK

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
NAMESPACE_VERBS = ("create", "delete", "get", "list", "patch", "update", "watch")
STATUS_VERBS = ("get", "patch", "update")
PROXY_VERBS = ("create", "delete", "get", "patch", "update")
CONNECT_VERBS = ("create", "get")

CORE = ""
ADMISSION = "admissionregistration.k8s.io"
APIEXTENSIONS = "apiextensions.k8s.io"
APIREGISTRATION = "apiregistration.k8s.io"
AUTHENTICATION = "authentication.k8s.io"
AUTHORIZATION = "authorization.k8s.io"
CERTIFICATES = "certificates.k8s.io"
COORDINATION = "coordination.k8s.io"
DISCOVERY = "discovery.k8s.io"
EVENTS = "events.k8s.io"
FLOWCONTROL = "flowcontrol.apiserver.k8s.io"
MIGRATION = "storagemigration.k8s.io"
NETWORKING = "networking.k8s.io"
NODE = "node.k8s.io"
RBAC = "rbac.authorization.k8s.io"
RESOURCE = "resource.k8s.io"
SCHEDULING = "scheduling.k8s.io"
STORAGE = "storage.k8s.io"


class SubresourceFacts(NamedTuple):
    """`kind` is what a request to it carries or gets; None for the kind of the resource itself."""

    verbs: tuple[str, ...]
    kind: GVK | None = None
    since: tuple[int, int] = (0, 0)


STATUS = {"status": SubresourceFacts(STATUS_VERBS)}
SCALE = {"scale": SubresourceFacts(STATUS_VERBS, GVK("autoscaling", "v1", "Scale"))}


def _core(kind: str) -> GVK:
    return GVK(CORE, "v1", kind)


class Facts(NamedTuple):
    """`stored_as` is set where the kind is stored as a kind of another group or version."""

    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: Mapping[str, SubresourceFacts] = MappingProxyType({})
    storage_path: str = ""
    stored_as: GVK | None = None


_PLAIN = Facts()
_CLUSTER = Facts(namespaced=False)
_REVIEW = Facts(namespaced=False, verbs=("create",))
_WORKLOAD = ("all",)
_EXTENSION = Facts(namespaced=False, categories=("api-extensions",))

POD_SUBRESOURCES = {
    "attach": SubresourceFacts(CONNECT_VERBS, _core("PodAttachOptions")),
    "binding": SubresourceFacts(("create",), _core("Binding")),
    "ephemeralcontainers": SubresourceFacts(STATUS_VERBS),
    "eviction": SubresourceFacts(("create",), GVK("policy", "v1", "Eviction")),
    "exec": SubresourceFacts(CONNECT_VERBS, _core("PodExecOptions")),
    "log": SubresourceFacts(("get",)),
    "portforward": SubresourceFacts(CONNECT_VERBS, _core("PodPortForwardOptions")),
    "proxy": SubresourceFacts(PROXY_VERBS, _core("PodProxyOptions")),
    "resize": SubresourceFacts(STATUS_VERBS, since=(1, 33)),
    **STATUS,
}
_NODE_PROXY = {"proxy": SubresourceFacts(PROXY_VERBS, _core("NodeProxyOptions"))}
_SERVICE_PROXY = {"proxy": SubresourceFacts(PROXY_VERBS, _core("ServiceProxyOptions"))}
_TOKEN = {"token": SubresourceFacts(("create",), GVK(AUTHENTICATION, "v1", "TokenRequest"))}
_FINALIZE = {"finalize": SubresourceFacts(("update",))}
_APPROVAL = {"approval": SubresourceFacts(STATUS_VERBS)}

# (group, kind) -> facts; a kind without an entry is not a resource (options, lists, reviews inside subresources).
FACTS: Mapping[tuple[str, str], Facts] = {
    (CORE, "Binding"): Facts(verbs=("create",)),
    (CORE, "ComponentStatus"): Facts(False, ("cs",), verbs=("get", "list")),
    (CORE, "ConfigMap"): Facts(short_names=("cm",)),
    (CORE, "Endpoints"): Facts(short_names=("ep",), storage_path="services/endpoints"),
    (CORE, "Event"): Facts(short_names=("ev",)),
    (CORE, "LimitRange"): Facts(short_names=("limits",)),
    (CORE, "Namespace"): Facts(False, ("ns",), verbs=NAMESPACE_VERBS, subresources={**_FINALIZE, **STATUS}),
    (CORE, "Node"): Facts(False, ("no",), subresources={**_NODE_PROXY, **STATUS}, storage_path="minions"),
    (CORE, "PersistentVolume"): Facts(False, ("pv",), subresources=STATUS),
    (CORE, "PersistentVolumeClaim"): Facts(short_names=("pvc",), subresources=STATUS),
    (CORE, "Pod"): Facts(True, ("po",), _WORKLOAD, subresources=POD_SUBRESOURCES),
    (CORE, "PodTemplate"): _PLAIN,
    (CORE, "ReplicationController"): Facts(
        True, ("rc",), _WORKLOAD, subresources={**SCALE, **STATUS}, storage_path="controllers"
    ),
    (CORE, "ResourceQuota"): Facts(short_names=("quota",), subresources=STATUS),
    (CORE, "Secret"): _PLAIN,
    (CORE, "Service"): Facts(
        True, ("svc",), _WORKLOAD, subresources={**_SERVICE_PROXY, **STATUS}, storage_path="services/specs"
    ),
    (CORE, "ServiceAccount"): Facts(short_names=("sa",), subresources=_TOKEN),
    (ADMISSION, "MutatingAdmissionPolicy"): _EXTENSION,
    (ADMISSION, "MutatingAdmissionPolicyBinding"): _EXTENSION,
    (ADMISSION, "MutatingWebhookConfiguration"): _EXTENSION,
    (ADMISSION, "ValidatingAdmissionPolicy"): _EXTENSION._replace(subresources=STATUS),
    (ADMISSION, "ValidatingAdmissionPolicyBinding"): _EXTENSION,
    (ADMISSION, "ValidatingWebhookConfiguration"): _EXTENSION,
    (APIEXTENSIONS, "CustomResourceDefinition"): _EXTENSION._replace(
        short_names=("crd", "crds"), subresources=STATUS, storage_path=f"{APIEXTENSIONS}/customresourcedefinitions"
    ),
    (APIREGISTRATION, "APIService"): _EXTENSION._replace(
        subresources=STATUS, storage_path=f"{APIREGISTRATION}/apiservices"
    ),
    ("apps", "ControllerRevision"): _PLAIN,
    ("apps", "DaemonSet"): Facts(True, ("ds",), _WORKLOAD, subresources=STATUS),
    ("apps", "Deployment"): Facts(True, ("deploy",), _WORKLOAD, subresources={**SCALE, **STATUS}),
    ("apps", "ReplicaSet"): Facts(True, ("rs",), _WORKLOAD, subresources={**SCALE, **STATUS}),
    ("apps", "StatefulSet"): Facts(True, ("sts",), _WORKLOAD, subresources={**SCALE, **STATUS}),
    (AUTHENTICATION, "SelfSubjectReview"): _REVIEW,
    (AUTHENTICATION, "TokenReview"): _REVIEW,
    (AUTHORIZATION, "LocalSubjectAccessReview"): Facts(verbs=("create",)),
    (AUTHORIZATION, "SelfSubjectAccessReview"): _REVIEW,
    (AUTHORIZATION, "SelfSubjectRulesReview"): _REVIEW,
    (AUTHORIZATION, "SubjectAccessReview"): _REVIEW,
    ("autoscaling", "HorizontalPodAutoscaler"): Facts(
        True, ("hpa",), _WORKLOAD, subresources=STATUS, stored_as=GVK("autoscaling", "v2", "HorizontalPodAutoscaler")
    ),
    ("batch", "CronJob"): Facts(True, ("cj",), _WORKLOAD, subresources=STATUS),
    ("batch", "Job"): Facts(True, (), _WORKLOAD, subresources=STATUS),
    (CERTIFICATES, "CertificateSigningRequest"): Facts(False, ("csr",), subresources={**_APPROVAL, **STATUS}),
    (CERTIFICATES, "ClusterTrustBundle"): _CLUSTER,
    (CERTIFICATES, "PodCertificateRequest"): Facts(subresources=STATUS),
    (COORDINATION, "Lease"): _PLAIN,
    (DISCOVERY, "EndpointSlice"): _PLAIN,
    (EVENTS, "Event"): Facts(short_names=("ev",), stored_as=_core("Event")),
    (FLOWCONTROL, "FlowSchema"): Facts(False, subresources=STATUS),
    (FLOWCONTROL, "PriorityLevelConfiguration"): Facts(False, subresources=STATUS),
    (MIGRATION, "StorageVersionMigration"): Facts(False, subresources=STATUS),
    (NETWORKING, "IPAddress"): Facts(False, ("ip",)),
    (NETWORKING, "Ingress"): Facts(True, ("ing",), subresources=STATUS, storage_path="ingress"),
    (NETWORKING, "IngressClass"): _CLUSTER,
    (NETWORKING, "NetworkPolicy"): Facts(short_names=("netpol",)),
    (NETWORKING, "ServiceCIDR"): Facts(False, subresources=STATUS),
    (NODE, "RuntimeClass"): _CLUSTER,
    ("policy", "PodDisruptionBudget"): Facts(True, ("pdb",), subresources=STATUS),
    (RBAC, "ClusterRole"): _CLUSTER,
    (RBAC, "ClusterRoleBinding"): _CLUSTER,
    (RBAC, "Role"): _PLAIN,
    (RBAC, "RoleBinding"): _PLAIN,
    (RESOURCE, "DeviceClass"): _CLUSTER,
    (RESOURCE, "DeviceTaintRule"): Facts(False, subresources=STATUS),
    (RESOURCE, "ResourceClaim"): Facts(subresources=STATUS),
    (RESOURCE, "ResourceClaimTemplate"): _PLAIN,
    (RESOURCE, "ResourceSlice"): _CLUSTER,
    (SCHEDULING, "PriorityClass"): Facts(False, ("pc",)),
    (STORAGE, "CSIDriver"): _CLUSTER,
    (STORAGE, "CSINode"): _CLUSTER,
    (STORAGE, "CSIStorageCapacity"): _PLAIN,
    (STORAGE, "StorageClass"): Facts(False, ("sc",)),
    (STORAGE, "VolumeAttachment"): Facts(False, subresources=STATUS),
    (STORAGE, "VolumeAttributesClass"): Facts(False, ("vac",)),
}

# Betas from before KEP-3136 made beta APIs opt-in; all others are off by default.
SERVED_BETAS = frozenset(
    {
        ("autoscaling", "v2beta2", "HorizontalPodAutoscaler"),
        *((FLOWCONTROL, version, "FlowSchema") for version in ("v1beta1", "v1beta2", "v1beta3")),
        *((FLOWCONTROL, version, "PriorityLevelConfiguration") for version in ("v1beta1", "v1beta2", "v1beta3")),
        (STORAGE, "v1beta1", "CSIStorageCapacity"),
    }
)

# The order of groups in discovery (kube-apiserver's apiVersionPriorities).
GROUP_ORDER = (
    CORE,
    APIREGISTRATION,
    "apps",
    EVENTS,
    AUTHENTICATION,
    AUTHORIZATION,
    "autoscaling",
    "batch",
    CERTIFICATES,
    NETWORKING,
    "policy",
    RBAC,
    STORAGE,
    ADMISSION,
    APIEXTENSIONS,
    SCHEDULING,
    COORDINATION,
    NODE,
    DISCOVERY,
    RESOURCE,
    FLOWCONTROL,
    MIGRATION,
)
