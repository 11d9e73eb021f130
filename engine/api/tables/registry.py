"""Which table each kind has. A kind that is not here has the default one: NAME and AGE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.tables import core, network, pods, workloads
from engine.api.tables.columns import AGE, NAME, KindTable, kind_table

DEFAULT = kind_table(NAME, AGE)

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
    ("apps", "Deployment"): workloads.DEPLOYMENTS,
    ("apps", "ReplicaSet"): workloads.REPLICA_SETS,
    ("apps", "StatefulSet"): workloads.STATEFUL_SETS,
    ("apps", "DaemonSet"): workloads.DAEMON_SETS,
    ("apps", "ControllerRevision"): workloads.CONTROLLER_REVISIONS,
    ("batch", "Job"): workloads.JOBS,
    ("batch", "CronJob"): workloads.CRON_JOBS,
    ("discovery.k8s.io", "EndpointSlice"): network.ENDPOINT_SLICES,
    ("events.k8s.io", "Event"): core.EVENTS,
    ("networking.k8s.io", "Ingress"): network.INGRESSES,
    ("networking.k8s.io", "IngressClass"): network.INGRESS_CLASSES,
    ("networking.k8s.io", "NetworkPolicy"): network.NETWORK_POLICIES,
    ("networking.k8s.io", "ServiceCIDR"): network.SERVICE_CIDRS,
    ("networking.k8s.io", "IPAddress"): network.IP_ADDRESSES,
    ("policy", "PodDisruptionBudget"): workloads.POD_DISRUPTION_BUDGETS,
}
