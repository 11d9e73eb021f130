"""Which describer is for which kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from engine.api.types import Object
from engine.kubectl.describe import (
    autoscaling,
    batch,
    certificates,
    cluster,
    generic,
    ingress,
    network,
    nodes,
    pods,
    quotas,
    storage,
    workloads,
)
from engine.kubectl.session import Session

RBAC = "rbac.authorization.k8s.io"


class Describer(Protocol):
    async def __call__(self, session: Session, obj: Object, /, *, show_events: bool) -> str: ...


DESCRIBERS: Mapping[tuple[str, str], Describer] = {
    ("", "Pod"): pods.describe,
    ("", "Node"): nodes.describe,
    ("", "Service"): network.service,
    ("", "Endpoints"): network.endpoints,
    ("", "Namespace"): cluster.namespace,
    ("", "ConfigMap"): cluster.config_map,
    ("", "Secret"): cluster.secret,
    ("", "ServiceAccount"): cluster.service_account,
    ("", "ReplicationController"): workloads.replication_controller,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("", "PersistentVolume"): storage.persistent_volume,
    ("", "PersistentVolumeClaim"): storage.persistent_volume_claim,
    ("", "ResourceQuota"): quotas.quota,
    ("", "LimitRange"): quotas.limit_range,
    ("autoscaling", "HorizontalPodAutoscaler"): autoscaling.autoscaler,
    ("batch", "CronJob"): batch.cron_job,
    ("batch", "Job"): batch.job,
    ("certificates.k8s.io", "CertificateSigningRequest"): certificates.signing_request,
    ("networking.k8s.io", "Ingress"): ingress.ingress,
    ("networking.k8s.io", "IngressClass"): ingress.ingress_class,
    ("networking.k8s.io", "NetworkPolicy"): ingress.network_policy,
    ("networking.k8s.io", "IPAddress"): network.ip_address,
    ("networking.k8s.io", "ServiceCIDR"): network.service_cidr,
    ("policy", "PodDisruptionBudget"): autoscaling.disruption_budget,
    ("storage.k8s.io", "CSINode"): storage.csi_node,
    ("storage.k8s.io", "StorageClass"): storage.storage_class,
    ("storage.k8s.io", "VolumeAttributesClass"): storage.volume_attributes_class,
    ("discovery.k8s.io", "EndpointSlice"): network.endpoint_slice,
    ("scheduling.k8s.io", "PriorityClass"): cluster.priority_class,
    (RBAC, "Role"): cluster.role,
    (RBAC, "ClusterRole"): cluster.role,
    (RBAC, "RoleBinding"): cluster.binding,
    (RBAC, "ClusterRoleBinding"): cluster.binding,
}


def describer_for(group: str, kind: str) -> Describer:
    return DESCRIBERS.get((group, kind), generic.describe)
