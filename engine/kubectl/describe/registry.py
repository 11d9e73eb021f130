"""Which describer is for which kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from engine.api.types import Object
from engine.kubectl.describe import cluster, generic, network, nodes, pods, workloads
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
    ("batch", "Job"): workloads.job,
    ("discovery.k8s.io", "EndpointSlice"): network.endpoint_slice,
    ("scheduling.k8s.io", "PriorityClass"): cluster.priority_class,
    (RBAC, "Role"): cluster.role,
    (RBAC, "ClusterRole"): cluster.role,
    (RBAC, "RoleBinding"): cluster.binding,
    (RBAC, "ClusterRoleBinding"): cluster.binding,
}


def describer_for(group: str, kind: str) -> Describer:
    return DESCRIBERS.get((group, kind), generic.describe)
