"""Which table each kind has, and the default ones for kinds that are not here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.tables import access, autoscaling, cluster, core, metrics, network, pods, storage, workloads
from engine.api.tables.columns import AGE, NAME, Column, KindTable, Row, kind_table

NAME_AND_AGE = kind_table(NAME, AGE)
_CREATED: Column[Row] = Column("Created At", lambda row: row.metadata.get("creationTimestamp"), AGE.doc, type="date")
# What upstream's default convertor prints (apiserver pkg/registry/rest/table.go), for Roles, LimitRanges and the like.
DEFAULT = kind_table(NAME, _CREATED)

# By group and kind: a kind's versions share its table.
TABLES: Mapping[tuple[str, str], KindTable[Any]] = {
    ("", "Pod"): pods.PODS,
    ("", "PodTemplate"): pods.POD_TEMPLATES,
    ("", "ReplicationController"): workloads.REPLICATION_CONTROLLERS,
    ("", "Service"): network.SERVICES,
    ("", "Endpoints"): network.ENDPOINTS,
    ("", "Node"): core.NODES,
    ("", "Event"): core.EVENTS,
    ("", "Namespace"): core.NAMESPACES,
    ("", "Secret"): core.SECRETS,
    ("", "ServiceAccount"): core.SERVICE_ACCOUNTS,
    ("", "ConfigMap"): core.CONFIG_MAPS,
    ("", "ResourceQuota"): core.RESOURCE_QUOTAS,
    ("", "ComponentStatus"): core.COMPONENT_STATUSES,
    ("", "PersistentVolume"): storage.PERSISTENT_VOLUMES,
    ("", "PersistentVolumeClaim"): storage.PERSISTENT_VOLUME_CLAIMS,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): access.MUTATING_ADMISSION_POLICIES,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): access.ADMISSION_POLICY_BINDINGS,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): access.WEBHOOK_CONFIGURATIONS,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): access.VALIDATING_ADMISSION_POLICIES,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): access.ADMISSION_POLICY_BINDINGS,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): access.WEBHOOK_CONFIGURATIONS,
    ("apiregistration.k8s.io", "APIService"): cluster.API_SERVICES,
    ("apps", "Deployment"): workloads.DEPLOYMENTS,
    ("apps", "ReplicaSet"): workloads.REPLICA_SETS,
    ("apps", "StatefulSet"): workloads.STATEFUL_SETS,
    ("apps", "DaemonSet"): workloads.DAEMON_SETS,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): kind_table(
        NAME,
        Column("Group", lambda row: row.spec.get("group", ""), "API group"),
        Column("Scope", lambda row: row.spec.get("scope", ""), "Cluster/Namespaced"),
        Column(
            "Versions",
            lambda row: ",".join(sorted(each["name"] for each in row.spec.get("versions") or ())),
            "Served versions",
        ),
        _CREATED,
    ),
    ("apps", "ControllerRevision"): workloads.CONTROLLER_REVISIONS,
    ("autoscaling", "HorizontalPodAutoscaler"): autoscaling.HORIZONTAL_POD_AUTOSCALERS,
    ("autoscaling", "Scale"): autoscaling.SCALES,
    ("batch", "Job"): workloads.JOBS,
    ("batch", "CronJob"): workloads.CRON_JOBS,
    ("certificates.k8s.io", "CertificateSigningRequest"): access.CERTIFICATE_SIGNING_REQUESTS,
    ("certificates.k8s.io", "ClusterTrustBundle"): access.CLUSTER_TRUST_BUNDLES,
    ("certificates.k8s.io", "PodCertificateRequest"): access.POD_CERTIFICATE_REQUESTS,
    ("coordination.k8s.io", "Lease"): cluster.LEASES,
    ("coordination.k8s.io", "LeaseCandidate"): cluster.LEASE_CANDIDATES,
    ("discovery.k8s.io", "EndpointSlice"): network.ENDPOINT_SLICES,
    ("events.k8s.io", "Event"): core.EVENTS,
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): cluster.FLOW_SCHEMAS,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): cluster.PRIORITY_LEVELS,
    ("internal.apiserver.k8s.io", "StorageVersion"): cluster.STORAGE_VERSIONS,
    ("metrics.k8s.io", "NodeMetrics"): metrics.NODE_METRICS,
    ("metrics.k8s.io", "PodMetrics"): metrics.POD_METRICS,
    ("networking.k8s.io", "Ingress"): network.INGRESSES,
    ("networking.k8s.io", "IngressClass"): network.INGRESS_CLASSES,
    ("networking.k8s.io", "NetworkPolicy"): network.NETWORK_POLICIES,
    ("networking.k8s.io", "ServiceCIDR"): network.SERVICE_CIDRS,
    ("networking.k8s.io", "IPAddress"): network.IP_ADDRESSES,
    ("node.k8s.io", "RuntimeClass"): cluster.RUNTIME_CLASSES,
    ("policy", "PodDisruptionBudget"): workloads.POD_DISRUPTION_BUDGETS,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): access.CLUSTER_ROLE_BINDINGS,
    ("rbac.authorization.k8s.io", "RoleBinding"): access.ROLE_BINDINGS,
    ("resource.k8s.io", "DeviceClass"): NAME_AND_AGE,
    ("resource.k8s.io", "DeviceTaintRule"): cluster.DEVICE_TAINT_RULES,
    ("resource.k8s.io", "ResourceClaim"): cluster.RESOURCE_CLAIMS,
    ("resource.k8s.io", "ResourceClaimTemplate"): NAME_AND_AGE,
    ("resource.k8s.io", "ResourceSlice"): cluster.RESOURCE_SLICES,
    ("scheduling.k8s.io", "CompositePodGroup"): NAME_AND_AGE,
    ("scheduling.k8s.io", "PodGroup"): NAME_AND_AGE,
    ("scheduling.k8s.io", "PriorityClass"): cluster.PRIORITY_CLASSES,
    ("scheduling.k8s.io", "Workload"): NAME_AND_AGE,
    ("storage.k8s.io", "CSIDriver"): storage.CSI_DRIVERS,
    ("storage.k8s.io", "CSINode"): storage.CSI_NODES,
    ("storage.k8s.io", "CSIStorageCapacity"): storage.CSI_STORAGE_CAPACITIES,
    ("storage.k8s.io", "StorageClass"): storage.STORAGE_CLASSES,
    ("storage.k8s.io", "VolumeAttachment"): storage.VOLUME_ATTACHMENTS,
    ("storage.k8s.io", "VolumeAttributesClass"): storage.VOLUME_ATTRIBUTES_CLASSES,
    ("storagemigration.k8s.io", "StorageVersionMigration"): cluster.STORAGE_VERSION_MIGRATIONS,
}


# Until which release a kind had another table.
_BEFORE: Mapping[tuple[str, str], tuple[tuple[int, int], KindTable[Any]]] = {
    ("apiextensions.k8s.io", "CustomResourceDefinition"): ((1, 37), DEFAULT),
    ("", "Node"): ((1, 36), core.NODES_WITHOUT_ARCHITECTURE),
    ("", "ServiceAccount"): ((1, 35), core.SERVICE_ACCOUNTS_WITH_SECRETS),
    ("storage.k8s.io", "StorageClass"): ((1, 37), storage.ALL_MARKED_STORAGE_CLASSES),
    ("networking.k8s.io", "IngressClass"): ((1, 36), network.UNMARKED_INGRESS_CLASSES),
}


def table_of(group: str, kind: str, release: tuple[int, int], *, custom: bool = False) -> KindTable[Any]:
    """The table of a kind; custom resources without columns of their own show their age."""
    before = _BEFORE.get((group, kind))
    if before is not None and release < before[0]:
        return before[1]
    return TABLES.get((group, kind), NAME_AND_AGE if custom else DEFAULT)
